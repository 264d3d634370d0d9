# SPDX-License-Identifier: Apache-2.0
"""A summary of a run, in a few sentences and a small table, for `kernkit bench --brief`."""

from typing import Dict, List

from .measurements import DTYPES, Row, Run, format_ratio, format_size, format_value, key_order, size_of


def sentences(run: Run) -> List[str]:
    """Returns a sentence for the largest size of each op's first dtype, and a sentence for each program's first
    comparison of kernkit with a peer."""
    by_op: Dict[str, str] = {}
    rows = sorted(run.measured, key=lambda row: (row.order[:2], [-n for n in row.order[2][1]], row.implementation))
    for row in rows:
        if run.variant(row.implementation) != "" or len(row.path) < 2:
            continue
        ceiling, subject = run.ceiling(row), row.subject.replace("/", " ")
        if ceiling:
            by_op.setdefault(row.path[0], f"{subject}, {_size(row)}: {format_value(row)}, {row.rate / 1e9:.3g} GB/s, "
                                          f"{row.rate / ceiling.rate:.2f} of {run.ceiling_name(row)}")
        elif not row.keys:
            for peer in run.peers(row):
                by_op.setdefault(
                    row.program, f"{row.subject.replace('/', ', ')}: {format_value(row)}, "
                    f"{format_ratio(row.median / peer.median)} of {peer.implementation}'s {format_value(peer)}")
    return list(by_op.values())


def table(run: Run) -> List[str]:
    """Returns the lines of a table of shares of the ceiling, with a line for each op and dtype and a column for each
    size."""
    shares: Dict[str, Dict[str, str]] = {}
    columns: Dict[str, str] = {}
    names = set()
    for row in sorted(run.measured, key=lambda row: row.order):
        ceiling = run.ceiling(row)
        if ceiling and run.variant(row.implementation) == "" and row.path[-2] in DTYPES:
            columns[row.keys] = _size(row)
            shares.setdefault(row.subject.replace("/", " "), {})[row.keys] = f"{row.rate / ceiling.rate:.2f}"
            names.add(run.ceiling_name(row))
    if not shares:
        return []
    keys = sorted(columns, key=key_order)
    head = f"share of {' or '.join(sorted(names))}"
    wide = max(map(len, [head, *shares]))
    lines = [head.ljust(wide) + "".join(f"  {columns[key]:>7}" for key in keys)]
    for name, at in shares.items():
        lines.append(name.ljust(wide) + "".join(f"  {at.get(key, ''):>{max(7, len(columns[key]))}}"
                                                for key in keys))
    return lines


def _size(row: Row) -> str:
    return format_size(size_of(row)) if row.keys.startswith("bytes:") else row.keys.replace("/", " ")
