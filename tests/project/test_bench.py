# SPDX-License-Identifier: Apache-2.0
"""Benchmarks verify before they time, runs say on what they were made, and the comparison of two
runs says what is slower and nothing else."""

import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sdk/python"))

from kernkit import benchmark_runs, compare, digest, report  # noqa: E402
from kernkit.bench import caches  # noqa: E402
from kernkit.benchmark_runs import Row, Run  # noqa: E402

SIZES = [1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 29]


def kernkit(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "kernkit", *map(str, arguments)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python")}, **options,
    )  # fmt: skip


def made(seed, speed=1.0, slower=None, rounds=5, noise=0.02):
    """A run as of a machine that is `speed` times as fast, with the times of the rows in `slower`
    multiplied; every round has its own luck, which the row and what it is compared with share."""
    rng = random.Random(seed)
    luck = [rng.uniform(1, 1.4) for _ in range(rounds)]

    def row(program, name, time, moved=0):
        factor = (slower or {}).get(name, 1) / speed
        samples = [time * factor * lucky * rng.lognormvariate(0, noise) for lucky in luck]
        return Row(program, name, "ns", samples, moved)

    rows = []
    for size in SIZES:
        for how, rate in (("memcpy", 20), ("register-256", 10), ("streaming-128", 8)):
            rows.append(row("scale_bench", f"copy/{how}/bytes:{size}", 2 * size / rate, 2 * size))
        for dtype, rate in (("float32", 9.7), ("bfloat16", 6.0)):
            for whose in ("kernkit", "eigen"):
                name = f"scale/{dtype}/{whose}/bytes:{size}"
                rows.append(row("scale_bench", name, 2 * size / rate, 2 * size))
    for compiler in ("g++", "clang++"):
        rows.append(row("overhead_bench", f"call/{compiler}/kernkit", 7))
        rows.append(row("overhead_bench", f"call/{compiler}/tvm-ffi", 40))
    for n, ours in ((1, 500), (1024, 600), (1 << 20, 9e5)):
        for whose, factor in (("kernkit-numpy", 1), ("kernkit-torch", 1), ("numpy", 1.3), ("torch", 4)):
            rows.append(row("from_python", f"from Python/add/float32/{whose}/n:{n}", ours * factor))
    return Run({"processor": "A machine", "caches": [{"level": 1, "type": "Data", "bytes": 32768}]}, rows)


def verdicts(old, new, tolerance=0.05):
    changes, missing = compare.compare(old, new, tolerance)
    assert not missing
    return {change.name: change.verdict for change in changes}


def test_the_ceiling_is_the_best_copy_in_registers_of_the_same_size():
    run = made(1, noise=0)
    ours = {row.name: row for row in run.rows}
    row = ours["scale/float32/kernkit/bytes:65536"]
    assert run.ceiling(row).name == "copy/register-256/bytes:65536"
    assert row.rate / run.ceiling(row).rate == pytest.approx(0.97)
    assert run.ceiling(ours["copy/memcpy/bytes:65536"]) is None
    assert run.ceiling(ours["call/g++/kernkit"]) is None


def test_memcpy_is_the_ceiling_where_it_is_the_only_copy():
    rows = [Row("p", "copy/float16/memcpy/n:1/d:8", samples=[1.0], bytes=32),
            Row("p", "copy/float32/memcpy/n:1/d:8", samples=[1.5], bytes=64),
            Row("p", "silu/float16/kernkit/n:1/d:8", samples=[2.0], bytes=32),
            Row("other", "silu/float16/kernkit/n:1/d:8", samples=[2.0], bytes=32)]  # fmt: skip
    assert Run({}, rows).ceiling(rows[2]) is rows[0]
    assert Run({}, rows).ceiling(rows[3]) is None


def of_library(ours="my_kernels"):
    """A run as of a library's benchmarks, whose copies are memcpy of each dtype."""
    rows = []
    for n in (1, 64, 1024):
        for dtype, size, rate in (("float32", 4, 20), ("float16", 2, 10)):
            moved = 24 * n * size
            keys = f"n:{n}/d:8"
            rows.append(Row("op_bench", f"copy/{dtype}/memcpy/{keys}", "ns", [moved / rate], moved))
            rows.append(Row("op_bench", f"op/{dtype}/{ours}/{keys}", "ns", [moved / 5], moved))
    return Run({"ours": [ours]} if ours != "kernkit" else {}, rows)


def test_the_page_of_a_library_calls_its_rows_by_its_name_and_memcpy_by_its_dtype():
    page = report.markdown(of_library(), plots=False)
    assert re.search(r"### op float32\n\n\| GB/s \| n = 1, d = 8 \| n = 64, d = 8 \| n = 1024, d = 8 \|\n"
                     r"\| --- \| --- \| --- \| --- \|\n"
                     r"\| \*\*my_kernels\*\* \| 5 \(0.25\) \| 5 \(0.25\) \| 5 \(0.25\) \|\n"
                     r"\| memcpy \| 20 \| 20 \| 20 \|\n", page), page  # fmt: skip
    assert "| **my_kernels** | 5 (0.50) | 5 (0.50) | 5 (0.50) |\n| memcpy | 10 | 10 | 10 |\n" in page
    assert "in brackets the share of memcpy, " in page and "kernkit" not in page


def test_rows_are_sorted_by_numbers_and_common_dtypes_first():
    rows = of_library().rows
    random.Random(1).shuffle(rows)
    assert [row.name for row in sorted(rows, key=lambda row: row.order) if row.path[0] == "op"] == [
        f"op/{dtype}/my_kernels/n:{n}/d:8" for dtype in ("float32", "float16") for n in (1, 64, 1024)
    ]


def test_a_run_in_brief_is_some_sentences_and_a_small_table():
    run = of_library()
    assert digest.sentences(run) == ["op float32, n:1024 d:8: 19.7 us, 5 GB/s, 0.25 of memcpy"]
    assert digest.table(run) == [
        "share of memcpy  n:1 d:8  n:64 d:8  n:1024 d:8",
        "op float32          0.25      0.25        0.25",
        "op float16          0.50      0.50        0.50",
    ]
    run = made(1, noise=0)
    assert len(digest.sentences(run)) == 2 and digest.sentences(run)[1].startswith("scale float32, 512 MiB: ")
    assert re.fullmatch(r"call, clang\+\+: [\d.]+ ns, 0\.17 of tvm-ffi's [\d.]+ ns", digest.sentences(run)[0])
    assert digest.table(run)[0] == "share of the best copy    4 KiB   64 KiB    1 MiB   16 MiB  512 MiB"
    assert digest.table(Run({}, run.rows[-2:])) == []


def test_one_sample_has_no_spread():
    row = Row("p", "call/g++/kernkit", samples=[2.0])
    peer = Row("p", "call/g++/tvm-ffi", samples=[4.0])
    page = report.markdown(Run({}, [row, peer]), plots=False)
    assert "| call, g++ | 2 ns | tvm-ffi | 4 ns | **0.50** |" in page
    row.samples, peer.samples = [2.0, 2.0], [4.0, 4.0]
    page = report.markdown(Run({}, [row, peer]), plots=False)
    assert "| call, g++ | 2 ns ±0% | tvm-ffi | 4 ns ±0% | **0.50** |" in page


@pytest.mark.parametrize("suffix, rate_by", [("", "cpu_time"), ("/real_time", "real_time"),
                                             ("/manual_time", "real_time"), ("/process_time", "cpu_time"),
                                             ("/process_time/real_time", "real_time")])  # fmt: skip
def test_bytes_are_by_the_clock_that_the_rate_was_taken_by(suffix, rate_by):
    """12.1 ms of wall and 4.0 ms of processor time, at half the speed of the copy: not beyond it."""
    def entry(name, real, cpu):
        by = {"real_time": real, "cpu_time": cpu}[rate_by]
        return {"name": name + suffix, "real_time": real, "cpu_time": cpu, "time_unit": "ms",
                "bytes_per_second": 100e6 / by * 1e3}  # fmt: skip

    entries = [entry("op/float32/kernkit/bytes:64", 12.1, 4.0), entry("copy/memcpy/bytes:64", 6.05, 6.05)]
    rows = benchmark_runs.parse(json.dumps({"context": {}, "benchmarks": entries}))["rows"]
    run = Run({}, [Row(**{"program": "p", **row}) for row in rows])
    ours, copy = run.rows
    assert (ours.bytes, copy.bytes) == (100e6, 100e6)
    assert ours.rate / run.ceiling(ours).rate == pytest.approx(0.5)


def test_a_caller_is_compared_with_the_peer_whose_arrays_it_takes():
    run = made(1)
    rows = {row.name: row for row in run.rows}
    peers = run.peers(rows["from Python/add/float32/kernkit-torch/n:1"])
    assert [peer.whose for peer in peers] == ["torch"]
    assert [peer.whose for peer in run.peers(rows["call/g++/kernkit"])] == ["tvm-ffi"]


@pytest.mark.parametrize("seed", range(20))
def test_the_same_build_passes_on_any_machine(seed):
    found = verdicts(made(seed), made(seed + 100, speed=1 + seed))
    assert set(found.values()) == {"same"}, found


@pytest.mark.parametrize(
    "name",
    ["scale/float32/kernkit/bytes:4096", "scale/bfloat16/kernkit/bytes:536870912",
     "call/g++/kernkit", "from Python/add/float32/kernkit-numpy/n:1"],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(5))
def test_a_slowdown_of_20_percent_is_found_and_so_is_its_repair(seed, name):
    good, bad = made(seed), made(seed + 50, speed=3, slower={name: 1.2})
    found = verdicts(good, bad)
    assert found.pop(name) == "slower" and set(found.values()) == {"same"}
    found = verdicts(bad, good)
    assert found.pop(name) == "faster" and set(found.values()) == {"same"}


def test_a_slower_peer_or_machine_is_no_regression_of_ours():
    changed = {"scale/float32/eigen/bytes:4096": 1.5}
    assert set(verdicts(made(1), made(2, slower=changed)).values()) == {"same"}


def test_a_change_below_the_tolerance_is_the_same_however_sure():
    name = "call/g++/kernkit"
    runs = made(1, noise=0.001), made(2, noise=0.001, slower={name: 1.04})
    assert verdicts(*runs)[name] == "same"
    assert verdicts(*runs, tolerance=0.02)[name] == "slower"


def test_an_interval_that_hides_a_gain_is_as_unclear_as_one_that_hides_a_loss():
    rows = [[Row("p", "call/g++/kernkit", samples=samples), Row("p", "call/g++/tvm-ffi", samples=[1.0] * 5)]
            for samples in ([1, 1.5, 1.3, 1.9, 1.2], [1, 1, 1, 1, 1.2])]  # fmt: skip
    (change,), _ = compare.compare(Run({}, rows[0]), Run({}, rows[1]), 0.05)
    assert change.low < -0.2 and 0 < change.high < 0.2 and change.verdict == "unclear"


def test_noise_is_called_unclear():
    assert "unclear" in verdicts(made(1, noise=0.2), made(2, noise=0.2)).values()
    assert set(verdicts(made(1, rounds=1), made(2, rounds=1)).values()) == {"unclear"}


def test_one_disturbed_round_of_a_run_hides_nothing():
    name = "call/g++/kernkit"
    good, bad = made(1, noise=0.01), made(2, noise=0.01, slower={name: 1.25})
    for run in (good, bad):
        for number, row in enumerate(filter(run.is_ours, run.rows)):
            row.samples[number % 5] *= 3
    found = verdicts(good, bad)
    assert found.pop(name) == "slower" and set(found.values()) == {"same"}


def test_a_library_is_the_same_one_whatever_its_rows_were_called():
    run = of_library()
    for row in run.rows:
        row.samples *= 5
    old = of_library("kernkit")
    for row in old.rows:
        row.samples *= 5
    assert set(verdicts(old, run).values()) == {"same"}


def test_quantiles_of_student():
    for probability, freedom, known in ((0.975, 8, 2.306), (0.995, 4, 4.604), (0.9995, 8, 5.041)):
        assert compare.t_quantile(probability, freedom) == pytest.approx(known, abs=2e-3)


def test_compare_exits_with_1_on_a_regression_and_says_which(tmp_path):
    name = "scale/float32/kernkit/bytes:65536"
    old, same, slow = (tmp_path / f"{n}.json" for n in ("old", "same", "slow"))
    for path, run in ((old, made(1)), (same, made(2)), (slow, made(3, slower={name: 1.2}))):
        benchmark_runs.save(run, path)
    result = kernkit("compare", old, same)
    assert result.returncode == 0 and result.stdout == "18 rows: 0 slower, 0 faster, 0 unclear, 18 same\n"
    result = kernkit("compare", old, slow)
    assert result.returncode == 1
    line = result.stdout.splitlines()[0]
    assert re.match(rf"slower   {re.escape(name)} +\+\d+\.\d% time \[\+\d.*%, \+\d.*%\]  "
                    r"0\.\d+ -> 0\.\d+ of the best copy$", line), line  # fmt: skip
    assert result.stdout.endswith("1 slower, 0 faster, 0 unclear, 17 same\n")


def test_compare_says_why_rows_are_unclear_and_what_to_do(tmp_path):
    def printed(old, new, busy=0.0):
        new.context["busy_with_others"] = busy
        for name, run in (("old", old), ("new", new)):
            benchmark_runs.save(run, tmp_path / name)
        result = kernkit("compare", tmp_path / "old", tmp_path / "new")
        assert result.returncode == 0, result.stderr
        return result.stdout

    once = "the {} run has 1 round, and a change is told from noise by 3 or more: measure it by ./kk bench, which takes 5\n"
    assert printed(made(1, rounds=1), made(2, rounds=1)).endswith(once.format("old") + once.format("new"))
    assert printed(made(1, rounds=1), made(2)).endswith(once.format("old"))
    text = printed(made(1, noise=0.2), made(2, noise=0.2), busy=0.63)
    assert text.endswith("63% of the processors were busy with others during the new run: measure it when they are not\n")
    text = printed(made(1, noise=0.2), made(2, noise=0.2))
    assert text.endswith("the rounds differ too much to tell: measure both runs with more of them, as in ./kk bench --rounds=15\n")
    assert printed(made(1), made(2), busy=0.63).endswith("0 unclear, 18 same\n")


NOISY = """
import json, pathlib, random, re, sys
options = dict(re.match("--([^=]*)=(.*)", word).groups() for word in sys.argv[1:])
folder = pathlib.Path(__file__).parent
(folder / "calls").open("a").write("x")
rng, rows = random.Random(folder.name + (folder / "calls").read_text()), []

def add(name, time, moved):
    for _ in range(int(options["benchmark_repetitions"])):
        disturbed = rng.uniform(1.3, 2.5) if rng.random() < 0.15 else 1
        real = time * disturbed * rng.uniform(1, 1.02)
        cpu = time if disturbed > 1 else real
        rows.append({{"name": name + "/real_time", "real_time": real, "cpu_time": cpu, "time_unit": "us",
                     "bytes_per_second": moved / real * 1e6}})

for n in (1, 64, 1024):
    for dtype in ("float32", "float16", "bfloat16"):
        add(f"copy/{{dtype}}/memcpy/n:{{n}}", 10.0 * n, 1000 * n)
        add(f"op/{{dtype}}/my_kernels/n:{{n}}", (25.0 if {slow} and n == 64 and dtype == "float16" else 20.0) * n, 1000 * n)
json.dump({{"context": {{"ours": "my_kernels"}}, "benchmarks": rows}}, open(options["benchmark_out"], "w"))
"""


def test_runs_on_a_disturbed_machine_are_the_same_and_a_quarter_more_time_is_found(tmp_path):
    """With the rounds and repetitions of `kernkit bench`, where 15 of 100 measurements are disturbed."""
    found = []
    for name, slow in (("first", False), ("same", False), ("slow", True)):
        program = tmp_path / f"{name}/op_bench.py"
        program.parent.mkdir()
        program.write_text(NOISY.format(slow=slow))
        out = tmp_path / f"{name}.json"
        result = kernkit("bench", program, "--output", out)
        assert result.returncode == 0, result.stderr
        run = benchmark_runs.load(out)
        run.context["busy_with_others"] = 0.0
        benchmark_runs.save(run, out)
        found.append(run)
    assert found[0].ours == ["my_kernels"]
    assert set(verdicts(*found[:2]).values()) == {"same"}
    changes = verdicts(found[0], found[2])
    assert changes.pop("op/float16/my_kernels/n:64") == "slower" and set(changes.values()) == {"same"}


def test_compare_refuses_what_it_cannot_compare(tmp_path):
    a, b, broken = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "broken.json"
    benchmark_runs.save(made(1), a)
    benchmark_runs.save(Run({}, []), b)
    broken.write_text("{")
    for old, text in (
        (b, f"kernkit: {b} and {a} have no row of ours in common\n"),
        (broken, f"kernkit: {broken} is no run of benchmarks\n"),
        (tmp_path / "none", f"kernkit: there is no file {tmp_path}/none; ./kk bench writes build/bench/run.json\n"),
    ):
        result = kernkit("compare", old, a)
        assert (result.returncode, result.stderr) == (3, text)


def test_a_run_survives_its_file(tmp_path):
    run = made(1)
    run.rows.append(Row("p", "peers/eigen", reason="skipped: not here"))
    benchmark_runs.save(run, tmp_path / "run.json")
    again = benchmark_runs.load(tmp_path / "run.json")
    assert again.context == run.context and len(again.rows) == len(run.rows)
    for before, after in zip(run.rows, again.rows):
        assert after.samples == pytest.approx(before.samples, rel=1e-4)
        assert (after.program, after.name, after.bytes, after.reason) == (
            before.program, before.name, before.bytes, before.reason)  # fmt: skip


PROGRAM = """
import json, sys
out = [a.split("=", 1)[1] for a in sys.argv if a.startswith("--benchmark_out=")][0]
rows = [{{"name": "op/float32/kernkit/bytes:64/real_time", "run_type": "iteration", "real_time": 2.0,
         "time_unit": "us", "bytes_per_second": 64e6}},
        {{"name": "op/float32/kernkit/bytes:64/real_time_mean", "run_type": "aggregate", "real_time": 9}},
        {more}]
json.dump({{"context": {{"host_name": "secret", "compiler": "cc 1"}}, "benchmarks": rows}}, open(out, "w"))
"""


def bench(tmp_path, more="", brief=False, **options):
    program, out = tmp_path / "op_bench.py", tmp_path / "run.json"
    program.write_text(PROGRAM.format(more=more))
    return kernkit("bench", program, "--rounds", 3, "--output", out, *["--brief"][: brief], **options), out


def test_a_run_says_where_when_and_of_what(tmp_path):
    result, out = bench(tmp_path, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    run = benchmark_runs.load(out)
    assert "op/float32/kernkit/bytes:64 " in result.stdout
    brief, _ = bench(tmp_path, cwd=ROOT, brief=True)
    assert brief.returncode == 0 and "op/float32/kernkit" not in brief.stdout
    assert re.search(rf"\n1 rows in \d+ s, \d+% of the processors busy with others: {out}\n", brief.stdout)
    (row,) = run.rows
    assert (row.name, row.program, row.samples, row.bytes) == (
        "op/float32/kernkit/bytes:64", "op_bench", [2000.0] * 3, 128)  # fmt: skip
    about = run.context
    for key in ("date", "processor", "processors", "memory_bytes", "system", "versions",
                "busy_with_others"):  # fmt: skip
        assert about[key] or about[key] == 0, key
    assert about["caches"] == caches()  # a container without /sys tells none
    assert about["rounds"] == 3 and about["compiler"] == ["cc 1"]
    assert re.fullmatch(r"[0-9a-f]{40}\+?", about["commit"])
    assert about["versions"]["apache-tvm-ffi"] and "secret" not in out.read_text()


def test_caches_are_those_that_the_system_tells(tmp_path):
    assert caches(tmp_path / "missing") == []
    told = {"index0": ("1", "Data", "32K"), "index1": ("1", "Instruction", "32K"),
            "index2": ("2", "Unified", "512K"), "index3": ("3", "Unified", "")}  # fmt: skip
    for name, (level, kind, size) in told.items():
        (tmp_path / name).mkdir()
        for file, text in (("level", level), ("type", kind), ("size", size)):
            (tmp_path / name / file).write_text(text + "\n")
    assert caches(tmp_path) == [
        {"level": 1, "type": "Data", "bytes": 32768}, {"level": 2, "type": "Unified", "bytes": 524288}
    ]  # fmt: skip


def test_the_fastest_repetition_of_a_round_counts(tmp_path):
    slower = {"name": "op/float32/kernkit/bytes:64/repeats:2/real_time", "real_time": 3.0, "time_unit": "us"}
    result, out = bench(tmp_path, json.dumps(slower))
    assert result.returncode == 0, result.stderr
    (row,) = benchmark_runs.load(out).rows
    assert row.samples == [2000.0] * 3


def test_a_wrong_row_fails_the_run_and_a_skipped_one_does_not(tmp_path):
    wrong = {"name": "op/bad/kernkit/bytes:64", "error_occurred": True, "error_message": "the result is wrong"}
    skipped = {"name": "peers/x", "error_occurred": True, "error_message": "skipped: not here"}
    result, out = bench(tmp_path, json.dumps(skipped).replace("true", "True"))
    assert result.returncode == 0 and not benchmark_runs.load(out).rows[-1].samples
    result, out = bench(tmp_path, json.dumps(wrong).replace("true", "True"))
    assert result.returncode == 1
    assert "failed: op/bad/kernkit/bytes:64: the result is wrong" in result.stderr
    result = kernkit("bench", tmp_path / "none")
    assert result.returncode == 3 and "there is no program" in result.stderr


def test_the_report_has_every_row_and_plots_where_matplotlib_is(tmp_path):
    path = tmp_path / "run.json"
    run = made(1)
    run.rows.append(Row("p", "peers/highway", reason="skipped: not here"))
    benchmark_runs.save(run, path)
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


def test_without_matplotlib_the_report_says_so(tmp_path):
    benchmark_runs.save(made(1), tmp_path / "run.json")
    (tmp_path / "matplotlib.py").write_text("raise ImportError")
    result = subprocess.run(
        [sys.executable, "-m", "kernkit", "report", tmp_path / "run.json"], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}/sdk/python"}, cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 3
    assert result.stderr == "kernkit: plots need matplotlib: pip install matplotlib, or say --no-plots\n"


def test_kept_results_are_those_of_their_page(tmp_path):
    """Of the page that lies beside each kept run; its plots need matplotlib and are not made anew."""
    for path in (ROOT / "bench/results").glob("*/run.json"):
        page = report.markdown(benchmark_runs.load(path), plots=True)
        assert (path.parent / "report.md").read_text() == page, f"old: kernkit report {path}"


class DoesNothing:
    def scale(self, y, x, factor):
        pass

    def add(self, z, x, y):
        pass


def test_a_wrong_kernel_has_no_time_in_python(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    monkeypatch.setattr(sys, "argv", ["from_python.py"])
    import from_python
    from python_rows import Rows

    for op in ("scale", "add"):
        with Rows("") as rows:
            from_python.measure(rows, DoesNothing(), [from_python.numpy_calls], op, "float32", 8)
            found = {row["name"].split("/")[3]: row for row in rows.rows}
        assert found["kernkit-numpy"] == {
            "name": f"from Python/{op}/float32/kernkit-numpy/n:8", "reason": "the result is wrong"}  # fmt: skip
        assert found["numpy"]["samples"] and found["numpy"]["bytes"] == 8 * 4 * (2 if op == "scale" else 3)


WRONG = """
#include "harness.h"
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
def test_a_library_s_rows_are_of_one_thread_by_the_wall_clock_and_bear_its_name(tmp_path, dlpack_include):
    source, program, out = tmp_path / "op.cc", tmp_path / "op_bench", tmp_path / "out.json"
    source.write_text(SLEEPING)
    build_benchmark(source, program, dlpack_include, '-DKERNKIT_BENCHMARKED_LIBRARY="my_kernels"')
    rows = {}
    for threads in ("one", "all"):
        subprocess.run([program, "--benchmark_min_time=0.001", f"--benchmark_out={out}"], check=True,
                       capture_output=True, env={**os.environ, "KERNKIT_BENCH_THREADS": threads})  # fmt: skip
        measured = benchmark_runs.parse(out.read_text())
        assert measured["context"]["ours"] == "my_kernels" and measured["context"]["compiler"]
        rows[threads] = {row["name"]: row for row in measured["rows"]}
    ours = rows["one"].pop("op/float32/my_kernels/n:1000")
    assert ours["bytes"] == 4000 and min(ours["samples"]) > 2e6  # ns; asleep, it takes no processor time
    assert list(rows["one"]) == ["copy/float32/memcpy/n:1000"]
    assert list(rows["all"]) == ["op/float32/my_kernels-threads/n:1000"]


@pytest.mark.all
def test_a_wrong_kernel_has_no_time(tmp_path, dlpack_include):
    source, program, out = tmp_path / "wrong.cc", tmp_path / "wrong_bench", tmp_path / "out.json"
    source.write_text(WRONG)
    build_benchmark(source, program, dlpack_include)
    # The wrong rows follow the right one, whose output is still in the arrays.
    subprocess.run([program, "--benchmark_min_time=0.001", "--benchmark_filter=bytes:(4096|1048576)/",
                    f"--benchmark_out={out}"], check=True, capture_output=True)  # fmt: skip
    rows = {row["name"]: row for row in benchmark_runs.parse(out.read_text())["rows"]}
    assert len(rows) == 6
    for name, row in rows.items():
        wrong = not name.startswith("good")
        assert row.get("reason", "") == ("the result is wrong" if wrong else ""), name
        assert bool(row["samples"]) != wrong


SLOW = """
#include "copies.h"
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
    """On a quiet machine. A quarter of the work, done twice, in sizes that a cache holds."""
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

    first = measure(0, "first")
    for again in range(5):
        result = kernkit("compare", first, measure(0, f"again{again}"))
        assert result.returncode == 0, result.stdout
    result = kernkit("compare", first, measure(1, "planted"))
    assert result.returncode == 1, result.stdout
