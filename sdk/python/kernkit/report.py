# SPDX-License-Identifier: Apache-2.0
"""Makes a page and plots of a run of benchmarks.

Writes into the output folder: report.md, the run itself as run.json, and each plot as PNG and SVG.
"""

import argparse
import pathlib
from typing import Dict, List, Tuple

from . import benchmark_runs
from .benchmark_runs import Row, Run, say_size, say_time, say_value, size_of
from .cli import Refusal


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_file", type=pathlib.Path, nargs="?", metavar="RUN.json",
                        default="build/bench/run.json", help="default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, default="bench/results/cpu",
                        metavar="FOLDER", help="default: %(default)s")
    parser.add_argument("--no-plots", action="store_true", help="tables only, without matplotlib")


# What comes first where rows are shown by dtype.
_FIRST = ("float32", "float64", "float16", "bfloat16")


def _place(panel: str) -> Tuple[int, str]:
    dtype = panel.split(" ")[0]
    return (_FIRST.index(dtype) if dtype in _FIRST else len(_FIRST), panel)


def say_ratio(value: float) -> str:
    """Two digits behind the point, or one that counts."""
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"


def label(row: Row) -> str:
    """What a pair is about, and how ours does it where there are several ways."""
    text = row.subject.replace("/", ", ")
    return text if row.whose == "kernkit" else f"{text}, {row.whose[len('kernkit-'):]}"


def bandwidth(run: Run) -> Dict[str, Dict[str, Dict[str, List[Row]]]]:
    """Rows that a copy bounds, by size: {op: {dtype and caches: {whose: rows}}}."""
    found: Dict[str, Dict[str, Dict[str, List[Row]]]] = {}
    for row in run.measured:
        if run.ceiling(row):
            op, _, rest = row.subject.partition("/")
            panel = " ".join([rest, *[key for key in row.keys.split("/") if ":" not in key]]).strip()
            lines = found.setdefault(op, {}).setdefault(panel, {})
            lines.setdefault(row.whose, []).append(row)
    for panels in found.values():
        for lines in panels.values():
            for rows in lines.values():
                rows.sort(key=size_of)
    return {op: {panel: dict(sorted(lines.items(), key=lambda item: (item[0][:7] != "kernkit", item[0])))
                 for panel, lines in sorted(panels.items(), key=lambda item: _place(item[0]))}
            for op, panels in found.items()}


def ratios(run: Run) -> List[Tuple[Row, Row]]:
    """(ours, peer) of what no copy bounds and has no size."""
    return [(row, peer) for row in run.measured if row.is_ours and not row.keys
            for peer in run.peers(row)]


def ladders(run: Run) -> Dict[str, Dict[str, Dict[str, List[Tuple[Row, Row]]]]]:
    """(ours, peer) by size where no copy bounds them: {op: {dtype: {"ours / peer": pairs}}}."""
    found: Dict[str, Dict[str, Dict[str, List[Tuple[Row, Row]]]]] = {}
    for row in run.measured:
        if row.is_ours and row.keys and not run.ceiling(row):
            op, _, dtype = row.subject.rpartition("/")
            for peer in run.peers(row):
                lines = found.setdefault(op, {}).setdefault(dtype, {})
                lines.setdefault(f"{peer.whose} / {row.whose}", []).append((row, peer))
    for panels in found.values():
        for lines in panels.values():
            for pairs in lines.values():
                pairs.sort(key=lambda pair: size_of(pair[0]))
    return {op: dict(sorted(panels.items(), key=lambda item: _place(item[0])))
            for op, panels in found.items()}


def _table(head: List[str], rows: List[List[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _about(run: Run) -> str:
    about = run.context
    caches = ", ".join(f"L{cache['level']} {say_size(cache['bytes'])}"
                       for cache in about.get("caches", []))
    lines = [
        ["processor", f"{about.get('processor', about.get('device', 'unknown'))}, "
                      f"{about.get('processors', '?')} processors"],
        ["caches", caches or "unknown"],
        ["system", f"{about.get('system', 'unknown')}, {about.get('libc', '')}"],
        ["compilers", ", ".join(about.get("compiler", [])) or "unknown"],
        ["packages", ", ".join(f"{name} {version}"
                               for name, version in about.get("versions", {}).items())],
        ["commit", str(about.get("commit", "unknown"))],
        ["date", str(about.get("date", "unknown"))],
        ["rounds", f"{about.get('rounds', '?')}; {about.get('busy_with_others', 0):.0%} of the "
                   "processors were busy with others"],
    ]
    return _table(["", ""], lines)


def _bandwidth_table(run: Run, lines: Dict[str, List[Row]]) -> str:
    ceilings: Dict[str, Row] = {}
    for rows in lines.values():
        for row in rows:
            found = run.ceiling(row)
            if found:
                ceilings[row.keys] = found
    columns = sorted(ceilings, key=lambda keys: size_of(ceilings[keys]))
    body = []
    for whose, rows in lines.items():
        at = {row.keys: row for row in rows}
        cells = [f"{at[keys].rate / 1e9:.3g} ({at[keys].rate / ceilings[keys].rate:.2f})"
                 if keys in at else "" for keys in columns]
        body.append([f"**{whose}**" if whose.startswith("kernkit") else whose, *cells])
    best = [f"{ceilings[keys].rate / 1e9:.3g}" for keys in columns]
    body.append(["the best copy", *best])
    program = next(iter(ceilings.values())).program
    memcpy = {row.keys: row for row in run.measured
              if row.program == program and row.path[0] == "copy" and row.whose == "memcpy"}
    if memcpy:
        body.append(["memcpy", *[f"{memcpy[keys].rate / 1e9:.3g}" if keys in memcpy else ""
                                 for keys in columns]])
    sizes = [say_size(size_of(ceilings[keys])) if "bytes:" in keys else keys for keys in columns]
    return _table(["GB/s", *sizes], body)


def markdown(run: Run, plots: bool) -> str:
    """The page."""
    parts = ["# Benchmarks\n", _about(run)]
    pairs = ratios(run)
    if pairs:
        parts += ["## Ratios\n", "Ours by the peer's: below 1 is better. Medians, ± half the distance "
                                 "of the quartiles.\n"]
        parts += ["![ratios](ratios.png)\n"] if plots else []
        parts.append(_table(
            ["", "ours", "", "peer", "ratio"],
            [[label(ours), f"{say_value(ours)} ±{ours.spread:.0%}", peer.whose,
              f"{say_value(peer)} ±{peer.spread:.0%}", f"**{say_ratio(ours.median / peer.median)}**"]
             for ours, peer in pairs]))
    for op, panels in bandwidth(run).items():
        parts.append(f"## {op}\n")
        parts.append("Bytes that the program reads and writes, by time; in brackets the share of the "
                     "best copy of arrays of the same size, one thread, same run. Sizes are those of "
                     "one array.\n")
        parts += [f"![{op}]({op}.png)\n"] if plots else []
        for panel, lines in panels.items():
            parts += [f"### {op} {panel}\n", _bandwidth_table(run, lines)]
    for op, panels in ladders(run).items():
        name = _file(op)
        parts += [f"## {op.replace('/', ': ')}\n",
                  "The peer's time by ours: above 1 is better. In brackets our time.\n"]
        parts += [f"![{op}]({name}.png)\n"] if plots else []
        for dtype, by in panels.items():
            columns = sorted({ours.keys for ps in by.values() for ours, _ in ps},
                             key=lambda keys: float(keys.rpartition(":")[2]))
            body = []
            for line, ps in by.items():
                at = {ours.keys: (ours, peer) for ours, peer in ps}
                body.append([line, *[f"{at[k][1].median / at[k][0].median:.2f} "
                                     f"({say_time(at[k][0].median)})" if k in at else ""
                                     for k in columns]])
            parts.append(_table([dtype, *[k.replace(":", " = ") for k in columns]], body))
    left_out = [row for row in run.rows if not row.samples]
    if left_out:
        parts += ["## Not measured\n", *[f"- `{row.name}`: {row.reason}\n" for row in left_out]]
    return "\n".join(parts)


def _file(op: str) -> str:
    return op.lower().replace("/", "-").replace(" ", "-")


def run(arguments: argparse.Namespace) -> int:
    measured = benchmark_runs.load(arguments.run_file)
    if not measured.measured:
        raise Refusal(f"{arguments.run_file} has no row that was measured")
    plots = not arguments.no_plots
    if plots:
        try:
            from . import report_plots
        except ImportError:
            raise Refusal("plots need matplotlib: pip install matplotlib, or say --no-plots") from None
    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    if plots:
        for op, panels in bandwidth(measured).items():
            report_plots.bandwidth(measured, op, panels, folder / op)
        if ratios(measured):
            pairs = [(label(ours), ours, peer) for ours, peer in ratios(measured)]
            report_plots.ratios(pairs, folder / "ratios")
        for op, ladder in ladders(measured).items():
            report_plots.ladders(op, ladder, folder / _file(op))
    benchmark_runs.save(measured, folder / "run.json")
    (folder / "report.md").write_text(markdown(measured, plots))
    print(f"{folder / 'report.md'}")
    return 0
