# SPDX-License-Identifier: Apache-2.0
"""./kk gpu: its messages without a GPU, and its evaluation of results of test and benchmark programs."""

import argparse
import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from kernkit.commands import gpu
from kernkit.driver import gpu as driver_gpu
from kernkit.on_gpu import devices, frameworks, results
from cuda_tools import cuobjdump
from rendering import NAME, render


@pytest.fixture
def no_gpu():
    reason = devices.find()
    if not isinstance(reason, str):
        pytest.skip("this machine has a GPU")
    return reason


@pytest.fixture(scope="module")
def library(template, environment, tmp_path_factory):
    """Returns the folder of a library rendered with the component gpu. Nothing is built."""
    output = tmp_path_factory.mktemp("rendered")
    result = render(template, output, environment, library_name=NAME, parts="gpu")
    assert result.returncode == 0, result.stdout
    return output / NAME


def kk(folder, *arguments, **environment):
    environment = {**os.environ, "KK_VENV": sys.prefix, **environment}
    return subprocess.run([folder / "kk", "gpu", *arguments], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("project", ["repository", "library"])
def test_without_a_gpu_every_part_is_skipped(root, project, no_gpu, request):
    result = kk(root if project == "repository" else request.getfixturevalue("library"))
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[:-1] == [f"skipped: {part}: {no_gpu}" for part in gpu.PARTS]
    assert lines[-1] == "0 passed, 0 failed, 5 skipped"


@pytest.mark.parametrize("project", ["repository", "library"])
def test_build_without_a_gpu_requires_the_architecture(root, project, no_gpu, request):
    result = kk(root if project == "repository" else request.getfixturevalue("library"), "--build")
    assert result.returncode == 1
    assert result.stderr == (
        f"kk: {no_gpu}; to build for a GPU of another machine, name its architecture: ./kk gpu --build --arch 90\n"
    )


# A replacement for the functions of the CUDA driver that ./kk gpu uses, with one GPU of compute capability 9.0.
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int cuInit(unsigned flags) {
  FILE* log = getenv("LOG") ? fopen(getenv("LOG"), "a") : 0;
  return log ? fputs("asked\\n", log), fclose(log) : 0;
}
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGetName(char* name, int length, int device) { return strncpy(name, "NVIDIA H-1 80GB", length), 0; }
int cuDeviceGetAttribute(int* value, int which, int device) { return *value = which == 75 ? 9 : 0, 0; }
int cuGetErrorString(int error, const char** text) { return *text = "?", 0; }
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """Returns a folder with a fake libcuda.so.1."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "cuda.c").write_text(DRIVER)
    subprocess.run(["cc", "-shared", "-fPIC", folder / "cuda.c", "-o", folder / "libcuda.so.1"], check=True)
    return str(folder)


def test_the_gpus_are_queried_once(root, driver, tmp_path):
    """./kk gpu queries the GPUs once, before all preparations, and then builds for these GPUs."""
    for name, text in {"python": f'exec {sys.executable} "$@"', "nvcc": "",
                       "cmake": 'echo "cmake version 3.25.1 $*"; [ "$*" = --version ]'}.items():  # fmt: skip
        program(tmp_path / "bin" / name, text)
    result = kk(root, LD_LIBRARY_PATH=driver, LOG=str(tmp_path / "log"), KK_VENV=str(tmp_path), VIRTUAL_ENV=str(tmp_path),
                PATH=f"{tmp_path}/bin:{os.environ['PATH']}")  # fmt: skip
    assert result.returncode == 1 and result.stdout.endswith(" -DCMAKE_CUDA_ARCHITECTURES=90 -DKERNKIT_CUDA=ON\n"), result.stdout
    assert (tmp_path / "log").read_text() == "asked\n"


NOT_TAKEN = ("this copy of kernkit lacks the component gpu, which provides this command; run: ./kk update --with gpu; if "
             "kernkit is not installed, add --from WHERE, where WHERE is a checkout or a wheel of kernkit")  # fmt: skip


def test_a_library_without_the_part_misses_nothing_where_no_gpu_is(default_library, no_gpu):
    result = kk(default_library)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"skipped: no GPU found; on a machine with a GPU: {NOT_TAKEN}\n0 passed, 0 failed, 1 skipped\n"
    help = subprocess.run([default_library / "kk", "--help"], capture_output=True, text=True).stdout
    assert "(needs the component gpu: ./kk update --with gpu)" in help


def test_a_library_without_the_component_neither_builds_nor_runs(default_library, driver):
    for arguments, environment in ((["--build", "--arch", "90"], {}), ([], {"LD_LIBRARY_PATH": driver})):
        result = kk(default_library, *arguments, **environment)
        assert (result.returncode, result.stderr) == (3, f"kernkit: {NOT_TAKEN}\n")


@pytest.mark.all
def test_one_command_adds_the_component(root, default_library, tmp_path):
    shutil.copytree(default_library, tmp_path / NAME, symlinks=True)
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    for arguments in (["init", "-q"], ["add", "--all"], [*identity, "commit", "-q", "-m", "start"]):
        subprocess.run(["git", *arguments], cwd=tmp_path / NAME, check=True)
    kk_update = [tmp_path / NAME / "kk", "update", "--with", "gpu", "--from", root]
    result = subprocess.run(kk_update, cwd=tmp_path / NAME, capture_output=True, text=True,
                            env={**os.environ, "KK_VENV": sys.prefix})  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    assert kk(tmp_path / NAME).stdout.endswith("0 passed, 0 failed, 5 skipped\n")


def test_everything_of_a_library_is_tried_on_a_gpu_too(monkeypatch):
    """`./kk all` of a library also runs the tests on a GPU if the machine has a GPU and nvcc, unless CUDA is
    disabled."""
    called = []
    monkeypatch.delenv("KERNKIT_CUDA", raising=False)  # ./kk test --no-cuda sets KERNKIT_CUDA
    monkeypatch.setattr(devices, "find", lambda: [{"name": "NVIDIA H-1 80GB", "compute_capability": "9.0"}])
    monkeypatch.setattr(driver_gpu, "build", lambda *arguments: called.append(arguments))
    monkeypatch.setattr(driver_gpu, "kernkit", lambda *arguments: called.append(arguments))
    monkeypatch.setattr(driver_gpu.shutil, "which", lambda name: name)
    ((phase, work),) = driver_gpu.phases(NAME).items()
    work()
    assert phase == "tests on NVIDIA H-1 80GB"
    assert called == [("90", NAME), ("gpu", "tests", "--library", NAME, "--results", "build/gpu/results")]
    monkeypatch.setenv("KERNKIT_CUDA", "OFF")
    assert driver_gpu.phases(NAME) == {}


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(0o755)


def test_an_architecture_that_nvcc_lacks_is_rejected(library, tmp_path):
    program(tmp_path / "bin/nvcc", "echo sm_80; echo sm_90; echo compute_90\n")
    for name in ("cmake", "ninja"):
        program(tmp_path / "bin" / name, 'echo "cmake version 3.25.1"\n')
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    result = kk(library, "--build", "--arch", "90a,33", PATH=path)
    assert result.returncode == 1
    assert result.stderr == f"kk: --arch: {tmp_path}/bin/nvcc does not support the architecture 33; supported: 80, 90\n"


OP = """for word; do case $word in
--gtest_output=xml:*) echo '<testsuites><testcase name="A" classname="Op"/></testsuites>' >"${word#*xml:}" ;;
--benchmark_out=*) cat >"${word#*=}" <<end
{"context": {"cuda_runtime": "13000"}, "benchmarks": [
 {"name": "fast/float32/ops/n:1/manual_time", "real_time": 2.0, "bytes_per_second": 3e9},
 {"name": "copy/float32/cudaMemcpyAsync/n:1/manual_time", "real_time": 1.0, "bytes_per_second": 4e9}]}
end
esac; done
echo "$0 $@" >>"$LOG"
"""


def test_a_library_s_programs_run_and_are_recorded(library, driver, tmp_path):
    """The programs of a library run, and their results are recorded. Fake programs replace the CUDA driver, the
    library's programs and compute-sanitizer."""
    for name in ("fast_gpu_test", "fast_gpu_bench"):
        program(library / "build/gpu/bin" / name, OP)
    (library / "build/gpu/commit").write_text("abc123\n")
    program(tmp_path / "tools/compute-sanitizer", 'echo "sanitizer $@" >>"$LOG"\n')
    result = kk(library, "--run", "tests", "memcheck", "benchmarks", "--benchmark_filter=fast",
                LD_LIBRARY_PATH=driver, LOG=str(tmp_path / "log"), PATH=f"{tmp_path}/tools:{os.environ['PATH']}")  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1] == "4 passed, 0 failed, 0 skipped"
    called = (tmp_path / "log").read_text()
    assert "fast_gpu_test --gtest_filter=Contract/*.Capture --gtest_brief=1\n" in called
    assert re.search(r"sanitizer --tool memcheck --error-exitcode 9 \S+/fast_gpu_test --gtest_filter=-\*Large\*", called)
    assert re.search(r"fast_gpu_bench .* --benchmark_filter=fast\n", called)
    (path,) = (library / "bench/results").iterdir()
    content = json.loads(path.read_text())
    assert path.name.startswith("nvidia-h-1-80gb-20")
    assert content["device"] == "NVIDIA H-1 80GB" and content["commit"] == "abc123"
    assert content["devices"][0]["compute_capability"] == "9.0" and content["cuda_runtime"] == "13000"
    assert content["benchmarks"][0] == {
        "name": "fast/float32/ops/n:1", "real_time": 2.0, "bytes_per_second": 3e9, "of_copy": 0.75,
    }  # fmt: skip


def test_without_programs_the_command_to_build_them_is_printed(library, driver, tmp_path):
    shutil.copytree(library, tmp_path / "copy", ignore=shutil.ignore_patterns("build"), symlinks=True)
    result = kk(tmp_path / "copy", "--run", LD_LIBRARY_PATH=driver)
    assert result.returncode == 3
    assert result.stderr == (f"kernkit: {tmp_path}/copy/build/gpu/bin has no program for a GPU; "
                             "./kk gpu --build makes them\n")  # fmt: skip


class Numbers(frameworks.Framework):
    """A framework of NumPy arrays. With in_order=False, copies have no effect, as if the copies ran after the op.
    `is_busy` states whether the stream is still busy after the op has returned."""

    def __init__(self, in_order=True, is_busy=True):
        self.in_order, self.is_busy = in_order, is_busy

    def array(self, values, dtype, on_cpu):
        return values.astype(dtype)

    def numbers(self, array):
        return np.asarray(array, "float64")

    def copy(self, to, source):
        if self.in_order:
            to[...] = source

    def wait(self):
        pass

    def on_a_busy_stream(self, work):
        return work(), self.is_busy


def test_an_op_out_of_order_is_found():
    """check_on_a_side_stream() reports an op whose work is out of order on the framework's stream, and an op that waits
    for its stream."""
    tensor = {"dtype": "float32", "shape": [4, 3], "values": [], "cpu": False}
    example = {"op": "twice", "arguments": [tensor, [tensor], 2.0, None, {**tensor, "scratch": True}]}
    calls = []

    def twice(y, xs, factor, nothing, scratch):
        calls.append(xs)
        scratch[...] = len(calls)  # differs between the calls: scratch memory must not be compared
        y[...] = xs[0] * factor
        return y + 1

    frameworks.check_on_a_side_stream(Numbers(), twice, example)
    with pytest.raises(AssertionError, match="twice: the op's work did not run in order on the framework's stream"):
        frameworks.check_on_a_side_stream(Numbers(in_order=False), twice, example)
    with pytest.raises(AssertionError, match="twice waited for its stream"):
        frameworks.check_on_a_side_stream(Numbers(is_busy=False), twice, example)


@pytest.mark.all
def test_an_op_out_of_order_is_found_by_jax():
    """The test with JAX reports an op whose work is out of order. To imitate wrong order, the op uses the inputs of its
    previous call, because a busy stream cannot be produced without a GPU."""
    jax, _ = pytest.importorskip("jax"), pytest.importorskip("jax_tvm_ffi")

    class OnCpu(frameworks.Jax):
        def on_a_busy_stream(self, work):
            return super().on_a_busy_stream(work)[0], True

    tensor = {"dtype": "float32", "shape": [4, 3], "values": [], "cpu": False}
    parameters = [{"type": "Tensor", "name": "y", "alias": "a!"}, {"type": "Tensor", "name": "nothing", "optional": True},
                  {"type": "Tensor", "name": "xs", "list": True}, {"type": "float", "name": "factor"},
                  {"type": "Tensor", "name": "z", "alias": "a!"}]  # fmt: skip
    parsed = {"version": 1, "parameters": parameters, "results": [{"type": "int"}]}
    example = {"op": "twice", "schema": "(Tensor(a!) y, Tensor? nothing, Tensor[] xs, float factor, Tensor(b!) z) -> int", "parsed": parsed,
               "arguments": [tensor, None, [tensor, tensor], 2.0, {**tensor, "dtype": "bfloat16"}]}  # fmt: skip
    calls = []

    def twice(y, nothing, xs, factor, z, late=False):
        y, xs = np.from_dlpack(y), [np.from_dlpack(x).copy() for x in xs]
        y += calls[-1][1] * factor if late and calls else xs[1] * factor
        calls.append(xs)
        return 1

    on_cpu = OnCpu(jax, "cpu", 8)
    frameworks.check_on_a_side_stream(on_cpu, twice, example)
    assert len(calls) == 3
    with pytest.raises(AssertionError, match="twice: the op's work did not run in order on the framework's stream"):
        frameworks.check_on_a_side_stream(on_cpu, functools.partial(twice, late=True), example)
    with pytest.raises(pytest.skip.Exception, match="jax has no float64 unless JAX_ENABLE_X64=1"):
        on_cpu.array(np.ones(3), "float64", False)
    with pytest.raises(pytest.skip.Exception, match="jax has no allocator for an op that returns a tensor"):
        on_cpu.bound(twice, {**example, "parsed": {**parsed, "results": [{"type": "Tensor"}]}})


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
    """Returns make(), which creates replacements of a library's test and benchmark programs. The replacements write
    results in the format of the real programs."""

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


@pytest.fixture(autouse=True)
def one_device(request, monkeypatch):
    if "build" in request.fixturenames:
        monkeypatch.setattr(devices, "find", lambda: DEVICES)


def call(build, *parts):
    parser = argparse.ArgumentParser()
    gpu.add_arguments(parser)
    folder = build / "results"
    code = gpu.run(parser.parse_args(["--build", str(build), "--results", str(folder), "--first", "A.good", *parts]))
    (path,) = folder.iterdir()
    return code, path, json.loads(path.read_text())


def test_results_are_counted_and_written(build, capsys):
    code, path, content = call(build(), "tests", "benchmarks")
    printed = capsys.readouterr().out.splitlines()
    assert code == 0
    assert "skipped: A.big: needs 9 bytes" in printed
    assert "skipped: add/int8/cub/cold/bytes:99: needs 9 bytes" in printed
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
        (GTEST.format(more=FAILURE), 1, ["gpu_test: A.bad"]),
        ("<testsuites/>", 139, ["gpu_test: exit code 139, log above"]),
    ],
)
def test_a_failure_fails_the_run(build, tests, code, failed):
    code, _, content = call(build(tests, code), "tests")
    assert code == 1
    assert content["tests"]["failed"] == failed


def test_a_wrong_result_is_no_time(build):
    wrong = {"name": "scale/x", "error_occurred": True, "error_message": "the result is wrong"}
    code, _, content = call(build(rows=[wrong]), "benchmarks")
    assert code == 1
    assert content["tests"]["failed"] == ["scale/x: the result is wrong"]


def test_share_of_copy_of_rows_from_elsewhere():
    rows = [
        {"name": "copy/bytes/a/cold/bytes:64", "bytes_per_second": 4.0},
        {"name": "copy/bytes/b/cold/bytes:64", "bytes_per_second": 5.0},
        {"name": "copy/bytes/b/hot/bytes:64", "bytes_per_second": 50.0},
        {"name": "add/int8/torch/cold/bytes:64", "bytes_per_second": 2.0},
        {"name": "add/int8/torch/cold/bytes:640", "bytes_per_second": 2.0},
    ]
    results.with_share_of_copy(rows)
    assert [row.get("of_copy") for row in rows[3:]] == [0.4, None]


def test_the_rows_of_torch_are_those_of_gpu_bench(root):
    spec = importlib.util.spec_from_file_location("torch_bench", root / "bench/gpu/torch_bench.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program = root / "build/gpu/bin/gpu_bench"
    if not program.exists():
        pytest.skip("build/gpu/bin/gpu_bench is not built: ./kk gpu --build --arch 90")
    listed = subprocess.run([program, "--benchmark_list_tests"], capture_output=True, text=True)
    names = {line.split("/iterations")[0] for line in listed.stdout.splitlines() if "/kernkit/" in line}
    assert {name.replace("/torch/", "/kernkit/") for name, *_ in module.rows()} == names


@pytest.mark.slow
def test_built_programs_run_elsewhere(root, tmp_path):
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


@pytest.mark.all
def test_a_library_is_built_for_a_gpu_that_is_elsewhere(library, no_gpu, tmp_path):
    """./kk gpu --build builds a library for the GPU of another machine: the machine code is for the architecture of
    --arch, and the programs find their shared libraries relative to their own path. On a machine without a GPU, ./kk
    gpu skips everything."""
    if not shutil.which("nvcc"):
        pytest.skip("no CUDA compiler")
    folder = tmp_path / NAME
    shutil.copytree(library, folder, ignore=shutil.ignore_patterns("build"), symlinks=True)
    built = kk(folder, "--build", "--arch", "90")
    assert built.returncode == 0, built.stdout + built.stderr
    bin = folder / "build/gpu/bin"
    assert sorted(path.name for path in bin.iterdir()) == ["silu_and_mul_gpu_bench", "silu_and_mul_gpu_test"]
    for file in (bin / "silu_and_mul_gpu_test", folder / f"build/gpu/lib/lib{NAME}.so"):
        assert set(re.findall(r"sm_\d+", cuobjdump(file, "--list-elf"))) == {"sm_90"}
    folder = (tmp_path / NAME).rename(tmp_path / "elsewhere")
    listed = subprocess.run([folder / "build/gpu/bin/silu_and_mul_gpu_test", "--gtest_list_tests"], capture_output=True, text=True)
    assert "RunsOnCuda" in listed.stdout and "CallersStream" in listed.stdout, listed.stdout + listed.stderr
    libraries = subprocess.run(["ldd", folder / "build/gpu/bin/silu_and_mul_gpu_bench"], capture_output=True, text=True).stdout
    assert f"=> {folder}/build/gpu/bin/../lib/libbenchmark" in libraries
    ran = kk(folder, PATH=f"{os.path.dirname(sys.executable)}:/bin")
    assert ran.returncode == 0 and ran.stdout.splitlines()[-1] == "0 passed, 0 failed, 5 skipped", ran.stdout + ran.stderr
