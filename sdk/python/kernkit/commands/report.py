# SPDX-License-Identifier: Apache-2.0
"""Make a page and plots of a run of benchmarks.

The command writes into the output folder: report.md, the run itself as run.json, and each plot as PNG and SVG.
"""

import argparse
import pathlib

from ..bench import measurements, page
from ..errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_file", type=pathlib.Path, nargs="?", metavar="RUN.json",
                        default="build/bench/run.json", help="the file of a run (default: %(default)s)")
    parser.add_argument("--output", type=pathlib.Path, default="bench/results/cpu",
                        metavar="FOLDER", help="folder of the page (default: %(default)s)")
    parser.add_argument("--no-plots", action="store_true", help="write tables only, which needs no matplotlib")


def run(arguments: argparse.Namespace) -> int:
    measured = measurements.load(arguments.run_file)
    if not measured.measured:
        raise UserError(f"{arguments.run_file} has no measured row; run ./kk bench")
    with_plots = not arguments.no_plots
    if with_plots:
        try:
            from ..bench import plots
        except ImportError:
            if not (pathlib.Path(__file__).parents[1] / "bench/plots.py").exists():
                raise UserError("this copy of kernkit lacks the component plots: run kernkit update --with plots, or add "
                                "--no-plots") from None  # fmt: skip
            raise UserError("plots need matplotlib: run pip install matplotlib, or add --no-plots") from None
    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    if with_plots:
        for op, panels in page.bandwidth(measured).items():
            plots.bandwidth(measured, op, panels, folder / op)
        if page.ratios(measured):
            pairs = [(page.label(measured, ours), ours, peer) for ours, peer in page.ratios(measured)]
            plots.ratios(pairs, folder / "ratios")
        for op, ladder in page.ladders(measured).items():
            plots.ladders(measured, op, ladder, folder / page.file_name(op))
    measurements.save(measured, folder / "run.json")
    (folder / "report.md").write_text(page.markdown(measured, with_plots))
    print(f"{folder / 'report.md'}")
    return 0
