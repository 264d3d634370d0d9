# SPDX-License-Identifier: Apache-2.0
"""The template: where it is, what it asks, and a library made of it."""

import json
import os
import pathlib
import sys
import tempfile
from typing import Dict

from ..errors import UserError
from ..sdk import NO_TEMPLATE

PACKAGE = pathlib.Path(__file__).resolve().parents[1]


def template_folder() -> pathlib.Path:
    """The cookiecutter template: the wheel's, or this repository's."""
    for folder in (PACKAGE / "template", PACKAGE.parents[2] / "template"):
        if (folder / "cookiecutter.json").is_file():
            return folder
    raise UserError(NO_TEMPLATE)


def vendored_sdk() -> pathlib.Path:
    """The SDK of which the template makes a library's copy."""
    return template_folder() / "{{cookiecutter.library_name}}/third_party/kernkit"


def questions() -> Dict[str, str]:
    """The template's questions with their default answers."""
    with open(template_folder() / "cookiecutter.json", encoding="utf-8") as stream:
        return {key: value for key, value in json.load(stream).items() if key[0] != "_"}


def render(answers: Dict[str, str], output: pathlib.Path) -> None:
    """Renders the template into `output`/<library_name>. The answers have been checked."""
    try:
        import cookiecutter  # noqa: F401
    except ImportError:
        raise UserError(
            f"cookiecutter is not installed; type {sys.executable} -m pip install cookiecutter"
        ) from None
    from cookiecutter.exceptions import CookiecutterException
    from cookiecutter.main import cookiecutter as start

    # cookiecutter leaves the rendered hooks where temporary files are made.
    usual = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="kernkit-") as scratch:
        tempfile.tempdir = scratch
        try:
            # No user's settings, and no file of cookiecutter's in the user's folder.
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
            # What the hook printed stands on stderr already, cookiecutter having no other way.
            raise UserError(f"the template was not rendered: {error}") from None
        finally:
            tempfile.tempdir = usual
