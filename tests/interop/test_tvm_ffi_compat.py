# SPDX-License-Identifier: Apache-2.0
"""Code written for tvm-ffi, compiled against kernkit's headers under tvm-ffi's names and against tvm-ffi's
own headers, gives the same results through tvm_ffi. Differences in which kernkit is correct have tests of
their own."""

import ctypes
import re
import shutil
import subprocess

import compiled
import numpy as np
import pytest
import tvm_ffi
from compiled import COMPILE, PACKAGE, TVM_FFI_FLAGS


@pytest.fixture(scope="module")
def modules(kernkit_flags, tmp_path_factory):
    """Returns the library built with kernkit's headers and the library built with tvm-ffi's headers."""
    folder = tmp_path_factory.mktemp("tvm_ffi_compat")
    source = compiled.ROOT / "tests/interop/tvm_ffi/ops.cc"
    paths = folder / "libours.so", folder / "libtheirs.so"
    commands = [
        [*COMPILE, "-shared", *kernkit_flags, source, *compiled.HOOK, "-o", paths[0]],
        [*COMPILE, "-shared", *TVM_FFI_FLAGS, source, "-o", paths[1], PACKAGE / "lib/libtvm_ffi.so"],
    ]
    for process in [subprocess.Popen(command) for command in commands]:
        assert process.wait() == 0
    loaded = [tvm_ffi.load_module(str(path)) for path in paths]
    PATHS.extend(paths)
    return loaded


PATHS = []  # paths of the library with kernkit's headers and of the library with tvm-ffi's headers


@pytest.fixture(scope="module")
def kernkit_module(modules):
    return modules[0]


def plain(value):
    """Converts a result to Python objects that can be compared with ==."""
    if isinstance(value, tvm_ffi.Tensor):
        return np.from_dlpack(value).tolist(), str(value.dtype)
    if isinstance(value, (tvm_ffi.Array, tvm_ffi.Shape, tuple, list)):
        return [plain(item) for item in value]
    return value


def answer(module, name, args):
    """Calls the function. Returns the result, or the type and the text of the error."""
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
    actual, reference = (answer(module, call[0], call[1:]) for module in modules)
    assert actual == reference
    assert not (isinstance(actual, tuple) and isinstance(actual[0], type)), actual


def test_writes_through_strides(modules):
    for module in modules:
        y = np.zeros((6, 2), "float32")
        module.scale(y[:, 1], X, 2.0)
        np.testing.assert_array_equal(y, np.stack([0 * X, 2 * X], 1))


# Values of `how`, each of which makes the op throw in another way. kernkit's message is the function's name followed by
# the message of the build with tvm-ffi's headers.
HOW = [
    "check", "check alone", "icheck", "icheck eq", "icheck ne", "icheck lt", "icheck le", "icheck gt", "icheck ge",
    "check eq", "literal", "throw", "other kind", "log", "class", "std", "error", "not null",
]  # fmt: skip


@pytest.mark.parametrize("how", HOW)
def test_same_errors(modules, how):
    actual, reference = (answer(module, "fail", (how,)) for module in modules)
    assert issubclass(reference[0], Exception)
    assert actual == (reference[0], "fail(): " + reference[1])
    if how != "std":  # "std" throws an exception that is not an ffi::Error
        actual, reference = ([text.rstrip() for text in module.caught(how).split("|")] for module in modules)
        assert actual == reference


def test_messages_with_pointers_and_enumerators(modules):
    actual, reference = (answer(module, "fail", ("null",))[1] for module in modules)
    assert actual == "fail(): Check failed: null != nullptr ((nil) vs. nullptr) : null"
    assert reference == "Check failed: null != nullptr (0 vs. nullptr) : null"
    actual, reference = (answer(module, "fail", ("enum",))[1] for module in modules)
    assert actual == "fail(): Check failed: kBroken == kFine (3 vs. 0) : 3" == "fail(): " + reference


def test_a_message_is_logged_before_the_throw(kernkit_module, capfd):
    answer(kernkit_module, "fail", ("log",))
    assert re.search(r"ops\.cc:\d+: ValueError: logged\n", capfd.readouterr().err)


def test_no_error_does_nothing(modules):
    assert [module.fail("") for module in modules] == [3, 3]
    assert [module.caught("") for module in modules] == ["nothing", "nothing"]


Y = np.zeros(6, "float32")
# Invalid calls, and the messages of kernkit's headers. The kind is the same with tvm-ffi's headers.
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
    actual, reference = (answer(module, WRONG[text][0], WRONG[text][1:]) for module in modules)
    assert actual[1] == text
    assert actual[0] is reference[0]


def test_twenty_invalid_calls_name_the_argument():
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


def test_metadata_has_the_types(kernkit_module):
    metadata = kernkit_module.get_function_metadata("sum_or")
    assert metadata["schema"] == "(Tensor? argument_1, float? argument_2) -> (float)"
    assert kernkit_module.get_function_metadata("half")["schema"] == "(int argument_1) -> (int?)"
    assert kernkit_module.get_function_metadata("twice")["schema"] == "(Tensor argument_1) -> (Tensor[])"
    assert kernkit_module.get_function_metadata("three")["schema"] == "() -> (int, float, str)"


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
    """Calls an exported function with a float32 tensor of these sizes, without strides and memory, and with ints.
    Returns the resulting int, or None after an error."""
    shape = (ctypes.c_int64 * len(sizes))(*sizes)
    tensor = DLTensor(None, (1, 0), len(sizes), (2, 32, 1, 0), shape, None, 64)
    values = [Any(7, 0, ctypes.addressof(tensor)), *(Any(1, 0, value) for value in ints)]
    result = Any()
    function = getattr(ctypes.CDLL(str(path)), "__tvm_ffi_" + name)
    code = function(None, (Any * len(values))(*values), len(values), ctypes.byref(result))
    return result.value if code == 0 else None


def test_a_stride_of_a_tensor_without_strides_is_computed(modules):
    """stride() of a tensor without strides returns the stride of a contiguous tensor; tvm-ffi reads through the
    null pointer."""
    strides = [call_by_c(PATHS[0], "stride_at", (2, 3), i) for i in (0, 1, -1)]
    assert strides == [3, 1, 1]


def test_data_ptr_is_without_the_byte_offset(modules):
    assert [call_by_c(path, "address", (2, 3)) for path in PATHS] == [0, 0]


def test_a_product_beyond_64_bits_is_an_error(modules):
    """If the product of the sizes exceeds 64 bits, numel() fails with kernkit's headers and returns 0 with tvm-ffi's
    headers."""
    assert [call_by_c(path, "numel", (2**40, 2**40)) for path in PATHS] == [None, 0]
    assert [call_by_c(path, "numel", (2**40, 0)) for path in PATHS] == [0, 0]


def test_a_number_that_does_not_fit_is_an_error(modules):
    """An int that does not fit into the parameter's type raises ValueError; tvm-ffi truncates the number."""
    actual, reference = (answer(module, "narrow", (2**32 + 5,)) for module in modules)
    assert reference == 5
    assert actual == (ValueError, "narrow(): argument 1: int 4294967301 is out of range [-2147483648, 2147483647]")


def test_two_libraries_and_a_library_of_tvm_ffis_headers_in_one_process(modules, tmp_path):
    second = shutil.copy(PATHS[0], tmp_path / "second.so")
    for path in (PATHS[0], second):
        dynamic = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
        symbols = subprocess.run(["nm", "-D", path], check=True, capture_output=True, text=True).stdout
        assert "tvm_ffi" not in dynamic
        assert "TVMFFI" not in symbols
    second, (kernkit_module, tvm_ffi_module) = tvm_ffi.load_module(str(second)), modules
    # Errors of the libraries alternate, so that each library must report its own latest error.
    for _ in range(2):
        assert answer(second, "fail", ("check alone",)) == (TypeError, "fail(): Check failed: (three == 4) is false:")
        assert answer(kernkit_module, "fail", ("throw",)) == (RuntimeError, "fail(): thrown 1.5 c")
        assert answer(tvm_ffi_module, "fail", ("throw",)) == (RuntimeError, "thrown 1.5 c")
        y = kernkit_module.same(tvm_ffi_module.through_dlpack(kernkit_module.through_dlpack(tvm_ffi.from_dlpack(X))))
        assert plain(tvm_ffi_module.same(second.same(y))) == plain(y) == (X.tolist(), "float32")
