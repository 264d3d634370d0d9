# SPDX-License-Identifier: Apache-2.0
"""The template: where it is, what it asks, and a library made of it."""

import json
import pathlib
import sys
import tempfile
from typing import Dict

from ..cli import Refusal

PACKAGE = pathlib.Path(__file__).resolve().parents[1]


def template_folder() -> pathlib.Path:
    """The cookiecutter template: the wheel's, or this repository's."""
    for folder in (PACKAGE / "template", PACKAGE.parents[2] / "template"):
        if (folder / "cookiecutter.json").is_file():
            return folder
    raise Refusal(
        "the template is not here: this is a copy of kernkit's SDK inside a library, which "
        "./kk update --from WHERE updates; or install kernkit (pip install PATH, of its repository "
        "or a wheel), which has kernkit new and update"
    )


def questions() -> Dict[str, str]:
    """The template's questions with their default answers."""
    with open(template_folder() / "cookiecutter.json", encoding="utf-8") as stream:
        return {key: value for key, value in json.load(stream).items() if key[0] != "_"}


def render(answers: Dict[str, str], output: pathlib.Path) -> None:
    """Renders the template into `output`/<library_name>. The answers have been checked."""
    try:
        import cookiecutter  # noqa: F401
    except ImportError:
        raise Refusal(
            f"cookiecutter is not installed; type {sys.executable} -m pip install cookiecutter"
        ) from None
    from cookiecutter.exceptions import CookiecutterException
    from cookiecutter.main import cookiecutter as start

    # cookiecutter leaves the rendered hooks where temporary files are made.
    usual = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="kernkit-") as scratch:
        tempfile.tempdir = scratch
        try:
            start(
                str(template_folder()),
                no_input=True,
                extra_context=dict(answers),
                output_dir=str(output),
                default_config=True,
            )
        except CookiecutterException as error:
            # What the hook printed stands on stderr already, cookiecutter having no other way.
            raise Refusal(f"the template was not rendered: {error}") from None
        finally:
            tempfile.tempdir = usual
