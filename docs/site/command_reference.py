# SPDX-License-Identifier: Apache-2.0
"""Expands two fenced directives of pages: `{command} new` becomes the reference of a command of kernkit and its
arguments, and `{driver} repository` the help of ./kk."""

import argparse
import importlib
from typing import Any, Dict, List

from comment_text import escaped, markdown
from fences import write_fence
from sphinx.application import Sphinx


def commands() -> List[str]:
    """Returns the names of kernkit's commands."""
    return list(importlib.import_module("kernkit.cli").COMMANDS)


def parser_of(command: str) -> argparse.ArgumentParser:
    """Returns a parser of the command's arguments. Raises ValueError if kernkit has no such command."""
    if command not in commands():
        raise ValueError(f"kernkit has no command {command}")
    module = importlib.import_module(f"kernkit.commands.{command}")
    parser = argparse.ArgumentParser(prog=f"kernkit {command}", description=module.__doc__, add_help=False,
                                     formatter_class=lambda prog: argparse.HelpFormatter(prog, width=100))  # fmt: skip
    module.add_arguments(parser)
    return parser


def arguments_of(parser: argparse.ArgumentParser) -> List[argparse.Action]:
    """Returns the arguments of a parser that the help shows."""
    return [action for action in parser._actions if action.help != argparse.SUPPRESS]


def spelling(action: argparse.Action) -> str:
    """Returns an argument as the help shows it: `--with LIST`, `NAME`."""
    value = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper())
    value = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return value
    return ", ".join(action.option_strings) + (f" {value}" if action.nargs != 0 else "")


def help_of(action: argparse.Action) -> str:
    text = (action.help or "").replace("%(default)s", str(action.default))
    text = text[:1].upper() + text[1:] if not text.startswith(("auto", "find_package")) else text
    return escaped(text)


def command_reference(command: str) -> str:
    """Returns the Markdown of a command: its usage, its description and its arguments."""
    parser = parser_of(command)
    first, *others = parser.format_usage().removeprefix("usage: ").rstrip().split("\n")
    usage = "\n".join([first, *(line.removeprefix(" " * len("usage: ")) for line in others)])
    parts = [f"## kernkit {command}", f"```text\n{usage}\n```", markdown((parser.description or "").strip()),
             f"```{{program}} kernkit {command}\n```"]  # fmt: skip
    parts += [f"```{{option}} {spelling(action)}\n\n{help_of(action)}\n```" for action in arguments_of(parser)]
    return "\n\n".join(parts)


def driver_reference(driver: str) -> str:
    """Returns the Markdown with the help of ./kk: `driver` is "repository" or "library"."""
    return "```text\n" + importlib.import_module(f"kernkit.driver.{driver}").USAGE + "```"


def setup(app: Sphinx) -> Dict[str, Any]:
    write_fence(app, "command", command_reference)
    write_fence(app, "driver", driver_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
