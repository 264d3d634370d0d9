# SPDX-License-Identifier: Apache-2.0
"""`kernkit compare` of files written by `kernkit counters --json`."""

import json

import pytest
from kernkit import cli

LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"


def kernel(name="scale", ptxas=None, **changed):
    counters = {LOADS: 1000, "global_load_fewest_sectors": 1000, "ptx_instructions": 100, "ptx_lanes": 3200, **changed}
    return {"kernel": name, "launches": 1, "unique_sectors": 2000, "counters": counters, **({"ptxas": ptxas} if ptxas else {})}


@pytest.fixture
def compare(tmp_path, capfd):
    """Returns the exit code and the output of `kernkit compare` for two lists of kernels."""

    def run(old, new, *options):
        for name, kernels in (("old", old), ("new", new)):
            (tmp_path / f"{name}.json").write_text(json.dumps({"kernels": kernels}, indent=1) + "\n")
        code = cli.main(["compare", str(tmp_path / "old.json"), str(tmp_path / "new.json"), *options])
        return code, capfd.readouterr().out

    return run


def test_equal_counters(compare):
    assert compare([kernel()], [kernel()]) == (0, "1 kernels: 0 counters worse\n")


def test_one_additional_sector_fails_unless_tolerated(compare):
    code, out = compare([kernel()], [kernel(**{LOADS: 1001})])
    assert (code, out) == (1, f"worse    scale: {LOADS} 1000 -> 1001 (+0.1%)\n1 kernels: 1 counters worse\n")
    assert compare([kernel()], [kernel(**{LOADS: 1001})], "--tolerance", "0.01") == (0, "1 kernels: 0 counters worse\n")
    assert compare([kernel()], [kernel(**{LOADS: 1011})], "--tolerance", "0.01")[0] == 1


def test_improvements(compare):
    code, out = compare([kernel()], [kernel(**{LOADS: 900, "global_load_fewest_sectors": 1100})])
    assert (code, out) == (0, f"better   scale: {LOADS} 1000 -> 900 (-10.0%)\n1 kernels: 0 counters worse\n")


def test_a_counter_that_was_zero(compare):
    code, out = compare([kernel(local_bytes=0)], [kernel(local_bytes=4)])
    assert code == 1 and "local_bytes 0 -> 4 (+inf%)" in out


def test_divergence_is_worse(compare):
    """Fewer active lanes for the same number of instructions are reported as worse; more active lanes are not."""
    code, out = compare([kernel()], [kernel(ptx_lanes=3100)])
    assert code == 1 and "scale: idle_lanes 0 -> 100" in out


def test_registers_and_occupancy(compare):
    names = ("launch__registers_per_thread", "spill_store_bytes", "sm__maximum_warps_per_active_cycle_pct")
    old = [kernel(ptxas={**dict(zip(names, (32, 0, 100.0))), "architecture": "sm_80"})]
    new = [kernel(ptxas={**dict(zip(names, (40, 8, 75.0))), "architecture": "sm_80"})]
    code, out = compare(old, new)
    assert code == 1 and out.endswith("1 kernels: 3 counters worse\n")
    assert "sm__maximum_warps_per_active_cycle_pct 100 -> 75 (+33.3%)" in out
    assert compare(new, old)[0] == 0


def test_a_kernel_of_one_file_is_named(compare):
    code, out = compare([kernel(), kernel("add")], [kernel(), kernel("softmax")])
    assert code == 0
    assert "not compared: add: only in the old file\nnot compared: softmax: only in the new file\n" in out
    assert compare([kernel()], [kernel("add")])[0] == 3


def test_a_file_of_another_kind(compare, tmp_path, capfd):
    compare([kernel()], [kernel()])
    (tmp_path / "run.json").write_text('{"context": {}, "rows": []}')
    assert cli.main(["compare", str(tmp_path / "old.json"), str(tmp_path / "run.json")]) == 3
    assert "run.json is not a file of `kernkit counters --json`: 'kernels'" in capfd.readouterr().err
