# SPDX-License-Identifier: Apache-2.0
"""The page of a run of benchmarks: tables in Markdown."""

from typing import Dict, List, Optional, Tuple

from .measurements import DTYPES, Row, Run, format_ratio, format_size, format_spread, format_time, format_value, key_order, size_of


def _panel_order(panel: str) -> Tuple[int, str]:
    dtype = panel.split(" ")[0]
    return (DTYPES.index(dtype) if dtype in DTYPES else len(DTYPES), panel)


def label(run: Run, row: Row) -> str:
    """Returns the label of one of our rows, such as "scale, float32, threads": its subject and, if the row has a
    variant, the variant."""
    text, variant = row.subject.replace("/", ", "), run.variant(row.implementation)
    return f"{text}, {variant}" if variant else text


def bandwidth(run: Run) -> Dict[str, Dict[str, Dict[str, List[Row]]]]:
    """Returns the rows that have a ceiling, sorted by size: {op: {panel: {implementation: rows}}}. A panel is a dtype,
    followed by "cold" or "hot" if the rows have such a key."""
    tables: Dict[str, Dict[str, Dict[str, List[Row]]]] = {}
    for row in run.measured:
        if run.ceiling(row):
            op, _, rest = row.subject.partition("/")
            panel = " ".join([rest, *[key for key in row.keys.split("/") if ":" not in key]]).strip()
            lines = tables.setdefault(op, {}).setdefault(panel, {})
            lines.setdefault(row.implementation, []).append(row)
    for panels in tables.values():
        for lines in panels.values():
            for rows in lines.values():
                rows.sort(key=size_of)
    return {op: {panel: dict(sorted(lines.items(), key=lambda item: (run.variant(item[0]) is None, item[0])))
                 for panel, lines in sorted(panels.items(), key=lambda item: _panel_order(item[0]))}
            for op, panels in tables.items()}


def ratios(run: Run) -> List[Tuple[Row, Row]]:
    """Returns (our row, peer's row) for each peer of each of our rows without keys."""
    return [(row, peer) for row in run.measured if run.is_ours(row) and not row.keys
            for peer in run.peers(row)]


def ladders(run: Run) -> Dict[str, Dict[str, Dict[str, List[Tuple[Row, Row]]]]]:
    """Returns pairs (our row, peer's row) for our rows that have keys and no ceiling, sorted by size: {op: {dtype:
    {"peer / ours": pairs}}}, where "peer / ours" has the names of the two implementations."""
    tables: Dict[str, Dict[str, Dict[str, List[Tuple[Row, Row]]]]] = {}
    for row in run.measured:
        if run.is_ours(row) and row.keys and not run.ceiling(row):
            op, _, dtype = row.subject.rpartition("/")
            for peer in run.peers(row):
                lines = tables.setdefault(op, {}).setdefault(dtype, {})
                lines.setdefault(f"{peer.implementation} / {row.implementation}", []).append((row, peer))
    for panels in tables.values():
        for lines in panels.values():
            for pairs in lines.values():
                pairs.sort(key=lambda pair: size_of(pair[0]))
    return {op: dict(sorted(panels.items(), key=lambda item: _panel_order(item[0])))
            for op, panels in tables.items()}


def _table(head: List[str], rows: List[List[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _about(run: Run) -> str:
    about = run.context
    caches = ", ".join(f"L{cache['level']} {format_size(cache['bytes'])}"
                       for cache in about.get("caches", []))
    lines = [
        ["processor", f"{about.get('processor', about.get('device', 'unknown'))}, "
                      f"{about.get('processors', '?')} processors"],
        *([["device", str(about["device"])]] if "device" in about and "processor" in about else []),
        ["caches", caches or "unknown"],
        ["system", f"{about.get('system', 'unknown')}, {about.get('libc', '')}"],
        ["compilers", ", ".join(about.get("compiler", [])) or "unknown"],
        ["packages", ", ".join(f"{name} {version}"
                               for name, version in about.get("versions", {}).items())],
        ["commit", str(about.get("commit", "unknown"))],
        ["date", str(about.get("date", "unknown"))],
        ["rounds", f"{about.get('rounds', '?')}; other programs used {about.get('busy_with_others', 0):.0%} of the "
                   "processors"],
    ]
    return _table(["", ""], lines)


def _bandwidth_table(run: Run, lines: Dict[str, List[Row]]) -> str:
    at = {row.keys: row for rows in lines.values() for row in rows}  # {keys: one of the rows with these keys}
    columns = sorted(at, key=key_order)
    best = {keys: run.ceiling(row) for keys, row in at.items()}
    memcpy = {keys: run.memcpy(row) for keys, row in at.items()}

    def rates(rows: Dict[str, Optional[Row]], share: bool) -> List[str]:
        cells = []
        for keys in columns:
            row, ceiling = rows.get(keys), best[keys]
            cell = f"{row.rate / 1e9:.3g}" if row else ""
            cells.append(f"{cell} ({row.rate / ceiling.rate:.2f})" if share and row and ceiling else cell)
        return cells

    body = []
    for implementation, rows in lines.items():
        name = implementation if run.variant(implementation) is None else f"**{implementation}**"
        body.append([name, *rates({row.keys: row for row in rows}, share=True)])
    if best != memcpy:
        body.append(["the best copy", *rates(best, share=False)])
    if any(memcpy.values()):
        body.append(["memcpy", *rates(memcpy, share=False)])
    sizes = [format_size(size_of(at[keys])) if "bytes:" in keys else keys.replace("/", ", ").replace(":", " = ")
             for keys in columns]
    return _table(["GB/s", *sizes], body)


def _explanation(run: Run, panels: Dict[str, Dict[str, List[Row]]]) -> str:
    """Returns the paragraph that explains the tables of an op."""
    rows = [row for lines in panels.values() for rows in lines.values() for row in rows]
    sizes = " A size is the size of one array." if all("bytes:" in row.keys for row in rows) else ""
    if run.ceiling_name(rows[0]) == "memcpy":
        return ("Bytes that the program reads and writes, divided by time; in brackets the ratio to memcpy of the same "
                f"number of bytes on one thread in the same run.{sizes}\n")
    return ("Bytes that the program reads and writes, divided by time; in brackets the ratio to the best copy of "
            f"arrays of the same size on one thread in the same run.{sizes}\n")


def markdown(run: Run, plots: bool) -> str:
    """Returns the page of a run in Markdown. `plots`: whether the page includes the plots that plots.py draws."""
    parts = ["# Benchmarks\n", _about(run)]
    pairs = ratios(run)
    if pairs:
        spread = any(row.spread is not None for pair in pairs for row in pair)
        parts += ["## Ratios\n", "Our time divided by the peer's time: below 1 is better. "
                  + ("Medians, ± half the distance between the quartiles.\n" if spread else "One sample each.\n")]
        parts += ["![ratios](ratios.png)\n"] if plots else []
        parts.append(_table(
            ["", "ours", "", "peer", "ratio"],
            [[label(run, ours), f"{format_value(ours)} {format_spread(ours)}".rstrip(), peer.implementation,
              f"{format_value(peer)} {format_spread(peer)}".rstrip(), f"**{format_ratio(ours.median / peer.median)}**"]
             for ours, peer in pairs]))
    for op, panels in bandwidth(run).items():
        parts.append(f"## {op}\n")
        parts.append(_explanation(run, panels))
        parts += [f"![{op}]({op}.png)\n"] if plots else []
        for panel, lines in panels.items():
            parts += [f"### {op} {panel}\n", _bandwidth_table(run, lines)]
    for op, panels in ladders(run).items():
        name = file_name(op)
        parts += [f"## {op.replace('/', ': ')}\n",
                  "The peer's time divided by our time: above 1 is better. In brackets our time.\n"]
        parts += [f"![{op}]({name}.png)\n"] if plots else []
        for dtype, by in panels.items():
            columns = sorted({ours.keys for ps in by.values() for ours, _ in ps}, key=key_order)
            body = []
            for line, ps in by.items():
                at = {ours.keys: (ours, peer) for ours, peer in ps}
                body.append([line, *[f"{at[k][1].median / at[k][0].median:.2f} "
                                     f"({format_time(at[k][0].median)})" if k in at else ""
                                     for k in columns]])
            parts.append(_table([dtype, *[k.replace(":", " = ") for k in columns]], body))
    left_out = [row for row in run.rows if not row.samples]
    if left_out:
        parts += ["## Not measured\n", *[f"- `{row.name}`: {row.reason}\n" for row in left_out]]
    return "\n".join(parts)


def file_name(op: str) -> str:
    return op.lower().replace("/", "-").replace(" ", "-")
