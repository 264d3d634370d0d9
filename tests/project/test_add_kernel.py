# SPDX-License-Identifier: Apache-2.0
"""The effect of the optional arguments of kernkit_add_kernel(), and its errors."""

import re
import shutil
import subprocess

import numpy as np
import pytest
import tvm_ffi
from commands import ENVIRONMENT, run
from cuda_tools import cuobjdump
from kernkit.scaffold import components
from published import install

HEAD = """\
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES C CXX)
enable_testing()
add_subdirectory({root}/sdk kernkit)
kernkit_find_cuda()
kernkit_add_library(ops)
"""

# The files of an op that adds a number; a function in another file returns the number.
FILES = {
    "plus.h": """\
#pragma once
#include "kernkit/tensor.h"
void plus(kernkit::TensorView y);
void plus_cuda(kernkit::TensorView y);
float one();
""",
    "plus.cc": """\
#include "plus.h"
#include "kernkit/env.h"
#include "kernkit/expect.h"
#include "number.h"
void plus(kernkit::TensorView y) {
  KERNKIT_EXPECT(y).dtype(kernkit::dl_float32).cpu_or_cuda().contiguous();
  if (y.numel() == 0) return;
  if constexpr (kernkit::kWithCuda) {
    if (kernkit::is_cuda(y.device())) return plus_cuda(y);
  }
  for (int64_t i = 0; i < y.numel(); ++i) y.data<float>()[i] += one() * NUMBER;
}
""",
    "detail/one.cc": '#include "../plus.h"\nfloat one() { return 1; }\n',
    "plus_export.cc": """\
#include "kernkit/export.h"
#include "plus.h"
KERNKIT_EXPORT(plus, "(Tensor(a!) y) -> ()", "y += 1.", plus)
""",
    "plus.cu": """\
#include "kernkit/cuda/launch.h"
#include "number.h"
#include "plus.h"
__device__ float two(float value);
__global__ void plus_kernel(int64_t n, float* y) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] += two(0.5f) * NUMBER;
}
void plus_cuda(kernkit::TensorView y) {
  kernkit::cuda::Launch launch(y);
  launch(plus_kernel, {(y.numel() + 127) / 128, 128}, y.numel(), y.data<float>());
}
""",
    "detail/two.cu": "__device__ float two(float value) { return 2 * value; }\n",
}
CONTRACT = """\
#include "kernkit/testing/contract.h"
KERNKIT_TEST_CONTRACT(plus, example<float>(7))
"""
TEST = """\
#include "plus/plus.h"
#include <gtest/gtest.h>
""" + CONTRACT + """\
TEST(Plus, Adds) {
  float y[3] = {0, 1, 2};
  int64_t sizes[1] = {3};
  DLTensor tensor{y, {kDLCPU, 0}, 1, kernkit::dl_float32, sizes, nullptr, 0};
  plus(kernkit::TensorView(&tensor));
  EXPECT_EQ(y[2], 2 + NUMBER_OF_TEST);
}
"""
# A .cu file that uses CUB, which g++ cannot compile.
OF_NVCC = """\
#include <cub/block/block_reduce.cuh>
#include "kernkit/cuda/launch.h"
#include "number.h"
#include "plus.h"
__global__ void plus_kernel(int64_t n, float* y) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ Reduce::TempStorage storage;
  __shared__ float one;
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const float sum = Reduce(storage).Sum(lane == 0 ? 0.25f : 0.0f);
  if (threadIdx.x == 0) one = sum;
  __syncthreads();
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] += one * NUMBER;
}
void plus_cuda(kernkit::TensorView y) {
  kernkit::cuda::Launch launch(y);
  launch(plus_kernel, {(y.numel() + 127) / 128, 128}, y.numel(), y.data<float>());
}
// A function that kernkit's runtime lacks does not make the linker fail.
cudaError_t array(cudaArray_t* made, const cudaChannelFormatDesc* format) {
  return cudaMallocArray(made, format, 1, 1, 0);
}
"""
ALL = "SOURCES detail/one.cc detail/two.cu INCLUDE_DIRECTORIES numbers SEPARABLE"


@pytest.fixture
def project(root, tmp_path):
    """Returns configure(line, ...), which configures a library whose op is added by the line and returns the build
    folder or CMake's error."""
    for name, text in FILES.items():
        (tmp_path / "plus" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "plus" / name).write_text(text)
    for folder, number in (("numbers", 1), ("others", 10)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "number.h").write_text(f"constexpr float NUMBER = {number};\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/plus_test.cc").write_text(TEST.replace("NUMBER_OF_TEST", "1"))

    def configure(line, *options, more="", root=root, **environment):
        lines = HEAD.format(root=root) + line + "\n" + more
        (tmp_path / "CMakeLists.txt").write_text(lines)
        build = tmp_path / "build"
        command = ["cmake", "-S", tmp_path, "-B", build, "-G", "Ninja", "-DKERNKIT_CUDA=OFF", *options]
        result = subprocess.run(command, capture_output=True, text=True, env={**ENVIRONMENT, **environment})
        return build if result.returncode == 0 else " ".join(result.stderr.split())

    return configure


def configured(output):
    assert not isinstance(output, str), output
    return output


def rejected(output):
    assert isinstance(output, str), "CMake accepted the line"
    return output


def test_unknown_options_and_missing_files_are_rejected(project):
    add = "kernkit_add_kernel(ops plus "
    assert '"SOURCE two.cu" is not an option' in rejected(project(f"{add}SOURCE two.cu)")).replace(";", " ")
    for options in ("GPU_ONLY", "SEPARABLE", "ARCHITECTURES 90a"):
        output = rejected(project(f"{add}CPU_ONLY {options})"))
        assert f"CPU_ONLY and {options.split()[0]} exclude each other; CPU_ONLY leaves no CUDA implementation" in output
    assert "plus/three.cu is missing" in rejected(project(f"{add}SOURCES three.cu)"))
    assert "neither .cc nor .cu" in rejected(project(f"{add}SOURCES plus.h)"))
    sources = ALL.replace("SEPARABLE", "")
    assert "two.cu needs a CUDA implementation, and the op is CPU_ONLY" in rejected(project(f"{add}CPU_ONLY {sources})"))
    output = rejected(project(f"{add}{ALL} INCLUDE_DIRECTORIES nothing)"))
    assert "kernkit_add_kernel(ops plus): the folder" in output and "nothing of INCLUDE_DIRECTORIES is missing" in output


@pytest.mark.slow
def test_several_files_run_on_the_cpu_too(project):
    """An op of several files passes its tests on the CPU and, with .cu files that call each other's device functions,
    in the simulator."""
    more = "kernkit_add_tests(ops tests)\nkernkit_add_cuda_tests(ops tests)\n"
    build = configured(project(f"kernkit_add_kernel(ops plus {ALL})", more=more))
    run("cmake", "--build", build, "--target", "ops", "plus_test", "plus_cuda_test")
    run(build / "plus_test")
    run(build / "plus_cuda_test")


@pytest.mark.all
def test_gpu_only(project, tmp_path):
    """For a kernel that g++ cannot compile, CMake reports an error that suggests GPU_ONLY. With GPU_ONLY, or if CMake
    finds the reason in the .cu file, the op is reported as skipped."""
    more = "kernkit_add_tests(ops tests)\nkernkit_add_cuda_tests(ops tests)\n"
    kernel = (tmp_path / "plus/plus.cu").read_text()
    (tmp_path / "plus/plus.cu").write_text('#include "of_nvcc.h"\n' + kernel)
    (tmp_path / "plus/of_nvcc.h").write_text("")
    build = configured(project(f"kernkit_add_kernel(ops plus {ALL})", more=more))
    for text in ("#include <cub/block/block_reduce.cuh>\n", "__global__ void k() {}\nvoid f() { k<<<1, 1>>>(); }\n"):
        (tmp_path / "plus/of_nvcc.h").write_text(text)
        failed = subprocess.run(["cmake", "--build", build, "--target", "plus_cuda_test"], capture_output=True, text=True)
        assert failed.returncode != 0
        assert "kernkit: plus.cu does not compile for the CPU." in failed.stdout
        assert "exclude it there: kernkit_add_kernel(ops plus GPU_ONLY)" in failed.stdout
    (tmp_path / "plus/plus.cu").write_text(kernel + "__global__ void k() {}\nvoid f() { k<<<1, 1>>>(); }\n")
    build = configured(project(f"kernkit_add_kernel(ops plus {ALL})", more=more))
    run("cmake", "--build", build)
    output = run("ctest", "--test-dir", build, "--output-junit", build / "junit.xml")
    assert re.search(r"plus_cuda_test .*Skipped", output) and "100% tests passed" in output
    assert "GPU_ONLY: g++ cannot compile such a kernel for the simulator; with nvcc the simulator runs its PTX" in (build / "junit.xml").read_text()


@pytest.mark.parametrize("text, is_of_nvcc", [
    ("extern __shared__ float tile[];\n", True),
    ("#include <cub/block/block_scan.cuh>\n", True),
    ('__device__ void f() { asm volatile("membar.gl;"); }\n', True),
    ('#if defined(__CUDACC__)\n__device__ void f() { asm("membar.gl;"); }\n#endif\n', False),
    ("// k<<<1, 1>>>() is launched by cuda::Launch.\n", False),
    ("int blasm(int);\n", False),
])  # fmt: skip
def test_code_of_nvcc_is_found(project, tmp_path, text, is_of_nvcc):
    (tmp_path / "plus/plus.cu").write_text(text)
    more = "get_property(found TARGET ops_objects PROPERTY KERNKIT_GPU_ONLY_OPS)\nfile(WRITE ${CMAKE_BINARY_DIR}/found \"${found}\")\n"
    build = configured(project(f"kernkit_add_kernel(ops plus {ALL})", more=more))
    assert (build / "found").read_text() == ("plus" if is_of_nvcc else "")


def test_gpu_only_in_a_library_without_the_part_ptx(root, project, tmp_path):
    sdk = shutil.copytree(root / "sdk", tmp_path / "sdk")
    components.remove_others(str(sdk), "")
    more = "kernkit_add_tests(ops tests)\nkernkit_add_cuda_tests(ops tests)\n"
    build = configured(project(f"kernkit_add_kernel(ops plus {ALL} GPU_ONLY)", more=more, root=tmp_path))
    output = run("ctest", "--test-dir", build, "-V", "-R", "plus_cuda_test$")
    sentence = "g++ cannot compile such a kernel for the simulator; `kernkit update --with ptx` adds the executor for PTX"
    assert re.search(rf"plus_cuda_test: Skipped\n\d+: GPU_ONLY: {re.escape(sentence)}\n", output)


def ctest(build, *arguments):
    return subprocess.run(["ctest", "--test-dir", build, *arguments], capture_output=True, text=True).stdout


@pytest.mark.slow
def test_gpu_only_where_its_ptx_runs(project, tmp_path):
    """With nvcc, the tests and the contract of a GPU_ONLY op run on the library's objects, and kernels with unsupported
    instructions are skipped."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    kernel = tmp_path / "plus/plus.cu"
    more = "kernkit_add_tests(ops tests)\nkernkit_add_cuda_tests(ops tests)\n"

    def configure_with(arguments, architectures="80-virtual"):
        options = ("-DKERNKIT_CUDA=ON", f"-DCMAKE_CUDA_ARCHITECTURES={architectures}", "-DCMAKE_BUILD_TYPE=Debug")
        line = f"kernkit_add_kernel(ops plus SOURCES detail/one.cc INCLUDE_DIRECTORIES numbers {arguments})"
        return configured(project(line, *options, more=more))

    for arguments, architectures, why in (
        ("GPU_ONLY", "80-real", "nvcc keeps no PTX of it; add a compute capability without -real to CMAKE_CUDA_ARCHITECTURES"),
        ("GPU_ONLY LIBRARIES CUDA::cublas", "80", "it calls CUDA::cublas, which has machine code only"),
        ("GPU_ONLY SEPARABLE", "80", "plus is SEPARABLE, which is not supported without a GPU"),
    ):
        output = ctest(configure_with(arguments, architectures), "-V", "-R", "plus_cuda_test$")
        assert re.search(rf"plus_cuda_test: Skipped\n\d+: GPU_ONLY: {why}\n", output)

    kernel.write_text(OF_NVCC)
    build = configure_with("")
    run("cmake", "--build", build, "--target", "ops_ptx_test")
    output = ctest(build, "-R", "^ops_ptx_test[.]")
    assert "100% tests passed" in output and "Skipped" not in output
    assert {"Plus.Adds", "Contract/plus.Layouts", "Contract/plus.Capture"} <= set(re.findall(r"ops_ptx_test[.](\S+) [.]+ +Passed", output))

    kernel.write_text(OF_NVCC.replace("if (i < n) y[i]", "y[i]"))
    run("cmake", "--build", build, "--target", "ops_ptx_test")
    assert re.search(r"plus_kernel: block \[0, 0, 0\], thread \[\d+, 0, 0\]: Invalid __global__ \w+ of size 4 bytes, .*\(plus.cu:15\)", ctest(build, "-V"))

    unknown = 'asm volatile("brkpt;");\n  if (i < n)'
    kernel.write_text(OF_NVCC.replace("if (i < n)", unknown))
    run("cmake", "--build", build, "--target", "ops_ptx_test")
    output = ctest(build, "-V", "-R", "^ops_ptx_test[.]")
    assert re.search(r"ops_ptx_test[.]Contract/plus.Layouts [.]+[*]*Skipped", output) and "100% tests passed" in output
    assert "kernkit: plus_kernel cannot run: brkpt (plus.cu:15): unsupported instruction" in output


def links_the_machine(program):
    return "kernkit_simulator_ptx" in run("nm", program)


@pytest.mark.slow
def test_an_ordinary_op_where_its_ptx_runs(project, tmp_path):
    """The tests and the contract of an op run on nvcc's objects, whether the contract is in the file of the other ops
    or in a separate file. If the objects cannot be used, or if KERNKIT_TESTS_ON_PTX is OFF, the op is compiled for the
    CPU, and CMake reports the reason."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    more = "kernkit_add_tests(ops tests)\nkernkit_add_cuda_tests(ops tests)\nkernkit_add_contract_test(ops alone.cc)\n"
    (tmp_path / "alone.cc").write_text(CONTRACT)
    kernel = tmp_path / "plus/plus.cu"
    kernel.write_text(FILES["plus.cu"].replace("two(0.5f)", "1.0f"))
    options = ("-DKERNKIT_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=80-virtual", "-DCMAKE_BUILD_TYPE=Debug")
    line = "kernkit_add_kernel(ops plus SOURCES detail/one.cc INCLUDE_DIRECTORIES numbers)"

    def built(*programs, options=options):
        build = configured(project(line, *options, more=more))
        run("cmake", "--build", build, "--target", *programs)
        return build

    build = built("ops_ptx_test", "alone")
    assert links_the_machine(build / "ops_ptx_test") and links_the_machine(build / "alone")
    output = ctest(build, "-R", "^(ops_ptx_test|alone)[.]")
    assert "100% tests passed" in output and "Skipped" not in output
    passed = set(re.findall(r"(\S+) [.]+ +Passed", output))
    assert {"ops_ptx_test.Plus.Adds", "ops_ptx_test.Contract/plus.Capture", "alone.Contract/plus.Capture"} <= passed
    correct = kernel.read_text()
    kernel.write_text(correct.replace("if (i < n) y[i]", "y[i]"))
    run("cmake", "--build", build, "--target", "ops_ptx_test", "alone")
    for program in ("ops_ptx_test", "alone"):
        output = ctest(build, "-V", "-R", f"^{program}[.]")
        assert re.search(r"plus_kernel: block \[0, 0, 0\], thread \[\d+, 0, 0\]: Invalid __global__ \w+ of size 4 bytes, .*\(plus.cu:7\)", output)
    kernel.write_text(correct.replace("if (i < n)", 'asm volatile("brkpt;");\n  if (i < n)')
                      .replace("__global__", "#if defined(__CUDACC__)\n#endif\n__global__"))  # fmt: skip
    run("cmake", "--build", build, "--target", "ops_ptx_test")
    output = ctest(build, "-V", "-R", "^ops_ptx_test[.]")
    assert "100% tests passed" in output and re.search(r"ops_ptx_test[.]Contract/plus.Layouts [.]+[*]*Skipped", output)
    assert "kernkit: plus_kernel cannot run: brkpt (plus.cu:9): unsupported instruction" in output

    kernel.write_text(correct)
    build = built("ops_cuda_test", "alone", options=(*options, "-DKERNKIT_TESTS_ON_PTX=OFF"))
    assert not links_the_machine(build / "ops_cuda_test") and not links_the_machine(build / "alone")
    assert "100% tests passed" in ctest(build, "-R", "^(ops_cuda_test|alone)[.]")
    configured(project(line + "\n", *options, "-DKERNKIT_TESTS_ON_PTX=ON", more=more))
    output = run("cmake", "-DCMAKE_CUDA_ARCHITECTURES=80-real", build)
    assert "kernkit: tests run plus as compiled for the CPU, not by its PTX: nvcc keeps no PTX of it; add" in output


@pytest.mark.slow
def test_separable_code_of_nvcc(project):
    """The library and a program of a SEPARABLE op link the device code of the op's files, also for architecture 90a."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    options = ("-DKERNKIT_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=80-real")
    line = f"kernkit_add_kernel(ops plus {ALL} ARCHITECTURES 90a)"
    build = configured(project(line, *options, more="kernkit_add_tests(ops tests)\n"))
    run("cmake", "--build", build, "--target", "ops", "plus_test")
    run(build / "plus_test")
    for file in ("libops.so", "plus_test"):
        listing = cuobjdump(build / file, "--list-elf")
        assert "sm_80" in listing and "sm_90a" in listing


@pytest.mark.all
def test_an_architecture_that_nvcc_lacks_is_rejected(project):
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    for wrong in ("33", "90a-real", "native"):
        output = rejected(project(f"kernkit_add_kernel(ops plus {ALL} ARCHITECTURES 90a {wrong})", "-DKERNKIT_CUDA=ON"))
        assert re.search(rf"kernkit_add_kernel\(ops plus\): nvcc has no architecture {wrong}; it has [0-9, ]*\b90,", output)


def test_a_family_with_its_first_member_is_rejected_at_configuration(project):
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    output = rejected(project(f"kernkit_add_kernel(ops plus {ALL} ARCHITECTURES 90a 100f)", "-DKERNKIT_CUDA=ON"))
    assert (
        "kernkit_add_kernel(ops plus): nvcc does not compile ARCHITECTURES 90a 100f with the library's 80 90-real 100-real 120 of "
        "CMAKE_CUDA_ARCHITECTURES (The same GPU code (`sm_100f`) generated for non family-specific and family-specific GPU arch); "
        'write 100a in place of 100f, or configure with -DCMAKE_CUDA_ARCHITECTURES="80;90-real;100-virtual;120", which keeps the '
        "PTX of 100"
    ) in output


INSTEAD = 'configure with -DCMAKE_CUDA_ARCHITECTURES="%s", which keeps the PTX of %s'
LISTED = r"it has 75, [0-9, ]*, with an .a. from 90 and an .f. from 100 on"


@pytest.mark.parametrize("own, library, fix", [
    ("100f", "80;100", "write 100a in place of 100f, or " + INSTEAD % ("80;100-virtual", 100)),
    ("100f", "100;100-real", "write 100a in place of 100f, or " + INSTEAD % ("100-virtual;100-virtual", 100)),
    ("120;120f", "80", "leave out 120: the machine code of 120f runs on its devices"),
    ("100", "80;100f-real", "leave out 100: the machine code of 100f runs on its devices"),
    ("", "103-real;103f", INSTEAD % ("103-virtual;103f", 103)),
    ("100f", "all-major", "write 100a in place of 100f, or " + INSTEAD % ("80;90;100-virtual;110;120", 100)),
    ("90f", "80", LISTED),
    ("", "80;33", LISTED),
    ("", "80a", LISTED),
    ("100f", "80;100-virtual", None),
    ("100f", "80;103-real;110-real;110f-virtual", None),
    ("100a;90a", "80;90;100f", None),
    ("", "90;90a;100a;100-real;100-virtual;100f-virtual", None),
    ("90a", "native", None),
    ("", "OFF", None),
])  # fmt: skip
def test_architectures_that_nvcc_does_not_compile_together(root, tmp_path, own, library, fix):
    """If nvcc cannot compile the architectures together, one message at configuration names the list, the conflicting
    entries and an alternative."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    (tmp_path / "check.cmake").write_text(
        f'cmake_minimum_required(VERSION 3.25)\ninclude("{root}/sdk/cmake/KernkitKernel.cmake")\n'
        f'_kernkit_check_architectures(here nvcc "{own}" "{library}")\n'
    )
    checked = subprocess.run(["cmake", "-P", "check.cmake"], cwd=tmp_path, capture_output=True, text=True)
    output = " ".join(checked.stderr.split())
    assert (checked.returncode == 0) == (fix is None), output
    if fix:
        assert f"here: nvcc does not compile {'ARCHITECTURES ' + own.replace(';', ' ') + ' with' if own else 'CMAKE_CUDA_ARCH'}" in output
        assert re.search(rf"\(.*\); {fix}(?: Call Stack|$)", output), output


@pytest.mark.all
def test_architectures_of_the_environment(project):
    """The environment variable CUDAARCHS determines the architectures. A later configuration without the variable keeps
    the architectures, and the option CMAKE_CUDA_ARCHITECTURES overrides the variable."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")

    def architectures(configure):
        build = configure(f"kernkit_add_kernel(ops plus {ALL})", "-DKERNKIT_CUDA=ON",
                     more="file(WRITE ${CMAKE_BINARY_DIR}/architectures \"${CMAKE_CUDA_ARCHITECTURES}\")\n")  # fmt: skip
        return (configured(build) / "architectures").read_text()

    default = "80;90-real;100-real;120"
    for archs, expected in (("", default), ("75;80-real", "75;80-real"), ("", "75;80-real")):
        assert architectures(lambda *arguments, **more: project(*arguments, CUDAARCHS=archs, **more)) == expected
    option = "-DCMAKE_CUDA_ARCHITECTURES=90"
    assert architectures(lambda *arguments, **more: project(*arguments, option, CUDAARCHS="75", **more)) == "90"


@pytest.mark.all
def test_cutlass_that_is_not_there(project, tmp_path):
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    line = f"kernkit_find_cutlass()\nkernkit_add_kernel(ops plus {ALL})"
    sentence = (f'CUTLASS was not found in "{tmp_path}"; run pip install nvidia-cutlass (./kk installs what requirements.txt '
                "lists), or set CUTLASS_DIR to a checkout of it")  # fmt: skip
    for arguments, environment in (([f"-DCUTLASS_DIR={tmp_path}"], {}), (["-UCUTLASS_DIR"], {"CUTLASS_DIR": str(tmp_path)})):
        output = rejected(project(line, "-DKERNKIT_CUDA=ON", *arguments, **environment))
        assert f"kernkit_find_cutlass(): {sentence}" in output


@pytest.fixture
def with_scratch(root, prefix, tmp_path):
    """Returns the build folder of the library in docs/examples/scratch, whose op takes scratch memory. The library is
    configured but not built."""
    source = shutil.copytree(root / "docs/examples/scratch", tmp_path / "source")
    run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", "-DKERNKIT_CUDA=OFF")
    return source / "build"


def test_scratch_of_the_caller_or_of_its_framework(with_scratch):
    run("cmake", "--build", with_scratch, "--target", "scratch_ops")
    ops = tvm_ffi.load_module(str(with_scratch / "libscratch_ops.so"))
    x, y = np.arange(600, dtype="float32"), np.zeros(1, "float32")
    assert ops.total_scratch(x) == 12
    ops.total(y, x, None)
    assert y[0] == x.sum()
    y[0] = 0
    ops.total(y, x, np.zeros(12, "uint8"))
    assert y[0] == x.sum()
    with pytest.raises(ValueError, match=r"^total\(\): scratch: has 8 bytes; expected at least 12$"):
        ops.total(y, x, np.zeros(8, "uint8"))
    with pytest.raises(ValueError, match=r"^total\(\): scratch: must begin on a 16-byte boundary$"):
        ops.total(y, x, np.zeros(64, "uint8")[1:])
    with pytest.raises(TypeError, match=r"^total\(\): scratch: dtype float32 is not supported; expected uint8$"):
        ops.total(y, x, np.zeros(12, "float32"))


@pytest.mark.all
def test_an_op_with_scratch_keeps_its_contract(with_scratch):
    run("cmake", "--build", with_scratch, "--target", "contract_test")
    output = run(with_scratch / "contract_test")
    assert "[       OK ] Contract/total.Scratch " in output and "[       OK ] Contract/total/2.Shapes " in output


@pytest.fixture
def example(root, tmp_path):
    """Returns a copy of the project in docs/gallery/cuda_libraries."""
    return shutil.copytree(root / "docs/gallery/cuda_libraries", tmp_path / "source")


def test_the_page_s_library_builds_without_cuda(prefix, example):
    run("cmake", "-S", example, "-B", example / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", "-DKERNKIT_CUDA=OFF")
    run("cmake", "--build", example / "build")
    ops = tvm_ffi.load_module(str(example / "build/libgpu_ops.so"))
    x = np.ones(3, "float32")
    with pytest.raises(ValueError, match=r"^cumsum\(\): x: device cpu is not supported; expected cuda$"):
        ops.cumsum(x.copy(), x)


@pytest.mark.slow
def test_the_page_s_library_compiles_with_nvcc(prefix, example, tmp_path):
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    cutlass = install(tmp_path / "wheel", "nvidia-cutlass") / "cutlass_library/source"
    run("cmake", "-S", example, "-B", example / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", "-DKERNKIT_CUDA=ON",
        "-DCMAKE_CUDA_ARCHITECTURES=90-real", f"-DCUTLASS_DIR={cutlass}")  # fmt: skip
    run("cmake", "--build", example / "build")
    library = example / "build/libgpu_ops.so"
    kernels = cuobjdump(library, "--list-elf")
    # The library has kernels of CUB and of CUTLASS. cuBLAS is a separate library, with its own kernels.
    assert kernels.count("sm_90") >= 2, kernels
    assert "libcublas.so" in run("readelf", "-d", library)
