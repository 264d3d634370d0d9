# SPDX-License-Identifier: Apache-2.0
"""The command line: `kernkit COMMAND`, or `python -m kernkit COMMAND` where it is not installed.

A command is a module of this package in COMMANDS. Its docstring is its help; `configure(parser)`
declares its arguments; `run(arguments)` does the work and returns the exit code. What the user can
mend is raised as Refusal and printed as one sentence.
"""

import argparse
import importlib
import sys
from typing import List, Optional

from .sdk import version

COMMANDS: List[str] = ["new", "add", "update", "doctor", "bindings", "test", "bench", "report",
                       "compare", "cmakedir"]

EXIT_CODES = "exit codes: 0 done, 1 the answer is no, 2 the command line is wrong, 3 refused"


class Refusal(Exception):
    """A sentence that says what is wrong and what to type instead; nothing has been done."""


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs one command line and returns its exit code, see EXIT_CODES."""
    parser = argparse.ArgumentParser(prog="kernkit", description=__doc__.splitlines()[0],
                                     epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"kernkit {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f".{name}", __package__)
        text = module.__doc__ or ""
        module.configure(commands.add_parser(
            name, help=text.splitlines()[0], description=text, epilog=EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter))
    chosen = parser.parse_args(arguments)
    try:
        return int(importlib.import_module(f".{chosen.command}", __package__).run(chosen))
    except Refusal as refusal:
        print(f"kernkit: {refusal}", file=sys.stderr)
        return 3
