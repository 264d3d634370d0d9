# SPDX-License-Identifier: Apache-2.0
"""A table of calls of the functions in tvm_ffi/table.cc with arguments of each kind. The file is compiled against
kernkit's headers under tvm-ffi's names and against tvm-ffi's own headers. A call has the same result with both sets of
headers, or an error of the same kind, except for the differences that docs/bring-your-tvm-ffi-library.md lists by name.
A listed difference that no call shows is also a failure."""

import ctypes
import itertools
import math
import re
import subprocess
import sys

import compiled
import ml_dtypes
import numpy as np
import pytest
import tvm_ffi

SOURCE = compiled.ROOT / "tests/interop/tvm_ffi/table.cc"
EXPORTED = re.findall(r"^(?:EXPORT|TVM_FFI_DLL_EXPORT_TYPED_FUNC)\((\w+)", SOURCE.read_text(), re.MULTILINE)
# The excluded functions have tests of their own below.
FUNCTIONS = [name for name in EXPORTED if name not in ("is_below", "address_of_read_only", "null_strides")]

X = np.arange(6, dtype="float32")
TENSOR = tvm_ffi.from_dlpack(X)
COLUMN = tvm_ffi.from_dlpack(np.ones((4, 4), "float32")[:, 1])
INTS = [0, 1, -1, 300, 2**31, 2**40, 2**63 - 1, -(2**63), 2**63, 2**64, -(2**70)]
FLOATS = [0.0, 1.5, math.nan, math.inf, 1e300]
TEXTS = ["", "a", "1234567", "12345678", "x" * 100, "a\0b", "äö€"]
DTYPE_TEXTS = ["float32", "int", "i8", "bfloat16", "float8_e4m3fn", "fp4_e2m1fn_x2", "int8x4", "void", "Float32"]
DEVICE_TEXTS = [
    "cpu", "cpu:0", "cuda:1", "cuda:01", "cuda 1", "cuda:", "cuda:-1", "cuda:2147483647", "cuda:2147483648", "cuda:1:2",
    ":1", "gpu", "CPU", "opencl", "vulkan", "metal", "mps", "vpi", "rocm:3", "ext_dev", "hexagon", "wgpu", "webgpu", "maia",
    "trn", "oneapi", "cuda_host",
]  # fmt: skip
BYTES = [b"", b"ab", b"float32", b"cpu", b"y" * 100, b"\xff\x00", bytearray(b"abc")]
SCALARS = [np.int64(3), np.float32(1.5), np.bool_(True), np.str_("abc")]
NAMED = [
    tvm_ffi.dtype("float32"), np.dtype("int8"), np.float16, np.dtype(ml_dtypes.bfloat16), tvm_ffi.device("cpu"),
    tvm_ffi.device("cuda:1"),
]  # fmt: skip
LISTS = [
    (), (1, 2), [1, 2], [1, "a"], ["a", "b"], [None], [True, 1.5], [[1], [2, 3]], [X], [None, X], (1, "a"), (1, b"a"),
    ["float32"], ["int"], [tvm_ffi.dtype("int8")], ["cpu"], [tvm_ffi.device("cuda:1")], [2**63], [b"ab"], (1, "cuda:1"),
    tvm_ffi.Shape((2, 3)), [tvm_ffi.Shape((2, 3))], tvm_ffi.Array([1, 2]), tvm_ffi.List([1, 2]), [[None]],
    {"a": 1}, tvm_ffi.Dict({"a": 1}), tvm_ffi.Map({"a": 1}),
]  # fmt: skip
TENSORS = [X, np.array(3.0), TENSOR, COLUMN]
OBJECTS = [lambda x: x, object(), ctypes.c_void_p(16), ctypes.c_void_p(0)]
ARGUMENTS = [
    None, True, False, *INTS, *FLOATS, *TEXTS, *DTYPE_TEXTS, *DEVICE_TEXTS, *BYTES, *SCALARS, *NAMED, *LISTS, *TENSORS,
    *OBJECTS,
]  # fmt: skip

DTYPE_NAMES = [
    "int", "uint", "float", "bfloat", "complex", "handle", "bool", "void", "i", "u", "f", "bf", "fp", "e4m3", "half", "object",
    "Int", "torch.float32", "dtype(code=99, bits=7)", "custom", "custom[x]", "",
    *(f"{p}{t}" for p in ("float8_", "fp8_", "f8_") for t in ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")),
    *(f"{p}{t}" for p in ("float6_", "fp6_", "f6_") for t in ("e2m3fn", "e3m2fn", "e2m1fn")),
    *(f"{p}e2m1fn" for p in ("float4_", "fp4_", "f4_")),
]  # fmt: skip
ENDS = [
    "", "0", "1", "4", "7", "8", "16", "32", "64", "128", "255", "256", "300", "65536", "4294967328", "08", "-8", "+8", " 8",
    "8 ", "8\0", "x", "x0", "x1", "x2", "x02", "x65535", "x65536", "x-1", "8x", "8x0", "8x1", "8x4", "8x4x2", "8x+4", "8y",
    "xvscale", "xvscalex", "xvscalex4", "8xvscale", "8xvscalex4", "8xvscalex65535", "8xvscalex0", "_", "_x2", "_x", "y", " ",
]  # fmt: skip
CODES, BITS, LANES = [*range(20), 99, 128, 129, 255], [0, 1, 4, 6, 8, 32, 255], [0, 1, 2, 255, 32767, 32768, 65532, 65535]
SHAPES = [(), (1,), (2, 3), (0, 5), (-1, 2), (2**40, 2**40), (0, 2**40, 2**40), (2**32, 2**31)]
VIEWS = [
    X, np.ones((2, 3, 4)), np.ones((2, 3, 4))[:, ::2], np.array(3.0), np.ones((0, 3)), np.ones((1, 5))[:, :1], np.ones((4, 4))[::-1],
    np.ones(3, "complex64"), np.ones(3, bool), np.ones((4, 4)).T,
]  # fmt: skip
NUMBERS = [0.0, -0.0, 0.1, 1 / 3, 1e-10, 1e6, 999999.5, 123456789.0, 1e10, 1e16, 1e300, 5e-324, math.nan, -math.inf, 2.5]
CPU, CUDA, FLOAT32 = tvm_ffi.device("cpu"), tvm_ffi.device("cuda:0"), tvm_ffi.dtype("float32")
PRODUCT = itertools.product
CALLS = {
    "dtype_of_text": [(name + end,) for name in DTYPE_NAMES for end in ENDS],
    "text_of_dtype": list(PRODUCT(CODES, BITS, LANES)),
    "is_defined": [(None,), (X,)],
    "undefined": [()],
    "undefined_in_array": [()],
    "rank_of_undefined": [(None,), (X,)],
    "from_env": list(PRODUCT([(2, 3), (), (0,)], ["float32", "int8"], [CPU, CUDA])),
    "from_env_like": [(X,), (TENSOR,)],
    "from_alloc": list(PRODUCT([(2, 3), (), (0,), (-1,), (2, -3), (2**40, 2**40)], ["float32", "int4", "handle", "void"])),
    "from_alloc_strided": [((2, 3), s) for s in [(3, 1), (1, 2), (3,), (30, 1), (-3, 1), (0, 0)]],
    "from_dlpack": list(PRODUCT([TENSOR, COLUMN], [0, 1, 4, 2**40], [False, True])),
    "from_old_dlpack": list(PRODUCT([TENSOR, COLUMN], [0, 1, 4, 2**40], [False, True])),
    "properties": [(x,) for x in VIEWS],
    **{f: list(PRODUCT(VIEWS, [-4, -3, -1, 0, 1, 2, 3, 2**40, -(2**63)])) for f in ("size_of", "stride_of", "owned_size_of")},
    "strided_sum": [*((X, (2,), (2,), i) for i in (0, 1, -1)), (X, (2,), (2, 1), 0)],
    "null_view": [()],
    **{f: [(s,) for s in SHAPES] for f in ("shape_calls", "shape_front", "shape_back", "message_of_Shape")},
    "shape_at": list(PRODUCT(SHAPES, [0, 1, 2, -1])),
    **{f: [((),), ((1, 2, 3),)] for f in ("array_front", "array_back", "array_calls")},
    **{f: list(PRODUCT([(), (1, 2, 3)], [-1, 0, 2, 3, 10])) for f in ("array_at", "array_set", "array_resize")},
    "string_calls": [(s,) for s in [*TEXTS, "b", "c", "ab"]],
    **{f: list(PRODUCT(TEXTS, [0, 1, 2, 100, -1])) for f in ("string_at", "string_substr")},
    **{f: [(None,)] for f in ("value_of", "value_of_tensor", "value_of_view")},
    **{f"message_of_{t}": [(n,) for n in NUMBERS] for t in ("double", "float")},
    **{f"message_of_{t}": [(n,) for n in (0, 1, 65, 127, 10, -(2**63))] for t in ("int8", "uint8", "char")},
    **{f"message_of_{t}": [(n,) for n in (0, 1, -1, 2**63 - 1, -(2**63))] for t in ("int64", "uint64")},
    **{f"message_of_{t}": [(s,) for s in TEXTS] for t in ("String", "std_string")},
    "message_of_bool": [(True,), (False,)],
    "message_of_dtype": list(PRODUCT([0, 2, 3, 4, 6, 17], BITS, LANES)),
    "members": [()],
    "throws": [
        (w,)
        for w in ("bad_alloc runtime_error out_of_range invalid_argument vector exception kind no_kind empty lines zero long nothing").split()
    ],
}  # fmt: skip
ONE_ARGUMENT = [f for f in FUNCTIONS if f.startswith("echo_") or f.startswith("rank_of_") and f not in CALLS]
# Functions whose errors also have the same text after the function's name.
SAME_TEXT = {
    "throws", "size_of", "stride_of", "owned_size_of", "shape_at", "shape_front", "shape_back", "array_at", "array_front",
    "array_back", "array_set", "array_resize", "null_view", "rank_of_undefined", "from_dlpack", "from_old_dlpack",
}  # fmt: skip


def plain(value):
    """Returns a result as text. An instance of tvm_ffi's subclass of str is printed like a str."""
    if isinstance(value, tvm_ffi.Tensor):
        return f"Tensor {tuple(value.shape)} {tuple(value.strides)} {value.dtype} {value.device}"
    if isinstance(value, (tvm_ffi.Array, tvm_ffi.Shape)):
        return f"{type(value).__name__}({', '.join(plain(item) for item in value)})"
    if isinstance(value, (tvm_ffi.dtype, tvm_ffi.Device)):
        return f"{type(value).__name__} {value}"
    return f"str {str(value)!r}" if isinstance(value, str) else f"{type(value).__name__} {value!r}"


def answer(module, name, args):
    """Returns (None, the result), or (the type of the error, its text)."""
    try:
        return None, plain(getattr(module, name)(*args))
    except Exception as error:
        return type(error), str(error.args[0])


def integer(name):
    return re.search("u?int(8|32|64)|Shape|Array_(Array|Optional)|Optional_Array", name)


def unnamed(code):
    """Returns whether tvm-ffi or kernkit has no name for a dtype with this code: tvm-ffi lacks names for complex
    dtypes, kernkit for custom dtypes."""
    return code == 5 or code > 17


# {name of a difference on the page: function that recognises the difference}. The parameters are the name of the called
# function, the arguments of the call, the type of the error (None for a result) and the text with kernkit's headers,
# and the same two values with tvm-ffi's headers.
DIFFERENCES = {
    "an int that does not fit": lambda name, args, actual, actual_text, expected, _: (
        integer(name) and actual is ValueError and expected is not ValueError and ("out of range" in actual_text or "exceeds the range" in actual_text)
    ),
    "an int of more than 64 bits for a float": lambda name, args, actual, _, expected, __: (
        re.search("double|float", name) and actual is None and expected is TypeError
    ),
    "text beyond ASCII in order": lambda name, args, *_: name == "string_calls" and args == ("äö€",),
    "`std::bad_alloc`": lambda name, args, actual, _, expected, __: (
        name == "throws" and args == ("bad_alloc",) and actual is MemoryError and expected is RuntimeError
    ),
    "a NUL character in a message": lambda name, args, actual, actual_text, expected, expected_text: (
        name in ("throws", "message_of_String", "message_of_std_string", "message_of_char") and actual is expected
        and "\0" in expected_text.replace("\\x00", "\0")
        and expected_text.replace("\\x00", "\0").partition("\0")[0].rstrip("'") == actual_text.removeprefix("throws(): ").rstrip("'")
    ),
    "a number in a message": lambda name, args, actual, actual_text, *_: (
        re.fullmatch("message_of_(u?int8|bool)", name) and actual_text in (f"str '{int(args[0]) & 255}'", f"str '{str(args[0]).lower()}'")
        or re.fullmatch("message_of_(double|float)", name) and actual is None and (
            float(actual_text.split("'")[1]) == (args[0] if "double" in name else np.float32(args[0]))
        )
    ),
    "a dtype in a message": lambda name, args, actual, _, expected, __: name == "message_of_dtype" and actual is None and expected is None,
    "complex and unknown dtypes": lambda name, args, actual, actual_text, expected, _: (
        actual is None and expected is ValueError
        and (name == "dtype_of_text" and args[0].startswith("complex") or name == "text_of_dtype" and unnamed(args[0]))
    ),
    "bytes that are not UTF-8 as a dtype": lambda name, args, actual, _, expected, __: (
        "DLDataType" in name and actual is ValueError and expected is UnicodeDecodeError and args == (b"\xff\x00",)
    ),
    "`Product()`": lambda name, args, actual, actual_text, expected, _: (
        name == "shape_calls" and actual is ValueError and "have no product in 64 bits" in actual_text and expected is None
    ),
    "a shape or dtype that has no size in bytes": lambda name, args, actual, actual_text, expected, _: (
        name == "from_alloc" and expected is None
        and (actual is ValueError and "has a negative size or more than 2^63 - 1 bytes" in actual_text or actual is TypeError and "has no bits" in actual_text)
    ),
    "strides that reach out of the allocation": lambda name, args, actual, actual_text, expected, _: (
        name == "from_alloc_strided" and actual is ValueError and "reach outside of its 6 elements" in actual_text and expected is None
    ),
    "`FromEnvAlloc` on the CPU without a framework": lambda name, args, actual, _, expected, __: (
        name.startswith("from_env") and actual is None and expected is RuntimeError
    ),
    "members": lambda name, *_: name == "members",
}  # fmt: skip
# {difference: its test}, for differences that have tests of their own.
ELSEWHERE = {
    "a short str": "test_a_short_str_is_a_str",
    "an undefined Tensor": "test_an_undefined_tensor_is_an_error",
    "an unnamed dtype in a message": "test_an_unnamed_dtype_in_a_message",
    "a tensor without strides": "test_a_tensor_without_strides",
    "a read-only tensor": "test_a_read_only_tensor_is_not_written",
    "a check in an `if` with an `else`": "test_an_else_after_a_check_belongs_to_the_if_before",
    "signed and unsigned integers": "test_signed_and_unsigned_integers",
    "a message": "test_wrong_calls",
    "a null pointer in a message": "test_messages_with_pointers_and_enumerators",
    "the destructor of `CUDADeviceGuard`": "test_the_destructor_of_a_guard_does_not_throw",
}


@pytest.fixture(scope="module")
def paths(kernkit_flags, tmp_path_factory):
    """Returns the paths of the library built with kernkit's headers and of the library built with tvm-ffi's headers."""
    folder = tmp_path_factory.mktemp("table")
    paths = folder / "libours.so", folder / "libtheirs.so"
    commands = [
        [*compiled.COMPILE, "-shared", *kernkit_flags, SOURCE, *compiled.HOOK, "-o", paths[0]],
        [*compiled.COMPILE, "-shared", *compiled.TVM_FFI_FLAGS, SOURCE, "-o", paths[1], compiled.PACKAGE / "lib/libtvm_ffi.so"],
    ]  # fmt: skip
    for process in [subprocess.Popen(command) for command in commands]:
        assert process.wait() == 0
    return paths


@pytest.fixture(scope="module")
def modules(paths):
    return [tvm_ffi.load_module(str(path)) for path in paths]


@pytest.fixture(scope="module")
def shown(modules):
    """Returns for each function the number of calls, the listed differences that the calls show, and unlisted
    differences."""
    result = {}
    for name in FUNCTIONS:
        calls = [(argument,) for argument in ARGUMENTS] if name in ONE_ARGUMENT else CALLS[name]
        names, unlisted = set(), []
        for args in calls:
            (actual, actual_text), (expected, expected_text) = (answer(module, name, args) for module in modules)
            if actual is expected and (
                actual_text == expected_text if actual is None
                else name not in SAME_TEXT or actual_text.rstrip() == f"{name}(): {expected_text}".rstrip()
            ):  # fmt: skip
                continue
            labels = [label for label, shows in DIFFERENCES.items() if shows(name, args, actual, actual_text, expected, expected_text)]
            names.update(labels)
            if len(labels) != 1:
                unlisted.append(f"{name}{args}: {actual} {actual_text[:200]} with kernkit, {expected} {expected_text[:200]} with tvm-ffi: {labels}")
        result[name] = len(calls), names, unlisted
    return result


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_answers(shown, name):
    count, _, unlisted = shown[name]
    assert count > 0
    assert not unlisted, "\n".join(unlisted[:20])


@pytest.mark.parametrize("label", DIFFERENCES)
def test_each_listed_difference_shows(shown, label):
    assert any(label in names for _, names, _ in shown.values())


def test_the_page_lists_the_differences():
    page = (compiled.ROOT / "docs/bring-your-tvm-ffi-library.md").read_text()
    table = page.split("## What differs", 1)[1].split("\n## ", 1)[0]
    listed = re.findall(r"^\| (?!what |---)(.*?) \|", table, re.MULTILINE)
    assert sorted(listed) == sorted([*DIFFERENCES, *ELSEWHERE])
    tests = "".join(path.read_text() for path in (compiled.ROOT / "tests/interop").glob("test_tvm_ffi_*.py"))
    for test in ELSEWHERE.values():
        assert f"def {test}(" in tests


def test_the_page_lists_the_members_that_are_missing(modules):
    actual, reference = ({line.partition("(")[0] for line in module.members().splitlines()} for module in modules)
    page = (compiled.ROOT / "docs/bring-your-tvm-ffi-library.md").read_text()
    row = re.search(r"^\| members \|.*", page, re.MULTILINE)[0]
    owners = {"Array": "Ints", "Tuple": "Pair", "Optional": "Optional<int64_t>"}
    listed = set()
    for owner, members in re.findall(r"`(\w+)`: ((?:`\w+`(?:, )?)+)", row):
        listed |= {f"{owners.get(owner, owner)}.{member}" for member in re.findall(r"`(\w+)`", members)}
    assert reference - actual == listed


def test_a_short_str_is_a_str(modules):
    """A result of std::string is a str. With tvm-ffi's headers, the result is an instance of tvm_ffi's subclass of str,
    however short."""
    kinds = [type(module.echo_std_string("abc")) for module in modules]
    assert kinds[0] is str
    assert kinds[1] is not str and issubclass(kinds[1], str)


SCRIPT = "import sys, tvm_ffi; module = tvm_ffi.load_module(sys.argv[1]); module."


def crashes(path, call):
    result = subprocess.run([sys.executable, "-c", SCRIPT + call, path], capture_output=True)
    return result.returncode < 0


def test_an_undefined_tensor_is_an_error(modules, paths):
    """A call with an undefined tensor raises RuntimeError; tvm-ffi reads through the null pointer."""
    text = "owned_size_of(): tensor: an undefined Tensor was used"
    assert answer(modules[0], "owned_size_of", (None, 0)) == (RuntimeError, text)
    assert crashes(paths[1], "owned_size_of(None, 0)")


def test_a_tensor_without_strides(modules, paths):
    """A tensor without strides is contiguous; tvm-ffi reads through the null pointer."""
    assert modules[0].null_strides() == 3
    assert crashes(paths[1], "null_strides()")


def test_an_unnamed_dtype_in_a_message(modules, paths):
    """A message can contain any dtype; tvm-ffi throws during a throw, which ends the process."""
    assert modules[0].message_of_dtype(5, 64, 1) == "complex64"
    assert crashes(paths[1], "message_of_dtype(5, 64, 1)")


def test_a_read_only_tensor_is_not_written(modules):
    """Writable access to a read-only DLPack tensor raises ValueError; tvm-ffi drops the read-only flag."""
    actual, reference = (answer(module, "address_of_read_only", (TENSOR,)) for module in modules)
    assert actual == (ValueError, "address_of_read_only(): tensor: is read-only; read_only_view() and data<const T>() read it")
    assert reference == (None, "bool True")


def test_the_destructor_of_a_guard_does_not_throw():
    actual = (compiled.ROOT / "sdk/include/kernkit/cuda/device_guard.h").read_text()
    reference = (compiled.PACKAGE / "include/tvm/ffi/extra/cuda/device_guard.h").read_text()
    assert "~CUDADeviceGuard() {" in actual  # implicitly noexcept, like every destructor
    assert "~CUDADeviceGuard() noexcept(false)" in reference


def test_signed_and_unsigned_integers(modules):
    """kernkit compares signed with unsigned integers as numbers, so -1 is below 1u; tvm-ffi converts -1 to the largest
    number."""
    assert [module.is_below(-1, 1) for module in modules] == [True, False]


def test_a_tensor_goes_to_numpy(modules):
    """A tensor that a call with NumPy arguments allocates can be exported to NumPy and passed to another call."""
    y = modules[0].from_env((2, 3), "float32", "cpu")
    array = np.from_dlpack(y)
    array[:] = 7
    assert (array.shape, array.dtype) == ((2, 3), np.float32)
    assert np.from_dlpack(modules[0].echo_Tensor(y)).tolist() == [[7, 7, 7], [7, 7, 7]]
