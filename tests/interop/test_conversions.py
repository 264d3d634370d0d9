# SPDX-License-Identifier: Apache-2.0
"""Compares the storage types of float.h and small_float.h with NumPy's and ml_dtypes' types, bit for bit."""

import compiled
import ml_dtypes
import numpy as np
import pytest

DTYPES = [
    "float16",
    "bfloat16",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
]


def reference(name):
    return np.dtype(name if name == "float16" else getattr(ml_dtypes, name))


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    folder = tmp_path_factory.mktemp("conversions")
    options = ["-O3", "-march=native", "-ffp-contract=off"]
    return compiled.load("conversions/conversions.cc", folder, *options)


def assert_same(actual, expected, is_nan):
    """Fails if `actual` and `expected` differ in a bit of an element whose `is_nan` is false."""
    different = (actual != expected) & ~is_nan
    assert not different.any(), (actual[different][:5], expected[different][:5])


@pytest.mark.parametrize("name", DTYPES)
def test_every_code_decodes(ops, name):
    dtype = reference(name)
    bits = ml_dtypes.finfo(dtype).bits
    codes = np.arange(1 << bits, dtype=f"uint{8 * dtype.itemsize}")
    values = np.zeros(codes.shape, "float32")
    ops.decode(values, codes, name)
    expected = codes.view(dtype).astype("float32")
    np.testing.assert_array_equal(np.isnan(values), np.isnan(expected))
    assert_same(values.view("uint32"), expected.view("uint32"), np.isnan(expected))


def encode_and_compare(ops, name, values):
    dtype = reference(name)
    codes = np.zeros(values.shape, f"uint{8 * dtype.itemsize}")
    ops.encode(codes, values, name)
    with np.errstate(all="ignore"):
        expected = values.astype(dtype).view(codes.dtype)
    different = codes != expected
    if different.any():  # only NaN may differ
        actual, expected_codes = codes[different], expected[different]
        is_nan = [np.isnan(array.view(dtype).astype("float32")) for array in (actual, expected_codes)]
        np.testing.assert_array_equal(*is_nan)
        assert_same(actual, expected_codes, is_nan[1])


@pytest.mark.parametrize("name", DTYPES)
def test_floats_encode(ops, name):
    """Conversion from float32 gives ml_dtypes' bits for the floats around every value and every midpoint between two
    values, and for a few million bit patterns."""
    dtype = reference(name)
    codes = np.arange(1 << ml_dtypes.finfo(dtype).bits, dtype=f"uint{8 * dtype.itemsize}")
    with np.errstate(all="ignore"):
        exact = codes.view(dtype).astype("float64")
    exact = np.unique(exact[np.isfinite(exact)])
    points = np.concatenate([exact, (exact[1:] + exact[:-1]) / 2]).astype("float32")
    neighbours = points.view("uint32")[:, None] + np.arange(-2, 3, dtype="int64")[None, :]
    encode_and_compare(ops, name, neighbours.ravel().astype("uint32").view("float32"))
    every = np.arange(0, 1 << 32, 1021, dtype="uint64").astype("uint32").view("float32")
    encode_and_compare(ops, name, every)


@pytest.mark.slow
@pytest.mark.parametrize("name", DTYPES)
def test_every_float_encodes(ops, name):
    """Conversion from float32 gives ml_dtypes' bits for all 2^32 bit patterns."""
    for start in range(0, 1 << 32, 1 << 26):
        patterns = np.arange(start, start + (1 << 26), dtype="uint64").astype("uint32")
        encode_and_compare(ops, name, patterns.view("float32"))
