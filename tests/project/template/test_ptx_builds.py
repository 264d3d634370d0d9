# SPDX-License-Identifier: Apache-2.0
"""If nvcc is available, the CUDA tests and contract tests of a library of `kernkit new --with ptx` run from PTX."""

import re
import shutil

import pytest
from rendering import NAME, check, render, run

# The kernel of `kernkit add --kind row_reduction`, rewritten with CUB.
INCLUDE = '#include "kernkit/cuda/launch.h"\n'
STORAGE = "  __shared__ kernkit::compute_t<T> of_warps[kThreads / 32];\n"
OF_CUB = {
    INCLUDE: "#include <cub/block/block_reduce.cuh>\n\n" + INCLUDE,
    STORAGE: "  using Reduce = cub::BlockReduce<kernkit::compute_t<T>, kThreads>;\n"
             "  __shared__ typename Reduce::TempStorage storage;\n",
}  # fmt: skip
REDUCE = """\
    total = Reduce(storage).Reduce(total, [&](auto a, auto b) { return op.combine(a, b); });
    if (thread == 0) out[i] = op.finish(total);
"""


def by_cub(kernel):
    for old, new in OF_CUB.items():
        assert kernel.count(old) == 1
        kernel = kernel.replace(old, new)
    kernel = re.sub(r"template <class T>\n__device__ .*?\n}\n\n", "", kernel, flags=re.S)
    kernel, count = re.subn(r"    total = reduce_warp\(op, total\);\n.*?(?=    __syncthreads\(\);\n  }\n)", REDUCE, kernel, flags=re.S)
    assert count == 1 and "reduce_warp" not in kernel
    return kernel


@pytest.mark.slow
def test_a_library_with_cub_tests_all_ops_by_their_ptx(template, environment, driver_environment, tmp_path):
    """`./kk test` tests an op that does not need nvcc (the template's) and an op that does, by their PTX. Without CUDA
    the second op is skipped."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    result = render(template, tmp_path, environment, library_name=NAME, parts="ptx")
    assert result.returncode == 0, result.stdout
    library = tmp_path / NAME
    at = {"cwd": library, "env": {**driver_environment, "KERNKIT_CUDA": "ON", "CUDAARCHS": "80-virtual"}}
    check("./kk", "add", "row_sum", "(Tensor(a!) y, Tensor x, float alpha=1.0) -> ()", "--kind", "row_reduction", **at)
    kernel = library / "kernels/row_sum/row_sum.cu"
    kernel.write_text(by_cub(kernel.read_text()))
    printed = check("./kk", "test", **at)
    assert re.search(r"\n\d\d\d passed, 0 failed, 2 skipped\n$", printed), printed
    program = library / f"build/release/bin/{NAME}_ptx_test"
    assert "kernkit_simulator_ptx" in check("nm", program)
    for op in ("silu_and_mul", "row_sum"):
        assert f"Contract/{op}.Capture" in check(program, f"--gtest_filter=Contract/{op}.*:*Placement*:*Values*:*Float*").replace(" ", "")
    assert "\nkernkit sanitize: 0 findings (memcheck: 0, racecheck: 0, initcheck: 0, synccheck: 0)\n" in check("./kk", "sanitize", program, **at)
    assert re.search(r"row_sum_kernel<float> +\d+ ", check("./kk", "counters", program, **at))
    correct = kernel.read_text()
    kernel.write_text(correct.replace("out[i] = op", "out[i + 4096] = op"))
    result = run("./kk", "test", **at)
    assert result.returncode != 0
    line = 1 + correct[: correct.index("out[i] = op")].count("\n")
    assert re.search(rf"row_sum_kernel<float>: block \[\d+, 0, 0\], thread \[0, 0, 0\]: Invalid __global__ write of size 4 bytes.*\(row_sum.cu:{line}\)", result.stdout)
    kernel.write_text(correct)
    printed = check("./kk", "test", **{**at, "env": {**at["env"], "KERNKIT_CUDA": "OFF"}})
    assert "GPU_ONLY: g++ cannot compile such a kernel for the simulator; with nvcc the simulator runs its PTX (row_sum_cuda_test)" in printed
    assert "kernkit_simulator_ptx" not in check("nm", library / f"build/release/bin/{NAME}_cuda_test")


LAST = "      out[i] = result;\n"
PAST = LAST + "      __shared__ volatile int last[kMaxThreads];\n      last[threadIdx.x + 1] = count;\n      if (last[threadIdx.x + 1] < 0) return;\n"


@pytest.mark.all
def test_a_store_past_the_end_fails_the_tests_of_a_default_library(kernkit_new, driver_environment, tmp_path):
    """A store one element past the end of an array in shared memory fails the tests of a library with default
    components. The kernel compiled by g++ does not detect the store."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    result = kernkit_new(NAME, "--no-git")
    assert result.returncode == 0, result.stdout
    kernel = tmp_path / NAME / "kernels/silu_and_mul/silu_and_mul.cu"
    text = kernel.read_text()
    assert text.count(LAST) == 1
    kernel.write_text(text.replace(LAST, PAST))
    at = {"cwd": tmp_path / NAME, "env": {**driver_environment, "KERNKIT_CUDA": "ON", "CUDAARCHS": "80-virtual"}}
    result = run("./kk", "test", "silu_and_mul", **at)
    line = 1 + text[: text.index(LAST)].count("\n") + 2
    assert result.returncode != 0
    assert re.search(rf"Invalid __shared__ write of size 4 bytes, at byte 1024 of shared variable \S*last\S* \(1024 bytes\) \(silu_and_mul.cu:{line}\)", result.stdout), result.stdout


def test_the_part_ptx_is_a_default_that_can_be_left_out(kernkit_new, tmp_path):
    for name, arguments, has in (("by_default", (), True), ("without", ("--without", "ptx"), False),
                                 ("with_more", ("--with", "scratch"), True), ("no_cuda", ("--cuda", "none"), False)):  # fmt: skip
        result = kernkit_new(name, "--no-git", *arguments)
        assert result.returncode == 0, result.stdout
        assert (tmp_path / name / "third_party/kernkit_dev/simulator/ptx").is_dir() == has
    for arguments, sentence in (
        (("--without", "rows"), "--without: rows is not a default component; the default components are ptx, dev"),
        (("--without", "ptx", "--with", "ptx"), "--without: ptx is in --with"),
    ):
        result = kernkit_new("rejected", *arguments)
        assert (result.returncode, result.stdout) == (3, f"kernkit: {sentence}\n")


def test_without_nvcc_the_skip_names_the_missing_checks(kernkit_new, tmp_path):
    assert kernkit_new(NAME, "--no-git").returncode == 0
    arguments = ["-G", "Ninja", "-DKERNKIT_CUDA=OFF", "-DKERNKIT_BUILD_BENCHMARKS=OFF"]
    check("cmake", "-S", tmp_path / NAME, "-B", tmp_path / "build", *arguments)
    printed = check("ctest", "--test-dir", tmp_path / "build", "-R", f"^{NAME}_ptx_test$", "-V")
    assert "Skipped" in printed and "stores out of bounds by a few bytes and what nvcc compiles are not checked" in printed
