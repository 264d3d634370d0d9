# SPDX-License-Identifier: Apache-2.0
"""Writes _torch.py, which has a PyTorch operator for each op of a library, made from the shapes in
the op's schema line.

An operator has the signature of its op, and a fake kernel. An op with outputs that are never read has a second form,
`functional`, which allocates and returns the outputs. In a graph of torch.compile the operators replace the functions
of _ops.py.
"""

import json
import math
from typing import Dict, List, Optional, Tuple

from ...schema import Op, Value
from ..python_names import default_of
from .backward import Backward
from .module import Written, module
from .op_codegen import OpCodegen
from .torch_head import HEAD

_NOT_FOR_TORCH = {"bytes", "Callable", "Any"}
# Attributes of every torch.ops.NAMESPACE. No operator can have one of these names.
_OF_NAMESPACES = ("name", "_dir")
# {dtype: its number in c10/core/ScalarType.h}. The numbers are stable, because files that torch writes contain them.
_DTYPE_NUMBERS = {
    "uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5, "float32": 6, "float64": 7, "complex32": 8,
    "complex64": 9, "complex128": 10, "bool": 11, "bfloat16": 15, "float8_e5m2": 23, "float8_e4m3fn": 24,
    "float8_e5m2fnuz": 25, "float8_e4m3fnuz": 26, "uint16": 27, "uint32": 28, "uint64": 29, "float8_e8m0fnu": 44,
}  # fmt: skip
# PyTorch's schema parser rejects the defaults inf, -inf and nan. A float with one of these defaults has the type
# "float?" and the default None. An optional float with one of these defaults has the type "Scalar?" and the default
# _NO_FLOAT, a complex number that no caller passes.
_NO_FLOAT = "1j"


def _not_finite(value: Value) -> bool:
    """Returns whether the value's default is inf, -inf or nan."""
    return value.type == "float" and value.default not in (None, "None") and not math.isfinite(float(value.default or ""))


def _torch_default(value: Value) -> str:
    """Returns the default of a parameter in the notation of PyTorch's schema parser."""
    text = value.default or ""
    if text == "None":
        return text
    if value.type == "ScalarType":
        return str(_DTYPE_NUMBERS[text])
    if value.type == "int":
        return str(int(text))
    if value.type == "float":
        if _not_finite(value):
            return _NO_FLOAT if value.is_optional else "None"
        return repr(float(text))
    if value.type == "str":
        plain = "".join(c if c.isprintable() and c not in "'\\" else "".join(f"\\{byte:03o}" for byte in c.encode()) for c in text[1:-1])
        return f"'{plain}'"
    return text


class TorchCodegen(OpCodegen):
    """Writes the PyTorch operators of one op."""

    def __init__(self, op: Op, function: str, namespace: str) -> None:
        super().__init__(op, function)
        self.namespace = namespace

    def why_not(self) -> str:
        """Returns the reason why the op cannot have a PyTorch operator, or "" if it can."""
        if self.function in _OF_NAMESPACES:
            return f"torch.ops.{self.namespace}.{self.function} is an attribute of each namespace of torch"
        for value in self.shapes.values:
            for dtype in self.shapes.dtypes(value):
                if dtype not in _DTYPE_NUMBERS:
                    return f"torch has no dtype {dtype}, which the schema line names for {value.name}"
            if value.type in _NOT_FOR_TORCH:
                return f"torch has no type {value.type}"
            if value.type == "ScalarType" and value.default not in (None, "None", *_DTYPE_NUMBERS):
                return f"torch has no dtype {value.default}, the default of {value.name}"
        for result in self.op.results:
            if result.type != "Tensor":
                return "a result that is not a tensor would break the graph of torch.compile"
            if result.is_list or result.is_optional or result.shape is None:
                return "a result is optional, a list, or without a shape in the schema line"
            if result.has_any_dtype:
                return "the schema line does not determine the dtype of a result"
            if self.shapes.like is None:
                return "no tensor determines the device of the results"
        return ""

    def _packet(self) -> str:
        """Returns the Python source that finds the operator in torch.ops. The operator has the name of the op's
        function in _ops.py."""
        return f"{self.kk}torch.ops.{self.namespace}.{self.function}"

    # Schemas and signatures.

    def _type(self, value: Value, letters: Dict[str, str]) -> Tuple[str, str]:
        """Returns (type, default) of a parameter in the notation of PyTorch's schema parser. The default is "" or
        begins with "="."""
        kind = value.type
        sizes = {name for v in self.shapes.values for size in self.shapes.sizes_of(v) or [] for name in size.names}
        if kind == "int" and value.name in sizes:
            kind = "SymInt"
        if value.name in letters:
            kind += f"({letters[value.name]}!)"
        kind += "[]" * value.is_list
        if _not_finite(value) and value.is_optional:
            kind = "Scalar"
        optional = "?" * (value.is_optional or _not_finite(value))
        return kind + optional, "" if value.default is None else f"={_torch_default(value)}"

    def _schema(self, name: str, parameters: List[Value], results: List[str], extra: List[str]) -> str:
        written = [v for v in parameters if v.is_written]
        letters = {v.name: chr(ord("a") + i) for i, v in enumerate(written)}
        texts = []
        for value in parameters:
            kind, default = self._type(value, letters)
            texts.append(f"{kind} {self.names[value.name]}{default}")
        texts += ["*"] * bool(extra) + extra
        result = "Tensor" if len(results) == 1 else f"({', '.join(results)})"
        return f"{name}({', '.join(texts)}) -> {result}"

    def _default(self, value: Value) -> str:
        if value.type == "ScalarType" and value.default != "None":
            return self._framework_dtype(value.default or "")
        return default_of(value)

    def _framework_dtype(self, dtype: str) -> str:
        return f"{self.kk}torch.{dtype}"

    def _new(self, value: Value) -> str:
        """Returns the Python source that allocates an uninitialised tensor of the shape and dtype that the schema line
        gives for `value`."""
        like = self._first(self.shapes.like) if self.shapes.like else ""
        dtype = f", dtype={self._dtype(value)}" if value.dtype else ""
        return f"{like}.new_empty({self._shape(value)}{dtype})"

    def _call_argument(self, value: Value) -> str:
        """Returns the Python source of the value of a parameter. For a parameter whose default is inf, -inf or nan, the
        source replaces the default in PyTorch's schema, None or _NO_FLOAT, by the default in the op's schema line."""
        name = self.names[value.name]
        if not _not_finite(value):
            return name
        default = f'{self.kk}float("{value.default}")'
        if value.is_optional:
            return f"{default} if {self.kk}isinstance({name}, {self.kk}complex) and {name} == {_NO_FLOAT} else {name}"
        return f"{default} if {name} is None else {name}"

    def _arguments(self) -> str:
        texts = []
        for value in self.op.parameters:
            name = self._call_argument(value)
            if value.type == "ScalarType" and not value.is_list:
                name = f"{self.kk}names.get({name}, {name})"
            if value.type == "Device":
                name = f"{self.kk}tvm_ffi.device({self.kk}str({name}))"
                name = f"None if {self.names[value.name]} is None else {name}" if value.is_optional else name
            texts.append(name)
        return ", ".join(texts)

    def _reject_gradient(self, values: List[Value], how: str) -> List[str]:
        conditions = []
        for value in values:
            name = self.names[value.name]
            if value.type != "Tensor":
                continue
            if value.is_list:
                conditions.append(f"{self.kk}any({self.kk}e.requires_grad for {self.kk}e in {name}{' or ()' * value.is_optional})")
            else:
                conditions.append(f"({name} is not None and {name}.requires_grad)" if value.is_optional else f"{name}.requires_grad")
        if not conditions:
            return []
        return [f"    if {self.kk}grad() and ({' or '.join(conditions)}):", f'        {self.kk}no_gradient("{self.op.name}", "{how}")']

    def _wrote(self, values: List[Value]) -> List[str]:
        always = [f"{'*' * v.is_list}{self.names[v.name]}" for v in values if not v.is_optional]
        lines = [f"    {self.kk}wrote(({', '.join(always)},))"] * bool(always)
        for value in values:
            if value.is_optional:
                name = self.names[value.name]
                lines += [f"    if {name} is not None:", f"        {self.kk}wrote(({'*' * value.is_list}{name},))"]
        return lines

    def default(self) -> List[str]:
        """Returns the source lines of the operator that has the op's own signature."""
        op, all_of_them = self.op, self.op.parameters
        written = [v for v in self.tensors if v.is_written]
        how = "what is written has no gradient" if written else "has no gradient in torch; register_autograd adds one"
        reject = self._reject_gradient(self.tensors, how)
        call = f"{self._helper_name('bare')}({self._arguments()})"
        call = f"return {self.kk}tuple({call})" if len(op.results) > 1 else f"return {call}" if op.results else call
        results = [self._new(v) for v in op.results]
        fake = reject + self.ranks(self.tensors) + self.binds(True) + self.sizes(self.tensors)
        fake += [line for v in op.results for line in self.output_sizes(v)]
        fake += [f"    return {', '.join(results)}"] if results else []
        schema = self._schema(self.function, all_of_them, ["Tensor"] * len(op.results), [])
        return [
            "", "", f'{self._helper_name("bare")} = {self.kk}module.get_function("{op.name}")',
            *self._function("kernel", all_of_them, [], reject + [f"    {call}"] + self._wrote(written)),
            *self._function("fake", all_of_them, [], fake),
            "", "", f'{self.kk}define({schema!r}, {self._helper_name("kernel")}, {self._helper_name("fake")}, {self.is_each()})',
        ]  # fmt: skip

    def functional(self) -> List[str]:
        """Returns the source lines of the form `functional`, which allocates and returns the outputs that the op writes
        and never reads."""
        extra = self._caller_parameters()
        how = "has no gradient in torch; register_autograd adds one"
        reject = self._reject_gradient(self.inputs, how)
        names = ", ".join(self.names[v.name] for v in self.out)
        results = ", ".join(self._new(v) for v in self.out)
        new = reject + self.ranks(self.inputs) + self.binds(False) + self.sizes(self.inputs)
        new += [line for v in self.out for line in self.output_sizes(v)] + [f"    return {results}"]
        passed = [self.names[v.name] for v in self.inputs] + [f"{text.split()[-1]}={text.split()[-1]}" for text in extra]
        kernel = [f"    {names} = {self._helper_name('new')}({', '.join(passed)})"]
        kernel += [f"    {self._helper_name('bare')}({self._arguments()})"]
        kernel += self._wrote([v for v in self.inputs if v.is_written]) + [f"    return {names}"]
        schema = self._schema(f"{self.function}.functional", self.inputs, ["Tensor"] * len(self.out), extra)
        return [
            *self._function("new", self.inputs, extra, new),
            *self._function("functional", self.inputs, extra, kernel),
            "", "", f'{self.kk}define({schema!r}, {self._helper_name("functional")}, {self._helper_name("new")}, {self.is_each()})',
        ]  # fmt: skip

    def in_graph(self) -> List[str]:
        names = ", ".join(self.names[v.name] for v in self.op.parameters)
        lines = [f"    return {self._packet()}.default({names})"]
        written = self._function("in_graph", self.op.parameters, [], lines)
        written[2:2] = [f"@{self.kk}in_graph({self.kk}ops.{self.function})"]
        return written

    def gradient(self, backward: Backward) -> List[str]:
        """Returns the source lines of the autograd formula for the form of the op that allocates its results."""
        kk, form = self.kk, "default" if self.op.results else "functional"
        name, inputs, entry = self.op.name, self.inputs, backward.backward
        names = {v.name: self.names[v.name] for v in inputs + backward.outputs}
        saved, scalars = [names[v.name] for v in backward.saved()], [names[v.name] for v in backward.scalars()]
        scalar_names = [self._call_argument(v) for v in backward.scalars()]
        outputs = [names[v.name] for v in backward.outputs]
        without = [v.name if v in backward.without() else "" for v in inputs]
        # PyTorch passes ctx, inputs and output by keyword. The generated function renames them, because a parameter
        # of the op can have the same name.
        setup = [f"    {kk}ctx, {kk}inputs, {kk}output = ctx, inputs, output"]
        setup += [f"    {kk}no_formula({name!r}, {kk}ctx.needs_input_grad, {without})"] if any(without) else []
        setup += [f"    {', '.join(names[v.name] for v in inputs)}, = {kk}inputs"]
        setup += [f"    {', '.join(outputs)}, = {kk}output" if len(outputs) > 1 else f"    {outputs[0]} = {kk}output"]
        setup += [f"    {kk}ctx.save_for_backward({', '.join(saved)})", f"    {kk}ctx.{kk}scalars = ({', '.join(scalar_names + [''])})"]
        arguments = []
        for value in entry.inputs:
            is_gradient = value.name not in {v.name for v in inputs + backward.outputs}
            arguments.append(f"{kk}{value.name}.contiguous()" if is_gradient else names[value.name])
        results = [f"{kk}{v.name}" for v in backward.results]
        call = f"{entry._packet()}.{'default' if entry.op.results else 'functional'}"
        formula = [f"    {', '.join(saved)}, = {kk}ctx.saved_tensors"] * bool(saved)
        formula += [f"    {', '.join(scalars)}, = {kk}ctx.{kk}scalars"] * bool(scalars)
        call = f"{call}({', '.join(arguments)})"
        formula += [f"    {', '.join(results)} = {call}"]
        returned = []
        for value in inputs:
            gradient = backward.gradient_of(value)
            text = f"{kk}{gradient}" if gradient else "None"
            returned.append(f"{text} if {names[value.name]} is not None else None" if gradient and value.is_optional else text)
        formula.append(f"    return {', '.join(returned)}")
        gradients = "".join(f", {kk}grad_{v.name}" for v in backward.outputs)
        return ["", "", f"def {self._helper_name('setup')}(ctx, inputs, output, keyword_only_inputs=None):", *setup,
                "", "", f"def {self._helper_name('formula')}({kk}ctx{gradients}):", *formula,
                "", "", f'{kk}torch.library.register_autograd("{self.namespace}::{self.function}{"" if form == "default" else ".functional"}", '
                f"{self._helper_name('formula')}, setup_context={self._helper_name('setup')}, lib={kk}library)"]  # fmt: skip

    def written(self, backward: Optional[Backward]) -> Written:
        """Returns the source lines of the op's operators, or the reason why the op cannot have them."""
        if self.why_not():
            return f"operator of torch: {self.why_not()}"
        lines = [*self.default()[2:], *(self.functional() if self.has_functional() else []), *self.in_graph()]
        lines += self.gradient(backward) if backward else []
        return [*lines, "", "", f"{self.function} = {self._packet()}"]


def source(package: str, library: str, namespace: str, ops: List[Op], named: Dict[str, str]) -> str:
    """Returns the text of _torch.py. Raises SchemaError if an op cannot be the backward of another op."""
    return module(HEAD, ops, named, TorchCodegen, TorchCodegen.written, namespace,
                  package=package, namespace=namespace, file=json.dumps(library))  # fmt: skip
