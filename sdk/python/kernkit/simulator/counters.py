# SPDX-License-Identifier: Apache-2.0
"""Counters of kernels: their sums over processes, and their output as a table, as JSON and as a page of HTML."""

import html
import pathlib
from typing import Any, Dict, Iterator, List, Tuple

Kernel = Dict[str, Any]
Columns = Tuple[Tuple[str, str], ...]
# (heading, counter) of each column of the table.
COLUMNS = (
    ("loads", "loads.requests"), ("sectors", "loads.sectors"), ("excess", "loads.excess"),
    ("bytes/512", "loads.by_512"), ("stores", "stores.requests"), ("sectors", "stores.sectors"),
    ("excess", "stores.excess"), ("bytes/512", "stores.by_512"), ("atomics", "atomics.lanes"),
    ("shared", "shared.requests"), ("wavefronts", "shared.wavefronts"), ("fewest", "shared.fewest"),
    ("lanes", "lanes"),
)  # fmt: skip
GROUPS = (("", 1), ("global loads", 4), ("global stores", 4), ("", 1), ("shared memory", 3), ("", 1))
# (heading, counter) of the columns for a kernel whose PTX was compiled by ptxas.
OF_PTXAS = (("registers", "ptxas.launch__registers_per_thread"), ("spills", "ptxas.spills"),
            ("occupancy", "ptxas.sm__maximum_warps_per_active_cycle_pct"))  # fmt: skip


def summed(kernels: List[Kernel]) -> List[Kernel]:
    """Returns one entry for each kernel, with the counters of the kernel added up over processes."""

    def add(to: Dict[str, Any], more: Dict[str, Any]) -> None:
        for name, value in more.items():
            if isinstance(value, dict):
                add(to.setdefault(name, {}), value)
            elif isinstance(value, int) and name != "line":
                to[name] = to.get(name, 0) + value
            else:
                to.setdefault(name, value)

    kernels_by_name: Dict[str, Kernel] = {}
    for kernel in kernels:
        merged = kernels_by_name.setdefault(kernel["kernel"], {"lines": []})
        add(merged, {name: value for name, value in kernel.items() if name != "lines"})
        for line in kernel["lines"]:
            same = [line_entry for line_entry in merged["lines"] if all(line_entry[key] == line[key] for key in ("file", "line", "place"))]
            merged["lines"] += [] if same else [{}]
            add(same[0] if same else merged["lines"][-1], line)
    for kernel in kernels_by_name.values():
        kernel["lines"].sort(key=lambda line: (line["file"], line["line"], line["place"]))
    return [kernels_by_name[name] for name in sorted(kernels_by_name)]


def figure(counters: Dict[str, Any], what: str) -> str:
    """Returns the text of a cell of the table. `what`: the counter, as in COLUMNS."""
    kind, _, name = what.partition(".")
    if kind == "lanes":
        return f"{counters['lanes'] / counters['steps']:.1f}" if counters["steps"] else ""
    if kind == "shared":
        kinds = [counters[f"shared_{each}"] for each in ("loads", "stores", "atomics")]
        name = "fewest_wavefronts" if name == "fewest" else name
        total = sum(each[name] for each in kinds)
        return str(total) if any(each["requests"] for each in kinds) else ""
    if kind == "ptxas":
        return figure_of_ptxas(counters.get("ptxas", {}), name)
    traffic = counters[kind]
    if not traffic["requests"]:
        return ""
    if name == "excess":
        return f"{100 * (traffic['sectors'] / traffic['fewest_sectors'] - 1):.1f}%"
    return f"{traffic['bytes'] / 512:.0f}" if name == "by_512" else str(traffic[name])


def figure_of_ptxas(usage: Dict[str, Any], name: str) -> str:
    if name == "spills" and usage:
        return str(usage["spill_store_bytes"] + usage["spill_load_bytes"])
    if name not in usage:
        return ""
    return f"{usage[name]:.0f}%" if name.endswith("_pct") else str(usage[name])


def rows(kernels: List[Kernel], lines: bool, columns: Columns) -> Iterator[List[str]]:
    def cells(name: str, counters: Dict[str, Any]) -> List[str]:
        return [name, *(figure(counters, what) for _, what in columns)]

    for kernel in kernels:
        yield cells(kernel["kernel"], kernel["counters"])
        for line in kernel["lines"] if lines else []:
            if any(figure(line["counters"], what) for _, what in COLUMNS[:-1]):
                yield cells("  " + (line["place"] or "?"), line["counters"])


def table(kernels: List[Kernel], lines: bool) -> str:
    """Returns the table as text, with a heading of two rows. `lines`: whether lines of the source have rows of their
    own."""
    has_ptxas = any("ptxas" in kernel["counters"] for kernel in kernels)
    columns = (*COLUMNS, *OF_PTXAS) if has_ptxas else COLUMNS
    body = list(rows(kernels, lines, columns))
    heading = ["", *(name for name, _ in columns)]
    widths = [max(len(row[i]) for row in [heading, *body]) for i in range(len(heading))]
    groups, at = "", 0
    for name, count in (*GROUPS, ("ptxas", 3)) if has_ptxas else GROUPS:
        space = sum(widths[at : at + count]) + 2 * (count - 1)
        groups += name.ljust(space) + "  "
        at += count

    def text(row: List[str]) -> str:
        return "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])

    return "\n".join(line.rstrip() for line in (groups, text(heading), *map(text, body)))


def named(counters: Dict[str, Any]) -> Dict[str, int]:
    """Returns {name in the JSON file: value} of the counters. A counter that Nsight Compute also has is named as in
    Nsight Compute."""
    names: Dict[str, int] = {}
    for kind, of_profiler in (("loads", "ld"), ("stores", "st"), ("atomics", "")):
        traffic, own_kind = dict(counters[kind]), f"global_{kind[:-1]}"
        for name in ("requests", "sectors") if of_profiler else ():
            names[f"l1tex__t_{name}_pipe_lsu_mem_global_op_{of_profiler}.sum"] = traffic.pop(name)
        names.update({f"{own_kind}_{name}": value for name, value in traffic.items()})
        names.update({f"shared_{kind[:-1]}_{name}": value for name, value in counters[f"shared_{kind}"].items()})
    names.update({f"local_{name}": value for name, value in counters["local"].items()})
    return {**names, "ptx_instructions": counters["steps"], "ptx_lanes": counters["lanes"]}


def as_json(kernels: List[Kernel]) -> Dict[str, Any]:
    return {"kernels": [
        {"kernel": kernel["kernel"], "launches": kernel["launches"], "unique_sectors": kernel["unique_sectors"],
         "launch_shapes": [{"launch__block_size": int(shape.split("+")[0]), "launches": launches,
                            "launch__shared_mem_per_block_dynamic": int(shape.split("+")[1])}
                           for shape, launches in sorted(kernel["shapes"].items())],
         "counters": named(kernel["counters"]),
         **({"ptxas": kernel["counters"]["ptxas"]} if "ptxas" in kernel["counters"] else {}),
         "lines": [{"place": line["place"], "file": line["file"], "line": line["line"],
                    "counters": {name: value for name, value in named(line["counters"]).items() if value}}
                   for line in kernel["lines"]]}
        for kernel in kernels]}  # fmt: skip


STYLE = """body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{padding:0 .6em;text-align:right}
td:last-child,th:last-child,td:first-child{text-align:left}td:last-child{font-family:monospace;white-space:pre}
th{border-bottom:1px solid #888}tr.over{background:#fdd}tr.counted{background:#eef}"""


def is_over(counters: Dict[str, Any]) -> bool:
    """Returns whether the sectors or wavefronts exceed the least necessary number by more than 10%."""
    pairs = [(counters[kind]["sectors"], counters[kind]["fewest_sectors"]) for kind in ("loads", "stores")]
    pairs += [(counters[kind]["wavefronts"], counters[kind]["fewest_wavefronts"]) for kind in ("shared_loads", "shared_stores")]
    return any(moved > 1.1 * fewest for moved, fewest in pairs)


def html_page(kernels: List[Kernel]) -> str:
    """Returns the page (HTML) with the kernels' source and the counters of each line. The counters of a line are summed
    over all places where the line is inlined. Lines with unnecessary traffic are red."""
    heading = "".join(f"<th>{name}" for name in ("line", *(name for name, _ in COLUMNS), "source"))
    parts = [f"<!doctype html><meta charset=utf-8><title>Counters</title><style>{STYLE}</style>"]
    for kernel in kernels:
        parts.append(f"<h1>{html.escape(kernel['kernel'])}</h1><pre>{html.escape(table([kernel], False))}</pre>")
        for file in sorted({line["file"] for line in kernel["lines"] if line["file"]}):
            counted = summed([{**kernel, "lines": [{**line, "place": ""} for line in kernel["lines"] if line["file"] == file]}])
            by_line = {line["line"]: line["counters"] for line in counted[0]["lines"]}
            path = pathlib.Path(file)
            source = path.read_text(errors="replace").splitlines() if path.is_file() else []
            parts.append(f"<h2>{html.escape(file)}</h2><table><tr>{heading}")
            first, last = min(by_line), max(by_line)
            for number in range(max(1, first - 3), last + 4) if source else sorted(by_line):
                if source and number > len(source):
                    break
                counters = by_line.get(number)
                kind = "" if counters is None else " class=over" if is_over(counters) else " class=counted"
                cells = "".join(f"<td>{figure(counters, what) if counters else ''}" for _, what in COLUMNS)
                text = html.escape(source[number - 1]) if source else ""
                parts.append(f"<tr{kind}><td>{number}{cells}<td>{text}")
            parts.append("</table>")
    return "\n".join(parts) + "\n"
