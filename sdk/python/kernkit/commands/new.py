# SPDX-License-Identifier: Apache-2.0
"""Start a kernel library from the template, in ./NAME.

The library is a git repository whose first commit, in the name that git has for you, is what was
rendered, unless it lies in another repository or --no-git is said. Every answer is checked before anything is written or run. The same questions are asked by
`cookiecutter PATH/template`.
"""

import argparse
import os
import pathlib

from ..errors import UserError
from ..project import names
from ..scaffold import components
from ..scaffold.rendering import questions, render, vendored_sdk
from .update import begin

OPTIONS = {
    "description": "what it is, in one line",
    "author": "who holds the copyright: a name, or Name <mail@address>",
    "licence": "Apache-2.0 (the default), MIT, BSD-3-Clause or none",
    "cuda": "auto (the default): where nvcc is found; required or none",
    "sdk": "vendored (the default): a copy in the library; find_package: an installed kernkit",
    "ci": "GitHub (the default) or none",
    "parts": "parts of the SDK besides the default ones (ptx), as in plots,frameworks",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library_name", metavar="NAME", help="library, namespace and package")
    for answer, text in OPTIONS.items():
        option = "with" if answer == "parts" else answer
        parser.add_argument(f"--{option}", dest=answer, metavar="TEXT", help=text)
    parser.add_argument("--without", metavar="LIST", default="", help="default parts of the SDK to leave out: ptx, by "
                        "which CUDA tests run what nvcc compiled")  # fmt: skip
    parser.add_argument("--no-git", action="store_true", help="make no git repository, no commit")
    parser.add_argument("--output", default=".", metavar="DIR", help="where the folder NAME goes")


def parts_of(default: str, arguments: argparse.Namespace) -> str:
    """The default parts but those left out, and those that were named. UserError: a part to leave out is no default
    part, or is also named by --with."""
    defaults, named = default.split(","), [part for part in (arguments.parts or "").split(",") if part]
    left_out = [part for part in arguments.without.split(",") if part]
    for part in left_out:
        if part not in defaults or part in named:
            reason = "is in --with" if part in named else f"is no default part; the default parts are {default}"
            raise UserError(f"--without: {part} {reason}")
    if arguments.cuda == "none":  # there are no CUDA tests
        left_out.append("ptx")
    kept = [part for part in defaults if part and part not in left_out]
    return ",".join([*kept, *(part for part in named if part not in kept)])


def run(arguments: argparse.Namespace) -> int:
    answers = questions()
    default = answers["parts"]
    for answer in answers:
        if getattr(arguments, answer) is not None:
            answers[answer] = getattr(arguments, answer)
    sentence = names.problem(answers) or components.problem(answers["parts"], str(vendored_sdk()))
    if sentence:
        raise UserError(sentence)
    answers["parts"] = parts_of(default, arguments)
    output = pathlib.Path(arguments.output).resolve()
    if not output.is_dir():
        raise UserError(f"there is no folder {output}; make it, or name another with --output")
    if os.path.lexists(output / arguments.library_name):
        raise UserError(
            f"{output / arguments.library_name} exists; choose another name or move it away"
        )
    render(answers, output)
    if not arguments.no_git:
        print(begin(output / arguments.library_name))
    folder = output / arguments.library_name
    if answers["sdk"] == "find_package":
        print(f"{folder} is ready: cd there and type PIP_FIND_LINKS=FOLDER ./kk all, where FOLDER holds the "
              "wheel of kernkit, since no package index has kernkit")  # fmt: skip
    else:
        print(f"{folder} is ready: cd there and type ./kk all")
    return 0
