# SPDX-License-Identifier: Apache-2.0
"""The command line: `kernkit COMMAND`, or `python -m kernkit COMMAND` where it is not installed.

A command is a module of this package in COMMANDS. Its docstring is its help; `configure(parser)`
declares its arguments; `run(arguments)` does the work and returns the exit code. What the user can
mend is raised as Refusal and printed as one sentence.
"""

import argparse
import importlib
import pathlib
import sys
from typing import List, Optional

from .sdk import version

COMMANDS: List[str] = ["new", "add", "remove", "update", "doctor", "env", "bindings", "test", "run", "counters",
                       "sanitize", "gpu", "bench", "report", "compare", "cmakedir"]

EXIT_CODES = "exit codes: 0 done, 1 the answer is no, 2 the command line is wrong, 3 refused"


NOT_HERE = ("the template is not here: this is a copy of kernkit's SDK inside a library, which "
            "./kk update --from WHERE updates; or install kernkit (pip install PATH, of its repository "
            "or a wheel), which has kernkit new and update")  # fmt: skip


NOT_TAKEN = ("this copy of kernkit has not the part {0}, which has this command; type: ./kk update --with {0}, and "
             "--from WHERE, a checkout or wheel of kernkit, unless one is installed")  # fmt: skip
OF_A_PART = {**dict.fromkeys(("run", "counters", "sanitize"), NOT_TAKEN.format("ptx")), "gpu": NOT_TAKEN.format("gpu")}


def is_here(command: str) -> bool:
    """A library's copy leaves the commands that need the template, or a part that it has not taken."""
    return (pathlib.Path(__file__).parent / f"{command}.py").is_file()


class Refusal(Exception):
    """A sentence that says what is wrong and what to type instead; nothing has been done."""


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs one command line and returns its exit code, see EXIT_CODES."""
    parser = argparse.ArgumentParser(prog="kernkit", description=__doc__.splitlines()[0],
                                     epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"kernkit {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in filter(is_here, COMMANDS):
        module = importlib.import_module(f".{name}", __package__)
        text = module.__doc__ or ""
        module.configure(commands.add_parser(
            name, help=text.splitlines()[0], description=text, epilog=EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter))
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in COMMANDS and not is_here(words[0]):
        print("kernkit:", OF_A_PART.get(words[0], NOT_HERE), file=sys.stderr)
        return 3
    chosen = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # a file's name may hold what the terminal's encoding lacks
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return int(importlib.import_module(f".{chosen.command}", __package__).run(chosen))
    except Refusal as refusal:
        print(f"kernkit: {refusal}", file=sys.stderr)
        return 3
    except OSError as error:  # the disk is full, or a file changes while a command runs
        print(f"kernkit: {error.filename or chosen.command}: {error.strerror or error}", file=sys.stderr)
        return 3
    except RecursionError:
        print(f"kernkit: {chosen.command}: files or folders are nested too deeply", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("kernkit: interrupted", file=sys.stderr)
        return 130
