# SPDX-License-Identifier: Apache-2.0
"""bench/client_suites counts the tests of another package by their outcomes; the tests used here have every outcome."""

import json
import os
import subprocess
import sys

import pytest

TESTS = """
import os, sys, time, pytest

def test_passes(): pass
def test_is_skipped(): pytest.skip("no reason")
@pytest.mark.xfail
def test_is_expected_to_fail(): assert False
def test_has_a_wrong_value(): assert 1 == 2
def test_crashes(): os.abort()
def test_calls_what_is_missing(): raise RuntimeError("CUDA_ERROR_NOT_SUPPORTED")
def test_calls_what_the_cpu_lacks(): raise NotImplementedError("Could not run 'aten::a_b' with arguments from the 'CPU' backend.")
def test_requires_the_driver(): raise RuntimeError('"nvml" is an NVIDIA driver library')
def test_inspects_machine_code(): raise RuntimeError("nvdisasm is missing")
def test_does_not_end(): time.sleep(600)
class TestOfAClass:
    @pytest.mark.parametrize("text", ["a/b::c"])
    def test_passes(self, text): pass
TestOfAClass.__name__ = "Test[of]a::class"
globals()["Test[of]a::class"] = TestOfAClass
"""
ENDINGS = {
    "test_passes": "passed", "test_is_skipped": "skipped", "test_is_expected_to_fail": "passed", "test_has_a_wrong_value": "failed",
    "test_crashes": "crashed", "test_calls_what_the_cpu_lacks": "unsupported", "test_requires_the_driver": "unsupported", "test_calls_what_is_missing": "unsupported", "test_inspects_machine_code": "machine code",
    "test_does_not_end": "timed out", "TestOfAClass::test_passes[a/b::c]": "passed",
    "Test[of]a::class::test_passes[a/b::c]": "passed",
}  # fmt: skip


@pytest.fixture
def run_suite(root, tmp_path):
    """Returns run(tests, *words), which runs bench/client_suites over TESTS, in a package with the name of Numba's
    tests, and returns the printed text and the results."""
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
    if not runtime.exists():
        pytest.skip("the simulator's runtime is not built: nvcc is missing")
    for folder in ("numba_tests", "numba_tests/deeper", "numba_cuda-1.0.dist-info"):
        (tmp_path / folder).mkdir()
    (tmp_path / "numba_cuda-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: numba-cuda\nVersion: 1.0\n")
    for folder in ("numba_tests", "numba_tests/deeper"):
        (tmp_path / folder / "__init__.py").touch()
    (tmp_path / "numba_tests/test_one.py").write_text(TESTS)
    (tmp_path / "numba_tests/deeper/test_two.py").write_text("def test_passes(): pass\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --pyargs numba_tests\n")

    def run(tests, *words):
        command = [sys.executable, "-B", root / "bench/client_suites", "numba", tests, "--out", tmp_path / "out.json", "--limit", "8",
                   "--settings", tmp_path / "pytest.ini", "--runtime", runtime, *words]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, json.loads((tmp_path / "out.json").read_text())

    return run


@pytest.mark.parametrize("together", [pytest.param("1", marks=pytest.mark.slow), pytest.param("4", marks=pytest.mark.all)])
def test_each_ending_is_counted(run_suite, together):
    printed, record = run_suite("numba_tests", "--together", together)
    expected = {f"test_one.py::{name}": ending for name, ending in ENDINGS.items()} | {"deeper/test_two.py::test_passes": "passed"}
    assert {name: row["ending"] for name, row in record["results"].items()} == expected
    assert "| numba 1.0 | 5 | 1 | 1 | 3 | 1 | 1 | 1 |\n" in printed and "Passed: 5 of 11 tests" in printed
    assert "- failed, 1: assert 1 == 2\n  test_one.py::test_has_a_wrong_value" in printed
    assert record["context"]["collected"] == len(expected) and record["context"]["version"] == "1.0"


@pytest.mark.all
def test_a_seed_draws_and_a_second_run_continues(run_suite, tmp_path):
    _, first = run_suite(tmp_path / "numba_tests", "--count", "3", "--seed", "5")
    assert len(first["results"]) == 3
    (lost, *_) = first["results"]
    kept = {name: {**row, "seconds": -1} for name, row in first["results"].items() if name != lost}
    (tmp_path / "out.json").write_text(json.dumps({**first, "results": kept}))
    _, second = run_suite(tmp_path / "numba_tests", "--count", "3", "--seed", "5")
    assert second["results"].keys() == first["results"].keys()
    assert [row["seconds"] for name, row in second["results"].items() if name != lost] == [-1, -1]


@pytest.mark.all
def test_a_record_is_merged(run_suite, tmp_path):
    run_suite(tmp_path / "numba_tests", "--file", "test_one.py", "--match", "TestOfAClass")
    (tmp_path / "out.json").rename(tmp_path / "one.json")
    _, record = run_suite(tmp_path / "numba_tests", "--file", "deeper/test_two.py", "--merge", tmp_path / "one.json")
    assert [file["selected"] for file in record["context"]["files"].values()] == [1, 1]
    assert record["results"].keys() == {"test_one.py::TestOfAClass::test_passes[a/b::c]", "deeper/test_two.py::test_passes"}


@pytest.mark.all
def test_a_second_run_adds_a_file_with_other_settings(run_suite, tmp_path):
    files = ["--file", "test_one.py", "--file", "deeper/test_two.py"]
    run_suite(tmp_path / "numba_tests", "--count", "1", "--seed", "5", *files[2:])
    words = ["--seed", "5", "--limit", "9", "--match", "test_(crashes|passes)", "--leave-out", "crashes", "time", *files[:2]]
    printed, record = run_suite(tmp_path / "numba_tests", *words)
    assert record["context"]["files"] == {
        "deeper/test_two.py": {"tests": 1, "selected": 1, "select": "", "count": 1, "limit_s": 8, "together": 1},
        "test_one.py": {"tests": len(ENDINGS), "selected": 4, "select": "test_(crashes|passes)", "count": 500, "limit_s": 9, "together": 1},
    }
    assert record["context"]["collected"] == 1 + len(ENDINGS)
    assert sorted(row["ending"] for row in record["results"].values()) == ["not reached", *["passed"] * 4]
    assert record["results"]["test_one.py::test_crashes"] == {"ending": "not reached", "reason": "time", "seconds": 0}
    assert "\n| deeper/test_two.py | 1 | 1 |" in printed and f"\n| test_one.py | {len(ENDINGS)} | 4 | 3 |" in printed
    assert "Passed: 4 of 4 tests" in printed and "- not reached, 1: time\n  test_one.py::test_crashes" in printed


def test_the_reason_precedes_the_advice_of_pytorch(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "bench/client_suites"))
    from endings import Ending, classify

    printed = "E   AssertionError: 1 != 2\nE\nE   To execute this test, run the following from the base repo dir:\nE       python test_a.py\n1 failed in 1s"
    assert classify(1, printed, "") == Ending("failed", "AssertionError: 1 != 2")


def test_files_have_rows(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "bench/client_suites"))
    from endings import Ending, file_rows

    endings = {"a/test_a.py::test_1": Ending("passed"), "a/test_a.py::test_2": Ending("failed"), "test_a.py::test_1": Ending("passed"),
               "test_b.py::test_1": Ending("not reached", "memory")}  # fmt: skip
    rows = file_rows({"files": {"a/test_a.py": {"tests": 1200, "selected": 1100}, "test_b.py": {"tests": 3, "selected": 3}}}, endings)
    assert rows[2:] == ["| a/test_a.py | 1,200 | 1,100 | 1 | 0 | 0 | 0 | 1 | 0 | 0 | 0 |",
                        "| test_b.py | 3 | 3 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 |"]  # fmt: skip


def test_a_test_without_its_module_is_not_reached(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "bench/client_suites"))
    from endings import Ending, classify

    for reason, kind in {"Skipping due to missing JIT cache for module: topk": "not reached", "Skipping due to OOM": "not reached",
                         "k should be less than vocab_size": "skipped"}.items():  # fmt: skip
        line = f"SKIPPED [1] test_topk.py:5: {reason}"
        assert classify(0, f"s\n{line}\n1 skipped in 0.10s\n", "") == Ending(kind, line)


@pytest.mark.parametrize("client", ["triton", "numba", "cupy", "cuda_core"])
def test_the_page_has_the_counts_of_the_record(root, monkeypatch, client):
    monkeypatch.syspath_prepend(str(root / "bench/client_suites"))
    import endings

    record = json.loads((root / f"bench/results/client_suites/{client}.json").read_text())
    page = (root / "docs/triton-cupy-numba.md").read_text()
    assert endings.row(record["context"], endings.read_record(record)) in page
    assert len(record["results"]) == 500 and record["context"]["limit_s"] == 60
    assert f"{record['context']['collected']:,}" in page


@pytest.mark.parametrize("client, tests", [("pytorch", 177), ("liger_kernel", 120), ("causal_conv1d", 100)])
def test_the_page_on_pytorch_has_the_counts_of_the_record(root, monkeypatch, client, tests):
    monkeypatch.syspath_prepend(str(root / "bench/client_suites"))
    import endings

    record = json.loads((root / f"bench/results/client_suites/{client}.json").read_text())
    page = (root / "docs/pytorch-without-a-gpu.md").read_text()
    assert endings.row(record["context"], endings.read_record(record)) in page
    assert len(record["results"]) == tests
    (settings,) = record["context"].get("files", {"": record["context"]}).values()
    assert f"{record['context']['collected']:,} tests" in page and f"{settings['limit_s']:g} s" in page
    assert f"--limit {settings['limit_s']:g} --together {settings['together']} --jobs 1" in page


def test_the_page_has_the_files_of_the_record(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "bench/client_suites"))
    import endings

    record = json.loads((root / "bench/results/client_suites/flashinfer.json").read_text())
    page = (root / "docs/pytorch-without-a-gpu.md").read_text()
    assert "\n".join(endings.file_rows(record["context"], endings.read_record(record))) in page
