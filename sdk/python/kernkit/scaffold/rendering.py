# SPDX-License-Identifier: Apache-2.0
"""Rendering of the template: its folder, its questions, and a library made from answers."""

import json
import os
import pathlib
import sys
import tempfile
from typing import Dict, List

from ..errors import UserError
from ..project import copies, manifest, names, op_files
from ..project.record import RECORD
from ..sdk import NO_TEMPLATE, sdk_folder, version
from . import components, kept_rendering

PACKAGE = pathlib.Path(__file__).resolve().parents[1]


def template_folder() -> pathlib.Path:
    """The folder of the cookiecutter template, in the installed wheel or in the repository.
    UserError: this copy of kernkit has no template."""
    for folder in (PACKAGE / "template", PACKAGE.parents[2] / "template"):
        if (folder / "cookiecutter.json").is_file():
            return folder
    raise UserError(NO_TEMPLATE)


def sdk_files() -> List[str]:
    """The paths of the files that the template copies into a library, relative to the copy of the SDK. A wheel has them in
    two places, since it contains one SDK."""
    copied = template_folder() / "{{cookiecutter.library_name}}/third_party/kernkit"
    if copied.is_dir():
        return manifest.files_below(str(copied))
    modules = [f"python/kernkit/{path}" for path in manifest.files_below(str(PACKAGE))]
    return manifest.files_below(str(sdk_folder())) + modules


def questions() -> Dict[str, str]:
    """The template's questions with their default answers."""
    with open(template_folder() / "cookiecutter.json", encoding="utf-8") as stream:
        return {key: value for key, value in json.load(stream).items() if key[0] != "_"}


def render(answers: Dict[str, str], output: pathlib.Path) -> None:
    """Renders the template into `output`/<library_name>. The answers must be valid, see
    names.problem() and components.problem()."""
    try:
        import cookiecutter  # noqa: F401
    except ImportError:
        raise UserError(
            f"cookiecutter is not installed; run {sys.executable} -m pip install cookiecutter"
        ) from None
    from cookiecutter.exceptions import CookiecutterException
    from cookiecutter.main import cookiecutter as start

    # cookiecutter leaves the rendered hooks in the folder for temporary files, so a folder that is
    # deleted takes its place.
    previous = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="kernkit-") as scratch:
        tempfile.tempdir = scratch
        try:
            # With these settings cookiecutter neither reads the user's settings nor writes files to
            # the user's home.
            settings = os.path.join(scratch, "settings.yaml")
            with open(settings, "w", encoding="utf-8") as stream:
                json.dump({"replay_dir": scratch, "cookiecutters_dir": scratch}, stream)
            start(
                str(template_folder()),
                no_input=True,
                extra_context=dict(answers),
                output_dir=str(output),
                config_file=settings,
            )
        except CookiecutterException as error:
            # The reason is on stderr, where the hook printed its message.
            raise UserError(f"the template was not rendered: {error}") from None
        finally:
            tempfile.tempdir = previous


def removed_ops(answers: Dict[str, str]) -> List[str]:
    """The template's ops that the library has removed."""
    return [op for op in answers.get("removed", "").split(",") if op]


def render_library(answers: Dict[str, str], folder: pathlib.Path) -> pathlib.Path:
    """Renders this kernkit's template with a library's answers, and with the defaults of new questions. Returns the
    library's folder, below `folder`. UserError: an answer is invalid."""
    removed = removed_ops(answers)
    answers = {key: answers.get(key, value) for key, value in questions().items()}
    if problem := names.problem(answers) or components.problem(answers["parts"], sdk_files()):
        raise UserError(f"{RECORD}: {problem}")
    render(answers, folder)
    library = folder / answers["library_name"]
    remove_ops(library, removed)
    if removed and (library / copies.SDK).is_dir():
        kept_rendering.keep(str(library), version())
    return library


def remove_ops(library: pathlib.Path, removed: List[str]) -> None:
    """Removes ops from a rendering."""
    for op in removed:
        op_files.remove(library, op)
