# SPDX-License-Identifier: Apache-2.0
"""The examples of the documentation compile against their headers, and behave as the pages describe."""

import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tvm_ffi
from cuda_tools import include_of

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@pytest.mark.parametrize(
    "example, headers",
    [
        (
            "nvshmem_allocator.cc",
            {"nvshmem_host.h": "nvidia-nvshmem-cu13", "cuda_runtime_api.h": "nvidia-cuda-runtime"},
        ),
        ("moving/half.cc", {"cuda_fp16.h": "nvidia-cuda-runtime"}),
    ],
)
def test_compiles_with_cuda_headers(root, dlpack_include, example, headers):
    folders = {include_of(header): wheel for header, wheel in headers.items()}
    if None in folders:
        pytest.skip(f"the headers of {folders[None]} are not installed")
    command = ["c++", "-std=c++17", *WARNINGS, "-fsyntax-only", "-I", root / "sdk/include"]
    for folder in (*folders, dlpack_include):
        command += ["-isystem", folder]
    subprocess.run([*command, root / "docs/examples" / example], check=True)


@pytest.fixture
def build(root, dlpack_include, tmp_path):
    """Compiles docs/examples/<name>.cc into a library, with the SDK's headers and the options."""

    def compile_and_link(name, *options):
        library = tmp_path / f"lib{pathlib.Path(name).name}.so"
        command = ["c++", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", *WARNINGS]
        command += ["-I", root / "sdk/include", "-isystem", dlpack_include]
        command += [root / f"docs/examples/{name}.cc", "-o", library, "-pthread", *options]
        subprocess.run(command, check=True)
        return library

    return compile_and_link


def rejected(call, *args):
    with pytest.raises(Exception) as caught:
        call(*args)
    return f"{type(caught.value).__name__}: {caught.value}"


X = np.random.default_rng(0).standard_normal((4, 8))
WEIGHT = np.linspace(0.5, 1.5, 8)
# {error of the moved op: arguments of an invalid call in moving-a-kernel-here.md}
WRONG = {
    "ValueError: rms_norm(): weight: shape [3] does not match [d] with d = 8 (bound by x)": (
        X, np.ones(3),
    ),
    "TypeError: rms_norm(): weight: dtype float32 does not match x (float64)": (
        X, np.ones(8, "float32"),
    ),
    "ValueError: rms_norm(): x: shape [8] does not match [n, d]": (X[0], WEIGHT),
    "ValueError: rms_norm(): x: must be contiguous; shape [8, 4] has strides [1, 8]": (X.T, None),
    "TypeError: rms_norm(): x: dtype int32 is not supported; expected float32 or float64": (
        X.astype("int32"), None,
    ),
}  # fmt: skip


@pytest.mark.all
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_moved_from_tvm_ffi(root, build, dtype):
    page = (root / "docs/moving-a-kernel-here.md").read_text()
    is_of_page = tvm_ffi.__version__.startswith("0.1.15")  # the page quotes errors of this version
    host = pathlib.Path(tvm_ffi.__file__).parent / "lib/libtvm_ffi.so"
    before = tvm_ffi.load_module(str(build("moving/tvm_ffi_before", host)))
    after = tvm_ffi.load_module(str(build("moving/tvm_ffi_after")))
    x = X.astype(dtype)
    for weight in (WEIGHT.astype(dtype), None):
        old, new = np.zeros_like(x), np.zeros_like(x)
        before.rms_norm(old, x, weight, 1e-6)
        after.rms_norm(new, x, weight, 1e-6)
        np.testing.assert_array_equal(new, old)
        mean = np.sqrt((x**2).mean(1, keepdims=True) + 1e-6)
        np.testing.assert_allclose(new, x / mean * (1 if weight is None else weight), rtol=1e-5)
    for text, args in WRONG.items():
        out = np.zeros_like(args[0])
        assert rejected(after.rms_norm, out, *args, 1e-6) == text
        message = rejected(before.rms_norm, out, *args, 1e-6)
        assert (f"| `{message}` | `{text}` |" in page) == (f"`{text}` |" in page) or not is_of_page
    memory = np.ones((5, 8))
    before.rms_norm(memory[1:], memory[:4], None, 1e-6)  # not detected
    assert rejected(after.rms_norm, memory[1:], memory[:4], None, 1e-6).startswith(
        "ValueError: rms_norm(): out: partially overlaps x in memory (float64 [4, 8] at 0x"
    )


def test_moved_from_torch_with_numpy(build):
    """The op that was moved from torch works with NumPy arrays, without torch."""
    after = tvm_ffi.load_module(str(build("moving/torch_after")))
    y = np.from_dlpack(after.rms_norm(X))
    np.testing.assert_allclose(y, X / np.sqrt((X**2).mean(1, keepdims=True) + 1e-6))
    for text, args in WRONG.items():
        assert rejected(after.rms_norm, *args) == text


@pytest.mark.all
def test_moved_from_torch(build):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    import torch
    from torch.utils.cpp_extension import include_paths

    options = ["-std=c++20", f"-L{pathlib.Path(torch.__file__).parent / 'lib'}", "-ltorch_cpu", "-lc10"]
    for folder in include_paths():
        options += ["-isystem", folder]
    torch.ops.load_library(str(build("moving/torch_before", *options)))
    before = torch.ops.moving
    after = tvm_ffi.load_module(str(build("moving/torch_after")))
    for dtype in (torch.float32, torch.float64):
        x, weight = torch.from_numpy(X).to(dtype), torch.from_numpy(WEIGHT).to(dtype)
        for args in ((x, weight), (x, None), (x,), (x, weight, 1.0)):
            y = after.rms_norm(*args)
            assert isinstance(y, torch.Tensor)
            assert torch.equal(y, before.rms_norm(*args))
    for text, args in WRONG.items():
        tensors = [None if a is None else torch.as_tensor(a) for a in args]
        assert rejected(after.rms_norm, *tensors) == text
        rejected(before.rms_norm, *tensors)
    # The page moving-a-kernel-here.md warns that the moved op has no gradient.
    assert after.rms_norm(x.requires_grad_()).grad_fn is None


def test_errors(build):
    module = tvm_ffi.load_module(str(build("errors")))
    reduce = module.reduce
    x = np.arange(4, dtype="float32")
    assert reduce(x, 3) == 3 and reduce(x, 4, "mean") == 1.5
    assert rejected(reduce, x, 5) == "ValueError: reduce(): window: must be in [1, 4], got 5"
    assert rejected(reduce, x, 0) == "ValueError: reduce(): window: must be in [1, 4], got 0"
    text = 'ValueError: reduce(): mode: expected sum or mean, got "max"'
    assert rejected(reduce, x, 3, "max") == text
    # tvm_ffi has no Python exceptions of these kinds.
    assert rejected(module.bug) == "RuntimeError: bug(): internal check failed: 3 == 4 (3 vs 4)"
    assert rejected(module.unfinished) == "RuntimeError: unfinished(): not yet"
    tvm_ffi.error.register_error("NotImplementedError", NotImplementedError)
    assert rejected(module.unfinished) == "NotImplementedError: unfinished(): not yet"


def test_kept_callback_ends_well(build):
    library = build("keep_callback", "-Wl,-z,nodelete")
    script = f"import tvm_ffi; tvm_ffi.load_module('{library}').on_finish(lambda: None)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.all
def test_threads_and_streams(root, build):
    library = build("threads")
    script = root / "docs/examples/streams.py"
    result = subprocess.run([sys.executable, script, library], capture_output=True, text=True)
    printed = re.findall(r"print\(.*\)  # (.*)", script.read_text())
    assert (result.stdout.splitlines(), result.stderr) == (printed, "")
    text = "ValueError: fails(): set_current_stream: device cuda:-1 has a negative id"
    assert rejected(tvm_ffi.load_module(str(library)).fails) == text


@pytest.mark.parametrize("example", ["gallery/reduction/row_sum.cu", "examples/on_cpu/shift/shift.cu"])
def test_compiles_with_nvcc(root, dlpack_include, tmp_path, example):
    if not shutil.which("nvcc"):
        pytest.skip("no CUDA compiler")
    command = ["nvcc", "-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-Xcompiler=-Wall,-Wextra"]
    command += ["-DKERNKIT_WITH_CUDA", "-DKERNKIT_COMPILED"]
    command += ["-I", root / "sdk/include", "-I", root / "docs/examples/on_cpu"]
    command += ["-isystem", dlpack_include, "-c", "-o", tmp_path / "o"]
    subprocess.run([*command, root / "docs" / example], check=True)
