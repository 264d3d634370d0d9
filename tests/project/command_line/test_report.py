# SPDX-License-Identifier: Apache-2.0
"""`kernkit report`: the page and the plots of a run."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

from benchmark_runs import SIZES, kernkit, of_library, synthetic_run
from kernkit.bench import measurements
from kernkit.bench.measurements import Row, Run
from kernkit.bench.page import markdown

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_the_page_of_a_library_calls_its_rows_by_its_name_and_memcpy_by_its_dtype():
    page = markdown(of_library(), plots=False)
    assert re.search(r"### op float32\n\n\| GB/s \| n = 1, d = 8 \| n = 64, d = 8 \| n = 1024, d = 8 \|\n"
                     r"\| --- \| --- \| --- \| --- \|\n"
                     r"\| \*\*my_kernels\*\* \| 5 \(0.25\) \| 5 \(0.25\) \| 5 \(0.25\) \|\n"
                     r"\| memcpy \| 20 \| 20 \| 20 \|\n", page), page  # fmt: skip
    assert "| **my_kernels** | 5 (0.50) | 5 (0.50) | 5 (0.50) |\n| memcpy | 10 | 10 | 10 |\n" in page
    assert "in brackets the ratio to memcpy of " in page and "kernkit" not in page


def test_one_sample_has_no_spread():
    row = Row("p", "call/g++/kernkit", samples=[2.0])
    peer = Row("p", "call/g++/tvm-ffi", samples=[4.0])
    page = markdown(Run({}, [row, peer]), plots=False)
    assert "| call, g++ | 2 ns | tvm-ffi | 4 ns | **0.50** |" in page
    row.samples, peer.samples = [2.0, 2.0], [4.0, 4.0]
    page = markdown(Run({}, [row, peer]), plots=False)
    assert "| call, g++ | 2 ns ±0% | tvm-ffi | 4 ns ±0% | **0.50** |" in page


def test_the_report_has_every_row_and_plots_where_matplotlib_is(tmp_path):
    path = tmp_path / "run.json"
    run = synthetic_run(1)
    run.rows.append(Row("p", "peers/highway", reason="skipped: not here"))
    measurements.save(run, path)
    plots = importlib.util.find_spec("matplotlib") is not None
    result = kernkit("report", path, "--output", tmp_path / "out", *([] if plots else ["--no-plots"]))
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "out/report.md").read_text()
    shares = re.search(r"\| \*\*kernkit\*\* \| (.*) \|", page)[1].split(" | ")
    assert len(shares) == len(SIZES) and all(re.fullmatch(r"[\d.]+ \([01]\.\d\d\)", s) for s in shares)
    assert "| call, g++ | " in page and "| numpy / kernkit-numpy | " in page
    assert "- `peers/highway`: skipped: not here" in page
    assert (tmp_path / "out/run.json").read_text() == path.read_text()
    for plot in re.findall(r"!\[.*?\]\((.*?)\.png\)", page):
        assert (tmp_path / f"out/{plot}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"out/{plot}.svg").read_text()
    assert plots == ("![" in page)


def test_without_matplotlib_the_report_prints_a_message(tmp_path):
    measurements.save(synthetic_run(1), tmp_path / "run.json")
    (tmp_path / "matplotlib.py").write_text("raise ImportError")
    result = subprocess.run(
        [sys.executable, "-m", "kernkit", "report", tmp_path / "run.json"], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}/sdk/python"}, cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 3
    assert result.stderr == "kernkit: plots need matplotlib: run pip install matplotlib, or add --no-plots\n"


def test_kept_results_are_those_of_their_page(tmp_path):
    """The committed page of each recorded run equals the page that `kernkit report` writes now. Plots, which need
    matplotlib, are not compared."""
    for path in (ROOT / "bench/results").glob("*/run.json"):
        page = markdown(measurements.load(path), plots=True)
        assert (path.parent / "report.md").read_text() == page, f"outdated page; run kernkit report {path}"
