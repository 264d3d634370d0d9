# SPDX-License-Identifier: Apache-2.0
# The function written for scale. Compared by test_bindings.py.
# [function]
def scale(y: Tensor, x: Tensor, factor: float) -> None:
    """y = x * factor, elementwise.

    scale(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()
    """
    if y.__class__ not in _eager and _is_lazy(y):
        _not_written("scale", "y")
    if x.__class__ not in _eager and _is_lazy(x):
        x = _resolved(x)
    _scale(y, x, factor)
# [/function]
