# SPDX-License-Identifier: Apache-2.0
"""./kk gpu: what it says where there is no GPU, and what it makes of its programs' results."""

import importlib.util
import json
import shutil
import subprocess

import pytest


@pytest.fixture(scope="module")
def run(root):
    spec = importlib.util.spec_from_file_location("gpu_run", root / "tests/gpu/run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def no_gpu(run):
    reason = run.find_devices()
    if not isinstance(reason, str):
        pytest.skip("this machine has a GPU")
    return reason


def test_without_a_gpu_every_part_is_skipped(root, run, no_gpu):
    result = subprocess.run([root / "kk", "gpu"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[:-1] == [f"skipped: {part}: {no_gpu}" for part in run.PARTS]
    assert lines[-1] == "0 passed, 0 failed, 5 skipped"


def test_build_without_a_gpu_asks_for_the_architecture(root, no_gpu):
    result = subprocess.run([root / "kk", "gpu", "--build"], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == (
        f"kk: {no_gpu}; for a GPU that is elsewhere say which: ./kk gpu --build --arch 90\n"
    )


GTEST = """<testsuites><testsuite name="A">
<testcase name="good" classname="A"/>
<testcase name="big" classname="A"><skipped message="large_test.cc:81&#x0A;needs 9 bytes"/></testcase>
{more}</testsuite></testsuites>"""
FAILURE = '<testcase name="bad" classname="A"><failure message="m"/></testcase>'
CONTEXT = {"cuda_runtime": "13000", "cuda_of_driver": "13010", "host_name": "not to be kept"}
ROWS = [
    {"name": "copy/bytes/kernel/cold/bytes:4096/iterations:8/manual_time", "bytes_per_second": 2e9},
    {"name": "scale/float32/kernkit/cold/bytes:4096/iterations:8/manual_time", "real_time": 4.5,
     "bytes_per_second": 1e9, "of_copy": 0.5, "threads": 1},
    {"name": "add/int8/cub/cold/bytes:99", "error_occurred": True,
     "error_message": "skipped: needs 9 bytes"},
]  # fmt: skip
DEVICES = [{"name": "NVIDIA H-1 80GB", "compute_capability": "9.0"}]


@pytest.fixture
def build(tmp_path):
    """Programs that leave results as the real ones do."""

    def make(tests=GTEST.format(more=""), code=0, rows=ROWS):
        (tmp_path / "bin").mkdir()
        (tmp_path / "commit").write_text("abc123+\n")
        (tmp_path / "junit").write_text(tests)
        (tmp_path / "rows").write_text(json.dumps({"context": CONTEXT, "benchmarks": rows}))
        for name, source, option in (("gpu_test", "junit", "gtest_output=xml:"),
                                     ("gpu_bench", "rows", "benchmark_out=")):  # fmt: skip
            program = tmp_path / "bin" / name
            program.write_text(
                f'#!/bin/bash\nfor a; do case $a in --{option}*) cp {tmp_path}/{source} "${{a#*{option}}}";'
                f" code={code} ;; esac; done\nexit ${{code:-0}}\n"
            )
            program.chmod(0o755)
        return tmp_path

    return make


def call(run, build, *parts):
    results = build / "results"
    code = run.main(["--build", str(build), "--results", str(results), *parts], devices=DEVICES)
    (path,) = results.iterdir()
    return code, path, json.loads(path.read_text())


def test_results_are_counted_and_written(run, build, capsys):
    code, path, content = call(run, build(), "tests", "benchmarks")
    said = capsys.readouterr().out.splitlines()
    assert code == 0
    assert "skipped: A.big: needs 9 bytes" in said
    assert "skipped: add/int8/cub/cold/bytes:99: needs 9 bytes" in said
    assert path.name.startswith("nvidia-h-1-80gb-20") and path.suffix == ".json"
    assert content["device"] == "NVIDIA H-1 80GB" and content["commit"] == "abc123+"
    assert content["cuda_of_driver"] == "13010" and "driver" in content and "date" in content
    assert "not to be kept" not in path.read_text()
    assert content["benchmarks"][1] == {
        "name": "scale/float32/kernkit/cold/bytes:4096",
        "real_time": 4.5,
        "bytes_per_second": 1e9,
        "of_copy": 0.5,
    }
    assert content["tests"]["failed"] == []


@pytest.mark.parametrize(
    "tests, code, failed",
    [
        (GTEST.format(more=FAILURE), 1, ["A.bad"]),
        ("<testsuites/>", 139, ["gpu_test: exit code 139, log above"]),
    ],
)
def test_a_failure_fails_the_run(run, build, tests, code, failed):
    code, _, content = call(run, build(tests, code), "tests")
    assert code == 1
    assert content["tests"]["failed"] == failed


def test_a_wrong_result_is_no_time(run, build):
    wrong = {"name": "scale/x", "error_occurred": True, "error_message": "the result is wrong"}
    code, _, content = call(run, build(rows=[wrong]), "benchmarks")
    assert code == 1
    assert content["tests"]["failed"] == ["scale/x: the result is wrong"]


def test_share_of_copy_of_rows_from_elsewhere(run):
    rows = [
        {"name": "copy/bytes/a/cold/bytes:64", "bytes_per_second": 4.0},
        {"name": "copy/bytes/b/cold/bytes:64", "bytes_per_second": 5.0},
        {"name": "copy/bytes/b/hot/bytes:64", "bytes_per_second": 50.0},
        {"name": "add/int8/torch/cold/bytes:64", "bytes_per_second": 2.0},
        {"name": "add/int8/torch/cold/bytes:640", "bytes_per_second": 2.0},
    ]
    run.with_share_of_copy(rows)
    assert [row.get("of_copy") for row in rows[3:]] == [0.4, None]


def test_the_rows_of_torch_are_those_of_gpu_bench(root):
    spec = importlib.util.spec_from_file_location("torch_bench", root / "bench/gpu/torch_bench.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program = root / "build/gpu/bin/gpu_bench"
    if not program.exists():
        pytest.skip("build/gpu/bin/gpu_bench is not built: ./kk gpu --build --arch 90")
    listed = subprocess.run([program, "--benchmark_list_tests"], capture_output=True, text=True)
    ours = {line.split("/iterations")[0] for line in listed.stdout.splitlines() if "/kernkit/" in line}
    assert {name.replace("/torch/", "/kernkit/") for name, *_ in module.rows()} == ours


@pytest.mark.all
def test_what_is_built_runs_elsewhere(root, tmp_path):
    if not shutil.which("nvcc"):
        pytest.skip("no CUDA compiler")
    subprocess.run([root / "kk", "gpu", "--build", "--arch", "90"], check=True, timeout=1500)
    for folder in ("bin", "lib"):
        shutil.copytree(root / "build/gpu" / folder, tmp_path / folder)
    bench = tmp_path / "bin/gpu_bench"
    libraries = subprocess.run(["ldd", bench], capture_output=True, text=True, check=True).stdout
    for name in ("libbenchmark", "libstdc++"):
        assert f"=> {tmp_path}/bin/../lib/{name}" in libraries
    out = tmp_path / "out.json"
    command = [bench, f"--benchmark_out={out}", "--benchmark_filter=cold/bytes:4096/"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    content = json.loads(out.read_text())
    reason = content["context"].get("skipped")
    assert len(content["benchmarks"]) > 30
    for row in content["benchmarks"]:
        assert row.get("error_message") == reason, row["name"]
