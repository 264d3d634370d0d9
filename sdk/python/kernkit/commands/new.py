# SPDX-License-Identifier: Apache-2.0
"""Create a kernel library from the template, in ./NAME.

The library becomes a git repository, whose first commit is the rendering, unless the folder is in another repository or
--no-git is given. The committer comes from git's settings. Every option is checked before anything is written or run.
`cookiecutter PATH/template` has the same questions.
"""

import argparse
import os
import pathlib
from typing import Dict

from ..errors import UserError
from ..project import names
from ..scaffold import components, history
from ..scaffold.rendering import questions, render, sdk_files

OPTIONS = {
    "description": "description of the library, in one line",
    "author": "holder of the copyright: a name, or Name <mail@address>",
    "licence": "licence of the library: Apache-2.0 (the default), MIT, BSD-3-Clause or none",
    "cuda": "whether the library is built with CUDA: auto (the default, if nvcc is found), required or none",
    "sdk": "the SDK that the library uses: vendored (the default, a copy in the library) or find_package (an installed kernkit)",
    "ci": "service for continuous integration: GitHub (the default) or none",
    "parts": "comma-separated components of kernkit to add to the default components ptx and dev, for example plots,frameworks",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library_name", metavar="NAME", help="name of the library, of its C++ namespace and of its Python package")
    for answer, text in OPTIONS.items():
        option = "with" if answer == "parts" else answer
        parser.add_argument(f"--{option}", dest=answer, metavar="TEXT", help=text)
    parser.add_argument("--without", metavar="LIST", default="", help="comma-separated default components of kernkit to leave out: ptx "
                        "(CUDA tests run the PTX of nvcc); dev (a copy of contract tests, simulator and command line; without dev the "
                        "library uses an installed kernkit)")  # fmt: skip
    parser.add_argument("--no-git", action="store_true", help="do not make a git repository")
    parser.add_argument("--output", default=".", metavar="DIR", help="the folder in which the folder NAME is made (default: the current folder)")


def chosen_components(default: str, arguments: argparse.Namespace) -> Dict[str, str]:
    """Returns the answers for a library with the default components and the components of --with, but without the
    components of --without. Raises UserError if --without names a component that is not a default component, or
    that is also in --with."""
    defaults = [*default.split(","), components.DEVELOPMENT]
    named, left_out = components.listed(arguments.parts or ""), components.listed(arguments.without)
    for name in left_out:
        if name not in defaults or name in named:
            reason = "is in --with" if name in named else "is not a default component; the default components are " + ", ".join(defaults)
            raise UserError(f"--without: {name} {reason}")
    if arguments.cuda == "none":  # the library has no CUDA tests
        if "torch_tests" in named:
            raise UserError("--with: torch_tests tests CUDA kernels, and --cuda none is a library without CUDA: leave out --cuda none, "
                            "or torch_tests")  # fmt: skip
        left_out.append("ptx")
    selected = [name for name in defaults if name and name not in left_out]
    return components.as_answers([*selected, *(name for name in named if name not in selected)])


def run(arguments: argparse.Namespace) -> int:
    answers = questions()
    default = answers["parts"]
    for answer in answers:
        if (answer_of_option := getattr(arguments, answer, None)) is not None:
            answers[answer] = components.with_underscores(answer_of_option) if answer == "parts" else answer_of_option
    if sentence := names.problem(answers):
        raise UserError(sentence)
    answers.update(chosen_components(default, arguments))
    if sentence := components.problem(answers["parts"], sdk_files()):
        raise UserError(sentence)
    output = pathlib.Path(arguments.output).resolve()
    if not output.is_dir():
        raise UserError(f"--output: folder {output} not found; make the folder, or name an existing folder")
    if os.path.lexists(output / arguments.library_name):
        raise UserError(
            f"{output / arguments.library_name} exists; choose another name or move it away"
        )
    render(answers, output)
    if not arguments.no_git:
        print(history.begin(output / arguments.library_name))
    folder = output / arguments.library_name
    if answers["sdk"] == "find_package" or answers["dev"] == "installed":
        print(f"{folder} is ready: cd there and run PIP_FIND_LINKS=FOLDER ./kk all, where FOLDER holds the "
              "wheel of kernkit, since no package index has kernkit")  # fmt: skip
    else:
        print(f"{folder} is ready: cd there and run ./kk all")
    return 0
