# SPDX-License-Identifier: Apache-2.0
"""The plots of `kernkit report`, each written as PNG and SVG."""

import math
import pathlib
from typing import Any, Dict, List, Tuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

from .measurements import Row, Run, format_size, format_time, format_value, size_of  # noqa: E402

plt.rcParams.update({
    "svg.hashsalt": "kernkit", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlesize": 10, "axes.titleweight": "bold", "legend.frameon": False,
})  # fmt: skip
OURS = "#0057b7"
PEERS = ["#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9"]
GREY = "#666666"


def _write(figure: Any, path: pathlib.Path) -> None:
    figure.savefig(path.with_suffix(".png"), dpi=130, metadata={"Software": None})
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    plt.close(figure)


def _colours(run: Run, names: List[str]) -> Dict[str, str]:
    peers = [name for name in names if run.variant(name) is None]
    colours = {name: PEERS[i % len(PEERS)] for i, name in enumerate(peers)}
    return {**colours, **{name: OURS for name in names if run.variant(name) is not None}}


def _grid(count: int, width: float, height: float) -> Tuple[Any, List[Any]]:
    columns = 1 if count == 1 else 2 if count in (2, 4) else 3
    rows = math.ceil(count / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows + 0.7),
                                sharex=True, sharey=True, squeeze=False, layout="constrained")
    flat = list(axes.flat)
    for unused in flat[count:]:
        unused.set_visible(False)
    return figure, flat[:count]


def _ticks(axis: Any, values: List[float]) -> None:
    """Sets the major ticks of an axis to `values`, formatted as plain numbers, and removes minor ticks."""
    axis.set_major_locator(FixedLocator(values))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _legend(figure: Any, axes: List[Any], run: Run) -> None:
    """Draws one legend for all panels above the panels: our implementations first, then copies, then peers."""
    handles: Dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    ours = tuple(run.ours)
    labels = sorted(handles, key=lambda label: (not label.startswith(ours), "copy" not in label))
    inches = sum(0.55 + 0.075 * len(label) for label in labels)
    rows = math.ceil(inches / figure.get_figwidth())
    columns = math.ceil(len(labels) / rows)
    figure.legend([handles[label] for label in labels], labels, loc="outside upper center",
                  ncols=columns, columnspacing=1.2, handlelength=2.4)


def _mark_caches(axis: Any, run: Run, last: float) -> None:
    for cache in run.context.get("caches", []):
        if cache["bytes"] < last:
            axis.axvline(cache["bytes"], color="#bbbbbb", linewidth=0.8, zorder=0)
            axis.annotate(f"L{cache['level']}", (cache["bytes"], 1), xycoords=("data", "axes fraction"),
                          ha="right", va="top", color=GREY, fontsize=8, xytext=(-2, 0),
                          textcoords="offset points")


def bandwidth(run: Run, op: str, panels: Dict[str, Dict[str, List[Row]]], path: pathlib.Path) -> None:
    """Plots GB/s over the number of bytes that one call reads and writes, with a panel for each dtype, into the file
    `path`."""
    figure, axes = _grid(len(panels), 4.2, 2.9)
    colours = _colours(run, sorted({implementation for lines in panels.values() for implementation in lines}))
    for axis, (panel, lines) in zip(axes, panels.items()):
        axis.set_title(panel, loc="left")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        longest = max(lines.values(), key=len)
        moved = [row.bytes for row in longest]
        best = [run.ceiling(row) for row in longest]
        memcpy = [copy for copy in map(run.memcpy, longest) if copy]
        if len(memcpy) == len(longest) and memcpy != best:
            axis.plot(moved, [copy.rate / 1e9 for copy in memcpy], color=GREY, linestyle=":",
                      linewidth=1.1, label="memcpy")
        for implementation, rows in sorted(lines.items(), key=lambda item: run.variant(item[0]) is not None):
            ours, alone = run.variant(implementation) is not None, run.variant(implementation) == ""
            axis.plot([row.bytes for row in rows], [row.rate / 1e9 for row in rows],
                      color=colours[implementation], linewidth=2.2 if alone else 1.2, marker="o" if ours else None,
                      markersize=4 if alone else 3, label=implementation.replace("-", " "),
                      linestyle="-" if alone or not ours else (0, (1, 1)))
        axis.plot(moved, [copy.rate / 1e9 for copy in best if copy], color="black", linestyle="--",
                  linewidth=1.2, label=f"{'memcpy' if memcpy == best else 'the best copy'}: the ceiling")
        _mark_caches(axis, run, max(moved))
        axis.grid(True, axis="y", color="#eeeeee")
        _ticks(axis.xaxis, [2.0 ** power for power in range(2, 50, 4)])
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: format_size(value)))
        _ticks(axis.yaxis, [m * 10.0 ** p for p in range(-3, 6) for m in (1, 2, 5)])
    figure.supxlabel("bytes read and written by one call", fontsize=9)
    figure.supylabel("GB/s", fontsize=9)
    _legend(figure, axes, run)
    _write(figure, path)


def ratios(pairs: List[Tuple[str, Row, Row]], path: pathlib.Path) -> None:
    """Plots a bar for each pair: kernkit's time divided by the peer's time. A ratio below the axis' lower limit of
    0.0125 is shown by its number only."""
    pairs = pairs[::-1]
    figure, axis = plt.subplots(figsize=(9.5, 0.27 * len(pairs) + 1.0), layout="constrained")
    values = [ours.median / peer.median for _, ours, peer in pairs]
    left = max(0.02, min(values)) / 1.6
    axis.barh(range(len(pairs)), values, height=0.7,
              color=[OURS if value <= 1 else PEERS[0] for value in values])
    axis.set_xscale("log")
    axis.axvline(1, color="black", linewidth=1)
    axis.set_xlim(left, max(1.0, *values) * 1.9)
    for place, (value, (_, ours, peer)) in enumerate(zip(values, pairs)):
        shown = f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"
        axis.annotate(shown, (max(value, left), place), xytext=(4, 0), textcoords="offset points",
                      va="center", fontweight="bold",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})
        axis.annotate(f"{format_value(ours)} / {format_value(peer)} {peer.implementation}", (1, place),
                      xycoords=("axes fraction", "data"), xytext=(6, 0),
                      textcoords="offset points", va="center", fontsize=8, color=GREY)
    axis.set_yticks(range(len(pairs)), [label for label, _, _ in pairs])
    axis.set_ylim(-0.6, len(pairs) - 0.4)
    _ticks(axis.xaxis, [m * 10.0 ** p for p in range(-5, 4) for m in (1, 2, 5)])
    axis.set_xlabel("our time / the peer's time: left of 1 is better")
    _write(figure, path)


def ladders(run: Run, op: str, panels: Dict[str, Dict[str, List[Tuple[Row, Row]]]], path: pathlib.Path) -> None:
    """Plots the peer's time divided by kernkit's time over the row's size, with a panel for each dtype."""
    figure, axes = _grid(len(panels), 3.4, 2.8)
    names = sorted({pairs[0][1].implementation for lines in panels.values() for pairs in lines.values()})
    colours = _colours(run, names)
    values = [peer.median / ours.median for lines in panels.values() for pairs in lines.values()
              for ours, peer in pairs]  # fmt: skip
    for axis, (panel, lines) in zip(axes, panels.items()):
        axis.set_title(panel, loc="left")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_ylim(min(0.5, *values) / 1.2, max(2.0, *values) * 1.2)  # over all panels
        axis.axhspan(1e-3, 1, color="#f4f4f4", zorder=0)
        axis.axhline(1, color="black", linewidth=1)
        for line, pairs in lines.items():
            axis.plot([size_of(ours) for ours, _ in pairs],
                      [peer.median / ours.median for ours, peer in pairs], marker="o", markersize=4,
                      color=colours[pairs[0][1].implementation], label=line.replace("kernkit-", "kernkit "),
                      linestyle="--" if line.count("-") > 1 else "-")
        axis.grid(True, axis="y", color="#eeeeee")
        sizes = sorted({size_of(ours) for pairs in lines.values() for ours, _ in pairs})
        axis.set_xticks(sizes, [format_size(size).replace(" B", "").replace("iB", "i") for size in sizes])
        _ticks(axis.yaxis, [2.0 ** power for power in range(-8, 12)])
        axis.xaxis.set_minor_locator(NullLocator())
    figure.supxlabel(f"{op.replace('/', ': ')}, elements", fontsize=9)
    figure.supylabel("times as fast as the peer", fontsize=9)
    _legend(figure, axes, run)
    _write(figure, path)
