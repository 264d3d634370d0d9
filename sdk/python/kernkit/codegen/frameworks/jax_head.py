# SPDX-License-Identifier: Apache-2.0
"""The beginning of every _jax.py, before its functions."""

HEAD = '''"""The ops of {package} for JAX. Written by kernkit from the library; not to be changed."""

{builtins}
import ctypes as {kk}ctypes
import functools as {kk}functools
import os as {kk}os
import re as {kk}re

import jax as {kk}jax

__all__ = [
{listed}]

{kk}library = {kk}ctypes.CDLL({kk}os.path.join({kk}os.path.dirname(__file__), {file}))


def {kk}check_version():
    """XLA refuses a handler of another version when it starts, which leaves JAX without any device."""
    try:
        with {kk}open({kk}os.path.join({kk}jax.ffi.include_dir(), "xla/ffi/api/c_api.h"), encoding="utf-8") as header:
            version = {kk}re.findall(r"#define XLA_FFI_API_(?:MAJOR|MINOR) (\\d+)", header.read())
    except {kk}OSError:
        return
    if version and version[0] != "0":
        raise {kk}ImportError(f"{package}.jax speaks version 0 of XLA's FFI API, and this jaxlib {{'.'.join(version)}}; "
                          "build it with a newer kernkit")


{kk}check_version()


def {kk}register(op):
    """XLA's targets of an op, which the library has for each platform."""
    for platform, device in (("cpu", "cpu"), ("gpu", "cuda")):
        handler = {kk}jax.ffi.pycapsule({kk}getattr({kk}library, f"kernkit_xla_{{device}}_{{op}}"))
        stages = {{"instantiate": handler, "execute": handler}}
        {kk}jax.ffi.register_ffi_target(f"{package}.{{op}}", stages, platform=platform)


def {kk}axes(array):
    """The axes of shard_map over which it varies."""
    return {kk}getattr({kk}getattr({kk}jax.typeof(array), "manual_axis_type", None), "varying", {kk}frozenset())


def {kk}arrays(*tensors):
    """Inside shard_map, all of them vary over what one varies over: gradients of what is replicated are summed."""
    arrays = [None if tensor is None else {kk}jax.numpy.asarray(tensor) for tensor in tensors]
    axes = {kk}frozenset().union(*({kk}axes(array) for array in arrays if array is not None))
    for i, array in {kk}enumerate(arrays if axes else []):
        if array is not None and axes - {kk}axes(array):
            arrays[i] = {kk}jax.lax.pcast(array, {kk}tuple(axes - {kk}axes(array)), to="varying")
    return arrays


def {kk}fits(holds, op, name, tensor, wanted):
    if not holds:
        shown = ", ".join({kk}map({kk}str, tensor.shape))
        raise {kk}ValueError(f"{{op}}(): {{name}}: shape [{{shown}}] does not match {{wanted}}")


def {kk}holds(holds, op, name, text):
    if not holds:
        raise {kk}ValueError(f"{{op}}(): {{name}}: {{text}}")


def {kk}dtype(value):
    return {kk}jax.numpy.dtype({kk}getattr(value, "dtype", value)).name


def {kk}size(op, name, value):
    """A size that the caller gives. ValueError where it is none."""
    if {kk}isinstance(value, {kk}int) and not 0 <= value < 2**63:
        raise {kk}ValueError(f"{{op}}(): {{name}}: expected a size from 0 to 2^63 - 1, got {{value}}")


def {kk}new(op, name, shape, dtype, wanted, given):
    """What XLA allocates for a result; without x64, JAX has no 64 bits, and would hand over 32."""
    dtype = {kk}jax.numpy.dtype(dtype)
    count = dtype.itemsize
    for size in shape:
        count = count * size if {kk}isinstance(size, {kk}int) and size != 0 else count
    if count >= 2**63:
        sizes = ", ".join(f"{{key}} = {{value}}" for key, value in given.items())
        shown = ", ".join({kk}map({kk}str, shape))
        raise {kk}ValueError(f"{{op}}(): {{name}}: shape [{{shown}}], which is {{wanted}}{{' with ' * {kk}bool(sizes)}}{{sizes}}, "
                         "has more than 2^63 - 1 bytes")
    if {kk}jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise {kk}ValueError(f"{{op}}(): {{name}}: dtype {{dtype.name}} needs jax_enable_x64")
    return {kk}jax.ShapeDtypeStruct(shape, dtype)


def {kk}call(op, results, tensors, vmap, aliases, given, attributes):
    """Calls the target: results of an op with one are that one. `tensors` may be None."""
    operands = [tensor for tensor in tensors if tensor is not None]
    target = {kk}jax.ffi.ffi_call(f"{package}.{{op}}", results, vmap_method=vmap, input_output_aliases=aliases)
    if given is not None:
        attributes["?given"] = given
    found = target(*operands, **attributes)
    axes = {kk}axes(operands[0]) if operands else ()
    if axes:  # ffi_call knows nothing of them
        found = [{kk}jax.lax.pcast(result, {kk}tuple(axes), to="varying") for result in found]
    return found[0] if {kk}len(found) == 1 else {kk}tuple(found)


def {kk}value(primal):
    return None if primal is None else primal.value


def {kk}no_formula(op, inputs):
    for name, primal in inputs.items():
        if {kk}getattr(primal, "perturbed", False):
            raise {kk}ValueError(f"{{op}}(): {{name}}: its backward computes no gradient of it: use jax.lax.stop_gradient()")


def {kk}dense(gradient):
    """Zeros for an output that nothing depends on."""
    if {kk}isinstance(gradient, {kk}jax.custom_derivatives.SymbolicZero):
        return {kk}jax.numpy.zeros(gradient.shape, gradient.dtype)
    return gradient
'''
