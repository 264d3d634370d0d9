# SPDX-License-Identifier: Apache-2.0
"""The machine code of a kernel over rows: an RMS norm, as the page shows it. Nothing runs on a GPU."""

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
    """Of each kernel (threads of a row, packs of a thread): registers, and how often each instruction."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    test = (root / "tests/sdk/cuda/rows_test.cc").read_text()
    source = tmp_path_factory.mktemp("rows") / "rms_norm.cu"
    source.write_text(FILE % re.search(r"// \[rms_norm\]\n(.*?)// \[/rms_norm\]", test, re.DOTALL)[1])
    output = source.with_suffix(".o")
    subprocess.run(["nvcc", "-std=c++17", "-O3", "-arch=sm_90", "--expt-relaxed-constexpr", "-Werror",
                    "all-warnings", "-Xcompiler=-Wall,-Wextra", "-I", root / "sdk/include", "-isystem",
                    dlpack_include, "-c", source, "-o", output], check=True)  # fmt: skip
    usage = dict(re.findall(r"Function (\S+):\s+REG:(\d+)", cuobjdump(output, "--dump-resource-usage")))
    found = {}
    for function in cuobjdump(output, "-sass").split("Function : ")[1:]:
        name = function.split()[0]
        threads, width, packs = map(int, re.search(r"rows_kernelILi(\d+)ELi(\d+)ELi(\d+)E", name).groups())
        code = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)", function, re.MULTILINE)
        found[threads, width, packs] = int(usage[name]), code
    return found


@pytest.mark.all
def test_a_row_is_loaded_once_by_16_bytes_and_stays_in_registers(kernels):
    assert {(t, p) for t, _, p in kernels} == {(32, 2), (32, 4), (256, 4), (1024, 4), (1024, 0)}
    assert len(kernels) == 10  # each for float and bfloat16
    for (threads, width, packs), (registers, code) in kernels.items():
        wide = [i for i in code if i.startswith(("LDG", "STG")) and i.endswith("128")]
        stores = sum(i.startswith("STG") for i in wide)
        assert stores == max(packs, 1), (threads, width, packs)
        # The row and the weight; a long row twice and unrolled, which is the compiler's choice.
        assert packs == 0 or len(wide) - stores == 2 * packs, (threads, width, packs)
        assert sum(i.startswith("BAR") for i in code) == (0 if threads == 32 else 2)
        assert not [i for i in code if i.startswith(("LDL", "STL"))], "registers are spilled"
        assert registers <= (64 if threads == 1024 else 96), (threads, width, packs, registers)
