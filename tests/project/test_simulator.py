# SPDX-License-Identifier: Apache-2.0
"""Another project uses the simulator of an installed kernkit without a CUDA toolkit."""

import re
import shutil
import subprocess

import pytest
from commands import ENVIRONMENT, run


@pytest.fixture
def example(root, tmp_path):
    """Returns a copy of the project in docs/examples/on_cpu."""
    return shutil.copytree(root / "docs/examples/on_cpu", tmp_path / "source")


def build(source, prefix, *options, target="shift_on_cpu_test"):
    run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}", "-DKERNKIT_CUDA=OFF", *options)  # fmt: skip
    run("cmake", "--build", source / "build", "--target", target, "-j2")
    return source / "build" / target


def plant_race(source):
    kernel = source / "shift/shift.cu"
    text = kernel.read_text()
    assert "  __syncthreads();\n" in text
    kernel.write_text(text.replace("  __syncthreads();\n", ""))


def run_seed(program, seed):
    """Runs a program with a seed; returns its output and exit code."""
    environment = {**ENVIRONMENT, "KERNKIT_SEED": str(seed)}
    result = subprocess.run([program], capture_output=True, text=True, env=environment)
    return result.stdout + result.stderr, result.returncode


CPU_OPS = """
kernkit_add_library(cpu_ops)
kernkit_add_kernel(cpu_ops negate CPU_ONLY)
kernkit_add_contract_test(cpu_ops negate_contract_test.cc)
"""


@pytest.fixture(scope="module")
def with_contracts(root, tmp_path_factory):
    """Returns a copy of the project in docs/examples/on_cpu with a second library, whose op has no CUDA implementation.
    The tests share the copy and its builds."""
    source = tmp_path_factory.mktemp("on_cpu") / "source"
    shutil.copytree(root / "docs/examples/on_cpu", source)
    shutil.copytree(root / "tests/consumers/negate", source / "negate")
    with open(source / "CMakeLists.txt", "a") as lists:
        lists.write(CPU_OPS)
    (source / "negate_contract_test.cc").write_text(
        '#include "kernkit/testing/contract.h"\n'
        "KERNKIT_TEST_CONTRACT(negate, example<float>(7), example<float>(7))\n"
    )
    return source


@pytest.mark.slow
def test_contracts(prefix, with_contracts):
    """Contract tests of an op with a CUDA implementation include tests for a GPU; contract tests of an op without
    a CUDA implementation do not."""
    shift = run(build(with_contracts, prefix, target="contract_test"))
    negate = run(build(with_contracts, prefix, target="negate_contract_test"))
    assert "OK ] Contract/shift.Capture" in shift and "OK ] Contract/shift.ByteOffset" in shift
    assert "OK ] Contract/negate.ByteOffset" in negate and "Contract/negate.Capture" not in negate


@pytest.mark.all
def test_example_of_the_page(prefix, with_contracts):
    """The test in docs/examples/on_cpu passes with five seeds, and a planted race is reported. The example is built in
    the folder that already has the compiled dependencies."""
    program = build(with_contracts, prefix)
    assert [run_seed(program, seed)[1] for seed in range(5)] == [0] * 5
    kernel = with_contracts / "shift/shift.cu"
    correct = kernel.read_text()
    plant_race(with_contracts)
    output, code = run_seed(build(with_contracts, prefix), 7)
    kernel.write_text(correct)
    assert code != 0
    assert "kernkit: blocks and streams ran in the order of KERNKIT_SEED=7" in output


@pytest.mark.slow
def test_example_of_the_page_by_its_ptx(prefix, example):
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    options = ("-DKERNKIT_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=80-virtual")
    program = build(example, prefix, *options, target="shift_on_ptx_test")
    assert [run_seed(program, seed)[1] for seed in range(3)] == [0] * 3
    kernel = example / "shift/shift.cu"
    kernel.write_text(kernel.read_text().replace("y[i] =", "y[i + 64] ="))
    output, code = run_seed(build(example, prefix, *options, target="shift_on_ptx_test"), 0)
    thread = "shift_kernel: block [3, 0, 0], thread [32, 0, 0]"
    assert f"{thread}: Invalid __global__ write of size 4 bytes, 128 bytes after an allocation of 1024 bytes (shift.cu:11)" in output
    assert code != 0


@pytest.mark.slow
def test_race_detector_of_the_page(prefix, example):
    options = ["-DCMAKE_CXX_FLAGS=-fsanitize=thread -g"]
    assert run_seed(build(example, prefix, *options), 1)[1] == 0
    plant_race(example)
    output, code = run_seed(build(example, prefix, *options), 1)
    assert code != 0
    assert "WARNING: ThreadSanitizer: data race" in output
    assert re.search(r"shift_kernel\(float\*, float const\*\).*shift\.cu:10", output), output
    assert "kernkit: in kernel " in output


def test_needs_no_header_of_nvidia(root, dlpack_include):
    """The simulator's headers include no header of NVIDIA, not even from /usr/local/include, where g++ searches and a
    toolkit may have installed links."""
    text = '#include "kernkit/cuda/launch.h"\n#include "kernkit/simulator/runtime.h"\n'
    command = ["g++", "-std=c++17", "-M", "-x", "c++", "-", "-I", root / "sdk/include",
               "-I", root / "sdk/simulator/include", "-I", root / "sdk/simulator/shim", "-isystem", dlpack_include]  # fmt: skip
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    used = {path for path in result.stdout.split() if "cuda" in path.rsplit("/", 1)[-1]}
    assert used and all(path.startswith(str(root)) for path in used), used


def test_gpu_tests_on_the_cpu_read_no_header_of_nvidia(root):
    """The objects of the GPU tests for the CPU depend on no header of NVIDIA, so that they can be built on a machine
    without these headers."""
    folder = root / "build/release"
    if not (folder / ".ninja_deps").exists():
        pytest.skip("the build folder has no list of dependencies: run ./kk build")
    result = subprocess.run(
        ["ninja", "-C", folder, "-t", "deps"], capture_output=True, text=True, check=True
    )
    programs = ("gpu_on_cpu_test", "kernkit_kernels_on_fibers", "kernkit_simulator", "example_kernels")
    read = {name: set() for name in programs}
    for entry in result.stdout.split("\n\n"):
        target, *files = entry.strip().splitlines() or [""]
        for name in programs:
            if f"/{name}.dir/" in target:
                read[name] |= {(folder / file.strip()).resolve() for file in files}
    nvidias = re.compile(r"cuda|cooperative_groups|vector_(types|functions)|device_launch|crt/")
    sdk = root / "sdk"
    for name, files in read.items():
        assert files, f"{name} was not built"
        foreign = [f for f in files if nvidias.search(f.name) and root not in f.parents]
        assert not foreign, f"{name}: {foreign}"
        assert sdk / "simulator/shim/cuda_runtime_api.h" in files, name


@pytest.mark.slow
def test_sanitizers_of_gcc(root, tmp_path):
    """All tests pass with the sanitizers of gcc; the preset asan uses clang++'s sanitizers."""
    flags = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
    run("cmake", "-S", root, "--preset", "asan", "-B", tmp_path, "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++",
        f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}")  # fmt: skip
    run("cmake", "--build", tmp_path)
    run("ctest", "--test-dir", tmp_path, "-j", "2", "--no-tests=error")


@pytest.mark.parametrize(
    "properties, message",
    [
        ("CUDA_ARCHITECTURES 90-real",
         "nvcc keeps no PTX of it; add a compute capability without -real to its CUDA_ARCHITECTURES, such as 80-virtual"),
        ("CUDA_ARCHITECTURES native", "nvcc keeps no PTX of it"),
        ("CUDA_ARCHITECTURES 80 CUDA_SEPARABLE_COMPILATION ON", "CUDA_SEPARABLE_COMPILATION is not supported"),
    ],
)  # fmt: skip
def test_a_target_without_ptx_is_rejected(prefix, tmp_path, properties, message):
    (tmp_path / "ops.cc").touch()
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(ops LANGUAGES CXX)\nfind_package(kernkit REQUIRED)\n"
        f"add_library(ops OBJECT ops.cc)\nset_target_properties(ops PROPERTIES {properties})\n"
        "kernkit_add_simulated(ops)\n"
    )
    result = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
         "-DKERNKIT_CUDA=OFF"], capture_output=True, text=True)  # fmt: skip
    assert result.returncode != 0
    assert "kernkit_add_simulated(ops): " + message in " ".join(result.stderr.split())
