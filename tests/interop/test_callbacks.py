# SPDX-License-Identifier: Apache-2.0
"""Passes callables, bytes and values of any type from Python to ops, through the real apache-tvm-ffi."""

import gc
import json
import sys
import threading
import traceback
import weakref

import compiled
import numpy as np
import pytest
import tvm_ffi

X = np.arange(3, dtype="float32")


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    return compiled.load("callbacks/callbacks.cc", tmp_path_factory.mktemp("callbacks"))


def test_a_callback_is_called(ops):
    assert ops.apply(lambda x: x * 2, 1.5) == 3
    assert ops.apply(lambda x: 7, 0) == 7
    assert ops.apply_if(lambda: None) is True
    assert ops.apply_if(lambda: 0) is False
    assert ops.apply_if() is False and ops.apply_if(None) is False


def test_a_callback_gets_every_kind_of_value(ops):
    def f(*args):
        np.testing.assert_array_equal(np.from_dlpack(args[10]), X)
        assert callable(args[11])
        return [str(a) for a in (*args[:10], list(args[12]), *args[13:])]

    assert list(ops.pass_all(f, X)) == [
        "None", "True", "-3", "2.5", "bfloat16", "cuda:1", "c string",
        "a text that is longer than seven", "short", "nul \0 inside and long",
        "[1, 'two']", "b'\\x00b'", "None", "7", "0.5",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [ValueError, TypeError, RuntimeError, IndexError])
def test_a_callbacks_error_reaches_the_caller_unchanged(ops, kind):
    def fails(x):
        raise kind("of my own")

    with pytest.raises(kind) as caught:
        ops.apply(fails, 1)
    assert str(caught.value) == "of my own"
    frames = "".join(traceback.format_exception(caught.value))
    assert "in fails" in frames, frames


def test_a_callbacks_error_in_cpp(ops):
    def fails():
        raise ValueError("of my own")

    assert ops.caught(fails) == "ValueError|of my own"
    assert ops.caught(lambda: 1) == "nothing"
    assert ops.caught(lambda: ops.apply(fails, 1)) == "TypeError|" + (
        "test_a_callbacks_error_in_cpp.<locals>.fails() takes 0 positional arguments but 1 was given"
    )


def test_the_library_works_on_after_a_callback_failed(ops):
    with pytest.raises(Exception, match="division by zero"):
        ops.apply(lambda x: 1 / 0, 1)
    with pytest.raises(TypeError, match=r"^apply\(\): x: expected float, got str \"1\"$"):
        ops.apply(lambda x: x, "1")
    assert ops.apply(lambda x: x, 1) == 1


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda o: o.apply(3, 1), TypeError, "apply(): f: expected a callable, got int 3"),
        (
            lambda o: o.apply(lambda x: "one", 1),
            TypeError,
            'apply(): what f returned: expected float, got str "one"',
        ),
        (lambda o: o.sum_bytes("abc"), TypeError, 'sum_bytes(): b: expected bytes, got str "abc"'),
        (lambda o: o.as_tensor(None), TypeError, "as_tensor(): value: expected an owned Tensor, got None"),
        (lambda o: o.adder(1)(2), TypeError, "adder(): takes 2 arguments, got 1"),
        (
            lambda o: o.adder(1)(2, 300),
            ValueError,
            "adder(): argument 2: int 300 is out of range [-128, 127]",
        ),
    ],
)
def test_rejections(ops, call, kind, text):
    with pytest.raises(kind) as caught:
        call(ops)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "value, text",
    [
        (None, "None;falsefalsefalsefalsefalsefalse;-1"),
        (3, "int 3;truetruefalsefalsefalsefalse;3"),
        (300, "int 300;truefalsefalsefalsefalsefalse;300"),
        (0.5, "float 0.5;truefalsefalsefalsefalsefalse;0.5"),
        ("abc", 'str "abc";falsefalsetruefalsefalsefalse;-1'),
        (b"abc", "bytes;falsefalsefalsefalsefalsetrue;-1"),
        (print, "a function;falsefalsefalsetruefalsefalse;-1"),
        (X, "Tensor;falsefalsefalsefalsetruefalse;-1"),
        ([1, 2], "a list of 2;falsefalsefalsefalsefalsefalse;-1"),
    ],
)
def test_any(ops, value, text):
    assert ops.describe(value) == text


def test_a_kept_value_is_owned(ops):
    """A library can keep and return text, bytes, a list or a callable from Python; the value exists while the library
    keeps it."""

    def callback():
        return 41

    alive = weakref.ref(callback)
    ops.keep("a text longer than seven")
    assert ops.keep(b"bytes longer than seven") == "a text longer than seven"
    assert ops.keep([1, "two"]) == b"bytes longer than seven"
    assert list(ops.keep(callback)) == [1, "two"]
    del callback
    gc.collect()
    assert alive()() == 41
    assert ops.keep(None)() == 41
    gc.collect()
    assert alive() is None, "a reference was not released"


def test_an_object_that_python_lets_go_of_is_taken_over(ops):
    ops.keep(None)
    values = tvm_ffi.Array([1, "two"])
    ops.keep(values._move())
    moved = "value: expected something that can be owned, got an object that was moved away before"
    with pytest.raises(TypeError, match=moved):
        ops.keep(values._move())
    assert list(ops.keep(None)) == [1, "two"]


def test_a_list_that_changes_during_the_call(ops):
    values = tvm_ffi.List([0.5, 2.0] * 50)

    def change():
        values.clear()
        values.extend(["text"] * 100)

    assert ops.sum_after(values, change) == 125


def test_a_tensor_in_any(ops):
    assert np.shares_memory(np.from_dlpack(ops.as_tensor(tvm_ffi.from_dlpack(X))), X)


@pytest.mark.parametrize("data", [b"", b"\x01\x02", bytes(range(256))])
def test_bytes_short_and_long(ops, data):
    assert ops.sum_bytes(data) == sum(data)
    assert ops.repeat(data, 3) == data * 3


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (1,) * 32])
def test_shapes_out(ops, shape):
    x = np.zeros(shape, "float32")
    assert list(ops.shape(x)) == list(shape)
    assert ops.apply_to_shape(lambda sizes: sum(sizes), x) == sum(shape)


def test_dtype_and_device_results(ops):
    dtype, device = ops.defaults()
    assert str(dtype) == "float16" and str(device) == "cpu:0"


def test_a_function_of_the_library_is_called_from_python(ops):
    add = ops.adder(0.5)
    assert add(1, 3) == 2.5
    results = []
    thread = threading.Thread(target=lambda: results.append(add(2.0, -4)))
    thread.start()
    thread.join()
    assert results == [0.0]
    assert ops.apply(lambda x: add(x, 2), 1) == 2.0


def test_references_balance(ops):
    def f(x):
        return x

    before = sys.getrefcount(f)
    for _ in range(100):
        ops.apply(f, 1)
        ops.caught(f)
    gc.collect()
    assert sys.getrefcount(f) - before <= 1


def test_metadata(ops):
    def types(op):
        return json.loads(ops.get_function_metadata(op)["type_schema"])["args"]

    assert types("apply") == [{"type": "float"}, {"type": "ffi.Function"}, {"type": "float"}]
    assert types("repeat") == [{"type": "ffi.Bytes"}, {"type": "ffi.Bytes"}, {"type": "int"}]
    assert types("keep") == [{"type": "Any"}, {"type": "Any"}]
