# SPDX-License-Identifier: Apache-2.0
"""Benchmark programs compare results with references before they measure. The programs use bench/harness, bench/python,
or the benchmark header of a library."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from benchmark_runs import kernkit
from kernkit.bench import measurements

ROOT = pathlib.Path(__file__).resolve().parents[2]


class DoesNothing:
    def scale(self, y, x, factor):
        pass

    def add(self, z, x, y):
        pass


def test_a_wrong_kernel_has_no_time_in_python(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench/python"))
    monkeypatch.setattr(sys, "argv", ["from_python.py"])
    import from_python
    from rows import Rows

    for op in ("scale", "add"):
        with Rows("") as rows:
            from_python.measure(rows, DoesNothing(), [from_python.numpy_calls], op, "float32", 8)
            by_implementation = {row["name"].split("/")[3]: row for row in rows.rows}
        assert by_implementation["kernkit-numpy"] == {
            "name": f"from Python/{op}/float32/kernkit-numpy/n:8", "reason": "the result is wrong"}  # fmt: skip
        assert by_implementation["numpy"]["samples"] and by_implementation["numpy"]["bytes"] == 8 * 4 * (2 if op == "scale" else 3)


def test_ten_sizes_check_each_call_and_take_the_better_copy(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench/python"))
    import scale_sizes

    size = 4096
    y, x = scale_sizes.array(size), scale_sizes.array(size)

    def correct(calls):
        y[:size].view("float32")[:] = 2 * x[:size].view("float32")
        return 0.0

    def too_much(calls):
        y[size] = 0
        return correct(calls)

    scale_sizes.check(y, x, size, {"kernkit": correct})
    for wrong in (lambda calls: 0.0, too_much):
        with pytest.raises(SystemExit, match="kernkit is wrong at 4096 bytes"):
            scale_sizes.check(y, x, size, {"kernkit": wrong})
    with pytest.raises(SystemExit, match="memcpy is wrong at 4096 bytes"):
        scale_sizes.check(y, x, size, {"memcpy": correct})
    with pytest.raises(SystemExit, match="kernkit failed at 4096 bytes"):
        scale_sizes.check(y, x, size, {"kernkit": lambda calls: -1.0})
    seconds = {"memcpy": 2.0, "streaming-128": 4.0, "streaming-256": 3.0, "register-256": 1.0, "kernkit": 4.0, "numpy": 1.0, "kernkit-numpy": 2.0}
    assert scale_sizes.shares(seconds) == {"of_copy": 0.5, "of_memcpy": 0.5, "of_streaming": 0.75, "of_numpy": 0.5}


WRONG = """
#include "harness/harness.h"
namespace kernkit::bench {
namespace {
struct Twice { float operator()(float x) const { return 2 * x; } };
const bool registered = [] {
  add_rows<float, 1>("good", "kernkit", Twice{}, [](int64_t n, float* y, const float* x) {
    for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
  });
  add_rows<float, 1>("last", "kernkit", Twice{}, [](int64_t n, float* y, const float* x) {
    for (int64_t i = 0; i < n - 1; ++i) y[i] = 2 * x[i];
  });
  add_rows<float, 1>("nothing", "kernkit", Twice{}, [](int64_t, float*, const float*) {});
  return true;
}();
}
}
"""


def build_benchmark(source, program, dlpack_include, *options):
    command = ["c++", "-std=c++17", "-O2", *options, "-I", ROOT / "sdk/include", "-I", ROOT / "bench", "-isystem",
               dlpack_include, source, "-o", program, "-lbenchmark_main", "-lbenchmark", "-pthread"]  # fmt: skip
    built = subprocess.run(command, capture_output=True, text=True)
    if "cannot find -lbenchmark" in built.stderr or "benchmark/benchmark.h" in built.stderr:
        pytest.skip("Google Benchmark is not installed where the compiler finds it")
    assert built.returncode == 0, built.stderr


SLEEPING = """
#include <unistd.h>
#include "kernkit/testing/benchmark.h"
const bool registered = [] {
  const auto sizes = [](benchmark::internal::Benchmark* rows) { rows->ArgName("n")->Arg(1000); };
  const auto body = [](auto, benchmark::State& state) {
    for (auto _ : state) usleep(2000);
    state.SetBytesProcessed(state.iterations() * 4 * state.range(0));
  };
  const auto bytes = [](auto, const benchmark::State& state) { return 4 * state.range(0); };
  kernkit::testing::add_rows("op", kernkit::types<float>{}, sizes, body);
  kernkit::testing::add_memcpy_rows(kernkit::types<float>{}, sizes, bytes);
  return true;
}();
"""


@pytest.mark.all
def test_a_library_s_rows_use_one_thread_and_wall_time_and_its_name(tmp_path, dlpack_include):
    source, program, out = tmp_path / "op.cc", tmp_path / "op_bench", tmp_path / "out.json"
    source.write_text(SLEEPING)
    build_benchmark(source, program, dlpack_include, '-DKERNKIT_BENCHMARKED_LIBRARY="my_kernels"')
    rows = {}
    for threads in ("one", "all"):
        subprocess.run([program, "--benchmark_min_time=0.001", f"--benchmark_out={out}"], check=True,
                       capture_output=True, env={**os.environ, "KERNKIT_BENCH_THREADS": threads})  # fmt: skip
        measured = measurements.parse(out.read_text())
        assert measured["context"]["ours"] == "my_kernels" and measured["context"]["compiler"]
        rows[threads] = {row["name"]: row for row in measured["rows"]}
    kernkit_row = rows["one"].pop("op/float32/my_kernels/n:1000")
    # Samples are in ns. The op sleeps, which takes wall time but no processor time.
    assert kernkit_row["bytes"] == 4000 and min(kernkit_row["samples"]) > 2e6
    assert list(rows["one"]) == ["copy/float32/memcpy/n:1000"]
    assert list(rows["all"]) == ["op/float32/my_kernels-threads/n:1000"]


@pytest.mark.all
def test_a_wrong_kernel_has_no_time(tmp_path, dlpack_include):
    source, program, out = tmp_path / "wrong.cc", tmp_path / "wrong_bench", tmp_path / "out.json"
    source.write_text(WRONG)
    build_benchmark(source, program, dlpack_include)
    # The incorrect rows run after the correct row. The arrays still contain the correct output, which must not hide an
    # incorrect row.
    subprocess.run([program, "--benchmark_min_time=0.001", "--benchmark_filter=bytes:(4096|1048576)/",
                    f"--benchmark_out={out}"], check=True, capture_output=True)  # fmt: skip
    rows = {row["name"]: row for row in measurements.parse(out.read_text())["rows"]}
    assert len(rows) == 6
    for name, row in rows.items():
        wrong = not name.startswith("good")
        assert row.get("reason", "") == ("the result is wrong" if wrong else ""), name
        assert bool(row["samples"]) != wrong


SLOW = """
#include "harness/copies.h"
namespace kernkit::bench {
namespace {
struct Twice { float operator()(float x) const { return 2 * x; } };
const bool registered = [] {
  add_rows<float, 1>("op", "kernkit", Twice{}, [](int64_t n, float* y, const float* x) {
    plain_loop(Twice{}, n, y, x);
    if (PLANTED) plain_loop(Twice{}, n / 4, y, x);
  });
  return true;
}();
}
}
"""


@pytest.mark.slow
def test_five_runs_of_one_build_are_the_same_and_a_planted_slowdown_is_not(tmp_path, dlpack_include):
    """Five runs of one build are reported as the same. A planted slowdown, which repeats a quarter of the work for
    sizes that fit into a cache, is reported."""
    source = tmp_path / "op.cc"
    source.write_text(SLOW)
    for planted in (0, 1):
        program = tmp_path / f"planted{planted}/op_bench"
        program.parent.mkdir()
        subprocess.run(
            ["c++", "-std=c++17", "-O3", f"-DPLANTED={planted}", "-I", ROOT / "sdk/include", "-I",
             ROOT / "bench", "-isystem", dlpack_include, source, "-o", program, "-lbenchmark_main",
             "-lbenchmark", "-pthread"], check=True,
        )  # fmt: skip

    def measure(planted, name):
        out = tmp_path / f"{name}.json"
        result = kernkit("bench", tmp_path / f"planted{planted}/op_bench", "--output", out,
                         "--option=--benchmark_filter=bytes:(65536|1048576|4194304)/",
                         "--option=--benchmark_min_time=0.01", "--option=--benchmark_repetitions=5")  # fmt: skip
        assert result.returncode == 0, result.stderr
        return out

    def judged(name, planted):
        """Measures another run and returns the numbers of slower, faster and same rows that `kernkit compare` reports.
        Skips the test if noise makes rows unclear."""
        result = kernkit("compare", first, measure(planted, name))
        (counts,) = re.findall(r"(\d+) rows: (\d+) slower, (\d+) faster, (\d+) unclear, (\d+) same", result.stdout)
        rows, slower, faster, unclear, same = map(int, counts)
        assert result.returncode == (slower > 0), result.stdout
        if unclear:
            pytest.skip(f"kernkit compare reports {unclear} of {rows} rows as unclear, because of this machine's noise")
        return slower, faster, same

    first = measure(0, "first")
    for again in range(5):
        assert judged(f"again{again}", 0) == (0, 0, 3)
    assert judged("planted", 1) == (3, 0, 0)
