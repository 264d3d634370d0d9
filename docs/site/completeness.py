# SPDX-License-Identifier: Apache-2.0
"""Compares the reference's pages with the public names: every name is on exactly one page and has a comment."""

import collections
import pathlib
import re
from typing import Dict, List, Set

from cmake_functions import public_functions
from command_reference import arguments_of, commands, parser_of, spelling
from comment_rules import fault_of
from public_headers import public_headers, public_macros, source_of
from symbols import Symbol, public_symbols

_ANCHOR = re.compile(r'\bid="([^"]+)"')


def pages_of_anchors(html: pathlib.Path) -> Dict[str, Set[str]]:
    """Returns {anchor: names of the pages of the reference that have the anchor}."""
    found: Dict[str, Set[str]] = collections.defaultdict(set)
    for path in (html / "docs/reference").glob("*.html"):
        for anchor in _ANCHOR.findall(path.read_text(encoding="utf-8")):
            found[anchor].add(path.stem)
    return found


def place(symbol: Symbol) -> str:
    return f"{source_of(symbol.header)}:{symbol.line}: {symbol.kind} {symbol.declaration}"


def headers_without_page(symbols: List[Symbol], pages: Dict[str, Set[str]]) -> Set[str]:
    """Returns the headers that have public names, none of which is on a page."""
    shown = {symbol.header for symbol in symbols if symbol.identity in pages}
    return {symbol.header for symbol in symbols} - shown


def problems_of_headers(symbols: List[Symbol], pages: Dict[str, Set[str]]) -> List[str]:
    unlisted = headers_without_page(symbols, pages)
    found = [f"{source_of(header)}: no page; add {{header}} {header} to a page of docs/reference/"
             for header in sorted(unlisted)]  # fmt: skip
    for symbol in symbols:
        on = pages.get(symbol.identity, set())
        is_shown = symbol.comment or symbol.needs_comment
        if len(on) != 1 and is_shown and symbol.header not in unlisted:
            found.append(f"{place(symbol)}: on {len(on)} pages ({', '.join(sorted(on)) or 'none'}), expected 1")
    return found


def comment_problems(symbols: List[Symbol]) -> List[str]:
    return [f"{place(symbol)}: {fault}" for symbol in symbols if (fault := fault_of(symbol))]


def hidden_macros(symbols: List[Symbol]) -> List[str]:
    """Returns a sentence for each public macro that Doxygen does not list, for example a macro in an inactive branch
    of the preprocessor."""
    listed = {symbol.name for symbol in symbols if symbol.kind == "macro"}
    found = []
    for header in public_headers():
        for name in public_macros(header):
            if name not in listed:
                found.append(f"{source_of(header)}: macro {name} is not listed by Doxygen; define the macro in an active branch of the preprocessor")
    return found


def problems_of_cmake(pages: Dict[str, Set[str]]) -> List[str]:
    found = []
    for function in public_functions():
        at = f"sdk/cmake/{function.file}: {function.name}()"
        if f"command:{function.name}" not in pages:
            found.append(f"{at}: no page; add {{cmake-file}} {function.file} to docs/reference/cmake.md")
        if not function.signature or not function.text:
            found.append(f"{at}: its comment must have the call with its arguments, an empty line and a description")
    return found


def problems_of_commands(pages: Dict[str, Set[str]]) -> List[str]:
    found = []
    for command in commands():
        if f"kernkit-{command}" not in pages:
            found.append(f"kernkit {command}: no page; add {{command}} {command} to docs/reference/commands.md")
        for action in arguments_of(parser_of(command)):
            if not re.sub(r"\(?default: .*", "", action.help or "").strip():
                found.append(f"kernkit {command}: {spelling(action)}: no help text besides a default")
    return found


def problems(xml: pathlib.Path, html: pathlib.Path) -> List[str]:
    """Returns a sentence for each public name without a page, without a comment or on several pages."""
    symbols, pages = public_symbols(xml), pages_of_anchors(html)
    return [*problems_of_headers(symbols, pages), *comment_problems(symbols), *hidden_macros(symbols),
            *problems_of_cmake(pages), *problems_of_commands(pages)]  # fmt: skip
