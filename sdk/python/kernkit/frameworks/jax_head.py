# SPDX-License-Identifier: Apache-2.0
"""What stands in every _jax.py, in front of its functions."""

HEAD = '''"""The ops of {package} for JAX. Written by kernkit from the library; not to be changed."""

import functools as {kk}functools
import os as {kk}os

import jax as {kk}jax
import jax_tvm_ffi as {kk}jax_tvm_ffi
import tvm_ffi as {kk}tvm_ffi

__all__ = [
{listed}]

{kk}module = {kk}tvm_ffi.load_module({kk}os.path.join({kk}os.path.dirname(__file__), {file}))


def {kk}register(op, attributes, is_in_order):
    """XLA's target of an op. What it hands over is in the op's order, or in that of kernkit/shapes/xla.h."""
    order = ["rets", "args", *(f"attrs.{{name}}" for name in attributes)]
    function = {kk}module.get_function(op if is_in_order else f"_xla_{{op}}")
    order = order if is_in_order else ["attrs.{kk}given", *order]
    for platform in ("cpu", "gpu"):
        {kk}jax_tvm_ffi.register_ffi_target(
            f"{package}.{{op}}", function, order, platform=platform, allow_cuda_graph=platform == "gpu"
        )


def {kk}axes(array):
    """The axes of shard_map over which it varies."""
    return getattr(getattr({kk}jax.typeof(array), "manual_axis_type", None), "varying", frozenset())


def {kk}arrays(*tensors):
    """Inside shard_map, all of them vary over what one varies over: gradients of what is replicated are summed."""
    arrays = [None if tensor is None else {kk}jax.numpy.asarray(tensor) for tensor in tensors]
    axes = frozenset().union(*({kk}axes(array) for array in arrays if array is not None))
    for i, array in enumerate(arrays if axes else []):
        if array is not None and axes - {kk}axes(array):
            arrays[i] = {kk}jax.lax.pcast(array, tuple(axes - {kk}axes(array)), to="varying")
    return arrays


def {kk}fits(holds, op, name, tensor, wanted):
    if not holds:
        shown = ", ".join(map(str, tensor.shape))
        raise ValueError(f"{{op}}(): {{name}}: shape [{{shown}}] does not match {{wanted}}")


def {kk}divides(holds, op, name, size):
    if not holds:
        raise ValueError(f"{{op}}(): {{name}}: {{size}} is no whole number")


def {kk}dtype(value):
    return {kk}jax.numpy.dtype(getattr(value, "dtype", value)).name


def {kk}new(op, name, shape, dtype):
    """What XLA allocates for a result; without x64, JAX has no 64 bits, and would hand over 32."""
    dtype = {kk}jax.numpy.dtype(dtype)
    if {kk}jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise ValueError(f"{{op}}(): {{name}}: dtype {{dtype.name}} needs jax_enable_x64")
    return {kk}jax.ShapeDtypeStruct(shape, dtype)


def {kk}call(op, results, tensors, vmap, aliases, given, attributes):
    """Calls the target: results of an op with one are that one. `tensors` may be None."""
    operands = [tensor for tensor in tensors if tensor is not None]
    target = {kk}jax.ffi.ffi_call(f"{package}.{{op}}", results, vmap_method=vmap, input_output_aliases=aliases)
    if given is not None:
        attributes["{kk}given"] = given
    found = target(*operands, **attributes)
    axes = {kk}axes(operands[0]) if operands else ()
    if axes:  # ffi_call knows nothing of them
        found = [{kk}jax.lax.pcast(result, tuple(axes), to="varying") for result in found]
    return found[0] if len(found) == 1 else tuple(found)


def {kk}value(primal):
    return None if primal is None else primal.value


def {kk}no_formula(op, **inputs):
    for name, primal in inputs.items():
        if getattr(primal, "perturbed", False):
            raise ValueError(f"{{op}}(): {{name}}: its backward computes no gradient of it: use jax.lax.stop_gradient()")


def {kk}dense(gradient):
    """Zeros for an output that nothing depends on."""
    if isinstance(gradient, {kk}jax.custom_derivatives.SymbolicZero):
        return {kk}jax.numpy.zeros(gradient.shape, gradient.dtype)
    return gradient
'''
