# SPDX-License-Identifier: Apache-2.0
"""The beginning of every _torch.py, before its operators."""

HEAD = '''"""The ops of {package} for PyTorch: torch.ops.{namespace}. Written by kernkit from the library; not to be changed."""

{builtins}
import os as {kk}os
import sys as {kk}sys

import torch as {kk}torch
import tvm_ffi as {kk}tvm_ffi

# The attribute _ops of the package may be an op.
from ._ops import __name__ as {kk}name

{kk}ops = {kk}sys.modules[{kk}name]

__all__ = [
{listed}]

# Where this module is reloaded, the operators of before end first.
if "{kk}library" in {kk}globals():
    {kk}library._destroy()
# The operators live as long as this object.
{kk}library = {kk}torch.library.Library("{namespace}", "FRAGMENT")
{kk}grad = {kk}torch.is_grad_enabled
# What it wraps takes 0.3 us less of a call.
{kk}wrote = {kk}getattr({kk}torch._C, "_increment_version", {kk}torch.autograd.graph.increment_version)
{kk}module = {kk}tvm_ffi.load_module({kk}os.path.join({kk}os.path.dirname(__file__), {file}))

# tvm_ffi converts torch's dtypes except these.
{kk}names = {{{kk}getattr({kk}torch, name): name for name in ("complex32", "complex64", "complex128")}}


def {kk}define(schema, kernel, fake, is_each):
    name = schema[: schema.index("(")]
    tags = ({kk}torch.Tag.pt2_compliant_tag, {kk}torch.Tag.needs_contiguous_strides)
    {kk}library.define(schema, tags=tags)
    for key in ("CPU", "CUDA"):
        {kk}library.impl(name, kernel, key)
    {kk}torch.library.register_fake(f"{{{kk}library.ns}}::{{name}}", fake, lib={kk}library)
    for key in ("Conjugate", "Negative"):
        {kk}library.impl(name, {kk}resolved(name), key)
    {kk}vmap({kk}overload(name), is_each)


def {kk}overload(name):
    packet, _, overload = name.partition(".")
    return {kk}getattr({kk}getattr({kk}getattr({kk}torch.ops, {kk}library.ns), packet), overload or "default")


def {kk}in_graph(function):
    """A decorator: what a graph has in place of a plain function. A function is replaced once, also where this module is reloaded:
    what replaces it finds the operator by its name."""
    if {kk}getattr(function, "{kk}in_graph", False):
        return lambda replacement: replacement
    function.{kk}in_graph = True
    return {kk}torch.compiler.substitute_in_graph(function, skip_signature_check=True)


def {kk}resolved(name):
    """The kernel for lazily conjugate and negative tensors: resolves what is read. An error for what is written."""

    def resolve(op, argument, value):
        if {kk}isinstance(value, ({kk}list, {kk}tuple)):
            return [resolve(op, argument, one) for one in value]
        if not {kk}isinstance(value, {kk}torch.Tensor) or not (value.is_conj() or value.is_neg()):
            return value
        if argument.is_write:
            raise {kk}ValueError(f"{{op._schema.name.partition('::')[2]}}(): {{argument.name}}: is lazily conjugate or negative, and an op "
                             "writes memory as it is; pass what resolve_conj() and resolve_neg() return")
        return value.resolve_conj().resolve_neg()

    def kernel(*given, **options):
        op = {kk}overload(name)
        arguments = {{argument.name: argument for argument in op._schema.arguments}}
        given = [resolve(op, argument, value) for argument, value in {kk}zip(arguments.values(), given)]
        return op(*given, **{{key: resolve(op, arguments[key], value) for key, value in options.items()}})

    return kernel


def {kk}no_gradient(op, how):
    raise {kk}RuntimeError(f"{{op}}(): {{how}}: use torch.no_grad() or detach() where no gradient is wanted")


def {kk}fits(holds, op, name, tensor, wanted):
    """In a trace, holds may be a condition on sizes that are not known."""
    {kk}torch._check(holds, lambda: f"{{op}}(): {{name}}: shape {{{kk}list(tensor.shape)}} does not match {{wanted}}")


def {kk}holds(holds, op, name, text):
    {kk}torch._check(holds, lambda: f"{{op}}(): {{name}}: {{text}}")


def {kk}has_items(tensors, op, name, what):
    {kk}torch._check({kk}len(tensors) > 0, lambda: f"{{op}}(): {{name}}: is empty; its first tensor says what {{what}} is")


def {kk}ready(value, is_written, back):
    """A tensor as ops take it, contiguous. A copy of what the op writes is noted in `back`."""
    if {kk}isinstance(value, ({kk}list, {kk}tuple)):
        return [{kk}ready(item, is_written, back) for item in value]
    if not {kk}isinstance(value, {kk}torch.Tensor) or value.is_contiguous():
        return value
    copy = value.contiguous()
    if is_written:
        back.append((value, copy))
    return copy


def {kk}called(op, arguments, options):
    """Calls an operator with tensors of any strides."""
    back = []
    written = [argument.is_write for argument in op._schema.arguments]
    results = op(*[{kk}ready(value, is_written, back) for value, is_written in {kk}zip(arguments, written)], **options)
    for value, copy in back:
        value.copy_(copy)
    return results


def {kk}with_dims(tensors, dim):
    """The tensors of a list, each with its batch dimension."""
    return {kk}zip(tensors, dim if {kk}isinstance(dim, ({kk}list, {kk}tuple)) else [dim] * {kk}len(tensors))


def {kk}item(value, dim, i):
    """Item i of a batch; of none, a tensor of zeros."""
    if {kk}isinstance(value, ({kk}list, {kk}tuple)):
        return [{kk}item(one, of_one, i) for one, of_one in {kk}with_dims(value, dim)]
    if dim is None:
        return value
    return value.select(dim, i) if value.shape[dim] != 0 else value.new_zeros([*value.shape[:dim], *value.shape[dim + 1:]])


def {kk}is_all_batched(value, dim):
    if {kk}isinstance(value, ({kk}list, {kk}tuple)):
        return {kk}all({kk}is_all_batched(one, of_one) for one, of_one in {kk}with_dims(value, dim))
    return dim is not None or not {kk}isinstance(value, {kk}torch.Tensor)


def {kk}vmap(op, is_each):
    """The rule of vmap: one call where all shapes begin with "each...", else one for each item of the batch."""

    def rule(info, in_dims, *arguments, **options):
        for argument, value, dim in {kk}zip(op._schema.arguments, arguments, in_dims):
            if argument.is_write and not {kk}is_all_batched(value, dim):
                raise {kk}RuntimeError(f"{{op._schema.name.partition('::')[2]}}(): {{argument.name}}: is written, and has no batch where "
                                   "another argument has; pass it through torch.vmap's in_dims")
        if is_each:
            moved = []
            for dim, value in {kk}zip(in_dims, arguments):
                if {kk}isinstance(value, {kk}torch.Tensor):
                    value = value.expand(info.batch_size, *value.shape) if dim is None else value.movedim(dim, 0)
                moved.append(value)
            results = {kk}called(op, moved, options)
        else:
            found = []
            for i in {kk}range(info.batch_size or 1):
                items = [{kk}item(value, dim, i) for value, dim in {kk}zip(arguments, in_dims)]
                found.append({kk}called(op, items, options))
            stack = {kk}torch.stack if info.batch_size else lambda all_of_them: all_of_them[0].new_empty([0, *all_of_them[0].shape])
            results = found[0]
            if {kk}isinstance(results, {kk}tuple):
                results = {kk}tuple(stack([one[k] for one in found]) for k in {kk}range({kk}len(results)))
            elif results is not None:
                results = stack(found)
        return results, (0,) * {kk}len(results) if {kk}isinstance(results, {kk}tuple) else None if results is None else 0

    {kk}torch.library.register_vmap(op, rule, lib={kk}library)


def {kk}no_formula(op, needed, names):
    for needs, name in {kk}zip(needed, names):
        if needs and name:
            raise {kk}RuntimeError(f"{{op}}(): {{name}}: its backward computes no gradient of it: use detach()")
'''
