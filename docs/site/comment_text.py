# SPDX-License-Identifier: Apache-2.0
"""Markdown for the plain text of a comment, of a docstring or of a help text."""

import re
from typing import List

# Code in backticks, a word with a placeholder such as <library>_test, an option, a page, a sign with a meaning in Markdown.
_SPECIAL = re.compile(
    r"(?P<code>`[^`]+`)|(?P<placeholder>[\w./:-]*<[\w ./-]+>[\w./:<>-]*\w|[\w./:-]*<[\w ./-]+>)"
    r"|\bdocs/(?P<page>[\w-]+\.md)|(?<![\w-])(?P<option>--[a-z][\w-]*)|(?P<sign>[*\[\]<]|(?<!\w)_|_(?!\w))"
)


def escaped(text: str) -> str:
    """A text in one line, without a meaning in Markdown besides code in backticks. Pages become links."""

    def replaced(found: "re.Match[str]") -> str:
        if found["code"]:
            return found[0]
        if found["page"]:
            return f"[`{found[0]}`](/docs/{found['page']})"
        return "\\" + found[0] if found["sign"] else f"`{found[0]}`"

    return _SPECIAL.sub(replaced, text)


def list_of(lines: List[str]) -> str:
    """A list for an indented table, `name  text`; other indented lines are code."""
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    rows: List[List[str]] = []
    for line in (line[margin:] for line in lines):
        row = None if line.startswith(" ") else re.fullmatch(r"(\S+(?:,? \S+)*)  +(\S.*)", line)
        if row:
            rows.append([row[1], row[2]])
        elif rows and line.startswith("   "):
            rows[-1][1] += " " + line.strip()
        else:
            return "```text\n" + "\n".join(line[margin:] for line in lines) + "\n```"
    return "\n".join(f"- `{name.replace('`', '')}`: {escaped(text)}" for name, text in rows)


def markdown(text: str) -> str:
    """Paragraphs, lists and code blocks of a text. A block that is indented by two spaces or more is a list or code."""
    parts: List[str] = []
    block: List[str] = []

    def end_block() -> None:
        if block:
            parts.append(list_of(block) if block[0].startswith("  ") else escaped(" ".join(block)))
        block.clear()

    for line in text.split("\n"):
        if not line.strip() or (block and line.startswith("  ") != block[0].startswith("  ")):
            end_block()
        if line.strip():
            block.append(line.rstrip())
    end_block()
    return "\n\n".join(parts)
