# SPDX-License-Identifier: Apache-2.0
"""Code written for tvm-ffi against kernkit's headers of its names: the same answers as against
tvm-ffi's own, both called by the real tvm_ffi. Where kernkit is right and tvm-ffi is not, the tests
say so one by one."""

import ctypes
import pathlib
import re
import shutil
import subprocess

import compiled
import numpy as np
import pytest
import tvm_ffi

COMPAT = compiled.ROOT / "sdk/tvm_ffi_compat"
PACKAGE = pathlib.Path(tvm_ffi.__file__).parent
# No order of evaluation is asked of the compiler, but time.
COMPILE = ["c++", "-std=c++17", "-fPIC", "-O0", "-fvisibility=hidden"]
THEIRS = ["-w", "-isystem", PACKAGE / "include"]


@pytest.fixture(scope="module")
def ours_flags(compat_includes):
    return ["-Wall", "-Wextra", "-Wpedantic", "-Werror", *compat_includes]


@pytest.fixture(scope="module")
def modules(ours_flags, tmp_path_factory):
    """The ops on kernkit's headers and on tvm-ffi's."""
    folder = tmp_path_factory.mktemp("tvm_ffi_compat")
    source = compiled.ROOT / "tests/interop/tvm_ffi/ops.cc"
    paths = folder / "libours.so", folder / "libtheirs.so"
    commands = [
        [*COMPILE, "-shared", *ours_flags, source, "-o", paths[0]],
        [*COMPILE, "-shared", *THEIRS, source, "-o", paths[1], PACKAGE / "lib/libtvm_ffi.so"],
    ]
    for process in [subprocess.Popen(command) for command in commands]:
        assert process.wait() == 0
    loaded = [tvm_ffi.load_module(str(path)) for path in paths]
    PATHS.extend(paths)
    return loaded


PATHS = []  # of the two libraries


@pytest.fixture(scope="module")
def ours(modules):
    return modules[0]


def plain(value):
    """A result that can be compared."""
    if isinstance(value, tvm_ffi.Tensor):
        return np.from_dlpack(value).tolist(), str(value.dtype)
    if isinstance(value, (tvm_ffi.Array, tvm_ffi.Shape, tuple, list)):
        return [plain(item) for item in value]
    return value


def answer(module, name, args):
    """What the function returns, or the kind of its error and the text."""
    try:
        return plain(getattr(module, name)(*args))
    except Exception as error:
        return type(error), error.args[0].rstrip()


X = np.arange(6, dtype="float32")
CUBE = np.ones((2, 3, 4))
CALLS = [
    ("attributes", CUBE), ("attributes", CUBE[:, ::2]), ("attributes", np.array(3.0)),
    ("attributes", np.ones((0, 3), "int8")),
    ("last_size", CUBE), ("size_at", CUBE, 1), ("size_at", CUBE, -3), ("stride_at", CUBE, 0), ("stride_at", CUBE, -1),
    ("shape_at", CUBE, 2), ("numel", CUBE),
    ("allocate", (2, 3), tvm_ffi.dtype("int32")), ("allocate_braces",),
    ("through_dlpack", tvm_ffi.from_dlpack(X)), ("through_old_dlpack", tvm_ffi.from_dlpack(X)), ("same", tvm_ffi.from_dlpack(X)),
    ("stream_of", 2, 0),
    ("sum_or", X, None), ("sum_or", None, 2.5), ("sum_or", None, None), ("sum_or", None, 2),
    ("half", 4), ("half", 3),
    ("reversed", [1, 2, 3]), ("reversed", []), ("reversed", (True, 2)), ("reversed", tvm_ffi.List([4, 5])),
    ("squares", 2), ("squares", 3), ("sum_of_lists", [[1, 2], [], [3]]), ("ranks", [CUBE, X]), ("twice", tvm_ffi.from_dlpack(X)),
    ("shared_until_set", [1, 2]), ("element", [5, 6], 1), ("three",), ("of_pair", (1, 0.5)),
    ("greet", "you"), ("greet", "you, whose name does not fit a small string"), ("length", "äb"),
    ("grown", (2, 3)), ("grown", tvm_ffi.Shape((2, 3))), ("grown", ()),
    ("opposite", True), ("opposite", 0), ("narrow", -5), ("add", 1, 2.5), ("add", True, 2),
    ("dtype_of_name", tvm_ffi.dtype("bfloat16")), ("dtype_of_name", "float8_e4m3fn"), ("device_of", X),
    ("nothing",),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_same_results(modules, call):
    ours, theirs = (answer(module, call[0], call[1:]) for module in modules)
    assert ours == theirs
    assert not (isinstance(ours, tuple) and isinstance(ours[0], type)), ours


def test_writes_through_strides(modules):
    for module in modules:
        y = np.zeros((6, 2), "float32")
        module.scale(y[:, 1], X, 2.0)
        np.testing.assert_array_equal(y, np.stack([0 * X, 2 * X], 1))


# Texts that the real headers' build says: ours has them behind the function's name.
HOW = [
    "check", "check alone", "icheck", "icheck eq", "icheck ne", "icheck lt", "icheck le", "icheck gt", "icheck ge",
    "check eq", "literal", "throw", "other kind", "log", "class", "std", "error", "not null",
]  # fmt: skip


@pytest.mark.parametrize("how", HOW)
def test_same_errors(modules, how):
    ours, theirs = (answer(module, "fail", (how,)) for module in modules)
    assert issubclass(theirs[0], Exception)
    assert ours == (theirs[0], "fail(): " + theirs[1])
    if how != "std":  # which is no ffi::Error
        ours, theirs = ([text.rstrip() for text in module.caught(how).split("|")] for module in modules)
        assert ours == theirs


def test_what_messages_say_of_pointers_and_enumerators(ours):
    assert answer(ours, "fail", ("null",))[1] == "fail(): Check failed: null != nullptr ((nil) vs. nullptr) : null"
    assert answer(ours, "fail", ("enum",))[1] == "fail(): Check failed: kBroken == kFine (3 vs. 0) : 3"


def test_logs_before_it_throws(ours, capfd):
    answer(ours, "fail", ("log",))
    assert re.search(r"ops\.cc:\d+: ValueError: logged\n", capfd.readouterr().err)


def test_no_error_does_nothing(modules):
    assert [module.fail("") for module in modules] == [3, 3]
    assert [module.caught("") for module in modules] == ["nothing", "nothing"]


Y = np.zeros(6, "float32")
# Wrong calls, and what kernkit's headers say of them. The kind is that of tvm-ffi's own headers.
WRONG = {
    "last_size(): argument 1: expected Tensor, got int 1": ("last_size", 1),
    "last_size(): argument 1: expected Tensor, got None": ("last_size", None),
    "last_size(): takes 1 argument, got 2": ("last_size", CUBE, 1),
    "size_at(): argument 2: expected int, got float 1.5": ("size_at", CUBE, 1.5),
    "size_at(): Index 3 out of bounds for tensor with 3 dimensions": ("size_at", CUBE, 3),
    "stride_at(): Index -4 out of bounds for tensor with 3 dimensions": ("stride_at", CUBE, -4),
    "shape_at(): indexing 3 on a Shape of size 3": ("shape_at", CUBE, 3),
    "scale(): argument 3: expected float, got str \"2\"": ("scale", Y, X, "2"),
    "scale(): argument 1: expected Tensor, got str \"y\"": ("scale", "y", "x", 2.0),
    "scale(): takes 3 arguments, got 2": ("scale", Y, X),
    "scale(): Check failed: (x.ndim() == 1) is false: x must be 1D, got 3": ("scale", Y, CUBE, 2.0),
    "scale(): Check failed: x.size(0) == y.size(0) (6 vs. 5) : x and y differ": ("scale", Y[1:], X, 2.0),
    "scale(): Check failed: (x.dtype() == y.dtype()) is false: x is float32, y float64": ("scale", np.zeros(6), X, 2.0),
    "scale(): Unsupported float64": ("scale", np.zeros(6), np.zeros(6), 2.0),
    "sum_or(): argument 1: expected Tensor, got float 0.5": ("sum_or", 0.5, None),
    "sum_or(): argument 2: expected float, got str \"x\"": ("sum_or", None, "x"),
    "reversed(): argument 1[1]: expected int, got str \"x\"": ("reversed", [1, "x"]),
    "reversed(): argument 1: expected a list, got int 3": ("reversed", 3),
    "sum_of_lists(): argument 1[0][1]: expected int, got None": ("sum_of_lists", [[1, None]]),
    "ranks(): argument 1[1]: expected an owned Tensor, got int 1": ("ranks", [CUBE, 1]),
    "element(): Index 2 out of bounds 2": ("element", [5, 6], 2),
    "of_pair(): argument 1: expected a tuple of 2, got a list of 3": ("of_pair", (1, 2.0, 3)),
    "of_pair(): argument 1[0]: expected int, got float 0.5": ("of_pair", (0.5, 1)),
    "greet(): argument 1: expected str, got int 1": ("greet", 1),
    "grown(): argument 1[0]: expected int, got str \"a\"": ("grown", ["a"]),
    "opposite(): argument 1: expected bool, got float 1": ("opposite", 1.0),
    "dtype_of_name(): argument 1: expected a dtype, got int 1": ("dtype_of_name", 1),
    "nothing(): takes 0 arguments, got 1": ("nothing", 1),
    "stride_at(): argument 2: expected int, got str \"x\"": ("stride_at", CUBE, "x"),
    "add(): argument 1: expected float, got str \"1\"": ("add", "1", 2.0),
    "half(): argument 1: expected int, got None": ("half", None),
    "allocate(): argument 2: expected a dtype, got int 3": ("allocate", (2, 3), 3),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_wrong_calls(modules, text):
    ours, theirs = (answer(module, WRONG[text][0], WRONG[text][1:]) for module in modules)
    assert ours[1] == text
    assert ours[0] is theirs[0]


def test_twenty_wrong_calls_say_which_argument():
    assert sum("(): argument " in text for text in WRONG) >= 20


def test_an_error_of_an_accessor_can_be_caught(modules):
    assert {module.caught_index(CUBE) for module in modules} == {
        "IndexError|Index 9 out of bounds for tensor with 3 dimensions"
    }


def test_allocates_as_the_callers_framework(modules):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for module in modules:
        y = module.empty_like(torch.ones(2, 3, dtype=torch.float64))
        assert isinstance(y, torch.Tensor)
        assert (y.shape, y.dtype) == ((2, 3), torch.float64)


def test_streams(modules):
    for module in modules:
        with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda:1"), 0x1234):
            assert (module.stream_of(2, 1), module.stream_of(2, 0)) == (0x1234, 0)
        assert module.stream_of(2, 1) == 0


def test_metadata_has_the_types(ours):
    metadata = ours.get_function_metadata("sum_or")
    assert metadata["schema"] == "(Tensor? argument_1, float? argument_2) -> (float)"
    assert ours.get_function_metadata("half")["schema"] == "(int argument_1) -> (int?)"
    assert ours.get_function_metadata("twice")["schema"] == "(Tensor argument_1) -> (Tensor[])"
    assert ours.get_function_metadata("three")["schema"] == "() -> (int, float, str)"


# Faults of tvm-ffi that kernkit's headers do not share.


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint8 * 4), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("zero", ctypes.c_int32), ("value", ctypes.c_int64)]


def call_by_c(path, name, sizes, *ints):
    """A float32 tensor of these sizes, without strides or memory, and ints; gives an int, or None."""
    shape = (ctypes.c_int64 * len(sizes))(*sizes)
    tensor = DLTensor(None, (1, 0), len(sizes), (2, 32, 1, 0), shape, None, 64)
    values = [Any(7, 0, ctypes.addressof(tensor)), *(Any(1, 0, value) for value in ints)]
    result = Any()
    function = getattr(ctypes.CDLL(str(path)), "__tvm_ffi_" + name)
    code = function(None, (Any * len(values))(*values), len(values), ctypes.byref(result))
    return result.value if code == 0 else None


def test_a_stride_of_a_tensor_without_strides_is_computed(modules):
    """tvm-ffi reads through the null pointer."""
    strides = [call_by_c(PATHS[0], "stride_at", (2, 3), i) for i in (0, 1, -1)]
    assert strides == [3, 1, 1]


def test_data_ptr_is_without_the_byte_offset(modules):
    assert [call_by_c(path, "address", (2, 3)) for path in PATHS] == [0, 0]


def test_a_product_beyond_64_bits_is_an_error(modules):
    """tvm-ffi says 0."""
    assert [call_by_c(path, "numel", (2**40, 2**40)) for path in PATHS] == [None, 0]
    assert [call_by_c(path, "numel", (2**40, 0)) for path in PATHS] == [0, 0]


def test_a_number_that_does_not_fit_is_an_error(modules):
    """tvm-ffi cuts it off."""
    ours, theirs = (answer(module, "narrow", (2**32 + 5,)) for module in modules)
    assert theirs == 5
    assert ours == (ValueError, "narrow(): argument 1: int 4294967301 is out of range [-2147483648, 2147483647]")


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
def objects(ours_flags, tmp_path_factory):
    """An op compiled against kernkit's headers, and another against tvm-ffi's."""
    folder = tmp_path_factory.mktemp("objects")
    result = {}
    for whose, flags in (("ours", ours_flags), ("theirs", THEIRS)):
        source = folder / f"{whose}.cc"
        text = SMALL.replace("helper", f"helper_{whose}") + EXPORT.replace("helper", f"helper_{whose}")
        source.write_text(text.replace("NAME", whose))
        result[whose] = folder / f"{whose}.o"
        subprocess.run([*COMPILE, *flags, "-c", source, "-o", result[whose]], check=True)
    return result


@pytest.mark.parametrize("order", [("ours", "theirs"), ("theirs", "ours")])
@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
def test_both_in_one_library_do_not_link(objects, order, linker, tmp_path):
    command = ["c++", f"-fuse-ld={linker}", "-shared", "-o", tmp_path / "library.so"]
    alone = subprocess.run([*command, objects["ours"]], capture_output=True, text=True)
    if "cannot find" in alone.stderr or "invalid linker" in alone.stderr:
        pytest.skip(f"the linker {linker} is not installed")
    assert alone.returncode == 0, alone.stderr
    both = subprocess.run([*command, *(objects[whose] for whose in order)], capture_output=True, text=True)
    assert both.returncode != 0
    assert "TVMFFIBacktrace" in both.stderr and "ours.o" in both.stderr
    if linker == "bfd":
        assert "mixes_tvm_ffi_compat_with_headers_of_tvm_ffi" in both.stderr


def test_beside_a_linked_runtime(objects, tmp_path):
    """A library that still names libtvm_ffi links, loads, and needs nothing of it."""
    library = tmp_path / "library.so"
    host = PACKAGE / "lib/libtvm_ffi.so"
    subprocess.run(["c++", "-shared", objects["ours"], "-Wl,--no-as-needed", host, "-o", library], check=True)
    symbols = subprocess.run(["nm", "-D", library], check=True, capture_output=True, text=True).stdout
    assert "TVMFFI" not in symbols
    # An else belongs to the if before the check, unlike tvm-ffi's.
    tvm_ffi.load_module(str(library)).ours(X, False, False)


def test_two_such_libraries_and_one_of_tvm_ffis_headers_in_one_process(modules, objects, tmp_path):
    second = tmp_path / "second.so"
    subprocess.run(["c++", "-shared", objects["ours"], "-o", second], check=True)
    for path in (PATHS[0], second):
        dynamic = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
        symbols = subprocess.run(["nm", "-D", path], check=True, capture_output=True, text=True).stdout
        assert "tvm_ffi" not in dynamic
        assert "TVMFFI" not in symbols
    second, (ours, theirs) = tvm_ffi.load_module(str(second)), modules
    for _ in range(2):  # each after the errors of the others
        assert answer(second, "ours", (X, True, False)) == (ValueError, "ours(): Check failed: (b) is false: b")
        assert answer(ours, "fail", ("throw",)) == (RuntimeError, "fail(): thrown 1.5 c")
        assert answer(theirs, "fail", ("throw",)) == (RuntimeError, "thrown 1.5 c")
        y = ours.same(theirs.through_dlpack(ours.through_dlpack(tvm_ffi.from_dlpack(X))))
        second.ours(y, False, False)
        assert plain(theirs.same(y)) == plain(y) == (X.tolist(), "float32")


def test_the_device_code_of_an_export_has_the_kernels_of_its_template(compat_includes, tmp_path):
    """nvcc reads a file for the device without the calls of what it exports."""
    if not shutil.which("nvcc"):
        pytest.skip("no CUDA compiler")
    source = tmp_path / "templates.cu"
    source.write_text(TEMPLATES)
    command = ["nvcc", "-std=c++17", "-ptx", "-arch=sm_80", *compat_includes, source, "-o", tmp_path / "ptx"]
    subprocess.run(command, check=True)
    ptx = (tmp_path / "ptx").read_text()
    assert sorted(re.findall(r"\.entry _Z7twiceofI([a-z])EvPT_", ptx)) == ["d", "f"]
    assert "__tvm_ffi_" not in ptx


def test_an_else_behind_a_check_is_of_the_if_before(objects, tmp_path):
    theirs = tmp_path / "theirs.so"
    subprocess.run(["c++", "-shared", objects["theirs"], PACKAGE / "lib/libtvm_ffi.so", "-o", theirs], check=True)
    assert answer(tvm_ffi.load_module(str(theirs)), "theirs", (X, False, False))[0] is RuntimeError


HEADERS = sorted(path.relative_to(COMPAT).as_posix() for path in COMPAT.rglob("*.h"))
REFUSAL = r'/\* clang-format off \*/ /\* SPDX-License-Identifier: Apache-2.0 \*/ #error "(.*)"\n'
REFUSED = {
    header: match[1]
    for header in HEADERS
    if (match := re.fullmatch(REFUSAL, (COMPAT / header).read_text()))
}
SERVED = [header for header in HEADERS if header not in REFUSED]


def test_every_header_of_tvm_ffi_is_served_or_refused():
    folder = PACKAGE / "include"
    theirs = {path.relative_to(folder).as_posix() for path in (folder / "tvm").rglob("*.h")}
    assert theirs - set(HEADERS) == set()
    assert sum(len((COMPAT / header).read_text().splitlines()) for header in HEADERS) <= 600


@pytest.mark.all
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_headers_compile_alone(compiler, ours_flags):
    text = "\n".join(f"#include <{header}>" for header in SERVED)
    command = [compiler, *COMPILE[1:], *ours_flags, "-isystem", compiled.ROOT / "sdk/cuda_on_cpu/include", "-fsyntax-only", "-x", "c++", "-"]
    for first in SERVED:  # each the first of all
        done = subprocess.run(command, input=f"#include <{first}>\n", capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert subprocess.run(command, input=text, text=True).returncode == 0


def test_refused_headers_say_the_way_out(ours_flags):
    text = "\n".join(f"#include <{header}>" for header in REFUSED)
    command = [*COMPILE, *ours_flags, "-fsyntax-only", "-x", "c++", "-"]
    said = subprocess.run(command, input=text, capture_output=True, text=True).stderr
    for sentence in REFUSED.values():
        assert f"#error \"{sentence}\"" in said
        assert re.fullmatch(r"kernkit: tvm_ffi_compat does not serve [^:]+: .+", sentence)


def test_the_page_lists_what_is_served_and_what_is_not():
    page = (compiled.ROOT / "docs/bring-your-tvm-ffi-library.md").read_text()
    served, refused = page.split("Every other header of tvm-ffi is one", 1)
    assert set(re.findall(r"`(tvm/ffi/[\w/]+\.h)`", served)) == set(SERVED) - {"tvm/ffi/extra/kernkit_compat.h"}
    table = refused.split("## Test it", 1)[0]
    named = {"tvm/ffi/" + name.removeprefix("tvm/ffi/") for name in re.findall(r"`([\w/]+\.h)`", table)}
    assert named - set(REFUSED) == {"tvm/ffi/kernkit/abi/abi.h"}
    code = "".join((COMPAT / header).read_text() for header in SERVED)
    for row in re.findall(r"^\| `tvm/ffi/.*\|$", served, re.MULTILINE):
        for name in re.findall(r"`(\w+)…?`", row.split("|")[2]):
            assert name in code, name
