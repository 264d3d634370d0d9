# SPDX-License-Identifier: Apache-2.0
"""The CUDA runtime for tests in another project, on an installed kernkit and without a CUDA toolkit."""

import shutil
import subprocess

from commands import run

LISTING = """\
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES CXX)
find_package(kernkit REQUIRED)
set(KERNKIT_WITH_CUDA FALSE)
kernkit_add_library(ops)
kernkit_add_kernel(ops twice)
kernkit_add_cuda_on_cpu(ops)
add_executable(main main.cc)
target_link_libraries(main PRIVATE ops_cuda_on_cpu)
"""

# As a user writes it, with a loop of its own in place of the SDK's.
KERNEL = """\
#include "kernkit/cuda/launch.h"

namespace {
__global__ void __launch_bounds__(32) twice_kernel(float* x, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
}  // namespace

void twice_cuda(kernkit::TensorView x) {
  kernkit::cuda::Launch launch(x);
  launch(twice_kernel, {(x.numel() + 31) / 32, 32}, x.data<float>(), x.numel());
}
"""

HOST = """\
#include "kernkit/expect.h"

void twice_cuda(kernkit::TensorView x);
void twice(kernkit::TensorView x) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cuda().contiguous();
  if constexpr (kernkit::kWithCuda) twice_cuda(x);
}
"""

EXPORT = """\
#include "kernkit/export.h"

void twice(kernkit::TensorView x);
KERNKIT_EXPORT(twice, "(Tensor(a!) x) -> ()", "x *= 2.", twice)
"""

MAIN = """\
#include <cstdio>

#include "kernkit/testing/cuda_runtime.h"
#include "kernkit/testing/tensor.h"

void twice(kernkit::TensorView x);

int main() {
  kernkit::testing::CudaRuntime runtime({{}, {}});
  runtime.run_kernels(true);
  kernkit::testing::HostTensor<float> x({100}, {}, 3.0f);
  x.dl()->device = {kDLCUDA, 1};
  twice(x.view("x"));
  std::printf("%g %g on %d\\n", x[0], x[99], runtime.launches().at(0).device);
}
"""


def test_find_package(prefix, tmp_path):
    source = tmp_path / "source"
    (source / "twice").mkdir(parents=True)
    (source / "CMakeLists.txt").write_text(LISTING)
    (source / "main.cc").write_text(MAIN)
    for name, text in (("twice.cu", KERNEL), ("twice.cc", HOST), ("twice_export.cc", EXPORT)):
        (source / "twice" / name).write_text(text)
    run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", source / "build", "--target", "main", "-j2")
    assert run(source / "build/main") == "6 6 on 1\n"


CONTRACTS = """\
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES CXX)
find_package(kernkit REQUIRED)
set(KERNKIT_WITH_CUDA FALSE)
kernkit_add_library(ops)
kernkit_add_kernel(ops twice)
kernkit_add_contract_test(ops twice_contract_test.cc)
kernkit_add_library(cpu_ops)
kernkit_add_kernel(cpu_ops negate CPU_ONLY)
kernkit_add_contract_test(cpu_ops negate_contract_test.cc)
"""


def test_contracts(root, prefix, tmp_path):
    """One line for an op on the GPU, and one for an op of a library that has no CUDA half."""
    shutil.copytree(root / "tests/consumers/negate", tmp_path / "negate")
    (tmp_path / "twice").mkdir()
    for name, text in (("twice.cu", KERNEL), ("twice.cc", HOST), ("twice_export.cc", EXPORT)):
        (tmp_path / "twice" / name).write_text(text)
    (tmp_path / "CMakeLists.txt").write_text(CONTRACTS)
    lines = {
        "twice": "KERNKIT_TEST_CONTRACT(twice, example<float>(100), cuda_only())\n",
        "negate": "KERNKIT_TEST_CONTRACT(negate, example<float>(7), example<float>(7))\n",
    }
    for op, line in lines.items():
        text = '#include "kernkit/testing/contract.h"\n' + line
        (tmp_path / f"{op}_contract_test.cc").write_text(text)
    build = tmp_path / "build"
    run("cmake", "-S", tmp_path, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    programs = [f"{op}_contract_test" for op in lines]
    run("cmake", "--build", build, "--target", *programs, "-j2")
    twice, negate = (run(build / program) for program in programs)
    assert "OK ] Contract/twice.Capture" in twice and "OK ] Contract/twice.ByteOffset" in twice
    assert "OK ] Contract/negate.ByteOffset" in negate and "Contract/negate.Capture" not in negate


def test_needs_no_header_of_nvidia(root, dlpack_include):
    """g++ looks into /usr/local/include, where a toolkit may have put links to its headers."""
    text = '#include "kernkit/cuda/launch.h"\n#include "kernkit/testing/cuda_runtime.h"\n'
    command = ["g++", "-std=c++17", "-M", "-x", "c++", "-", "-I", root / "sdk/include",
               "-I", root / "sdk/cuda_on_cpu", "-isystem", dlpack_include]  # fmt: skip
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    used = {path for path in result.stdout.split() if "cuda" in path.rsplit("/", 1)[-1]}
    assert used and all(path.startswith(str(root)) for path in used), used
