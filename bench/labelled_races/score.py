# SPDX-License-Identifier: Apache-2.0
"""The score of a tool on labelled programs."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from labels import Label


class Row(NamedTuple):
    program: str
    label: Label
    races: Optional[bool]  # whether racecheck has a finding; None without a result
    invalid: Optional[bool]  # whether memcheck has a finding; None without a result
    text: str  # first finding of racecheck, or the reason why there is no result
    seconds: float  # time of the run [s]


class Score(NamedTuple):
    racy: int  # labelled programs
    found: int
    clean: int  # programs without any fault
    false_alarms: int
    invalid: int
    invalid_found: int
    unsupported: int
    seconds: float  # time of all runs [s]


def score_of(rows: List[Row]) -> Score:
    racy = [row for row in rows if row.label.racy]
    clean = [row for row in rows if not row.label.racy and not row.label.invalid]
    invalid = [row for row in rows if row.label.invalid]
    return Score(len(racy), sum(row.races is True for row in racy), len(clean), sum(row.races is True for row in clean),
                 len(invalid), sum(row.invalid is True for row in invalid), sum(row.races is None for row in rows),
                 sum(row.seconds for row in rows))  # fmt: skip


def as_markdown(files: List[Tuple[Dict[str, Any], List[Row]]]) -> str:
    """A table with a row for each file, and the programs whose verdict differs from their label."""
    lines = ["| suite | arguments | level | racy programs found | missed | false alarms in clean programs | programs with an access out of "
             "bounds found | unsupported | time [s] |", "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for context, rows in files:
        score = score_of(rows)
        lines.append(f"| {context['suite']} | {context['arguments']} | {context['level']} | {score.found} of {score.racy} | "
                     f"{score.racy - score.found} | {score.false_alarms} of {score.clean} | {score.invalid_found} of {score.invalid} | "
                     f"{score.unsupported} | {score.seconds:.0f} |")  # fmt: skip
    lines += ["", "Verdicts that differ from the label:", ""]
    for context, rows in files:
        for row in sorted(rows, key=lambda row: row.program):
            if row.label.racy and not row.races:
                lines.append(f"- {context['suite']}: {row.program}: missed {row.text}".rstrip())
            elif row.races and not row.label.racy and not row.label.invalid:
                lines.append(f"- {context['suite']}: {row.program}: reported: {row.text}")
    return "\n".join(lines) + "\n"
