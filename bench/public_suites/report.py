# SPDX-License-Identifier: Apache-2.0
"""Writes the results of a run as JSON and as a Markdown page, and reads the JSON."""

import collections
import json
import pathlib
import re
from typing import Any, Dict, List, NamedTuple, Sequence

from outcomes import BEYOND, Kind, Outcome


class Result(NamedTuple):
    program: str
    outcome: Outcome
    arguments: List[str]  # arguments of the program in the run that gave the outcome
    seconds: float  # processor time of that run [s]


class Context(NamedTuple):
    """The conditions under which programs were selected and run."""

    suite: str  # name of the checkout's folder
    revision: str  # commit of the checkout, or ""
    selection: str  # description of how the programs were selected
    processor: str
    limit: int  # limit of the processor time of a run [s]


def judged(results: List[Result]) -> List[Result]:
    """Returns the results by which the simulator is judged: programs that were built, ended within the limit, had their
    input, and need no feature that the simulator lacks by design."""
    outside = (Kind.NOT_BUILT, Kind.SLOW, Kind.NO_INPUT, Kind.WAIVED)
    return [result for result in results if result.outcome.kind not in outside and not result.outcome.beyond]


_JUDGED = (Kind.RIGHT, Kind.RAN, Kind.REJECTED, Kind.FAULT, Kind.WRONG, Kind.CRASHED)
ROW_TITLES = ["suite", "programs", *(kind.value for kind in _JUDGED), "too slow", ", ".join(BEYOND), "not built, input missing, waived"]


def row(context: Context, results: List[Result]) -> str:
    """Returns the row of a Markdown table with the columns ROW_TITLES: the number of programs of each kind. A program
    that needs a feature that the simulator lacks by design counts only in that column."""
    within = counts([result for result in results if not result.outcome.beyond])
    others = [within[Kind.SLOW], sum(bool(result.outcome.beyond) for result in results),
              within[Kind.NOT_BUILT] + within[Kind.NO_INPUT] + within[Kind.WAIVED]]  # fmt: skip
    return _table_row([context.suite, len(results), *(within[kind] for kind in _JUDGED), *others])


def _table_row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def counts(results: List[Result]) -> Dict[Kind, int]:
    found = collections.Counter(result.outcome.kind for result in results)
    return {kind: found[kind] for kind in Kind}


def as_json(context: Context, results: List[Result]) -> str:
    rows: List[Dict[str, Any]] = [
        {"program": result.program, "outcome": result.outcome.kind.value, "reason": result.outcome.reason, "beyond": result.outcome.beyond,
         "arguments": result.arguments, "seconds": round(result.seconds, 1)}
        for result in results
    ]  # fmt: skip
    return json.dumps({"context": context._asdict(), "results": rows}, indent=1) + "\n"


def read_context(file: pathlib.Path) -> Context:
    """Reads the context from a file that as_json() wrote."""
    return Context(**json.loads(file.read_text())["context"])


def read_json(file: pathlib.Path) -> List[Result]:
    """Reads the results from a file that as_json() wrote; [] if the file does not exist."""
    if not file.is_file():
        return []
    return [Result(row["program"], Outcome(Kind(row["outcome"]), row["reason"], row["beyond"]), row["arguments"], row["seconds"])
            for row in json.loads(file.read_text())["results"]]  # fmt: skip


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")[:160]


def as_markdown(context: Context, results: List[Result]) -> str:
    """Returns a Markdown page: a table of counts, a table of causes with their programs, and a table of all
    programs."""
    share = judged(results)
    good = [result for result in share if result.outcome.kind in (Kind.RIGHT, Kind.RAN)]
    lines = [
        f"# {context.suite}", "",
        f"{len(results)} programs ({context.selection}), commit {context.revision or 'unknown'}, at most {context.limit} s of processor "
        f"time each, "
        f"processor: {context.processor}.", "",
        _table_row(ROW_TITLES), "|" + "---|" * len(ROW_TITLES), row(context, results), "",
        f"{len(good)} of {len(share)} programs are right or ran; left out are programs that were not built, were too slow, lack their "
        f"input, waived themselves, or need one of: {', '.join(BEYOND)}.", "",
    ]  # fmt: skip
    causes = collections.defaultdict(list)
    for result in results:
        if result.outcome.kind not in (Kind.RIGHT, Kind.RAN, Kind.SLOW):
            causes[(result.outcome.kind, result.outcome.beyond or _cell(result.outcome.reason))].append(result.program)
    lines += ["| outcome | cause | programs |", "|---|---|---|"]
    order = list(Kind)
    for (kind, cause), programs in sorted(causes.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]), item[0][1])):
        lines.append(f"| {kind.value} | {cause} | {', '.join(programs)} |")
    lines += ["", "| program | outcome | reason | arguments | seconds |", "|---|---|---|---|---|"]
    for result in sorted(results, key=lambda result: result.program):
        lines.append(f"| {result.program} | {result.outcome.kind.value} | {_cell(result.outcome.reason)} | "
                     f"{_cell(' '.join(result.arguments))} | {result.seconds:.1f} |")  # fmt: skip
    return "\n".join(lines) + "\n"
