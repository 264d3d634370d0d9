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
    """Returns the folder of the cookiecutter template, in the installed wheel or in the repository. Raises UserError if
    this copy of kernkit has no template."""
    for folder in (PACKAGE / "template", PACKAGE.parents[2] / "template"):
        if (folder / "cookiecutter.json").is_file():
            return folder
    raise UserError(NO_TEMPLATE)


def sdk_files() -> List[str]:
    """Returns the paths, relative to the copy of the SDK, of the files that the template copies into a library. In a
    wheel of kernkit the template contains no copy of the SDK; the paths are then those of the files in the wheel's SDK
    folder and Python package."""
    copied = template_folder() / "{{cookiecutter.library_name}}/third_party/kernkit"
    if copied.is_dir():
        return manifest.files_below(str(copied))
    modules = [f"python/kernkit/{path}" for path in manifest.files_below(str(PACKAGE))]
    return manifest.files_below(str(sdk_folder())) + modules


def questions() -> Dict[str, str]:
    """Returns the template's questions as {name: default answer}."""
    with open(template_folder() / "cookiecutter.json", encoding="utf-8") as stream:
        return {key: value for key, value in json.load(stream).items() if key[0] != "_"}


def render(answers: Dict[str, str], output: pathlib.Path) -> None:
    """Renders the template into the folder `output`/<library_name>. The answers must be valid, see names.problem() and
    components.problem(). Raises UserError if cookiecutter is not installed or fails."""
    try:
        import cookiecutter  # noqa: F401
    except ImportError:
        raise UserError(
            f"cookiecutter is not installed; run {sys.executable} -m pip install cookiecutter"
        ) from None
    from cookiecutter.exceptions import CookiecutterException
    from cookiecutter.main import cookiecutter as start

    # cookiecutter does not delete the rendered hooks from the folder for temporary files. Therefore tempfile uses the
    # folder `scratch`, which is deleted after the rendering.
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
            # The hook has printed the reason to standard error.
            raise UserError(f"the template was not rendered: {error}") from None
        finally:
            tempfile.tempdir = previous


def removed_ops(answers: Dict[str, str]) -> List[str]:
    """Returns the template's ops that the library has removed, which the answer `removed` lists."""
    return [op for op in answers.get("removed", "").split(",") if op]


def render_library(answers: Dict[str, str], folder: pathlib.Path) -> pathlib.Path:
    """Renders this kernkit's template with the answers in a library's record, and with the defaults of new questions.
    Returns the library's folder, below `folder`. Raises UserError if an answer is invalid."""
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
    """Removes the ops `removed` from a rendered library."""
    for op in removed:
        op_files.remove(library, op)
