# SPDX-License-Identifier: Apache-2.0
"""Calls ops with every kind of parameter and result from Python, through the real apache-tvm-ffi."""

import threading

import compiled
import numpy as np
import pytest
import tvm_ffi

X = np.ones(3, "float32")


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    return compiled.load("arguments/arguments.cc", tmp_path_factory.mktemp("arguments"))


@pytest.mark.parametrize(
    "op, args, result",
    [
        ("describe", (X,), "float32 [3], none, 1e-06, -3, true, it is, bfloat16"),
        (
            "describe",
            (X, X, 0.5, 7, False, "longer than seven", "float16"),
            "float32 [3], bias, 0.5, 7, false, longer than seven, float16",
        ),
        (
            "describe",
            (X, None, 1, np.int64(4), 1, "", tvm_ffi.dtype("float8_e4m3fn")),
            "float32 [3], none, 1, 4, true, , float8_e4m3fn",
        ),
        ("sum", ([1, 2, 3],), 6),
        ("sum", ((1, 2), list(range(40))), 783),
        ("sum", (tvm_ffi.Shape((4, 5)), None), 9),
        ("sum", ([], []), 0),
        ("sum_floats", ([1, 2.5, True],), 4.5),
        ("count", ([X, np.ones((2, 2))],), 7),
        ("greet", ("kernkit", tvm_ffi.device("cuda", 1)), "hello kernkit on cuda:1"),
        ("wide", (2**64 - 2,), 2**63 - 1),
        ("narrow", (-128,), -128),
        ("nothing", (), True),
    ],
)
def test_values(ops, op, args, result):
    assert getattr(ops, op)(*args) == result


def test_a_float_takes_any_int(ops):
    """An op with a float parameter receives an int as the number that Python's float() returns. An int for which
    float() fails raises ValueError."""
    random = np.random.default_rng(7)
    ints = [2**63, -(2**63) - 1, 2**64 + 2**11, 2**64 + 2**11 + 1, 2**1024 - 2**971]
    sizes = random.integers(8, 128, 300)
    ints += [int.from_bytes(random.bytes(int(n)), "big", signed=True) for n in sizes]
    for value in ints:
        assert ops.half(value) == float(value) / 2, value
        assert ops.sum_floats([value]) == float(value), value
    for value in (2**1024 - 2**970, -(2**2000)):
        with pytest.raises(OverflowError):
            float(value)
        with pytest.raises(ValueError, match=r"^half\(\): x: expected float, got .* too large for one$"):
            ops.half(value)


def test_several_results(ops):
    n, number, flag, text, x = ops.many(tvm_ffi.from_dlpack(X))
    assert (n, number, flag, text) == (3, 2.5, True, "a text longer than seven characters")
    assert np.shares_memory(np.from_dlpack(x), X)


def test_a_returned_tensor_is_the_same(ops):
    assert np.shares_memory(np.from_dlpack(ops.same(tvm_ffi.from_dlpack(X))), X)


def test_streams_of_the_caller(ops):
    first, second = tvm_ffi.device("cuda", 0), tvm_ffi.device("cuda", 1)
    assert ops.stream_of(first) == 0
    with tvm_ffi.use_raw_stream(first, 0x1000):
        assert ops.stream_of(first) == 0x1000
        with tvm_ffi.use_raw_stream(first, 0x2000), tvm_ffi.use_raw_stream(second, 0x3000):
            assert (ops.stream_of(first), ops.stream_of(second)) == (0x2000, 0x3000)
        assert (ops.stream_of(first), ops.stream_of(second)) == (0x1000, 0)
        streams = []
        thread = threading.Thread(target=lambda: streams.append(ops.stream_of(first)))
        thread.start()
        thread.join()
        assert streams == [0], "a stream is set for one thread only"
    assert ops.stream_of(first) == 0


def test_streams_of_torch(ops):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch found no GPU, and supports streams only on a GPU")
    stream = torch.cuda.Stream()
    with tvm_ffi.use_torch_stream(torch.cuda.stream(stream)):
        assert ops.stream_of(tvm_ffi.device("cuda", 0)) == stream.cuda_stream


INT32 = "[-2147483648, 2147483647]"


@pytest.mark.parametrize(
    "op, args, kind, text",
    [
        (
            "describe",
            (),
            "TypeError",
            "takes 1 to 7 arguments (y, bias, eps, n, flag, text, dtype), got 0",
        ),
        ("describe", (None,), "TypeError", "y: expected Tensor, got None"),
        ("describe", (X, 3), "TypeError", "bias: expected Tensor, got int 3"),
        (
            "describe",
            (X, np.ones(3)),
            "TypeError",
            "bias: dtype float64 does not match y (float32)",
        ),
        ("describe", (X, None, "1"), "TypeError", 'eps: expected float, got str "1"'),
        ("describe", (X, None, 1, 2.5), "TypeError", "n: expected int, got float 2.5"),
        (
            "describe",
            (X, None, 1, 2**31),
            "ValueError",
            f"n: int 2147483648 is out of range {INT32}",
        ),
        (
            "describe",
            (X, None, 1, 2**70),
            "ValueError",
            f"n: an int beyond 64 bits is out of range {INT32}",
        ),
        ("describe", (X, None, 1, 2, X), "TypeError", "flag: expected bool, got Tensor"),
        ("describe", (X, None, 1, 2, True, b"x"), "TypeError", "text: expected str, got bytes"),
        (
            "describe",
            (X, None, 1, 2, True, "x", "float7.5"),
            "TypeError",
            'dtype: expected a dtype, got str "float7.5"',
        ),
        ("sum", (3,), "TypeError", "v: expected a list of int, got int 3"),
        ("sum", ([1, "a"],), "TypeError", 'v[1]: expected int, got str "a"'),
        ("sum", (list(range(30)) + [2.5],), "TypeError", "v[30]: expected int, got float 2.5"),
        ("sum_floats", ([1, None],), "TypeError", "v[1]: expected float, got None"),
        ("count", ([X, None],), "TypeError", "xs[1]: expected Tensor, got None"),
        ("count", ({},), "TypeError", "xs: expected a list, got a dict"),
        ("greet", ("x", "cpu"), "TypeError", 'device: expected a device, got str "cpu"'),
        ("wide", (-1,), "ValueError", "v: int -1 is out of range [0, 18446744073709551615]"),
        (
            "wide",
            (2**64,),
            "ValueError",
            "v: an int beyond 64 bits is out of range [0, 18446744073709551615]",
        ),
        (
            "too_wide",
            (),
            "ValueError",
            "returns 9223372036854775808, which exceeds the range of int (64 bits with a sign)",
        ),
        ("narrow", (128,), "ValueError", "v: int 128 is out of range [-128, 127]"),
        ("nothing", (1,), "TypeError", "takes 0 arguments, got 1"),
        ("same", (object(),), "TypeError", "x: expected an owned Tensor, got "),
    ],
)
def test_rejections(ops, op, args, kind, text):
    with pytest.raises(Exception) as caught:
        getattr(ops, op)(*args)
    assert type(caught.value).__name__ == kind
    message = str(caught.value)
    assert message.startswith(f"{op}(): {text}") if text.endswith(" ") else message == f"{op}(): {text}"


def test_metadata_has_names_defaults_and_outputs(ops):
    metadata = ops.get_function_metadata("describe")
    assert [a["name"] for a in metadata["arguments"]] == [
        "y", "bias", "eps", "n", "flag", "text", "dtype",
    ]  # fmt: skip
    assert [a.get("default") for a in metadata["arguments"]] == [
        None, "None", "1e-6", "-3", "True", "'it is'", "bfloat16",
    ]  # fmt: skip
    assert not any(a["written"] for a in metadata["arguments"])
    assert metadata["type_schema"] == (
        '{"type":"ffi.Function","args":[{"type":"ffi.String"},{"type":"DLTensor*"},'
        '{"type":"Optional","args":[{"type":"DLTensor*"}]},{"type":"float"},{"type":"int"},'
        '{"type":"bool"},{"type":"ffi.String"},{"type":"DataType"}]}'
    )
