# SPDX-License-Identifier: Apache-2.0
"""Tests tensors that a kernel library creates, imports and exports, through the real apache-tvm-ffi."""

import ctypes
import re
import subprocess
import sys

import compiled
import numpy as np
import pytest
import tvm_ffi

DTYPES = ["int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64", "bool"]
READ_ONLY, IS_COPIED = 1, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tensors")


@pytest.fixture(scope="module")
def ops(folder):
    return compiled.load("tensors/tensors.cc", folder, "-Wl,-z,nodelete")


def random_array(rng):
    """Returns a view with random rank, strides (also negative or zero), offset and sizes."""
    shape = rng.integers(0 if rng.random() < 0.2 else 1, 6, rng.integers(0, 5))
    base = np.zeros(rng.integers(2, 4) * shape + rng.integers(0, 3, len(shape)), rng.choice(DTYPES))
    steps = [slice(rng.integers(0, 2), None, rng.choice([1, 1, 2, -1, -2])) for _ in shape]
    x = base[(*steps, ...)][(*(slice(0, n) for n in shape), ...)]
    x = x.transpose(rng.permutation(len(shape)))
    if rng.random() < 0.3:
        x = x.copy()
    if x.ndim and rng.random() < 0.2:
        x = np.lib.stride_tricks.as_strided(x, x.shape, (0, *x.strides[1:]))
    return x


def test_accessors_match_numpy(ops):
    rng = np.random.default_rng(5)
    counts = {"strided": 0, "empty": 0, "dense": 0}
    for _ in range(2000):
        x = random_array(rng)
        for describe in (ops.describe_view, ops.describe_owned):
            description = describe(x)
            pattern = r"(\d+) (\w+) cpu \[(.*)\] \[(.*)\] (\d+) (\w+) (\d+)"
            ndim, dtype, shape, strides, numel, dense, size = re.fullmatch(pattern, description).groups()
            assert int(ndim) == x.ndim
            assert dtype == x.dtype.name
            assert shape == ", ".join(map(str, x.shape))
            assert int(numel) == x.size
            assert dense == str(x.flags.c_contiguous).lower()
            assert int(size) == x.nbytes
            if x.size:  # strides of empty arrays have no meaning
                pairs = zip(strides.split(", "), x.strides, x.shape)
                assert all(int(s) * x.itemsize == t for s, t, n in pairs if n > 1)
        if x.size:
            assert ops.address(x) == x.ctypes.data
        counts["empty" if not x.size else "dense" if x.flags.c_contiguous else "strided"] += 1
    assert min(counts.values()) > 100, counts


# A separate handle for access to capsules and their pointers, because other modules set other argument types on
# ctypes.pythonapi.
python = ctypes.PyDLL(None)
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_New.restype = ctypes.py_object
NAME, LEGACY = b"dltensor_versioned", b"dltensor"
USED = {NAME: b"used_dltensor_versioned", LEGACY: b"used_dltensor"}


def take(capsule, name=NAME):
    """Consumes the capsule and returns its pointer, which the caller owns."""
    pointer = python.PyCapsule_GetPointer(capsule, name)
    python.PyCapsule_SetName(capsule, USED[name])
    return pointer


class Producer:
    """An object that np.from_dlpack() accepts and that exports the DLPack struct at the given address."""

    def __init__(self, pointer, name=NAME):
        self.capsule = python.PyCapsule_New(pointer, name, None)

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


class Managed(ctypes.Structure):
    """DLManagedTensorVersioned, with the members of its nested structs as members of one struct."""

    DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", DELETER), ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
    ]  # fmt: skip


REFERENCES = []


def test_round_trip(ops):
    x = np.arange(12, dtype="float32").reshape(3, 4)
    y = np.from_dlpack(Producer(ops.round_trip(take(x.__dlpack__(max_version=(1, 0))))))
    z = np.from_dlpack(Producer(ops.round_trip_legacy(take(x.__dlpack__(), LEGACY)), LEGACY))
    for out in (y, z):
        assert np.shares_memory(out, x)
        np.testing.assert_array_equal(out, x)
    del x
    assert y[2, 3] == 11


def test_marks_survive(ops):
    x = np.ones(3, "float32")
    pointer = ops.round_trip(take(x.__dlpack__(max_version=(1, 0), copy=True)))
    assert Managed.from_address(pointer).flags == IS_COPIED
    assert not np.shares_memory(np.from_dlpack(Producer(pointer)), x)
    x.flags.writeable = False
    pointer = ops.round_trip(take(x.__dlpack__(max_version=(1, 0))))
    assert Managed.from_address(pointer).flags == READ_ONLY
    assert not np.from_dlpack(Producer(pointer)).flags.writeable


def test_read_only_is_not_written(ops):
    x = np.ones(3, "float32")
    ops.write_first(take(x.__dlpack__(max_version=(1, 0))))
    assert x[0] == 7
    x.flags.writeable = False
    with pytest.raises(ValueError, match=r"^write_first\(\): tensor: is read-only; "):
        ops.write_first(take(x.__dlpack__(max_version=(1, 0))))


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"major": 2, "minor": 1, "ndim": -5}, "version 2.1 is not supported; this library supports 1.x"),
        ({"flags": 8}, "flags 8 are not supported"),
        ({"data": None}, "data is null, shape is [4]"),
        ({"offset": 2}, "is not aligned to float32 (4 bytes)"),
    ],
)  # fmt: skip
def test_rejections(ops, changes, text):
    deleted = []
    shape = (ctypes.c_int64 * 1)(4)
    data = np.zeros(8, "float32")
    good = {
        "major": 1, "deleter": Managed.DELETER(deleted.append), "data": data.ctypes.data,
        "device_type": 1, "ndim": 1, "code": 2, "bits": 32, "lanes": 1,
        "shape": ctypes.addressof(shape),
    }  # fmt: skip
    bad, fine = Managed(**{**good, **changes}), Managed(**good)
    with pytest.raises(ValueError) as caught:
        ops.import_versioned(ctypes.addressof(bad))
    assert str(caught.value).startswith("import_versioned(): DLPack tensor: ")
    assert str(caught.value).endswith(text)
    assert deleted == [ctypes.addressof(bad)]
    tensor = ops.import_versioned(ctypes.addressof(fine))
    assert tensor.shape == (4,) and len(deleted) == 1
    del tensor
    assert deleted[1:] == [ctypes.addressof(fine)]


def test_the_host_does_not_write_memory_of_a_gpu(ops):
    shape = (ctypes.c_int64 * 1)(4)
    managed = Managed(
        major=1, data=4096, device_type=2, ndim=1, code=2, bits=32, lanes=1,
        shape=ctypes.addressof(shape),
    )  # fmt: skip
    REFERENCES.extend([shape, managed])  # the traceback keeps the tensor, which refers to both objects
    x = ops.import_versioned(ctypes.addressof(managed))
    with pytest.raises(ValueError) as caught:
        ops.zeros_like(x)
    assert str(caught.value) == "zeros_like(): x: device cuda:0 is not supported; expected cpu"


def test_requirements(ops):
    x = np.zeros(100, "float32")
    start = (-x.ctypes.data // 4) % 16 + 1  # one element past a multiple of 64 bytes
    view = x[start:][:9].reshape(3, 3)
    ops.import_versioned(take(view.__dlpack__(max_version=(1, 0))), 4, True)
    with pytest.raises(ValueError, match=r"data at 0x\w+4 is not aligned to 64 bytes$"):
        ops.import_versioned(take(view.__dlpack__(max_version=(1, 0))), 64)
    with pytest.raises(ValueError, match=r"float32 \[3, 3\] strides \[1, 3\] is not contiguous$"):
        ops.import_versioned(take(view.T.__dlpack__(max_version=(1, 0))), 0, True)


@pytest.mark.parametrize("convert", [np.asarray, tvm_ffi.from_dlpack])
def test_allocation_without_a_framework(ops, convert):
    y = ops.zeros_like(convert(np.ones((3, 4), "float32")))
    assert isinstance(y, tvm_ffi.Tensor)
    np.testing.assert_array_equal(np.from_dlpack(y), np.zeros((3, 4), "float32"))


def test_allocation_by_torch(ops):
    torch = pytest.importorskip("torch")
    y = ops.zeros_like(torch.ones(3, 4, dtype=torch.bfloat16))
    assert isinstance(y, torch.Tensor)
    assert torch.equal(y, torch.zeros(3, 4, dtype=torch.bfloat16))


def test_allocation_with_jax(ops):
    jax = pytest.importorskip("jax")
    y = ops.zeros_like(jax.numpy.ones(3))
    assert isinstance(y, tvm_ffi.Tensor)  # JAX has no allocator for ops
    np.testing.assert_array_equal(jax.numpy.from_dlpack(y), [0, 0, 0])


@pytest.mark.parametrize("shape", [(), (0, 3), (5, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float4_e2m1fn", "bool"])
def test_allocation_by_the_library(ops, shape, dtype):
    x = ops.cpu_zeros(shape, dtype)
    assert x.shape == shape and x.dtype == tvm_ffi.dtype(dtype)
    assert ops.address(x) % 64 == 0


def test_sizes_that_do_not_fit(ops):
    with pytest.raises(ValueError) as caught:
        ops.cpu_zeros([2**40, 2**40], "float32")
    assert str(caught.value) == (
        "cpu_zeros(): shape [1099511627776, 1099511627776] of float32 has a negative size or more "
        "than 2^63 - 1 bytes"
    )
    with pytest.raises(MemoryError, match=r"cannot allocate 4611686018427387904 bytes on cpu for "):
        ops.cpu_zeros([2**62], "int8")


DROPS = {
    "after the module": "x = ops.cpu_zeros([1000], 'float32'); del ops; gc.collect(); del x",
    "after the interpreter": "sys.kept = [ops.cpu_zeros([1000], 'float32')]; del ops",
    "in another thread": """
x = [ops.cpu_zeros([1000], 'float32')]
del ops
thread = threading.Thread(target=x.clear)
thread.start()
thread.join()""",
    "in a child": """
x = ops.cpu_zeros([1000], 'float32')
child = os.fork()
if child == 0:
    del ops, x
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0""",
}


@pytest.mark.all
@pytest.mark.parametrize("drop", DROPS.values(), ids=DROPS)
def test_returned_tensor_outlives_its_library(ops, folder, drop):
    path = folder / "libtensors.so"
    program = (
        "import gc, os, sys, threading, tvm_ffi\n"
        f"ops = tvm_ffi.load_module('{path}', keep_module_alive=False)\n{drop}\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
