# SPDX-License-Identifier: Apache-2.0
"""The programs of `./kk gpu` in a library. Here the simulator replaces the GPU."""

import json
import os
import subprocess

import pytest
from commands import run
from test_add_kernel import FILES

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES C CXX)
add_subdirectory({root}/sdk kernkit)
kernkit_find_cuda()
kernkit_add_library(ops)
kernkit_add_kernel(ops plus INCLUDE_DIRECTORIES numbers SOURCES detail/one.cc detail/two.cu)
kernkit_add_kernel(ops late)
kernkit_add_kernel(ops alone CPU_ONLY)
kernkit_add_on_fibers(ops)
find_package(benchmark REQUIRED)
_kernkit_find_gtest()
add_library(main OBJECT)
target_link_libraries(main PRIVATE kernkit::simulator_main PUBLIC GTest::gtest)
_kernkit_add_gpu_programs(ops . test ops_on_fibers main)
add_library(stand_in OBJECT main.cc)
target_link_libraries(stand_in PRIVATE kernkit::simulator_fibers PUBLIC benchmark::benchmark)
_kernkit_add_gpu_programs(ops . bench ops_on_fibers stand_in)
"""
MAIN = """\
#include <benchmark/benchmark.h>
#include "kernkit/simulator/runtime.h"
int main(int argc, char** argv) {
  kernkit::simulator::CudaRuntime runtime{std::vector<kernkit::simulator::CudaDevice>(1)};
  runtime.run_kernels(true);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
"""
TEST = """\
#include "plus/plus.h"
#include <gtest/gtest.h>
#include "kernkit/testing/contract.h"
#include "kernkit/testing/test_device.h"
KERNKIT_TEST_CONTRACT(plus, example<float>(7), cuda_only())
TEST(Plus, AddsWhereTheTensorIs) {
  kernkit::testing::TestDevice device;
  kernkit::testing::TestTensor<float> y({3}, {1, 0, false}, 5.0f);
  cudaPointerAttributes of{};
  ASSERT_EQ(cudaPointerGetAttributes(&of, y.begin()), cudaSuccess);
  EXPECT_EQ(of.type, cudaMemoryTypeManaged);
  plus(y.view("y"));
  ASSERT_EQ(device.faults(), "");
  EXPECT_EQ(y[2], 6.0f);
  EXPECT_TRUE(y.intact());
}
"""
# An incorrect op, which uses the default stream instead of the caller's stream.
LATE = """\
#include "kernkit/cuda/launch.h"
#include "kernkit/env.h"
#include "late.h"
__global__ void late_kernel(float* y, const float* x) { y[threadIdx.x] = x[threadIdx.x]; }
void late_cuda(kernkit::TensorView y, kernkit::TensorView x) {
  const kernkit::StreamGuard none(y.device(), nullptr);
  kernkit::cuda::Launch launch(y, x);
  launch(late_kernel, {1, 7}, y.data<float>(), x.data<const float>());
}
"""
LATE_CC = """\
#include "late.h"
#include "kernkit/expect.h"
void late(kernkit::TensorView y, kernkit::TensorView x) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cuda().contiguous().shape(7);
  KERNKIT_EXPECT(y).like(x).contiguous().no_overlap(x);
  late_cuda(y, x);
}
"""
BENCH = """\
#include "kernkit/testing/benchmark.h"
#include "kernkit/testing/test_device.h"
#include "plus/plus.h"
namespace {
void sizes(benchmark::internal::Benchmark* rows) { rows->ArgName("bytes")->Arg(4096); }
[[maybe_unused]] const bool kRegistered = [] {
  const auto time = [](auto, benchmark::State& state) {
    kernkit::testing::TestTensor<float> y({state.range(0) / 4});
    kernkit::testing::time_calls(state, [&] { plus(y.view("y")); });
    state.SetBytesProcessed(state.iterations() * 2 * state.range(0));
  };
  kernkit::testing::add_rows("plus", kernkit::types<float>{}, sizes, time);
  kernkit::testing::add_memcpy_rows(kernkit::types<float>{}, sizes,
                                    [](auto, const benchmark::State& state) { return 2 * state.range(0); });
  const auto loop = [](auto, benchmark::State& state) {
    for (auto _ : state) state.SetIterationTime(1);
  };
  kernkit::testing::add_rows("loop", kernkit::types<float>{}, sizes, loop);
  return true;
}();
}  // namespace
"""


@pytest.fixture(scope="module")
def build(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("on_gpu")
    declared = "#pragma once\n#include \"kernkit/tensor.h\"\n"
    arguments = "(kernkit::TensorView y, kernkit::TensorView x)"
    export = '#include "kernkit/export.h"\n#include "{0}.h"\nKERNKIT_EXPORT({0}, "{1}", "{0}.", {0})\n'
    files = {f"plus/{name}": text for name, text in FILES.items()}
    files["plus/detail/two.cu"] = "// Nothing of its own.\n"
    files["plus/plus.cu"] = files["plus/plus.cu"].replace("two(float value);", "two(float value) { return 2 * value; }")
    files |= {
        "CMakeLists.txt": PROJECT.format(root=root), "main.cc": MAIN, "numbers/number.h": "constexpr float NUMBER = 1;\n",
        "plus_test.cc": TEST, "plus_bench.cc": BENCH,
        "late/late.h": f"{declared}void late{arguments};\nvoid late_cuda{arguments};\n", "late/late.cc": LATE_CC,
        "late/late.cu": LATE, "late/late_export.cc": export.format("late", "(Tensor(a!) y, Tensor x) -> ()"),
        "late_test.cc": '#include "kernkit/testing/contract.h"\n'
                        "KERNKIT_TEST_CONTRACT(late, example<float>(7), example<float>(7), cuda_only())\n",
        "alone/alone.h": "void alone();\n", "alone/alone.cc": '#include "alone.h"\nvoid alone() {}\n',
        "alone/alone_export.cc": export.format("alone", "() -> ()"),
        "alone_test.cc": "#error \"an op that has no CUDA implementation\"\n",
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", "-DKERNKIT_CUDA=OFF", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", folder / "build", "--target", "kernkit_gpu")
    return folder / "build"


@pytest.mark.slow
def test_tests_and_contracts_run_on_the_device(build, tmp_path):
    """An op's own tests and its contract run with device tensors, and the program writes the op's example as a line of
    JSON."""
    examples = tmp_path / "examples.jsonl"
    result = subprocess.run([build / "plus_gpu_test"], env={**os.environ, "KERNKIT_EXAMPLES": str(examples)},
                            capture_output=True, text=True)  # fmt: skip
    assert result.returncode == 0, result.stdout
    for name in ("Plus.AddsWhereTheTensorIs", "Contract/plus.ByteOffset", "Contract/plus.CallersStream", "Contract/plus.Capture"):
        assert f"[       OK ] {name} " in result.stdout
    noted = {"dtype": "float32", "shape": [7], "values": [], "cpu": False}
    parsed = {"version": 1, "parameters": [{"type": "Tensor", "name": "y", "alias": "a!"}], "results": []}
    assert json.loads(examples.read_text()) == {"op": "plus", "schema": "(Tensor(a!) y) -> ()", "parsed": parsed, "arguments": [noted]}


@pytest.mark.slow
def test_an_op_on_the_default_stream_is_found(build):
    result = subprocess.run([build / "late_gpu_test", "--gtest_filter=*CallersStream"], capture_output=True, text=True)
    assert result.returncode == 1
    assert "late() on cuda:0: while its stream is delayed: y: element " in result.stdout
    assert "; expected work in the caller's stream." in result.stdout


@pytest.mark.slow
def test_rows_are_timed_on_the_device_with_a_copy_beside(build, tmp_path):
    out = tmp_path / "rows.json"
    run(build / "plus_gpu_bench", f"--benchmark_out={out}")
    content = json.loads(out.read_text())
    rows = {row["name"].split("/iterations")[0]: row for row in content["benchmarks"]}
    assert list(rows) == ["plus/float32/ops/bytes:4096", "copy/float32/cudaMemcpyAsync/bytes:4096", "loop/float32/ops/bytes:4096"]
    assert all(row["bytes_per_second"] > 0 for row in list(rows.values())[:2])
    assert rows["loop/float32/ops/bytes:4096"]["error_message"] == (
        "not timed: the benchmark calls no kernkit::testing::time_calls()")  # fmt: skip
    assert int(content["context"]["cuda_runtime"]) >= 12000
