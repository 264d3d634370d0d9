# SPDX-License-Identifier: Apache-2.0
"""Scores racecheck on the programs of a labelled suite. The programs must already be compiled with PTX.

    python bench/labelled_races score hirace FOLDER --output FILE.json --arguments "GRAPH 64 200"
    python bench/labelled_races table FILE.json ...
    python bench/labelled_races draw FOLDER --count 400 --seed 39

The labels are in the names of the programs, see labels.py. Each program runs under `kernkit sanitize` with memcheck and
racecheck at one level. A program that does not end is interrupted at the time limit; findings up to then count.
FILE.json is written after each program; a program with a row in the file is not run again.
`table` prints the scores of several files as Markdown. `draw` prints the paths of sources in a folder of Indigo3's
generated programs, see drawn_programs.py. kernkit contains no files of the suites.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shlex
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, Optional

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

from drawn_programs import draw  # noqa: E402
from labels import DEFAULT_TOOLS, SUITES, TOOLS_OF, Label  # noqa: E402
from limited_run import run_with_limit  # noqa: E402
from rows import processor  # noqa: E402
from score import Row, as_markdown  # noqa: E402

GRACE = 10.0  # time for an interrupted run to print its findings [s]
KERNKIT = [sys.executable, "-B", "-m", "kernkit", "sanitize"]


def is_program(path: pathlib.Path) -> bool:
    if not path.is_file() or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def score_program(path: pathlib.Path, label: Label, options: argparse.Namespace) -> Row:
    """Runs a program under the tools of its suite. The row's text is the first finding of racecheck or, for a clean
    program, of any tool. A program that the simulator rejects, or that takes too long, gets a row without a result."""
    with tempfile.TemporaryDirectory(prefix="kernkit-") as folder:
        report = pathlib.Path(folder) / "findings.json"
        tools = TOOLS_OF.get(options.suite, DEFAULT_TOOLS)
        words = [*KERNKIT, "--tool", tools, "--racecheck-detect-level", options.level, "--seeds", str(options.seeds), "--json", str(report),
                 *(["--runtime", str(options.runtime)] if options.runtime else []), str(path), *options.arguments]  # fmt: skip
        run = run_with_limit(words, options.limit, path.parent, {**os.environ, "PYTHONPATH": str(ROOT / "sdk/python")}, grace=GRACE)
        result = json.loads(report.read_text()) if report.is_file() else None
    if result is None or (run.code is None and not result["findings"]):
        return Row(path.name, label, None, None, f"no result within {options.limit} s" if run.code is None else "no report", run.seconds)
    rejected = re.search(r"^kernkit: (.* cannot run: .*)", run.errors, re.MULTILINE)
    if rejected:
        return Row(path.name, label, None, None, rejected.group(1)[:200], run.seconds)
    found = {finding["tool"]: finding["sentence"] for finding in reversed(result["findings"])}  # sentence of each tool's first finding
    why = found.get("racecheck") or (next(iter(found.values()), "") if label.is_clean() else "")
    return Row(path.name, label, "racecheck" in found, "memcheck" in found, why[:300], run.seconds,
               "initcheck" in found if "initcheck" in tools else None)  # fmt: skip


def read_rows(file: pathlib.Path) -> List[Row]:
    if not file.is_file():
        return []
    return [Row(**{**row, "label": Label(**row["label"])}) for row in json.loads(file.read_text())["rows"]]


def as_json(context: Dict[str, Any], rows: List[Row]) -> str:
    written = [{**row._asdict(), "label": row.label._asdict(), "seconds": round(row.seconds, 1)} for row in rows]
    return json.dumps({"context": context, "rows": sorted(written, key=lambda row: row["program"])}, indent=1) + "\n"


def score(options: argparse.Namespace) -> int:
    label_of = SUITES[options.suite]
    programs = [path for path in sorted(options.folder.iterdir()) if is_program(path)]
    rows = read_rows(options.output)
    done = {row.program for row in rows}
    arguments = " ".join(pathlib.Path(word).name if "/" in word else word for word in options.arguments)
    context = {"suite": options.suite, "arguments": arguments, "level": options.level, "seeds": options.seeds, "date": options.date,
               "processor": processor()}  # fmt: skip
    with ThreadPoolExecutor(options.jobs) as pool:
        todo = [path for path in programs if path.name not in done][: options.count]
        for row in pool.map(lambda path: score_program(path, label_of(path.name), options), todo):
            rows.append(row)
            options.output.write_text(as_json(context, rows))
            print(f"{row.program}: races {row.races}, invalid accesses {row.invalid} ({row.seconds:.1f} s)", flush=True)
    return 0


def table(options: argparse.Namespace) -> int:
    print(as_markdown([(json.loads(file.read_text())["context"], read_rows(file)) for file in options.files]), end="")
    return 0


def print_drawn(options: argparse.Namespace) -> int:
    names = [path.relative_to(options.folder).as_posix() for path in options.folder.rglob("*.cu")]
    for name in draw(names, options.count, options.seed):
        print(options.folder / name)
    return 0


def parse(arguments: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="labelled_races", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("score", help="run programs and write their rows")
    run.add_argument("suite", choices=sorted(SUITES))
    run.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="folder with the compiled programs")
    run.add_argument("--output", type=pathlib.Path, required=True, metavar="FILE", help="JSON file of the rows")
    run.add_argument("--level", choices=("info", "warn", "error"), default="error", help="level of racecheck (default: error)")
    run.add_argument("--seeds", type=int, default=1, metavar="N", help="runs of each program (default: 1)")
    run.add_argument("--count", type=int, metavar="N", help="largest number of programs in this run (default: all)")
    run.add_argument("--limit", type=int, default=120, metavar="SECONDS", help="time limit of a program (default: 120)")
    run.add_argument("--runtime", type=lambda text: pathlib.Path(text).resolve(), metavar="FILE", help="libcudart.so.13 of kernkit")
    run.add_argument("--jobs", type=int, default=1, metavar="N", help="number of programs that run at the same time (default: 1)")
    run.add_argument("--date", default=datetime.date.today().isoformat(), help="date in the file (default: today)")
    run.add_argument("--arguments", type=shlex.split, default=[], metavar="WORDS", help="arguments of each program")
    show = commands.add_parser("table", help="print the scores of files as Markdown")
    show.add_argument("files", type=pathlib.Path, nargs="+", metavar="FILE")
    some = commands.add_parser("draw", help="print the paths of drawn sources of Indigo3")
    some.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="folder with the generated .cu files")
    some.add_argument("--count", type=int, default=400, metavar="N", help="number of programs (default: 400)")
    some.add_argument("--seed", type=int, default=39, metavar="N", help="seed of the draw (default: 39)")
    return parser.parse_args(arguments)


def main(arguments: Optional[List[str]] = None) -> int:
    options = parse(arguments)
    return {"score": score, "table": table, "draw": print_drawn}[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
