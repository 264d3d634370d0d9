# SPDX-License-Identifier: Apache-2.0
"""Finds places for small faults in source files, and selects some of them at random."""

import dataclasses
import pathlib
import random
import re
from typing import Dict, Iterator, List, Optional, Tuple

# Files in which no mutants are planted: headers that C code includes as well, and headers that only tests include.
LEFT_OUT = re.compile(
    r"kernkit/(abi|testing|base|host_api/any_tensor)|/include/kernkit_simulator/"
)
EXCHANGED = [
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" != ", " == "),
    (" && ", " || "),
    (" || ", " && "),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " + "),
    (" / ", " * "),
    (" % ", " / "),
]
EXCHANGED_IN_PYTHON = [
    *EXCHANGED[:6],
    (" and ", " or "),
    (" or ", " and "),
    (" is not ", " is "),
    (" is ", " is not "),
    (" not in ", " in "),
    (" - ", " + "),
    (" // ", " * "),
]


@dataclasses.dataclass
class Mutant:
    """A small change of an expression, and the outcome of the tests with this change."""

    file: str
    line: int  # line of the expression, counted from 1
    old: str
    new: str
    start: int  # offset of the expression in the file
    # Whether the expression is evaluated at compile time, so that the mutant cannot be selected at run time
    constant: bool = False
    fate: str = ""
    by: str = ""
    seconds: float = 0

    @property
    def is_python(self) -> bool:
        return self.file.endswith(".py")

    def change(self) -> str:
        """Returns the change in one line, without the common beginning and end of a long expression."""
        old, new = " ".join(self.old.split()), " ".join(self.new.split())
        return f"{old} -> {new}"


def expressions(text: str) -> Iterator[Tuple[int, str, bool, bool]]:
    """Yields (offset, text, is_constant, is_condition) of each condition, returned value and initial value in C++
    code."""
    starts = re.compile(
        r"^(?!\s*(?://|#|static_assert|using |template)).*?"
        r"(?:\b(?:if|while)(?P<constexpr> constexpr)? (?P<paren>\()|\breturn (?P<value>)"
        r"|\bfor \([^;]*; (?P<again>)|(?<![<>=!+*/%&|^-]) = (?P<initial>))",
        re.MULTILINE,
    )
    for match in starts.finditer(text):
        line = match[0]
        if "//" in line or "operator" in line:
            continue
        if match["paren"]:
            start, end = match.end("paren"), closing(text, match.start("paren"))
        else:
            start = match.end()
            end = text.find(";", start)
        inner = text[start:end]
        if not inner or len(inner) > 400 or re.search(r"""["'\\;{}#]|//|<<|[^=!<>]=[^=]""", inner):
            continue
        is_condition = match["paren"] is not None or match["again"] is not None
        constant = bool(match["constexpr"]) or "constexpr" in line
        yield start, inner, constant, is_condition


def closing(text: str, start: int) -> int:
    """Returns the offset of the parenthesis that closes the parenthesis at `start`."""
    depth = 0
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position
    return start


def python_expressions(text: str) -> Iterator[Tuple[int, str, bool, bool]]:
    """Yields the conditions and returned values of Python code, like expressions(). Python code in string literals is
    included."""
    starts = (
        r"^ *(?:el)?(?:if|while) (?P<condition>.+):$|\breturn (?P<value>(?:(?! for ).)+)$"
        r"| if (?P<choice>[^\[\]\n]+?)(?: else |\]$|\)$)"
    )
    for match in re.finditer(starts, text, re.MULTILINE):
        kind = match.lastgroup
        inner = match[kind]
        if "#" in inner or inner.count("(") != inner.count(")") or " for " in inner:
            continue
        yield match.start(kind), inner, False, kind != "value"


def outside_quotes(text: str, at: int) -> bool:
    return text[:at].count('"') % 2 == 0 and text[:at].count("'") % 2 == 0


def candidates(root: pathlib.Path, files: List[str], folders: List[str]) -> List[Mutant]:
    """Returns all mutants of the files in the folders, sorted by file."""
    result = []
    for name in sorted(files):
        is_python = name.endswith(".py")
        if not name.startswith(tuple(folders)) or LEFT_OUT.search(name):
            continue
        if not re.search(r"\.(h|cc|cu|cuh|py)$", name):
            continue
        text = (root / name).read_text()
        expressions_found = (python_expressions if is_python else expressions)(text)
        for start, old, constant, is_condition in expressions_found:

            def add(new: str, at: int) -> None:
                line = text.count("\n", 0, start + at) + 1
                result.append(Mutant(name, line, old, new, start, constant))

            for operator, replacement in EXCHANGED_IN_PYTHON if is_python else EXCHANGED:
                pattern = re.escape(operator.rstrip()) + r"\s(?!not )"  # a line break may follow the operator
                for match in re.finditer(pattern, old):
                    at = match.start()
                    if outside_quotes(old, at):
                        add(old[:at] + replacement.rstrip() + old[match.end() - 1 :], at)
            for digit in re.finditer(r"(?<=[=<>+-] )[01]\b(?!\.)", old):
                add(f"{old[: digit.start()]}{int(digit[0]) + 1}{old[digit.end() :]}", digit.start())
            if is_condition:
                add("False" if is_python else "false", 0)
                add(f"not ({old})" if is_python else f"!({old})", 0)
    return result


def draw(mutants: List[Mutant], folders: List[str], count: int, seed: int) -> List[Mutant]:
    """Draws the same number of mutants from each folder, and at most one mutant of each expression."""
    chosen: List[Mutant] = []
    for number, folder in enumerate(folders):
        candidates = [mutant for mutant in mutants if mutant.file.startswith(folder)]
        random.Random(f"{seed} {folder}").shuffle(candidates)
        by_position: Dict[Tuple[str, int], Mutant] = {}
        for mutant in candidates:
            by_position.setdefault((mutant.file, mutant.start), mutant)
        share = count // len(folders) + (number < count % len(folders))
        chosen += list(by_position.values())[:share]
    return chosen


def find(mutant: Mutant, mutants: List[Mutant]) -> Optional[Mutant]:
    """Returns the mutant in `mutants`, the mutants of this tree, that makes the same change as `mutant` of another
    tree. The path and the line of the file may differ. Returns None if no mutant matches."""
    alike = [
        m
        for m in mutants
        if m.old == mutant.old
        and m.new == mutant.new
        and pathlib.Path(m.file).name == pathlib.Path(mutant.file).name
    ]
    same_file = [m for m in alike if m.file == mutant.file]
    return min(same_file or alike, key=lambda m: abs(m.line - mutant.line), default=None)


def planted(text: str, mutants: Dict[int, Mutant]) -> str:
    """Returns C++ code with all mutants, one of which a number selects at run time. Line numbers do not change."""
    for number, mutant in sorted(mutants.items(), key=lambda item: -item[1].start):
        end = mutant.start + len(mutant.old)
        assert text[mutant.start : end] == mutant.old, mutant
        old, new = " ".join(mutant.old.split()), " ".join(mutant.new.split())
        choice = (
            f"(__builtin_is_constant_evaluated() ? ({old}) : "
            f"kernkit_mutant({number}) ? ({new}) : ({old}))"
        )
        text = text[: mutant.start] + choice + "\n" * mutant.old.count("\n") + text[end:]
    return text


def changed(text: str, mutant: Mutant) -> str:
    """Returns the file's text with only this mutant."""
    end = mutant.start + len(mutant.old)
    assert text[mutant.start : end] == mutant.old, mutant
    return text[: mutant.start] + mutant.new + text[end:]
