# SPDX-License-Identifier: Apache-2.0
"""Runs the kernel tests of each client (a package that launches kernels: Triton, Numba, cuda.core, CuPy or PyTorch) in
a separate pytest process under `kernkit run`. At least twenty tests of each client must pass."""

import shutil
import xml.etree.ElementTree as xml

import pytest

pytestmark = pytest.mark.all


def check_suite(run_client, results, options, client, *selection, **variables):
    """Runs the tests of CLIENT_kernels.py, and returns their number. Fails if a test fails or is skipped."""
    # Excludes the conftest.py files and the pytest settings of the repository, which are for other tests.
    settings = ["--noconftest", "-c", "/dev/null", "--rootdir", ".", "-p", "no:cacheprovider", "-p", "no:xdist"]
    result = run_client(["run", *options], client, "-m", "pytest", "-q", *settings, f"--junit-xml={results}", f"{client}_kernels.py",
                        *selection, **variables)  # fmt: skip
    assert results.exists(), f"{client}_kernels.py did not start: {result.stdout[-2000:]}{result.stderr[-2000:]}"
    cases = list(xml.parse(results).iter("testcase"))
    problems = [f"{case.get('name')}: {problem.get('message')}" for case in cases
                for problem in case if problem.tag in ("failure", "error", "skipped") and problem.get("type") != "pytest.xfail"]  # fmt: skip
    reports = "\n".join(line for line in (result.stdout + result.stderr).splitlines() if line.startswith("kernkit: "))
    assert not problems, f"{len(problems)} of {len(cases)} tests failed:\n" + "\n".join(problems) + "\n" + reports
    assert result.returncode == 0
    return len(cases)


@pytest.mark.parametrize("client", ["triton", "numba", "core", "cupy", "torch"])
def test_kernels_of_a_client(run_client, tmp_path, client):
    assert check_suite(run_client, tmp_path / "results.xml", [], client) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--seed", "3"], ["--seed", "9", "--devices", "2"]], ids=" ".join)
def test_torch_in_the_order_of_a_seed(run_client, tmp_path, options):
    assert check_suite(run_client, tmp_path / "results.xml", options, "torch") >= 20


@pytest.mark.slow
def test_torch_without_a_compiler(run_client, tmp_path):
    """With KERNKIT_ATEN=python, as without a C++ compiler, kernkit's implementation in Python runs the operators of
    PyTorch. This implementation does not support the features of the excluded tests."""
    lacking = "not (sparse or recurrent or random_numbers or offsets or dropout or convolutions)"
    assert check_suite(run_client, tmp_path / "results.xml", [], "torch", "-k", lacking, KERNKIT_ATEN="python") >= 20


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None or shutil.which("ninja") is None, reason="nvcc or ninja is not installed")
def test_torch_extension(run_client, tmp_path):
    result = run_client(["run", "--seed", "3"], "torch", "torch_extension.py", tmp_path)
    assert result.stdout.splitlines()[-1:] == ["right"], result.stdout + result.stderr


@pytest.mark.parametrize("options", [[], pytest.param(["--seed", "3"], marks=pytest.mark.slow)], ids=" ".join)
def test_torch_with_compute_capability_90(run_client, options):
    result = run_client(["run", "--capability", "90", *options], "torch", "torch_hopper.py")
    assert result.stdout.splitlines()[-1:] == ["right"], result.stdout + result.stderr


@pytest.mark.slow
def test_tools_with_compute_capability_90(run_client):
    result = run_client(["sanitize", "--capability", "90", "--error-exitcode", "7"], "torch", "torch_hopper.py")
    assert (result.returncode, result.stdout.splitlines()[-1:]) == (0, ["right"]), result.stdout + result.stderr


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize("options", [[], pytest.param(["--seed", "3"], marks=pytest.mark.slow)], ids=" ".join)
def test_products_by_cublas(run_client, tmp_path, options):
    """A library that is linked against cuBLAS, cuDNN and NCCL calls cuBLAS, and its matrix products are correct. An
    unsupported function of cuBLAS, cuDNN or NCCL prints a message with the name of the function."""
    result = run_client(["run", *options], "torch", "torch_products.py", tmp_path)
    assert result.stdout.splitlines()[-1:] == ["right"], result.stdout + result.stderr
    for name, status in (("cublasSgemv_v2", "CUBLAS_STATUS_NOT_SUPPORTED"), ("cudnnCreate", "CUDNN_STATUS_NOT_SUPPORTED"),
                         ("ncclGetUniqueId", "ncclInvalidUsage")):  # fmt: skip
        assert f"kernkit: {name}() is not supported: it returns {status}; use an operator of PyTorch" in result.stderr
    assert "kernkit: cublasLtMatmulAlgoGetHeuristic(): epilogue 2 is not supported" in result.stderr


@pytest.mark.slow
def test_products_are_accesses(run_client, tmp_path):
    """The default tools, including racecheck and initcheck, report nothing for matrix products of cuBLAS that start
    after their operands are computed."""
    result = run_client(["sanitize", "--error-exitcode", "7"], "torch", "torch_products.py", tmp_path)
    assert (result.returncode, result.stdout.splitlines()[-1:]) == (0, ["right"]), result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--seed", "3"]], ids=" ".join)
def test_torch_with_the_bounds_of_blocks(run_client, tmp_path, options):
    """The tests of PyTorch pass with KERNKIT_TORCH_BLOCKS=1, which limits accesses to the blocks of PyTorch's caching
    allocator."""
    assert check_suite(run_client, tmp_path / "results.xml", options, "torch", KERNKIT_TORCH_BLOCKS="1") >= 20
