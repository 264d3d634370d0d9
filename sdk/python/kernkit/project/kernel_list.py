# SPDX-License-Identifier: Apache-2.0
"""Finds and removes calls of kernkit_add_kernel() in a CMakeLists.txt, without other changes."""

import contextlib
import re
from typing import Iterator, List, NamedTuple

from ..errors import UserError

PATH = "kernels/CMakeLists.txt"
_BRACKET = re.compile(r"\[(=*)\[.*?\]\1\]", re.DOTALL)
_COMMENT = re.compile(r"#(?:\[(=*)\[.*?\]\1\]|[^\n]*)", re.DOTALL)
_COMMAND = re.compile(r"([A-Za-z_]\w*)[ \t]*\(")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_UNQUOTED = re.compile(r'(?:[^\s()#"\\]|\\.)+', re.DOTALL)


class Call(NamedTuple):
    """A CMake command with its arguments, at text[begin:end]."""

    command: str  # name in lower case, as CMake ignores case
    arguments: List[str]
    begin: int
    end: int


def calls(text: str) -> Iterator[Call]:
    """Yields the CMake commands in `text`, in order. Raises ValueError if a command has no closing
    parenthesis."""
    at = 0
    while at < len(text):
        if match := _COMMENT.match(text, at):
            at = match.end()
        elif match := _COMMAND.match(text, at):
            arguments, end = _arguments(text, match.end())
            yield Call(match[1].lower(), arguments, at, end)
            at = end
        else:
            at += 1


def _arguments(text: str, at: int) -> "tuple[List[str], int]":
    """Reads the arguments of a command from the offset `at`, which follows "(". Returns (arguments, offset after the
    closing ")"). Raises ValueError if there is no closing ")"."""
    arguments: List[str] = []
    depth = 1
    while at < len(text):
        if match := _COMMENT.match(text, at):
            at = match.end()
        elif match := _BRACKET.match(text, at):
            equals = len(match[1]) + 2
            arguments.append(match[0][equals:-equals])
            at = match.end()
        elif match := _QUOTED.match(text, at):
            arguments.append(match[0][1:-1])
            at = match.end()
        elif match := _UNQUOTED.match(text, at):
            arguments.append(match[0])
            at = match.end()
        else:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
            if depth == 0:
                return arguments, at
    raise ValueError("a command has no closing parenthesis")


def _adding(text: str, op: str) -> List[Call]:
    return [call for call in calls(text) if call.command == "kernkit_add_kernel" and call.arguments[1:2] == [op]]


def adds(text: str, op: str) -> bool:
    """Returns whether a call of kernkit_add_kernel() in `text` adds the op. Raises ValueError if a command in `text`
    has no closing parenthesis."""
    return bool(_adding(text, op))


def users(text: str, op: str) -> List[str]:
    """Returns the ops whose calls of kernkit_add_kernel() name `op` after USES. Raises ValueError if a command in
    `text` has no closing parenthesis."""
    names = []
    for call in calls(text):
        keyword = ""
        for argument in call.arguments[2:]:
            keyword = argument if argument.isupper() else keyword
            if call.command == "kernkit_add_kernel" and keyword == "USES" and argument == op:
                names.append(call.arguments[1])
    return names


def without(text: str, op: str) -> str:
    """Returns `text` without the calls that add the op. A line of such a call that then contains only a comment is
    removed as well. Raises ValueError if a command in `text` has no closing parenthesis."""
    for call in reversed(_adding(text, op)):
        first = text.rfind("\n", 0, call.begin) + 1
        last = text.find("\n", call.end)
        last = len(text) if last < 0 else last
        before, after = text[first : call.begin], text[call.end : last]
        is_rest_empty = re.fullmatch(r"\s*(#(?!\[=*\[).*)?", after)
        if not before.strip() and is_rest_empty:
            text = text[:first] + text[last + 1 :]
        elif is_rest_empty:
            text = text[:first] + before.rstrip() + after + text[last:]
        else:
            text = text[: call.begin] + after.lstrip() + text[last:]
    return text


@contextlib.contextmanager
def errors_of_user(path: str) -> Iterator[None]:
    """Raises UserError in place of a FileNotFoundError or ValueError of the block, which reads and parses the file.
    `path`: name of the file in the message about a missing file."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{path} is missing; restore it from git") from None
    except ValueError as error:
        raise UserError(f"{PATH}: {error}; correct the file first") from None
