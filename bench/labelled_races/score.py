# SPDX-License-Identifier: Apache-2.0
"""Scores the findings of racecheck, memcheck and initcheck on labelled programs, and writes the scores as Markdown."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from labels import MEMBER_OF_KIND, Label, kinds_of_indigo3


class Row(NamedTuple):
    program: str
    label: Label
    races: Optional[bool]  # whether racecheck has a finding; None without a result
    invalid: Optional[bool]  # whether memcheck has a finding; None without a result
    text: str  # first finding of racecheck (for a clean program, of any tool), or the reason why there is no result
    seconds: float  # time of the run [s]
    uninitialised: Optional[bool] = None  # whether initcheck has a finding; None if the tool is off
    # Counts from a log of the program's accesses: "races" counts words with unordered accesses, "invalid" accesses
    # outside of allocations, and "uninitialised" loads of words that nothing has written. None without a log.
    logged: Optional[Dict[str, int]] = None


class Score(NamedTuple):
    racy: int  # programs with a race, according to their labels
    found: int
    clean: int  # programs without any fault
    false_alarms: int
    invalid: int
    invalid_found: int
    uninitialised: int
    uninitialised_found: int
    unsupported: int
    seconds: float  # time of all runs [s]


def score_of(rows: List[Row]) -> Score:
    racy = [row for row in rows if row.label.racy]
    clean = [row for row in rows if row.label.is_clean()]
    invalid = [row for row in rows if row.label.invalid]
    uninitialised = [row for row in rows if row.label.uninitialised]
    return Score(len(racy), sum(row.races is True for row in racy), len(clean), sum(has_finding(row) for row in clean),
                 len(invalid), sum(row.invalid is True for row in invalid), len(uninitialised),
                 sum(row.uninitialised is True for row in uninitialised), sum(row.races is None for row in rows),
                 sum(row.seconds for row in rows))  # fmt: skip


def has_finding(row: Row) -> bool:
    return bool(row.races or row.invalid or row.uninitialised)


def kinds_as_markdown(rows: List[Row]) -> List[str]:
    """Returns the lines of a table with a row for each kind of bug in Indigo3's programs: the number of programs, and
    the numbers of programs with a finding of each tool. A program with several bugs counts in several rows. A bug
    without a finding of the kind's tool counts as missed, or as not triggered if the log of the program's accesses
    contains no access of this kind. A kind that no tool is designed to find has "no tool" in place of both counts."""
    lines = ["", "| kind | programs | racecheck | memcheck | initcheck | no finding | not triggered | missed |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    of_kind: Dict[str, List[Row]] = {}
    for row in rows:
        for kind in kinds_of_indigo3(row.program) or {"none"}:
            of_kind.setdefault(kind, []).append(row)
    for kind, programs in sorted(of_kind.items()):
        counts = [sum(getattr(row, name) is True for row in programs) for name in ("races", "invalid", "uninitialised")]
        silent = sum(not has_finding(row) for row in programs)
        member = MEMBER_OF_KIND.get(kind)
        without = [row for row in programs if member is not None and getattr(row, member) is not True]
        untriggered = sum(row.logged is not None and row.logged[str(member)] == 0 for row in without)
        last = "no tool | no tool" if member is None else f"{untriggered} | {len(without) - untriggered}"
        lines.append(f"| {kind} | {len(programs)} | {' | '.join(map(str, counts))} | {silent} | {last} |")
    return lines


def as_markdown(files: List[Tuple[Dict[str, Any], List[Row]]]) -> str:
    """Returns Markdown: a table with a row for each file, and a list of the programs whose verdict differs from their
    label."""
    lines = ["| suite | arguments | level | racy programs found | missed | false alarms in clean programs | programs with an access out of "
             "bounds found | programs with uninitialised memory found | unsupported | time [s] |", "|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for context, rows in files:
        score = score_of(rows)
        lines.append(f"| {context['suite']} | {context['arguments']} | {context['level']} | {score.found} of {score.racy} | "
                     f"{score.racy - score.found} | {score.false_alarms} of {score.clean} | {score.invalid_found} of {score.invalid} | "
                     f"{score.uninitialised_found} of {score.uninitialised} | {score.unsupported} | {score.seconds:.0f} |")  # fmt: skip
    for context, rows in files:
        lines += kinds_as_markdown(rows) if context["suite"] == "indigo3" else []
    lines += ["", "Verdicts that differ from the label:", ""]
    for context, rows in files:
        for row in sorted(rows, key=lambda row: row.program):
            if row.label.racy and not row.races:
                lines.append(f"- {context['suite']}: {row.program}: missed {row.text}".rstrip())
            elif has_finding(row) and row.label.is_clean():
                lines.append(f"- {context['suite']}: {row.program}: reported: {row.text}")
    return "\n".join(lines) + "\n"
