# SPDX-License-Identifier: Apache-2.0
"""Calls the reference kernels with NumPy arrays, through the real apache-tvm-ffi."""

import ctypes
import gc
import shutil
import traceback

import ml_dtypes
import numpy as np
import pytest
import tvm_ffi

SCALE_DTYPES = ["float16", "float32", "float64"]
ADD_DTYPES = SCALE_DTYPES + ["int8", "int16", "int32", "int64", "uint8"]


def random(shape, dtype, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * 50).astype(dtype)


@pytest.mark.parametrize("dtype", SCALE_DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (4099,), (2, 3, 4, 5)])
def test_scale(kernels, dtype, shape):
    x = np.asarray(random(shape, dtype))
    y = np.full_like(x, 77)
    kernels.scale(y, x, 1.5)
    wide = np.float64 if dtype == "float64" else np.float32
    np.testing.assert_array_equal(y, (x.astype(wide) * wide(1.5)).astype(dtype))


@pytest.mark.parametrize("dtype", ADD_DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (4099,), (2, 3, 4, 5)])
def test_add(kernels, dtype, shape):
    x, y = np.asarray(random(shape, dtype)), np.asarray(random(shape, dtype, 1))
    z = np.full_like(x, 77)
    kernels.add(z, x, y)
    wide = np.float32 if dtype == "float16" else dtype
    np.testing.assert_array_equal(z, (x.astype(wide) + y.astype(wide)).astype(dtype))


class Counted(np.ndarray):
    """An array that counts the calls of its method __dlpack__()."""

    handed_over = 0

    def __dlpack__(self, **options):
        Counted.handed_over += 1
        return super().__dlpack__(**options)


def test_a_kept_tensor_is_converted_once_and_shares_memory(kernels):
    x, y = np.arange(4, dtype="float32").view(Counted), np.zeros(4, "float32").view(Counted)
    before = Counted.handed_over
    kernels.scale(y, x, 2.0)
    assert Counted.handed_over - before == 2
    # [kept]
    kept_x, kept_y = tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(y)  # one conversion
    for step in range(3):
        x[:] = step  # the tensor shares the array's memory, so a write to the array changes the tensor
        kernels.scale(kept_y, kept_x, 2.0)
        assert y[0] == 2 * step
    # [/kept]
    assert Counted.handed_over - before == 4
    # The tensor keeps the array's memory alive after `del x`, and shares the memory with another view.
    again = np.from_dlpack(kept_x)
    if not again.flags.writeable:  # NumPy before 2.1
        again = np.frombuffer((ctypes.c_float * 4).from_address(again.ctypes.data), "float32")
    del x
    gc.collect()
    again[:] = 7
    kernels.scale(kept_y, kept_x, 2.0)
    np.testing.assert_array_equal(np.asarray(y), np.full(4, 14, "float32"))


def test_a_kept_tensor_does_not_follow_another_array(kernels):
    x, y = np.ones(4, "float32"), np.zeros(4, "float32")
    tensor = tvm_ffi.from_dlpack(x)
    x = x + 4  # a new array
    kernels.scale(y, tensor, 2.0)
    assert y[0] == 2 and x[0] == 5


def same_bits(a, b):
    """Returns whether two arrays of 16-bit floats have equal bits; any NaN equals any other NaN."""
    a_nan, b_nan = (np.isnan(v.astype(np.float32)) for v in (a, b))
    a_bits, b_bits = a.view(np.uint16), b.view(np.uint16)
    return np.array_equal(a_nan, b_nan) and np.array_equal(a_bits[~a_nan], b_bits[~b_nan])


@pytest.mark.parametrize("factor", [1.0, -1.0, 0.1, 3.0, 1 / 3, 1e-3, 60000.0, 1e-8])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_16_bit_float(kernels, dtype, factor):
    """scale gives the results of NumPy and ml_dtypes for all 2^16 values of a 16-bit float."""
    numpy_dtype = np.float16 if dtype == "float16" else ml_dtypes.bfloat16
    bits = np.arange(1 << 16, dtype=np.uint16)
    out = np.zeros_like(bits)
    x = tvm_ffi.from_dlpack(bits)
    y = tvm_ffi.from_dlpack(out)
    if dtype == "float16":
        kernels.scale(out.view(np.float16), bits.view(np.float16), factor)
    else:
        kernels.scale(retyped(y, "bfloat16"), retyped(x, "bfloat16"), factor)
    with np.errstate(all="ignore"):
        expected = (bits.view(numpy_dtype).astype(np.float32) * np.float32(factor)).astype(
            numpy_dtype
        )
    assert same_bits(out.view(numpy_dtype), expected)


def retyped(tensor, dtype):
    """Returns a tensor with the same memory and another dtype of the same width (NumPy lacks bfloat16)."""
    assert dtype == "bfloat16"
    return relabelled(tensor, code=4)


def relabelled(tensor, code=None, device=None):
    """Returns a tensor with the same memory, in whose DLTensor the dtype's code or the device is replaced."""
    capsule = tensor.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # DLManagedTensor starts with its DLTensor: the device at byte 8, the dtype's code at 20.
    address = get(capsule, b"dltensor")
    if device is not None:
        (ctypes.c_int32 * 2).from_address(address + 8)[:] = device
    if code is not None:
        ctypes.c_uint8.from_address(address + 20).value = code
    return tvm_ffi.from_dlpack(Capsule(capsule))


class Capsule:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def rejected(call, *args):
    with pytest.raises(Exception) as caught:
        call(*args)
    return type(caught.value).__name__, str(caught.value)


def test_dtypes_differ(kernels):
    x, y = np.ones(4), np.full(4, 77, "float32")
    message = ": ".join(rejected(kernels.scale, y, x, 2.0))
    assert message == "TypeError: scale(): y: dtype float32 does not match x (float64)"
    assert (y == 77).all()


F4, F5, I4 = np.ones(4, "float32"), np.ones(5, "float32"), np.ones(4, "int32")
C4 = np.ones(4, "complex64")


@pytest.mark.parametrize(
    "args, kind, text",
    [
        ((F4, F4), "TypeError", "takes 3 arguments (y, x, factor), got 2"),
        ((F4, F4, 1.0, 2), "TypeError", "takes 3 arguments (y, x, factor), got 4"),
        ((None, F4, 1.0), "TypeError", "y: expected Tensor, got None"),
        ((F4, 3, 1.0), "TypeError", "x: expected Tensor, got int 3"),
        ((F4, F4, "2"), "TypeError", "factor: expected float, got str \"2\""),
        ((F4, F4, None), "TypeError", "factor: expected float, got None"),
        (
            (I4, I4, 1.0),
            "TypeError",
            "x: dtype int32 is not supported; expected float16, bfloat16, float32 or float64",
        ),
        (
            (C4, C4, 1.0),
            "TypeError",
            "x: dtype complex64 is not supported; expected float16, bfloat16, float32 or float64",
        ),
        ((F5, F4, 1.0), "ValueError", "y: shape [5] does not match x ([4])"),
        ((F4.reshape(2, 2), F4, 1.0), "ValueError", "y: shape [2, 2] does not match x ([4])"),
        (
            (F4, np.ones(8, "float32")[::2], 1.0),
            "ValueError",
            "x: must be contiguous; shape [4] has strides [2]",
        ),
    ],
)
def test_rejections(kernels, args, kind, text):
    assert rejected(kernels.scale, *args) == (kind, "scale(): " + text)


CPU, CUDA, ROCM = 1, 2, 10


@pytest.mark.parametrize(
    "y_device, x_device, text",
    [
        ((CUDA, 1), (CPU, 0), "y: device cuda:1 does not match x (cpu)"),
        ((CPU, 1), (CPU, 0), "y: device cpu:1 does not match x (cpu)"),
        ((CUDA, 1), (CUDA, 0), "y: device cuda:1 does not match x (cuda:0)"),
        ((ROCM, 0), (ROCM, 0), "x: device rocm:0 is not supported; expected cpu or cuda"),
    ],
)
def test_wrong_device(kernels, y_device, x_device, text):
    """Tensors on unsupported or different devices are rejected before any access. The tensors are in CPU memory and
    only their DLTensor names the device."""
    x, y = (
        relabelled(tvm_ffi.from_dlpack(np.ones(4, "float32")), device=device)
        for device in (x_device, y_device)
    )
    kind, message = rejected(kernels.scale, y, x, 2.0)
    if x_device[0] == CUDA and kind == "RuntimeError":
        text = (
            "x: is on cuda:0, but this library was built without CUDA; rebuild it where nvcc is "
            "found, or pass CPU tensors"
        )
    else:
        assert kind == "ValueError"
    assert message == "scale(): " + text


def test_overlap(kernels):
    memory = np.arange(5, dtype="float32")
    kind, text = rejected(kernels.scale, memory[1:], memory[:4], 2.0)
    assert kind == "ValueError"
    assert text.startswith("scale(): y: partially overlaps x in memory (float32 [4] at 0x")
    np.testing.assert_array_equal(memory, [0, 1, 2, 3, 4])
    kernels.scale(memory, memory, 2.0)  # exactly in place
    np.testing.assert_array_equal(memory, [0, 2, 4, 6, 8])


def test_read_only_array(kernels):
    """tvm_ffi rejects a read-only array, even as an input; the page on ownership documents alternatives."""
    x = F4.copy()
    x.flags.writeable = False
    with pytest.raises(BufferError):
        kernels.scale(F4, x, 1.0)


@pytest.mark.parametrize(
    "y, file", [(F5, "scale_export.cc"), (F4[::-1], "scale.cc")], ids=["of the line", "of the function"]
)
def test_traceback_ends_in_the_kernel(kernels, y, file):
    """The last frame of the traceback is the line of the failed check. kernkit creates the frame without unwinding the
    stack."""
    try:
        kernels.scale(y, F4, 1.0)
    except ValueError as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.filename, last.name) == (f"kernels/scale/{file}", "scale")


def test_metadata_and_doc(kernels):
    assert kernels.get_function_doc("scale") == "y = x * factor, elementwise."
    metadata = kernels.get_function_metadata("scale")
    assert metadata["schema"] == "(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()"
    assert metadata["type_schema"] == (
        '{"type":"ffi.Function","args":[{"type":"None"},{"type":"DLTensor*"},'
        '{"type":"DLTensor*"},{"type":"float"}]}'
    )


def test_two_libraries_keep_apart(kernels, library, tmp_path):
    """Two copies of a library in one process have separate ops and errors."""
    copy = tmp_path / "libsecond.so"
    shutil.copy(library, copy)
    second = tvm_ffi.load_module(str(copy))
    for module in (kernels, second, kernels):
        y = np.zeros(4, "float32")
        module.scale(y, F4, 3.0)
        assert (y == 3).all()
        assert rejected(module.scale, F5, F4, 1.0)[0] == "ValueError"
