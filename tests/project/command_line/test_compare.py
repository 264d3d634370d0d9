# SPDX-License-Identifier: Apache-2.0
"""`kernkit compare` reports the rows that are slower in the second of two runs, and no other rows."""

import re

import pytest
from benchmark_runs import kernkit, of_library, synthetic_run, verdicts
from kernkit.bench import comparison
from kernkit.bench import measurements
from kernkit.bench.measurements import Row, Run


@pytest.mark.parametrize("seed", range(20))
def test_the_same_build_passes_on_any_machine(seed):
    changes = verdicts(synthetic_run(seed), synthetic_run(seed + 100, speed=1 + seed))
    assert set(changes.values()) == {"same"}, changes


@pytest.mark.parametrize(
    "name",
    ["scale/float32/kernkit/bytes:4096", "scale/bfloat16/kernkit/bytes:536870912",
     "call/g++/kernkit", "from Python/add/float32/kernkit-numpy/n:1"],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(5))
def test_a_slowdown_of_20_percent_is_found_and_so_is_its_repair(seed, name):
    good, bad = synthetic_run(seed), synthetic_run(seed + 50, speed=3, slower={name: 1.2})
    changes = verdicts(good, bad)
    assert changes.pop(name) == "slower" and set(changes.values()) == {"same"}
    changes = verdicts(bad, good)
    assert changes.pop(name) == "faster" and set(changes.values()) == {"same"}


def test_a_slower_peer_or_machine_is_no_regression_of_ours():
    changed = {"scale/float32/eigen/bytes:4096": 1.5}
    assert set(verdicts(synthetic_run(1), synthetic_run(2, slower=changed)).values()) == {"same"}


def test_a_change_below_the_tolerance_is_the_same_however_sure():
    name = "call/g++/kernkit"
    runs = synthetic_run(1, noise=0.001), synthetic_run(2, noise=0.001, slower={name: 1.04})
    assert verdicts(*runs)[name] == "same"
    assert verdicts(*runs, tolerance=0.02)[name] == "slower"


def test_an_interval_that_hides_a_gain_or_a_loss_is_unclear():
    rows = [[Row("p", "call/g++/kernkit", samples=samples), Row("p", "call/g++/tvm-ffi", samples=[1.0] * 5)]
            for samples in ([1, 1.5, 1.3, 1.9, 1.2], [1, 1, 1, 1, 1.2])]  # fmt: skip
    (change,), _ = comparison.compare(Run({}, rows[0]), Run({}, rows[1]), 0.05)
    assert change.low < -0.2 and 0 < change.high < 0.2 and change.verdict == "unclear"


def test_noise_is_called_unclear():
    assert "unclear" in verdicts(synthetic_run(1, noise=0.2), synthetic_run(2, noise=0.2)).values()
    assert set(verdicts(synthetic_run(1, rounds=1), synthetic_run(2, rounds=1)).values()) == {"unclear"}


def test_one_disturbed_round_of_a_run_hides_nothing():
    name = "call/g++/kernkit"
    good, bad = synthetic_run(1, noise=0.01), synthetic_run(2, noise=0.01, slower={name: 1.25})
    for run in (good, bad):
        for number, row in enumerate(filter(run.is_ours, run.rows)):
            row.samples[number % 5] *= 3
    changes = verdicts(good, bad)
    assert changes.pop(name) == "slower" and set(changes.values()) == {"same"}


def test_a_library_is_the_same_under_any_row_names():
    run = of_library()
    for row in run.rows:
        row.samples *= 5
    old = of_library("kernkit")
    for row in old.rows:
        row.samples *= 5
    assert set(verdicts(old, run).values()) == {"same"}


def test_quantiles_of_student():
    for probability, freedom, expected in ((0.975, 8, 2.306), (0.995, 4, 4.604), (0.9995, 8, 5.041)):
        assert comparison.t_quantile(probability, freedom) == pytest.approx(expected, abs=2e-3)


def test_compare_exits_with_1_on_a_regression_and_names_it(tmp_path):
    name = "scale/float32/kernkit/bytes:65536"
    old, same, slow = (tmp_path / f"{n}.json" for n in ("old", "same", "slow"))
    for path, run in ((old, synthetic_run(1)), (same, synthetic_run(2)), (slow, synthetic_run(3, slower={name: 1.2}))):
        measurements.save(run, path)
    result = kernkit("compare", old, same)
    assert result.returncode == 0 and result.stdout == "18 rows: 0 slower, 0 faster, 0 unclear, 18 same\n"
    result = kernkit("compare", old, slow)
    assert result.returncode == 1
    line = result.stdout.splitlines()[0]
    assert re.match(rf"slower   {re.escape(name)} +\+\d+\.\d% time \[\+\d.*%, \+\d.*%\]  "
                    r"0\.\d+ -> 0\.\d+ of the best copy$", line), line  # fmt: skip
    assert result.stdout.endswith("1 slower, 0 faster, 0 unclear, 17 same\n")


def test_compare_explains_unclear_rows(tmp_path):
    def printed(old, new, busy=0.0):
        new.context["busy_with_others"] = busy
        for name, run in (("old", old), ("new", new)):
            measurements.save(run, tmp_path / name)
        result = kernkit("compare", tmp_path / "old", tmp_path / "new")
        assert result.returncode == 0, result.stderr
        return result.stdout

    once = "the {} run has 1 round, and a reliable comparison needs 3 or more: measure again with ./kk bench, which runs 5\n"
    assert printed(synthetic_run(1, rounds=1), synthetic_run(2, rounds=1)).endswith(once.format("old") + once.format("new"))
    assert printed(synthetic_run(1, rounds=1), synthetic_run(2)).endswith(once.format("old"))
    text = printed(synthetic_run(1, noise=0.2), synthetic_run(2, noise=0.2), busy=0.63)
    assert text.endswith("other programs used 63% of the processors during the new run: measure again when the machine is idle\n")
    text = printed(synthetic_run(1, noise=0.2), synthetic_run(2, noise=0.2))
    assert text.endswith("the rounds differ too much for a verdict: measure both runs with more rounds, for example ./kk bench --rounds=15\n")
    assert printed(synthetic_run(1), synthetic_run(2), busy=0.63).endswith("0 unclear, 18 same\n")


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
    """Although a disturbance affects 15 of 100 measurements, `kernkit compare` reports rows that take a quarter more
    time as slower, and reports no difference between equal runs. The runs have the rounds and repetitions of `kernkit
    bench`."""
    runs_found = []
    for name, slow in (("first", False), ("same", False), ("slow", True)):
        program = tmp_path / f"{name}/op_bench.py"
        program.parent.mkdir()
        program.write_text(NOISY.format(slow=slow))
        out = tmp_path / f"{name}.json"
        result = kernkit("bench", program, "--output", out)
        assert result.returncode == 0, result.stderr
        run = measurements.load(out)
        run.context["busy_with_others"] = 0.0
        measurements.save(run, out)
        runs_found.append(run)
    assert runs_found[0].ours == ["my_kernels"]
    assert set(verdicts(*runs_found[:2]).values()) == {"same"}
    changes = verdicts(runs_found[0], runs_found[2])
    assert changes.pop("op/float16/my_kernels/n:64") == "slower" and set(changes.values()) == {"same"}


def test_compare_rejects_incomparable_runs(tmp_path):
    a, b, broken = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "broken.json"
    measurements.save(synthetic_run(1), a)
    measurements.save(Run({}, []), b)
    broken.write_text("{")
    for old, text in (
        (b, f"kernkit: {b} and {a} have no row of the library in common; compare runs of the same benchmarks\n"),
        (broken, f"kernkit: {broken} is not a run of benchmarks; name a file that ./kk bench wrote\n"),
        (tmp_path / "none", f"kernkit: file {tmp_path}/none not found; ./kk bench writes build/bench/run.json\n"),
    ):
        result = kernkit("compare", old, a)
        assert (result.returncode, result.stderr) == (3, text)
