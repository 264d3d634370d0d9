# SPDX-License-Identifier: Apache-2.0
"""Every C++ block of tvm-ffi's kernel library guide and of its page on tensors compiles unchanged against
kernkit's headers under tvm-ffi's names. The pages come from tvm-ffi's source distribution; none of them is
in this repository."""

import re
import shutil
import subprocess
import tarfile
import textwrap

import pytest
import tvm_ffi
from published import download

PAGES = ("docs/guides/kernel_library_guide.rst", "docs/concepts/tensor.rst")
BLOCK = re.compile(r"^( *)\.\. code-block:: (?:cpp|c\+\+)\n\n((?:\1 +.*\n|\s*\n)+)", re.MULTILINE)
INCLUDED = re.compile(r"^ *\.\. literalinclude:: (\S+\.(?:cu|cc|h))$", re.MULTILINE)

# Declarations that precede all blocks.
AROUND = """
#include <memory>
#include "tvm_ffi_utils.h"
template <class T> __global__ void ScaleKernel(T*, int64_t) {}
__global__ void Kernel(int, float*, float*, int) {}
extern int64_t n;
extern int blocks, threads;
extern cudaStream_t stream;
struct TensorObj;
namespace ffi = tvm::ffi;
using ffi::Optional, ffi::Tensor, ffi::TensorView;
"""
FUNCTION = "void block(TensorView output, TensorView input) {"
# Blocks that contain definitions or includes; other blocks are statements.
DEFINES = re.compile(r"^(void \w+\(|#include|using \w+ = )", re.MULTILINE)
# Code that a page omits by "...", and its replacement. (In a parameter list, `...` is C++.)
LEFT_OUT = {
    "static_cast<float*>(output.data_ptr()), ...": "static_cast<float*>(output.data_ptr()), n",
    "static_cast<half*>(output.data_ptr()), ...": "static_cast<half*>(output.data_ptr()), n",
    "{ ... }": "{ }",
    "Kernel<<<...>>>(..., input_data_ptr, output_data_ptr, ...)": "Kernel<<<1, 1>>>(0, input_data_ptr, output_data_ptr, 0)",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Returns the folder of tvm-ffi's source distribution of the installed version."""
    if not shutil.which("nvcc"):
        pytest.skip("no CUDA compiler")
    folder = tmp_path_factory.mktemp("tvm_ffi")
    expected = f"apache-tvm-ffi=={tvm_ffi.__version__}"
    with tarfile.open(download(folder, expected, "--no-binary", "apache-tvm-ffi")) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def compile_with(includes, file, output):
    # The option -include is needed because the guide's file uses `half` but neither the file nor tvm-ffi's headers
    # include cuda_fp16.h.
    command = ["nvcc", "-std=c++17", "-arch=sm_90", "-c", "-include", "cuda_fp16.h", "-I", file.parent, *includes, file, "-o", output]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_every_block_compiles(source, compat_includes, tmp_path):
    blocks = [
        textwrap.dedent(body) for page in PAGES for _, body in BLOCK.findall((source / page).read_text())
    ]  # fmt: skip
    assert len(blocks) == 16
    of_pytorch = [block for block in blocks if "at::Tensor" in block]
    assert len(of_pytorch) == 1  # the page shows this block as an alternative to the preceding block
    text = (source / "examples/kernel_library/tvm_ffi_utils.h").read_text()
    (tmp_path / "tvm_ffi_utils.h").write_text(text)

    code = AROUND
    for i, block in enumerate(block for block in blocks if block not in of_pytorch):
        for left_out, instead in LEFT_OUT.items():
            block = block.replace(left_out, instead)
        if not DEFINES.search(block):
            block = f"{FUNCTION}\n{block}}}"
        code += f"namespace block_{i} {{\n{block}}}\n"
    file = tmp_path / "blocks.cu"
    file.write_text(code)
    compile_with(compat_includes, file, tmp_path / "blocks.o")


@pytest.mark.slow
def test_the_example_that_the_guide_shows_compiles(source, compat_includes, tmp_path):
    shown = {(source / page).parent / name for page in PAGES for name in INCLUDED.findall((source / page).read_text())}
    shown = {path.resolve() for path in shown}
    assert {path.name for path in shown} == {"scale_kernel.cu", "tvm_ffi_utils.h"}
    (kernel,) = (path for path in shown if path.suffix == ".cu")
    assert '#include "tvm_ffi_utils.h"' in kernel.read_text()
    compile_with(compat_includes, kernel, tmp_path / "scale_kernel.o")
    symbols = subprocess.run(["nm", "-C", tmp_path / "scale_kernel.o"], capture_output=True, text=True, check=True).stdout
    assert " T __tvm_ffi_scale" in symbols
    assert not re.search(r" U TVMFFI", symbols), symbols
