# SPDX-License-Identifier: Apache-2.0
"""`kernkit run FILE.cu`: nvcc compiles the file, and again after a change."""

import os
import shutil
import subprocess

import pytest
from cuda_tools import tool
from kernkit import cli
from kernkit.simulator import single_file

SOURCE = """
#include <cstdio>
#include "factor.h"
__global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n LIMIT) y[i] = FACTOR * x[i];
}
int main(int argc, char** argv) {
  float *x, *y;
  cudaMallocManaged(&x, 400);
  cudaMallocManaged(&y, 400);
  x[7] = 3;
  scale<<<1, 128>>>(100, x, y);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s %s %g\\n", argv[argc - 1], cudaGetErrorName(error), y[7]);
  return 4;
}
"""


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "factor.h").write_text("#define FACTOR 2\n")
    path = folder / "scale.cu"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def runtime(root, monkeypatch, tmp_path):
    path = root / "build/release/kernkit_cudart/libcudart.so.13"
    if not path.exists() or not tool("nvcc"):
        pytest.skip("nvcc or kernkit's runtime is missing")
    monkeypatch.setenv("KK_ROOT", str(tmp_path / "builds"))
    return path


def test_a_file_is_compiled_and_runs(root, source, runtime):
    environment = {**os.environ, "PYTHONPATH": str(root / "sdk/python")}
    command = [shutil.which("python3"), "-m", "kernkit", "run", "--runtime", runtime, "--nvcc-options=-DLIMIT=-1",
               source, "last"]
    for factor in (2, 5):
        source.with_name("factor.h").write_text(f"#define FACTOR {factor}\n")
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert (result.stdout, result.stderr, result.returncode) == (f"last cudaSuccess {3 * factor}\n", "", 4)


def test_an_error_of_a_kernel_has_the_line_of_the_file(source, runtime, capfd):
    arguments = ["sanitize", "--runtime", str(runtime), "--nvcc-options=-D 'LIMIT=+ 1'", str(source)]
    assert cli.main(arguments) == 4
    assert "Invalid __global__ read of size 4 bytes, 0 bytes after an allocation of 400 bytes (scale.cu:6)" in capfd.readouterr().err


def test_a_program_is_compiled_again_after_a_change_only(source, runtime, tmp_path):
    def compiled(options="-DLIMIT=", capability=None):
        path = single_file.compile_source(source, tmp_path / "kept", runtime, options, capability)
        return path, path.stat().st_mtime_ns

    first = compiled()
    assert compiled() == first and first[0].name == "scale"
    changed = [compiled("-DLIMIT= -O1")]
    changed.append(compiled())
    source.with_name("factor.h").write_text("#define FACTOR 22\n")
    changed.append(compiled())
    changed.append(compiled(capability="90"))
    assert len({first, *changed}) == 5 and {path for path, _ in changed} == {first[0]}
    (first[0].parent / "record.json").write_text("{")
    assert compiled(capability="90") != changed[-1]


def test_the_architecture_is_that_of_the_capability_or_of_the_options(source, monkeypatch):
    monkeypatch.setattr(single_file, "tool", lambda name: f"/bin/{name}")

    def architecture(options, capability=None):
        arguments = single_file.command_for(source, source, options, capability)
        return [argument for argument in arguments if argument.startswith(("-arch", "arch="))]

    assert architecture("") == ["-arch=compute_80"] and architecture("-O1", "90") == ["arch=compute_90a,code=compute_90a"]
    assert architecture("-arch=sm_90", "80") == ["-arch=sm_90"]
    assert architecture("-gencode arch=compute_75,code=compute_75") == ["arch=compute_75,code=compute_75"]


def test_nvccs_errors_are_printed(source, runtime, capfd):
    source.write_text("int main() { return nothing; }\n")
    assert cli.main(["run", "--runtime", str(runtime), str(source)]) == 3
    printed = capfd.readouterr()
    assert 'identifier "nothing" is undefined' in printed.out + printed.err
    assert f"kernkit: nvcc could not compile {source}; the command was " in printed.err


@pytest.mark.parametrize("arguments, message", [
    (["/nowhere/x.cu"], "file /nowhere/x.cu not found; correct the path"),
    (["--nvcc-options=-O1", "true"], "--nvcc-options: true is not a .cu file; the options apply to a .cu file, which nvcc "
     "compiles: leave out the options"),
])  # fmt: skip
def test_arguments_are_checked(arguments, message, capfd):
    assert cli.main(["run", *arguments]) == 3
    assert capfd.readouterr().err == f"kernkit: {message}\n"


def test_options_that_no_shell_accepts_are_rejected(source, runtime, capfd):
    assert cli.main(["run", "--runtime", str(runtime), "--nvcc-options='-O1", str(source)]) == 3
    assert capfd.readouterr().err.startswith("kernkit: --nvcc-options: expected options of nvcc as in a shell, found '-O1: ")
