# SPDX-License-Identifier: Apache-2.0
"""`kernkit bench`: runs record the machine, and print a summary of the results."""

import json
import pathlib
import re
import shutil

from benchmark_runs import kernkit, of_library, synthetic_run
from kernkit.bench import measurements, summary
from kernkit.bench.machine import caches
from kernkit.bench.measurements import Run

ROOT = pathlib.Path(__file__).resolve().parents[3]

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


def test_a_run_records_machine_time_and_subject(tmp_path):
    result, out = bench(tmp_path, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    run = measurements.load(out)
    assert "op/float32/kernkit/bytes:64 " in result.stdout
    brief, _ = bench(tmp_path, cwd=ROOT, brief=True)
    assert brief.returncode == 0 and "op/float32/kernkit" not in brief.stdout
    assert re.search(rf"\n1 rows in \d+ s, \d+% of the processors used by other programs: {out}\n", brief.stdout)
    (row,) = run.rows
    assert (row.name, row.program, row.samples, row.bytes) == (
        "op/float32/kernkit/bytes:64", "op_bench", [2000.0] * 3, 128)  # fmt: skip
    about = run.context
    for key in ("date", "processor", "processors", "memory_bytes", "system", "versions",
                "busy_with_others"):  # fmt: skip
        assert about[key] or about[key] == 0, key
    assert about["caches"] == caches()  # caches() is empty in a container without /sys
    assert about["rounds"] == 3 and about["compiler"] == ["cc 1"]
    has_git = shutil.which("git") and (ROOT / ".git").exists()
    assert re.fullmatch(r"[0-9a-f]{40}\+?", about["commit"]) if has_git else about["commit"] == "unknown"
    assert about["versions"]["apache-tvm-ffi"] and "secret" not in out.read_text()


def test_caches_are_those_that_the_system_reports(tmp_path):
    assert caches(tmp_path / "missing") == []
    levels = {"index0": ("1", "Data", "32K"), "index1": ("1", "Instruction", "32K"),
            "index2": ("2", "Unified", "512K"), "index3": ("3", "Unified", "")}  # fmt: skip
    for name, (level, kind, size) in levels.items():
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
    (row,) = measurements.load(out).rows
    assert row.samples == [2000.0] * 3


def test_an_incorrect_row_fails_the_run_and_a_skipped_row_does_not(tmp_path):
    wrong = {"name": "op/bad/kernkit/bytes:64", "error_occurred": True, "error_message": "the result is wrong"}
    skipped = {"name": "peers/x", "error_occurred": True, "error_message": "skipped: not here"}
    result, out = bench(tmp_path, json.dumps(skipped).replace("true", "True"))
    assert result.returncode == 0 and not measurements.load(out).rows[-1].samples
    result, out = bench(tmp_path, json.dumps(wrong).replace("true", "True"))
    assert result.returncode == 1
    assert "failed: op/bad/kernkit/bytes:64: the result is wrong" in result.stderr
    result = kernkit("bench", tmp_path / "none")
    assert result.returncode == 3 and "not found; build the program first, or correct the path" in result.stderr


def test_a_run_in_brief_is_some_sentences_and_a_small_table():
    run = of_library()
    assert summary.sentences(run) == ["op float32, n:1024 d:8: 19.7 us, 5 GB/s, 0.25 of memcpy"]
    assert summary.table(run) == [
        "share of memcpy  n:1 d:8  n:64 d:8  n:1024 d:8",
        "op float32          0.25      0.25        0.25",
        "op float16          0.50      0.50        0.50",
    ]
    run = synthetic_run(1, noise=0)
    assert len(summary.sentences(run)) == 2 and summary.sentences(run)[1].startswith("scale float32, 512 MiB: ")
    assert re.fullmatch(r"call, clang\+\+: [\d.]+ ns, 0\.17 of tvm-ffi's [\d.]+ ns", summary.sentences(run)[0])
    assert summary.table(run)[0] == "share of the best copy    4 KiB   64 KiB    1 MiB   16 MiB  512 MiB"
    assert summary.table(Run({}, run.rows[-2:])) == []
