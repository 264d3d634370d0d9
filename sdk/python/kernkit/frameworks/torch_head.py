# SPDX-License-Identifier: Apache-2.0
"""What stands in every _torch.py, in front of its operators."""

HEAD = '''"""The ops of {package} for PyTorch: torch.ops.{namespace}. Written by kernkit from the library; not to be changed."""

import os as {kk}os

import torch as {kk}torch
import tvm_ffi as {kk}tvm_ffi

from . import _ops as {kk}ops

__all__ = [
{listed}]

# The operators live as long as this object.
{kk}library = {kk}torch.library.Library("{namespace}", "FRAGMENT")
{kk}grad = {kk}torch.is_grad_enabled
# What it wraps takes 0.3 us less of a call.
{kk}wrote = getattr({kk}torch._C, "_increment_version", {kk}torch.autograd.graph.increment_version)
{kk}module = {kk}tvm_ffi.load_module({kk}os.path.join({kk}os.path.dirname(__file__), {file}))

# tvm_ffi converts torch's dtypes except these.
{kk}complex = {{getattr({kk}torch, name): name for name in ("complex32", "complex64", "complex128")}}


def {kk}define(schema, kernel, fake):
    name = schema[: schema.index("(")]
    tags = ({kk}torch.Tag.pt2_compliant_tag, {kk}torch.Tag.needs_contiguous_strides)
    {kk}library.define(schema, tags=tags)
    for key in ("CPU", "CUDA"):
        {kk}library.impl(name, kernel, key)
    {kk}torch.library.register_fake(f"{{{kk}library.ns}}::{{name}}", fake, lib={kk}library)
    for key in ("Conjugate", "Negative"):
        {kk}library.impl(name, {kk}resolved(name), key)


def {kk}resolved(name):
    """The kernel for lazily conjugate and negative tensors: resolves what is read. An error for what is written."""

    def resolve(op, argument, value):
        if isinstance(value, (list, tuple)):
            return [resolve(op, argument, one) for one in value]
        if not isinstance(value, {kk}torch.Tensor) or not (value.is_conj() or value.is_neg()):
            return value
        if argument.is_write:
            raise ValueError(f"{{op._schema.name.partition('::')[2]}}(): {{argument.name}}: is lazily conjugate or negative, and an op "
                             "writes memory as it is; pass what resolve_conj() and resolve_neg() return")
        return value.resolve_conj().resolve_neg()

    def kernel(*given, **options):
        packet, _, overload = name.partition(".")
        op = getattr(getattr(getattr({kk}torch.ops, {kk}library.ns), packet), overload or "default")
        arguments = {{argument.name: argument for argument in op._schema.arguments}}
        given = [resolve(op, argument, value) for argument, value in zip(arguments.values(), given)]
        return op(*given, **{{key: resolve(op, arguments[key], value) for key, value in options.items()}})

    return kernel


def {kk}no_gradient(op, how):
    raise RuntimeError(f"{{op}}(): {{how}}: use torch.no_grad() or detach() where no gradient is wanted")


def {kk}fits(holds, op, name, tensor, wanted):
    """In a trace, holds may be a condition on sizes that are not known."""
    {kk}torch._check(holds, lambda: f"{{op}}(): {{name}}: shape {{list(tensor.shape)}} does not match {{wanted}}")


def {kk}divides(holds, op, name, size):
    {kk}torch._check(holds, lambda: f"{{op}}(): {{name}}: {{size}} is no whole number")


def {kk}has_items(tensors, op, name, what):
    {kk}torch._check(len(tensors) > 0, lambda: f"{{op}}(): {{name}}: is empty; its first tensor says what {{what}} is")


def {kk}batched(op):
    """The rule of vmap for an op whose tensors all begin with the same sizes: one call."""

    def rule(info, in_dims, *arguments, **options):
        moved = []
        for dim, argument in zip(in_dims, arguments):
            if isinstance(argument, {kk}torch.Tensor):
                argument = argument.expand(info.batch_size, *argument.shape) if dim is None else argument.movedim(dim, 0)
                argument = argument.contiguous()
            moved.append(argument)
        results = op(*moved, **options)
        return results, (0,) * len(results) if isinstance(results, tuple) else 0

    {kk}torch.library.register_vmap(op, rule, lib={kk}library)


def {kk}no_formula(op, needed, names):
    for needs, name in zip(needed, names):
        if needs and name:
            raise RuntimeError(f"{{op}}(): {{name}}: its backward computes no gradient of it: use detach()")
'''
