# SPDX-License-Identifier: Apache-2.0
"""The table of kernels: functions that run each kernel and compare it with a reference in NumPy."""

import numpy as np

# {name: (name of the library, function that runs and checks the kernel)}; the function takes the library and a random
# generator
TABLE = {}


def kernel(library, name, *cases):
    """Returns a decorator that adds a function to the table, once or for each case, such as {"float16": (...)}."""

    def put(function):
        for case, arguments in cases[0].items() if cases else [("", ())]:
            full = f"{library}.{name}" + (f"[{case}]" if case else "")
            assert full not in TABLE, full
            TABLE[full] = (library, lambda of, random, a=arguments: function(of, random, *a))
        return function

    return put


def steps_of(dtype):
    """Returns the relative distance between two adjacent numbers of a dtype."""
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps)


def assert_near(actual, expected, dtype=None, steps=1.0):
    """Compares element by element. The permitted difference is `steps` distances between adjacent numbers of the
    result's dtype."""
    dtype = dtype or actual.dtype
    expected = np.asarray(expected, "float64")
    bound = steps * steps_of(dtype)
    np.testing.assert_allclose(actual.astype("float64"), expected, rtol=bound, atol=bound * 2**-6)


def assert_same(actual, expected):
    np.testing.assert_array_equal(actual, expected)
