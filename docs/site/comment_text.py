# SPDX-License-Identifier: Apache-2.0
"""Converts the plain text of a comment, of a docstring or of a help text to Markdown."""

import re
from typing import List

# Parts of a text that Markdown needs in another form: code in backticks, a word with a placeholder such as
# <library>_test, an option, the path of a page, and a sign with a meaning in Markdown.
_SPECIAL = re.compile(
    r"(?P<code>`[^`]+`)|(?P<placeholder>[\w./:-]*<[\w ./-]+>[\w./:<>-]*\w|[\w./:-]*<[\w ./-]+>)"
    r"|\bdocs/(?P<page>[\w-]+\.md)|(?<![\w-])(?P<option>--[a-z][\w-]*)|(?P<sign>[*\[\]<]|(?<!\w)_|_(?!\w))"
)


def escaped(text: str) -> str:
    """Returns the Markdown of a text in one line: signs are escaped, code stays code, and paths of pages become
    links."""

    def replaced(found: "re.Match[str]") -> str:
        if found["code"]:
            return found[0]
        if found["page"]:
            return f"[`{found[0]}`](/docs/{found['page']})"
        return "\\" + found[0] if found["sign"] else f"`{found[0]}`"

    return _SPECIAL.sub(replaced, text)


def list_of(lines: List[str]) -> str:
    """Returns a Markdown list for indented lines of the form `name text`, and a code block for other indented lines."""
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
    """Returns the Markdown of a text of several lines. A block that is indented by two spaces or more is a list or
    code."""
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
