# SPDX-License-Identifier: Apache-2.0
"""hopper_gemm, a program with tensor copies, mbarriers, wgmma and clusters, computes correct results with several
seeds, which change the times at which copies complete. The tools report no finding."""

import os
import pathlib
import subprocess
import sys

import pytest
from cuda_tools import tool

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "plain_programs/hopper_gemm.cu"
CASES = [["f16", "128", "1"], ["bf16", "64", "2"], ["e4m3", "32", "4"], ["f16", "0", "2"]]  # element type, swizzle [bytes], blocks of a cluster


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if tool("nvcc") is None:
        pytest.skip("nvcc is not installed")
    path = tmp_path_factory.mktemp("hopper") / "hopper_gemm"
    subprocess.run([tool("nvcc"), SOURCE, "-I", HERE.parents[1] / "sdk/simulator/tests/programs", "-std=c++17", "-lineinfo",
                    "-gencode", "arch=compute_90a,code=compute_90a", "-o", path], check=True)  # fmt: skip
    return path


def kernkit(root, command, *arguments):
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
    result = subprocess.run([sys.executable, "-B", "-m", "kernkit", command, "--runtime", runtime, "--capability", "90", *arguments],
                            capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(root / "sdk/python")})  # fmt: skip
    return result.returncode, result.stdout + result.stderr


@pytest.mark.all
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_case_is_right(root, program, case, seed):
    code, output = kernkit(root, "run", "--seed", str(seed), program, *case)
    assert code == 0 and output.endswith("hopper_gemm: passed\n"), output


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 21))
def test_all_cases_are_right(root, program, seed):
    code, output = kernkit(root, "run", "--seed", str(seed), program)
    assert code == 0 and output.endswith("hopper_gemm: passed\n"), output


@pytest.mark.all
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_the_tools_have_no_findings(root, program, case):
    code, output = kernkit(root, "sanitize", "--racecheck-detect-level", "warn", program, *case)
    assert code == 0 and "kernkit sanitize: 0 findings" in output, output


@pytest.mark.slow
def test_the_tools_have_no_findings_in_any_case(root, program):
    code, output = kernkit(root, "sanitize", "--racecheck-detect-level", "warn", "--seeds", "3", program)
    assert code == 0 and "kernkit sanitize: 0 findings" in output, output
