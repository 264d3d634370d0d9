# SPDX-License-Identifier: Apache-2.0
"""Start a kernel library from the template, in ./NAME.

The library is a git repository whose first commit is what was rendered, unless it lies in another
repository. Every answer is checked before anything is written or run. The same questions are asked by
`cookiecutter PATH/template`.
"""

import argparse
import json
import pathlib
import sys
from typing import Dict

from . import names
from .cli import Refusal

OPTIONS = {
    "description": "what it is, in one line",
    "author": "who holds the copyright: a name, or Name <mail@address>",
    "licence": "Apache-2.0 (the default), MIT, BSD-3-Clause or none",
    "cuda": "auto (the default): where nvcc is found; required or none",
    "sdk": "vendored (the default): a copy in the library; find_package: an installed kernkit",
    "ci": "GitHub (the default) or none",
}

HERE = pathlib.Path(__file__).resolve().parent


def template_folder() -> pathlib.Path:
    """The cookiecutter template: the wheel's, or this repository's."""
    for folder in (HERE / "template", HERE.parents[2] / "template"):
        if (folder / "cookiecutter.json").is_file():
            return folder
    raise Refusal(
        "the template is not here: this is a copy of kernkit's SDK inside a library; install "
        "kernkit, or use ./kk new of its repository"
    )


def questions() -> Dict[str, str]:
    """The template's questions with their default answers."""
    with open(template_folder() / "cookiecutter.json", encoding="utf-8") as stream:
        return {key: value for key, value in json.load(stream).items() if key[0] != "_"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library_name", metavar="NAME", help="library, namespace and package")
    for answer, text in OPTIONS.items():
        parser.add_argument(f"--{answer}", metavar="TEXT", help=text)
    parser.add_argument("--output", default=".", metavar="DIR", help="where the folder NAME goes")


def run(arguments: argparse.Namespace) -> int:
    from .update import begin  # which renders with this module

    answers = questions()
    for answer in answers:
        if getattr(arguments, answer) is not None:
            answers[answer] = getattr(arguments, answer)
    sentence = names.problem(answers)
    if sentence:
        raise Refusal(sentence)
    output = pathlib.Path(arguments.output).resolve()
    if not output.is_dir():
        raise Refusal(f"there is no folder {output}; make it, or name another with --output")
    if (output / arguments.library_name).exists():
        raise Refusal(
            f"{output / arguments.library_name} exists; choose another name or move it away"
        )
    render(answers, output)
    begin(output / arguments.library_name)
    print(f"{output / arguments.library_name} is ready: cd there and type ./kk all")
    return 0


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
