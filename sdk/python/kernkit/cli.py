# SPDX-License-Identifier: Apache-2.0
"""The command line: `kernkit COMMAND`, or `python -m kernkit COMMAND` if kernkit is not installed.

A command is a module of `commands`, in the order of COMMANDS. The module's docstring is the help,
`add_arguments(parser)` declares the arguments, and `run(arguments)` does the work and returns the exit code.
main() prints a UserError as one sentence.
"""

import argparse
import importlib
import pathlib
import sys
from typing import List, Optional

from . import commands as command_modules
from .errors import UserError
from .sdk import NO_DEVELOPMENT, NO_TEMPLATE, version, without_component

COMMANDS: List[str] = ["new", "add", "remove", "update", "doctor", "conformance", "env", "bindings", "test", "run", "calls", "replay", "counters",
                       "sanitize", "gpu", "bench", "report", "compare", "cmakedir"]

EXIT_CODES = "exit codes: 0 done, 1 negative result, 2 wrong command line, 3 error, explained in one sentence"


_COMPONENT_OF = {**dict.fromkeys(("run", "counters", "sanitize"), "ptx"), "gpu": "gpu"}


def is_here(command: str) -> bool:
    """Returns whether this copy of kernkit has the command. A library's copy lacks the commands that need the template,
    and the commands of components that the library did not choose."""
    return any(pathlib.Path(folder, f"{command}.py").is_file() for folder in command_modules.__path__)


def why_not_here(command: str) -> str:
    """Returns the message of the error for a command that this copy of kernkit lacks."""
    if not is_here("test"):
        return NO_DEVELOPMENT.format(command=command)
    component = _COMPONENT_OF.get(command)
    return without_component(component) if component else NO_TEMPLATE


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs one command line and returns its exit code, see EXIT_CODES."""
    parser = argparse.ArgumentParser(prog="kernkit", description=__doc__.splitlines()[0],
                                     epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"kernkit {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    argv = sys.argv[1:] if arguments is None else arguments
    named = [name for name in argv[:1] if name in COMMANDS]
    if named and not is_here(named[0]):
        print("kernkit:", why_not_here(named[0]), file=sys.stderr)
        return 3
    for name in named or filter(is_here, COMMANDS):  # only the named command, because importing all commands takes 0.25 s
        module = importlib.import_module(f".commands.{name}", __package__)
        text = module.__doc__ or ""
        module.add_arguments(commands.add_parser(
            name, help=text.splitlines()[0], description=text, epilog=EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter))
    chosen = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # names of files can contain characters that the terminal's encoding lacks
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return int(importlib.import_module(f".commands.{chosen.command}", __package__).run(chosen))
    except UserError as error:
        print(f"kernkit: {error}", file=sys.stderr)
        return 3
    except OSError as error:  # an error of the operating system, such as a full disk
        print(f"kernkit: {error.filename or chosen.command}: {error.strerror or error}", file=sys.stderr)
        return 3
    except RecursionError:
        print(f"kernkit: {chosen.command}: files or folders are nested too deeply", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("kernkit: interrupted", file=sys.stderr)
        return 130
