# SPDX-License-Identifier: Apache-2.0
"""The table of kernels: what runs each of them and compares it with a reference in NumPy."""

import numpy as np

TABLE = {}  # name: the library, and a function of it and a random generator


def kernel(library, name, *cases):
    """Puts a function into the table, once or for each case: {"float16": (...)}."""

    def put(function):
        for case, arguments in cases[0].items() if cases else [("", ())]:
            full = f"{library}.{name}" + (f"[{case}]" if case else "")
            assert full not in TABLE, full
            TABLE[full] = (library, lambda of, random, a=arguments: function(of, random, *a))
        return function

    return put


def steps_of(dtype):
    """The relative distance of two neighbouring numbers of a dtype."""
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps)


def near(actual, expected, dtype=None, steps=1.0):
    """Elementwise, within so many steps of the dtype that the result was rounded to."""
    dtype = dtype or actual.dtype
    expected = np.asarray(expected, "float64")
    bound = steps * steps_of(dtype)
    np.testing.assert_allclose(actual.astype("float64"), expected, rtol=bound, atol=bound * 2**-6)


def same(actual, expected):
    np.testing.assert_array_equal(actual, expected)
