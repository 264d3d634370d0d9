# SPDX-License-Identifier: Apache-2.0
"""Programs of `nvcc program.cu`, which links the CUDA runtime statically and keeps code for nvcc's default
architecture, run under `kernkit run`. Each program verifies its result."""

import os
import pathlib
import subprocess
import sys

import pytest
from cuda_tools import include_of, tool

HERE = pathlib.Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "sdk/simulator/tests/programs"
PROGRAMS = {path.stem: path for path in sorted([*SHARED.glob("*.cu"), *(HERE / "plain_programs").glob("*.cu")])}
# Options of nvcc, and options of `kernkit run`, for programs that need some.
OPTIONS = {"driver_api": ["-lcuda"], "runtime_compilation": ["-lcuda", "-lnvrtc"], "cluster_histogram": ["-gencode", "arch=compute_90,code=compute_90"], "hopper_gemm": ["-std=c++17", "-gencode", "arch=compute_90a,code=compute_90a"]}
RUN_OPTIONS = {"cluster_histogram": ["--capability", "90"], "hopper_gemm": ["--capability", "90"]}
# Programs that are also compiled without machine code.
OF_PTX_ALONE = ("asynchronous_barrier", "block_sort", "bitonic_sort", "cooperative_reduction", "hash_table", "histogram", "jacobi",
                "matrix_multiply", "nbody", "pipeline", "scan", "tensor_core_product", "transpose")  # fmt: skip


def test_there_are_as_many_programs_as_documented():
    assert len(PROGRAMS) >= 25 and len(OF_PTX_ALONE) >= 10 and set(OF_PTX_ALONE) <= set(PROGRAMS)


def run(root, program):
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
    return subprocess.run([sys.executable, "-B", "-m", "kernkit", "run", "--runtime", runtime, *RUN_OPTIONS.get(program.name, []), program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(root / "sdk/python")})  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name, options", [*((name, []) for name in PROGRAMS), *((name, ["-arch=compute_80"]) for name in OF_PTX_ALONE)],
                         ids=lambda value: value if isinstance(value, str) else " ".join(value) or "default")  # fmt: skip
def test_a_program_is_right(root, tmp_path, name, options):
    if tool("nvcc") is None:
        pytest.skip("nvcc is not installed")
    if "-lnvrtc" in OPTIONS.get(name, []) and include_of("nvrtc.h") is None:
        pytest.skip("NVRTC is not installed")
    program = tmp_path / name
    subprocess.run([tool("nvcc"), PROGRAMS[name], "-I", SHARED, "-o", program, *options, *OPTIONS.get(name, [])], check=True)
    result = run(root, program)
    assert result.returncode == 0 and result.stdout.endswith(f"{name}: passed\n"), result.stdout + result.stderr
