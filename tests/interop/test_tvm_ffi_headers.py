# SPDX-License-Identifier: Apache-2.0
"""Tests kernkit's headers under tvm-ffi's names: which headers exist, messages of compilers and linkers, and libraries
that mix these headers with tvm-ffi's own headers."""

import json
import re
import shutil
import statistics
import subprocess

import compiled
import numpy as np
import pytest
import tvm_ffi
from compiled import COMPILE, PACKAGE, TVM_FFI_FLAGS

COMPAT = compiled.ROOT / "sdk/tvm_ffi_compat"
X = np.arange(6, dtype="float32")
SMALL = """
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
namespace ffi = tvm::ffi;
void helper(ffi::TensorView x, bool a, bool b) {
  int which = 0;
  if (a)
    TVM_FFI_CHECK(b, ValueError) << "b";
  else
    which = 1;
  TVM_FFI_ICHECK_EQ(which, a ? 0 : 1) << x.ndim();
}
"""
TEMPLATES = """
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
template <class T>
__global__ void twiceof(T* x) { *x *= T(2); }
template <class T>
void launch(tvm::ffi::TensorView x) { twiceof<<<1, 1>>>(static_cast<T*>(x.data_ptr())); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(of_float, launch<float>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(of_float, "Doubles one number.");
TVM_FFI_DLL_EXPORT_TYPED_FUNC(of_double, [](tvm::ffi::TensorView x) { launch<double>(x); });
"""
EXPORT = "TVM_FFI_DLL_EXPORT_TYPED_FUNC(NAME, helper);\n"


@pytest.fixture(scope="module")
def objects(kernkit_flags, tmp_path_factory):
    """Returns {owner: object file}: "ours" is an op compiled with kernkit's headers, "theirs" another op compiled with
    tvm-ffi's headers."""
    folder = tmp_path_factory.mktemp("objects")
    result = {}
    for owner, flags in (("ours", kernkit_flags), ("theirs", TVM_FFI_FLAGS)):
        source = folder / f"{owner}.cc"
        text = SMALL.replace("helper", f"helper_{owner}") + EXPORT.replace("helper", f"helper_{owner}")
        source.write_text(text.replace("NAME", owner))
        result[owner] = folder / f"{owner}.o"
        subprocess.run([*COMPILE, *flags, "-c", source, "-o", result[owner]], check=True)
    return result


@pytest.mark.parametrize("order", [("ours", "theirs"), ("theirs", "ours")])
@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
def test_both_in_one_library_do_not_link(objects, order, linker, tmp_path):
    command = ["c++", f"-fuse-ld={linker}", "-shared", "-o", tmp_path / "library.so"]
    alone = subprocess.run([*command, objects["ours"]], capture_output=True, text=True)
    if "cannot find" in alone.stderr or "invalid linker" in alone.stderr:
        pytest.skip(f"the linker {linker} is not installed")
    assert alone.returncode == 0, alone.stderr
    both = subprocess.run([*command, *(objects[owner] for owner in order)], capture_output=True, text=True)
    assert both.returncode != 0
    assert "TVMFFIBacktrace" in both.stderr and "ours.o" in both.stderr
    if linker == "bfd":
        assert "mixes_tvm_ffi_compat_with_headers_of_tvm_ffi" in both.stderr


def test_beside_a_linked_runtime(objects, tmp_path):
    """A library that is still linked with libtvm_ffi works, and refers to no symbol of libtvm_ffi."""
    library = tmp_path / "library.so"
    host = PACKAGE / "lib/libtvm_ffi.so"
    subprocess.run(["c++", "-shared", objects["ours"], "-Wl,--no-as-needed", host, "-o", library], check=True)
    symbols = subprocess.run(["nm", "-D", library], check=True, capture_output=True, text=True).stdout
    assert "TVMFFI" not in symbols
    # With kernkit's macros, an else after a check belongs to the preceding if; with tvm-ffi's macros, the else
    # belongs to the check.
    tvm_ffi.load_module(str(library)).ours(X, False, False)


def test_an_else_after_a_check_belongs_to_the_if_before(objects, tmp_path):
    reference = tmp_path / "theirs.so"
    subprocess.run(["c++", "-shared", objects["theirs"], PACKAGE / "lib/libtvm_ffi.so", "-o", reference], check=True)
    with pytest.raises(RuntimeError):
        tvm_ffi.load_module(str(reference)).theirs(X, False, False)


def test_the_device_code_of_an_export_has_the_kernels_of_its_template(compat_includes, tmp_path):
    """nvcc's PTX of a file contains the instances of a kernel template that an exported function uses, but not the
    exported function itself."""
    if not shutil.which("nvcc"):
        pytest.skip("no CUDA compiler")
    source = tmp_path / "templates.cu"
    source.write_text(TEMPLATES)
    command = ["nvcc", "-std=c++17", "-ptx", "-arch=sm_80", *compat_includes, source, "-o", tmp_path / "ptx"]
    subprocess.run(command, check=True)
    ptx = (tmp_path / "ptx").read_text()
    assert sorted(re.findall(r"\.entry _Z7twiceofI([a-z])EvPT_", ptx)) == ["d", "f"]
    assert "__tvm_ffi_" not in ptx


HEADERS = sorted(path.relative_to(COMPAT).as_posix() for path in COMPAT.rglob("*.h"))
REJECTION = r'/\* clang-format off \*/ /\* SPDX-License-Identifier: Apache-2.0 \*/ #error "(.*)"\n'
REJECTED = {
    header: match[1]
    for header in HEADERS
    if (match := re.fullmatch(REJECTION, (COMPAT / header).read_text()))
}
SERVED = [header for header in HEADERS if header not in REJECTED]


def test_every_header_of_tvm_ffi_is_supported_or_rejected():
    folder = PACKAGE / "include"
    headers_of_tvm_ffi = {path.relative_to(folder).as_posix() for path in (folder / "tvm").rglob("*.h")}
    assert headers_of_tvm_ffi - set(HEADERS) == set()


@pytest.mark.all
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_headers_compile_alone(compiler, kernkit_flags):
    text = "\n".join(f"#include <{header}>" for header in SERVED)
    command = [compiler, *COMPILE[1:], *kernkit_flags, "-isystem", compiled.ROOT / "sdk/simulator/shim", "-fsyntax-only", "-x", "c++", "-"]
    for first in SERVED:  # every header can be the first include
        result = subprocess.run(command, input=f"#include <{first}>\n", capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
    assert subprocess.run(command, input=text, text=True).returncode == 0


def test_rejected_headers_name_an_alternative(kernkit_flags):
    text = "\n".join(f"#include <{header}>" for header in REJECTED)
    command = [*COMPILE, *kernkit_flags, "-fsyntax-only", "-x", "c++", "-"]
    errors = subprocess.run(command, input=text, capture_output=True, text=True).stderr
    for sentence in REJECTED.values():
        assert f"#error \"{sentence}\"" in errors
        assert re.fullmatch(r"kernkit: tvm_ffi_compat does not support [^:]+: .+", sentence)


def test_the_page_lists_supported_and_unsupported_headers():
    page = (compiled.ROOT / "docs/bring-your-tvm-ffi-library.md").read_text()
    served, unsupported = page.split("replaces each unsupported header of tvm-ffi by a single", 1)
    assert set(re.findall(r"`(tvm/ffi/[\w/]+\.h)`", served)) == set(SERVED) - {"tvm/ffi/extra/kernkit_compat.h"}
    table = unsupported.split("## Test it", 1)[0]
    named = {"tvm/ffi/" + name.removeprefix("tvm/ffi/") for name in re.findall(r"`([\w/]+\.h)`", table)}
    assert named - set(REJECTED) == {"tvm/ffi/kernkit/abi/abi.h"}
    code = "".join((COMPAT / header).read_text() for header in SERVED)
    for row in re.findall(r"^\| `tvm/ffi/.*\|$", served, re.MULTILINE):
        for name in re.findall(r"`(\w+)…?`", row.split("|")[2]):
            assert name in code, name


def test_calls_of_the_kept_run_match_the_page():
    """The ratios in docs/bring-your-tvm-ffi-library.md come from the recorded run, which compiled one source with
    kernkit's and with tvm-ffi's headers by the same compiler."""
    rows = json.loads((compiled.ROOT / "bench/results/tvm_ffi_compat/run.json").read_text())["rows"]
    median = {row["name"].removesuffix("/real_time"): statistics.median(row["samples"]) for row in rows}
    page = (compiled.ROOT / "docs/bring-your-tvm-ffi-library.md").read_text()
    for call in ("call", "call with 8 tensors", "failing call"):
        how = [f"{call}, code for tvm-ffi/{compiler}" for compiler in ("g++", "clang++")]
        ratios = [median[f"{row}/kernkit"] / median[f"{row}/tvm-ffi"] for row in how]
        assert f"| {call} | {ratios[0]:.2f} | {ratios[1]:.2f} |" in page
        if call != "call with 8 tensors":
            assert ratios[0] <= 0.35 and ratios[1] <= 0.65
