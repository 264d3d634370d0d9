# SPDX-License-Identifier: Apache-2.0
"""The machine code of row kernels: the RMS norm in docs/rows-and-math.md, and the kernels in kernels/. Nothing runs on
a GPU."""

import re
import shutil
import subprocess

import pytest
from cuda_tools import cuobjdump

FILE = """
#include "kernkit/cuda/rows.cuh"
#include "kernkit/math.h"
namespace kernkit {
%s
template void cuda::rows<float>(const cuda::Launch&, int64_t, int64_t, const RmsNorm<float>&);
template void cuda::rows<bfloat16>(const cuda::Launch&, int64_t, int64_t, const RmsNorm<bfloat16>&);
}
"""


@pytest.fixture(scope="module")
def kernels(root, dlpack_include, tmp_path_factory):
    """Returns {(threads of a row, packs of a thread): (registers, {instruction: count})} of the kernels."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    test = (root / "tests/sdk/cuda/rows_test.cc").read_text()
    source = tmp_path_factory.mktemp("rows") / "rms_norm.cu"
    source.write_text(FILE % re.search(r"// \[rms_norm\]\n(.*?)// \[/rms_norm\]", test, re.DOTALL)[1])
    output = source.with_suffix(".o")
    subprocess.run(["nvcc", "-std=c++17", "-O3", "-arch=sm_90", "--expt-relaxed-constexpr", "-Werror",
                    "all-warnings", "-Xcompiler=-Wall,-Wextra", "-I", root / "sdk/include", "-isystem",
                    dlpack_include, "-c", source, "-o", output], check=True)  # fmt: skip
    return {key[1:]: code for key, code in machine_code(output).items()}


def machine_code(path):
    """Returns {(mangled name of the body, threads of a row, elements of a pack, packs of a thread): (registers,
    instructions)}."""
    usage = dict(re.findall(r"Function (\S+):\s+REG:(\d+)", cuobjdump(path, "--dump-resource-usage", "-arch", "sm_90")))
    rows = {}
    for function in cuobjdump(path, "-sass", "-arch", "sm_90").split("Function : ")[1:]:
        name = function.split()[0]
        threads, width, packs = map(int, re.search(r"rows_kernelILi(\d+)ELi(\d+)ELi(\d+)E", name).groups())
        code = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)", function, re.MULTILINE)
        rows[name, threads, width, packs] = int(usage[name]), code
    return rows


@pytest.mark.all
def test_a_row_is_loaded_once_by_16_bytes_and_stays_in_registers(kernels):
    assert {(t, p) for t, _, p in kernels} == {(32, 2), (32, 4), (256, 4), (1024, 4), (1024, 0)}
    assert len(kernels) == 10  # 5 kernels each for float and bfloat16
    for (threads, width, packs), (registers, code) in kernels.items():
        wide = [i for i in code if i.startswith(("LDG", "STG")) and i.endswith("128")]
        stores = sum(i.startswith("STG") for i in wide)
        assert stores == max(packs, 1), (threads, width, packs)
        # A thread loads each pack of the row and of the weight. For long rows (0 packs) the loads are not counted,
        # because the compiler chooses how often their loops are unrolled.
        assert packs == 0 or len(wide) - stores == 2 * packs, (threads, width, packs)
        assert sum(i.startswith("BAR") for i in code) == (0 if threads == 32 else 2)
        assert not [i for i in code if i.startswith(("LDL", "STL"))], "registers are spilled"
        assert registers <= (64 if threads == 1024 else 96), (threads, width, packs, registers)


# {body: (loads, stores) of 16 bytes in the kernel's code for each pack of the row}. Stores in all branches are counted,
# for example with and without a weight.
ACCESSES = {"RmsNorm": (2, 2), "RmsNormFp8": (2, 0), "FusedAddRmsNorm": (3, 3), "LayerNorm": (4, 3),
            "Softmax": (1, 1), "GeluAndMul": (2, 1)}  # fmt: skip
INSTANCE = "template __global__ void rows_kernel<1024, 8, 4, kernels::{0}>(int64_t, int64_t, kernels::{0});"
SPILLS = """
#include "kernkit/cuda/rows.cuh"
#include "layer_norm/layer_norm.h"
#include "rms_norm_fp8/rms_norm_fp8.h"
namespace kernkit::cuda::detail {
%s
}
"""


@pytest.mark.all
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_rows_of_1024_threads_fit_into_64_registers(arch, root, dlpack_include, tmp_path):
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    bodies = [f"{op}<{dtype}>" for op in ("LayerNorm", "RmsNormFp8") for dtype in ("float16", "bfloat16")]
    source = tmp_path / "spills.cu"
    source.write_text(SPILLS % "\n".join(INSTANCE.format(body) for body in bodies))
    command = ["nvcc", "-std=c++17", "-O3", f"-arch={arch}", "--expt-relaxed-constexpr", "-DKERNKIT_WITH_CUDA",
               "-DKERNKIT_COMPILED", "-I", root / "sdk/include", "-I", root / "kernels", "-isystem", dlpack_include,
               "-Xptxas=-v", "-cubin", "-o", tmp_path / "spills.cubin", source]  # fmt: skip
    errors = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    assert re.findall(r"(\d+) bytes spill stores", errors) == ["0"] * len(bodies), errors


@pytest.mark.slow  # nvcc compiles the library for minutes
def test_kernels_of_rows_load_each_input_once_by_16_bytes(root):
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    build = root / "build/release"
    subprocess.run(["cmake", "--build", build, "--target", "kernkit_row_kernels"], check=True)
    check_kernels(machine_code(build / "lib/libkernkit_row_kernels.so"))


def check_kernels(kernels):
    assert len(kernels) == 5 * (4 * 4 + 2 * 3)  # 5 lengths of rows; 4 ops with four dtypes, 2 ops with three
    for (name, threads, width, packs), (registers, code) in kernels.items():
        body = re.search(r"7kernels\d+([A-Za-z0-9]+?)I", name)[1]
        reads, writes = ACCESSES[body]
        wide = [i for i in code if i.startswith(("LDG", "STG")) and i.endswith("128")]
        stores = sum(i.startswith("STG") for i in wide)
        if packs:  # 0 packs: the row is too long for registers
            assert (len(wide) - stores, stores) == (reads * packs, writes * packs), (name, wide)
        assert not [i for i in code if i.startswith(("LDL", "STL"))], name
        assert registers <= (64 if threads == 1024 else 96), (name, registers)
