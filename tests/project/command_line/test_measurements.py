# SPDX-License-Identifier: Apache-2.0
"""Files, rows and comparisons of a benchmark run."""

import json
import random

import pytest
from benchmark_runs import of_library, synthetic_run
from kernkit.bench import measurements
from kernkit.bench.measurements import Row, Run


def test_the_ceiling_is_the_best_copy_in_registers_of_the_same_size():
    run = synthetic_run(1, noise=0)
    by_name = {row.name: row for row in run.rows}
    row = by_name["scale/float32/kernkit/bytes:65536"]
    assert run.ceiling(row).name == "copy/register-256/bytes:65536"
    assert row.rate / run.ceiling(row).rate == pytest.approx(0.97)
    assert run.ceiling(by_name["copy/memcpy/bytes:65536"]) is None
    assert run.ceiling(by_name["call/g++/kernkit"]) is None


def test_memcpy_is_the_ceiling_of_a_run_without_other_copies():
    rows = [Row("p", "copy/float16/memcpy/n:1/d:8", samples=[1.0], bytes=32),
            Row("p", "copy/float32/memcpy/n:1/d:8", samples=[1.5], bytes=64),
            Row("p", "silu/float16/kernkit/n:1/d:8", samples=[2.0], bytes=32),
            Row("other", "silu/float16/kernkit/n:1/d:8", samples=[2.0], bytes=32)]  # fmt: skip
    assert Run({}, rows).ceiling(rows[2]) is rows[0]
    assert Run({}, rows).ceiling(rows[3]) is None


def test_rows_are_sorted_by_numbers_and_common_dtypes_first():
    rows = of_library().rows
    random.Random(1).shuffle(rows)
    assert [row.name for row in sorted(rows, key=lambda row: row.order) if row.path[0] == "op"] == [
        f"op/{dtype}/my_kernels/n:{n}/d:8" for dtype in ("float32", "float16") for n in (1, 64, 1024)
    ]


@pytest.mark.parametrize("suffix, rate_by", [("", "cpu_time"), ("/real_time", "real_time"),
                                             ("/manual_time", "real_time"), ("/process_time", "cpu_time"),
                                             ("/process_time/real_time", "real_time")])  # fmt: skip
def test_bytes_are_by_the_clock_that_the_rate_was_taken_by(suffix, rate_by):
    """The number of bytes of a call is the rate multiplied by the time of the clock (processor time or wall time) from
    which Google Benchmark computed the rate. An op with 12.1 ms of wall time, 4.0 ms of processor time and half the
    speed of the copy is not reported as faster than the copy."""
    def entry(name, real, cpu):
        by = {"real_time": real, "cpu_time": cpu}[rate_by]
        return {"name": name + suffix, "real_time": real, "cpu_time": cpu, "time_unit": "ms",
                "bytes_per_second": 100e6 / by * 1e3}  # fmt: skip

    entries = [entry("op/float32/kernkit/bytes:64", 12.1, 4.0), entry("copy/memcpy/bytes:64", 6.05, 6.05)]
    rows = measurements.parse(json.dumps({"context": {}, "benchmarks": entries}))["rows"]
    run = Run({}, [Row(**{"program": "p", **row}) for row in rows])
    kernkit_row, copy = run.rows
    assert (kernkit_row.bytes, copy.bytes) == (100e6, 100e6)
    assert kernkit_row.rate / run.ceiling(kernkit_row).rate == pytest.approx(0.5)


def test_a_caller_is_compared_with_the_peer_of_its_arrays():
    run = synthetic_run(1)
    rows = {row.name: row for row in run.rows}
    peers = run.peers(rows["from Python/add/float32/kernkit-torch/n:1"])
    assert [peer.implementation for peer in peers] == ["torch"]
    assert [peer.implementation for peer in run.peers(rows["call/g++/kernkit"])] == ["tvm-ffi"]


def test_a_run_survives_its_file(tmp_path):
    run = synthetic_run(1)
    run.rows.append(Row("p", "peers/eigen", reason="skipped: not here"))
    measurements.save(run, tmp_path / "run.json")
    again = measurements.load(tmp_path / "run.json")
    assert again.context == run.context and len(again.rows) == len(run.rows)
    for before, after in zip(run.rows, again.rows):
        assert after.samples == pytest.approx(before.samples, rel=1e-4)
        assert (after.program, after.name, after.bytes, after.reason) == (
            before.program, before.name, before.bytes, before.reason)  # fmt: skip
