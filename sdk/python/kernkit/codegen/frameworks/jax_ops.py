# SPDX-License-Identifier: Apache-2.0
"""Writes _jax.py, which has a JAX function for each op of a library, made from the shapes in the
op's schema line.

XLA allocates results before the call, so the parameters of a function are the inputs of the op, and the function
returns the outputs.
"""

import json
import pathlib
from typing import Dict, List, Optional

from ...binaries.elf import exported_symbols
from ...binaries.ops import read_named
from ...schema import Op, Value
from .backward import Backward
from .jax_head import HEAD
from .module import Written, module
from .op_codegen import OpCodegen

_NOT_FOR_JAX = {"bytes", "Callable", "Any"}
# Dtypes that kernkit/shapes/xla_dtype.h supports.
_DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 complex64 complex128 float8_e3m4 "
    "float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
).split()


class JaxCodegen(OpCodegen):
    """Writes the JAX functions of one op."""

    def why_not(self) -> str:
        """Returns the reason why the module has no JAX function for the op, or "" if the module has a function."""
        if not self._results():
            return "the op has neither a written tensor nor a result"
        for value in self.op.results:
            if value.type != "Tensor" or value.is_list or value.is_optional:
                return "a result is not a tensor, or is an optional tensor or a list"
            if value.shape is None or value.has_any_dtype or not (value.dtype or self.shapes.like):
                return "the schema line has no shape of a result, or does not determine the dtype of a result"
        for value in self.shapes.values:
            for dtype in self.shapes.dtypes(value):
                if dtype not in _DTYPES:
                    return f"XLA has no dtype {dtype}, which the schema line names for {value.name}"
        for value in self.op.parameters:
            if value.type in _NOT_FOR_JAX or value.is_list:
                return f"XLA does not support the type {value.type}{'[]' * value.is_list}"
        for value in self.op.parameters:
            if value.is_written and (value.is_optional or (value.is_only_written and value.shape is None)):
                return f"the output {value.name} is optional, or has no shape in the schema line"
        return ""

    def _framework_dtype(self, dtype: str) -> str:
        return f'"{dtype}"'

    def _like(self, value: Value) -> str:
        if value.dtype:
            return self._dtype(value)
        return f"{self._first(self.shapes.like)}.dtype" if self.shapes.like else "None"

    def _results(self) -> List[Value]:
        """Returns the values that XLA allocates: the written parameters and the results of the op."""
        return [v for v in self.op.parameters if v.is_written] + self.op.results

    def _result(self, value: Value) -> str:
        name = self.names[value.name]
        if value.is_only_written or not value.is_written:
            return f'{self.kk}new("{self.op.name}", "{value.name}", {self._shape(value)}, {self._like(value)}, "{self._expected_shape(value)}", {self._caller_sizes(value)})'
        return f"{self.kk}jax.ShapeDtypeStruct({name}.shape, {name}.dtype)"

    def _in_range(self, text: str, limit: str) -> str:
        """Returns the Python source of a condition: the size `text` is within `limit`, such as "> 0". The condition is
        true for symbolic sizes of jax.export, which have no value to compare."""
        return f"(not {self.kk}isinstance({text}, {self.kk}int) or {text} {limit})"

    def _caller_sizes(self, value: Value) -> str:
        """Returns the Python source of a dict {name: argument} with the names in the value's shape whose sizes the
        caller passes as ints."""
        names = dict.fromkeys(name for size in self.shapes.sizes_of(value) or [] for name in size.names)
        named = [name for name in names if name in self.shapes.ints or self.shapes.is_caller_sized(name)]
        return "{" + ", ".join(f"{name!r}: {self.names[name]}" for name in named) + "}"

    def _attribute(self, value: Value) -> str:
        """Returns the Python source of the attribute that passes a parameter to XLA. The attribute has the parameter's
        type even if the argument is None."""
        name = self.names[value.name]
        kinds = {kind: f"{self.kk}{kind}({name})" for kind in ("int", "float", "bool", "str")}
        kinds.update({"ScalarType": f"{self.kk}dtype({name})", "Device": f"{self.kk}str({name})"})
        empty = {"int": "0", "float": "0.0", "bool": "False"}.get(value.type, '""')
        return f"{empty} if {name} is None else {kinds[value.type]}" if value.is_optional else kinds[value.type]

    def parameters(self) -> List[str]:
        """Returns the Python names of the function's parameters, in order."""
        return [self.names[v.name] for v in self.inputs] + [text.split()[-1] for text in self._caller_parameters()]

    def _arrays(self, tensors: List[Value]) -> List[str]:
        names = ", ".join(self.names[v.name] for v in tensors)
        return [f"    {names}, = {self.kk}arrays({names})"] * bool(names)

    def body(self) -> List[str]:
        tensors = [v for v in self.inputs if v.type == "Tensor"]
        values = self._results()
        attributes = [v for v in self.inputs if v.type != "Tensor"]
        lines = self._arrays(tensors)
        lines += self.ranks(tensors) + self.binds(False) + self.sizes(tensors)
        for name in dict.fromkeys(name for v in self.out for name in self.shapes.caller_sized(v)):
            lines.append(f'    {self.kk}size("{self.op.name}", "{name}", {self.names[name]})')
        lines += [line for v in self.out + self.op.results for line in self.output_sizes(v)]
        presence = [f"({self.names[v.name]} is not None) << {i}" for i, v in enumerate(self.op.parameters) if v.is_optional]
        results = "".join(f"{self._result(v)}, " for v in values).rstrip()
        before = {v.name: [w for w in tensors[: tensors.index(v)]] for v in tensors if v.is_written}
        aliases = ", ".join(f"{self._operand_index(before[v.name])}: {i}" for i, v in enumerate(values) if v.name in before)
        vmap = "broadcast_all" if self.is_batched() else "sequential"
        call = [f'"{self.op.name}"', f"({results})", f"({', '.join([self.names[v.name] for v in tensors] + [''])})".replace(", )", ",)"),
                f'"{vmap}"', "{" + aliases + "}", " | ".join(presence) or "None",
                f"{{{', '.join(f'{v.name!r}: {self._attribute(v)}' for v in attributes)}}}"]  # fmt: skip
        return [*lines, f"    return {self.kk}call({', '.join(call)})"]

    def _operand_index(self, before: List[Value]) -> str:
        """Returns the Python source of the operand index of the tensor that follows the tensors `before`. A tensor that
        is None is not an operand."""
        sure = sum(not v.is_optional for v in before)
        maybe = [f"({self.names[v.name]} is not None)" for v in before if v.is_optional]
        return " + ".join([str(sure), *maybe])

    def _documented(self, lines: List[str]) -> List[str]:
        text = self.op.doc + "\n\n" * bool(self.op.doc) + self.op.line
        signature = self._signature(self.inputs, self._caller_parameters())
        return ["", "", f"def {self.function}({signature}):", f"    {text!r}", *lines]

    def _register(self) -> List[str]:
        return ["", "", f'{self.kk}register("{self.op.name}")']

    def function_lines(self) -> List[str]:
        return [*self._documented(self.body()), *self._register()]

    def with_gradient(self, backward: Backward, function: str) -> List[str]:
        """Returns the source lines of the op's JAX function with a custom backward. `function`: name of the JAX
        function that computes the gradients."""
        kk, name, names, own = self.kk, self.op.name, self.parameters(), self._helper_name
        tensors = [v for v in self.inputs if v.type == "Tensor"]
        static = [i for i, text in enumerate(names) if text not in {self.names[v.name] for v in tensors}]
        order = [names[i] for i in static]
        bare = [f"def {own('call')}({', '.join(names)}):", *self.body()]
        wrapped = f"{kk}functools.partial({kk}jax.custom_vjp, nondiff_argnums={tuple(static)})"
        without = [f"{v.name!r}: {self.names[v.name]}" for v in backward.without()]
        forward = [f"    {kk}no_formula({name!r}, {{{', '.join(without)}}})"] * bool(without)
        # no_formula() needs symbolic_zeros=True, with which JAX also passes whether an input needs a gradient.
        # shard_map does not support symbolic_zeros, so the option is used only if an input has no gradient.
        forward += [f"    {self.names[v.name]} = {kk}value({self.names[v.name]})" for v in tensors if without]
        forward.append(f"    {kk}results = {own('call')}({', '.join(names)})")
        outputs = [self.names[v.name] for v in backward.outputs]
        forward.append(f"    {', '.join(outputs)}, = {kk}results" if len(outputs) > 1 else f"    {outputs[0]} = {kk}results")
        saved = "".join(f"{self.names[v.name]}, " for v in backward.saved()).rstrip()
        forward.append(f"    return {kk}results, ({saved})")
        body = [f"    {saved} = {kk}saved"] * bool(saved)
        gradients = [f"{kk}grad_{v.name}" for v in backward.outputs]
        body.append(f"    {', '.join(gradients)}, = {kk}gradient if {kk}isinstance({kk}gradient, ({kk}tuple, {kk}list)) else ({kk}gradient,)")
        residuals = {v.name for v in self.inputs + backward.outputs}
        arguments = [self.names[v.name] if v.name in residuals else f"{kk}dense({kk}{v.name})" for v in backward.backward.inputs]
        results = [f"{kk}{v.name}" for v in backward.results]
        body.append(f"    {', '.join(results)} = {function}({', '.join(arguments)})")
        returned = []
        for value in tensors:
            gradient = backward.gradient_of(value)
            condition = f" if {self.names[value.name]} is not None else None" * value.is_optional
            returned.append(f"{kk}{gradient}{condition}" if gradient else "None")
        body.append(f"    return ({''.join(text + ', ' for text in returned).rstrip()})")
        return [
            "", "", f"@{wrapped}", *bare, "", "", f"def {own('forward')}({', '.join(names)}):", *forward,
            "", "", f"def {own('backward')}({', '.join([*order, kk + 'saved', kk + 'gradient'])}):", *body,
            "", "", f"{own('call')}.defvjp({own('forward')}, {own('backward')}, symbolic_zeros={bool(without)})",
            *self._documented([*self._arrays(tensors), f"    return {own('call')}({', '.join(names)})"]),
            *self._register(),
        ]  # fmt: skip

    def written(self, backward: Optional[Backward]) -> Written:
        """Returns the source lines of the op's JAX functions, or the reason why the op cannot have them."""
        if self.why_not():
            return f"function for JAX: {self.why_not()}"
        return (self.with_gradient(backward, backward.backward.function) if backward else self.function_lines())[2:]


def source(package: str, library: pathlib.Path, ops: List[Op], named: Dict[str, str]) -> str:
    """Returns the text of _jax.py. Raises SchemaError if an op cannot be the backward of another op."""
    exported = exported_symbols(library)
    # {op: name of the op's first parameter that is an owning Tensor}.
    owners = read_named(library, "kernkit_owner")

    def write(codegen: JaxCodegen, backward: Optional[Backward]) -> Written:
        if f"kernkit_xla_cpu_{codegen.op.name}" not in exported and not codegen.why_not():
            return "function for JAX: the op was exported without kernkit/shapes/export.h"
        if codegen.op.name in owners and not codegen.why_not():
            return (f"function for JAX: {owners[codegen.op.name]} takes an owning Tensor, and XLA's memory is valid for one call: "
                    "take a TensorView")  # fmt: skip
        return codegen.written(backward)

    return module(HEAD, ops, named, JaxCodegen, write, package=package, file=json.dumps(library.name))
