# SPDX-License-Identifier: Apache-2.0
"""Every function of CUDA's half and bfloat16 headers that takes numbers, compiled by nvcc and run from its PTX: the machine
knows each instruction. The values of instructions are tested in sdk/simulator/tests/ptx.

Source of the names: the toolkit's headers, so that a new function turns a test red.
"""

import os
import re
import subprocess
import sys

import pytest
from cuda_tools import include_of, tool

HEADERS = ("cuda_fp16.hpp", "cuda_bf16.hpp")
FUNCTION = re.compile(r"__CUDA_(?:HOSTDEVICE_)?(?:FP16|BF16)_DECL__\s+([\w ]+?)\s+(\w+)\(([^)]*)\)\s*(?:noexcept\s*)?\{")
ARGUMENT = re.compile(r"(?:const )?([\w ]+?)(?: const)? (\w+)")
# An argument of each type, of the number x.
MADE = {"__half2": "__half2half2(x)", "__nv_bfloat16": "__float2bfloat16(__half2float(x))",
        "__nv_bfloat162": "__float2bfloat162_rn(__half2float(x))", "float2": "make_float2(__half2float(x), 1)"}  # fmt: skip
KERNEL = "__global__ void k{n}({type}* y) {{\n  const __half x = __ushort_as_half(0x3800 + threadIdx.x);\n  y[0] = {call};\n}}\n"
LAUNCH = '  k{n}<<<1, 1>>>(reinterpret_cast<{type}*>(y));\n  if (cudaGetLastError() != cudaSuccess) std::puts("{call}");\n'


def calls():
    """{call: the type of its result}."""
    found = {}
    for header in HEADERS:
        for result, name, arguments in FUNCTION.findall((include_of(header) / header).read_text()):
            types = [ARGUMENT.fullmatch(" ".join(one.split())) for one in arguments.split(",")]
            is_inner = name.startswith(("__internal", "operator", "__shfl")) or result in ("void", "__CUDA_ALIGN__")
            if is_inner or None in types or any("_raw" in one[1] for one in types) or "_raw" in result:
                continue
            made = (MADE.get(one[1], f"({one[1]})x") for one in types)
            found[f"{name}({', '.join(made)})"] = result
    return found


@pytest.mark.all
@pytest.mark.parametrize("architecture", [80, 90])  # with other instructions
def test_every_function_runs(root, tmp_path, architecture):
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
    if tool("nvcc") is None or not runtime.exists():
        pytest.skip("no nvcc")
    functions = [{"n": n, "call": call, "type": type} for n, (call, type) in enumerate(calls().items())]
    assert len(functions) > 380
    text = "#include <cstdio>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n" + "".join(KERNEL.format(**one) for one in functions)
    text += "int main() {\n  void* y;\n  cudaMalloc(&y, 64);\n" + "".join(LAUNCH.format(**one) for one in functions)
    (tmp_path / "all.cu").write_text(text + "  return cudaDeviceSynchronize();\n}\n")
    program = tmp_path / "all"
    subprocess.run([tool("nvcc"), f"-arch=compute_{architecture}", "-cudart", "shared", "-w", "-o", program, tmp_path / "all.cu"], check=True)
    done = subprocess.run([sys.executable, "-B", "-m", "kernkit", "run", "--runtime", runtime, program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(root / "sdk/python")})  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
