# SPDX-License-Identifier: Apache-2.0
"""Write _torch.py: the ops of a library as operators of PyTorch, from the shapes in their lines.

Each op is defined as it is declared, with a fake kernel; ops that write what they never read have a
form that returns it as well, `functional`. The plain functions of _ops.py become the operators
in a graph of torch.compile, and stay what they are outside.
"""

import json
import re
from typing import Dict, List, Optional, Tuple

from ..bindings import default_of, python_names
from ..schema import Op, SchemaError, Value
from .shapes import DTYPES, Shapes, Size

_NOT_FOR_TORCH = {"bytes", "Callable", "Any"}
_TORCH_DEFAULTS = re.compile(
    r"None|True|False|-?\d+|-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|'[^'\\]*'|\"[^\"\\]*\"|"
    r"float(16|32|64)|bfloat16|u?int8|int(16|32|64)"
)

_HEAD = '''"""The ops of {package} for PyTorch: torch.ops.{namespace}. Written by kernkit from the library; not to be changed."""

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


def {kk}define(schema, kernel, fake):
    name = schema[: schema.index("(")]
    tags = ({kk}torch.Tag.pt2_compliant_tag, {kk}torch.Tag.needs_contiguous_strides)
    {kk}library.define(schema, tags=tags)
    for key in ("CPU", "CUDA"):
        {kk}library.impl(name, kernel, key)
    {kk}torch.library.register_fake(f"{{{kk}library.ns}}::{{name}}", fake, lib={kk}library)


def {kk}no_gradient(op, how):
    raise RuntimeError(f"{{op}}(): {{how}}: use torch.no_grad() or detach() where no gradient is wanted")


def {kk}fits(holds, op, name, tensor, wanted):
    """In a trace, holds may be a condition on sizes that are not known."""
    {kk}torch._check(holds, lambda: f"{{op}}(): {{name}}: shape {{list(tensor.shape)}} does not match {{wanted}}")


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


def {kk}ceil_div(a, b):
    return -(-a // b)


def {kk}round_up(a, b):
    return -(-a // b) * b


def {kk}numel(sizes):
    count = 1
    for size in sizes:
        count *= size
    return count
'''


class _Writer:
    """The operators of one op."""

    def __init__(self, op: Op, function: str, kk: str, namespace: str) -> None:
        self.op, self.function, self.kk, self.namespace = op, function, kk, namespace
        self.shapes = Shapes(op)
        # Parameters, sizes and results have one name each, whatever Python calls them.
        words = [v.name for v in op.parameters]
        for value in self.shapes.values:
            words += [name for size in self.shapes.of(value) or [] for name in size.names]
        self.names: Dict[str, str] = python_names(list(dict.fromkeys(words)))
        self.out = [v for v in op.parameters if v.is_only_written]
        self.inputs = [v for v in op.parameters if not v.is_only_written]
        # As the op checks them: what is read, then what is written only.
        self.tensors = [v for v in self.inputs + self.out if v.type == "Tensor"]

    # What torch can have of it.

    def why_not(self) -> str:
        """Why the op is no operator of torch, or ""."""
        for value in self.shapes.values:
            if value.type in _NOT_FOR_TORCH:
                return f"torch has no type {value.type}"
        for result in self.op.results:
            if result.type != "Tensor":
                return "a number that a kernel computes would end the graph"
            if result.is_list or result.is_optional or result.shape is None:
                return "the line does not say the shape of its result"
            if result.dtype == "?":
                return "the line does not say the dtype of its result"
            if self.shapes.like is None:
                return "no tensor says on which device its result is"
        return ""

    def has_functional(self) -> bool:
        plain = all(v.shape is not None and not v.is_list and not v.is_optional for v in self.out)
        return bool(self.out) and plain and self.shapes.like is not None and not self.op.results

    def is_batched(self) -> bool:
        """Whether a batch may stand in front of all shapes."""
        def begins(v: Value) -> bool:
            sizes = self.shapes.of(v) or []
            return bool(sizes) and sizes[0].kind == "run" and not v.is_list
        values = [v for v in self.shapes.values if v.type == "Tensor"]
        read_only = not any(v.is_written and not v.is_only_written for v in values)
        return read_only and all(map(begins, values)) and not any(s.has_run for v in values for s in self.shapes.of(v) or [])

    # Schemas and signatures.

    def _type(self, value: Value, letters: Dict[str, str]) -> Tuple[str, str]:
        """The type and the default, as torch's parser takes them."""
        kind = value.type
        sizes = {name for v in self.shapes.values for size in self.shapes.of(v) or [] for name in size.names}
        if kind == "int" and value.name in sizes:
            kind = "SymInt"
        if value.name in letters:
            kind += f"({letters[value.name]}!)"
        kind += "[]" * value.is_list
        default = value.default
        if default is not None and not self._says_default(value):
            return kind + "?", "=None"
        return kind + "?" * value.is_optional, "" if default is None else f"={default}"

    @staticmethod
    def _says_default(value: Value) -> bool:
        """torch's parser takes no inf and not every text and dtype."""
        return value.default is None or bool(_TORCH_DEFAULTS.fullmatch(value.default))

    def _schema(self, name: str, parameters: List[Value], results: List[str], asked: List[str]) -> str:
        written = [v for v in parameters if v.is_written]
        letters = {v.name: chr(ord("a") + i) for i, v in enumerate(written)}
        texts = []
        for value in parameters:
            kind, default = self._type(value, letters)
            texts.append(f"{kind} {self.names[value.name]}{default}")
        texts += ["*"] * bool(asked) + asked
        result = "Tensor" if len(results) == 1 else f"({', '.join(results)})"
        return f"{name}({', '.join(texts)}) -> {result}"

    def _signature(self, parameters: List[Value], asked: List[str]) -> str:
        texts = []
        for value in parameters:
            text = self.names[value.name]
            if value.default is not None:
                text += "=None" if not self._says_default(value) else f"={self._python_default(value)}"
            texts.append(text)
        return ", ".join(texts + ["*"] * bool(asked) + [text.split()[-1] for text in asked])

    def _python_default(self, value: Value) -> str:
        if value.type == "ScalarType" and value.default != "None":
            return f"{self.kk}torch.{value.default}"
        return default_of(value)

    def _asked(self) -> List[str]:
        """What the caller of the functional form says besides: sizes and dtypes."""
        sizes = [f"SymInt {self.names[name]}" for v in self.out for name in self.shapes.asked(v)]
        return list(dict.fromkeys(sizes)) + [f"ScalarType {self._dtype_name(v)}" for v in self.out if v.dtype == "?"]

    def _dtype_name(self, value: Value) -> str:
        return f"{self.names[value.name]}_dtype"

    # The bodies.

    def _python(self, text: str) -> str:
        """An expression of sizes, with the names that Python has for them."""
        text = re.sub(r"(?<![\w.])[A-Za-z]\w*", lambda word: self.names.get(word[0], word[0]), text)
        return re.sub(r"(?<!\w)_(ceil_div|round_up|numel|run)\b", rf"{self.kk}\1", text)

    def _wanted(self, value: Value) -> str:
        return "[" + ", ".join(size.text for size in self.shapes.of(value) or []) + "]"

    def _first(self, value: Value) -> str:
        return self.names[value.name] + "[0]" * value.is_list

    def _rank(self, value: Value, name: str) -> str:
        sizes = self.shapes.of(value) or []
        if self.shapes.run_place(value) < 0:
            return f"{name}.dim() == {len(sizes)}"
        return f"{name}.dim() >= {len(sizes) - 1}" if len(sizes) > 1 else ""

    def _run(self, value: Value, name: str) -> str:
        first = self.shapes.run_place(value)
        behind = len(self.shapes.of(value) or []) - 1 - first
        return f"{name}.shape[{first or ''}:{-behind or ''}]"

    def _fits(self, value: Value, name: str, holds: str, indent: str) -> str:
        said = f'"{value.name}"' if not value.is_list else f'f"{value.name}[{{{self.kk}i}}]"'
        return f'{indent}{self.kk}fits({holds}, "{self.op.name}", {said}, {name}, "{self._wanted(value)}")'

    def _each(self, value: Value, lines: List[str], indent: str) -> Tuple[str, str]:
        """Opens what is done with a tensor: (its name, the indent inside)."""
        name = self.names[value.name]
        if value.is_optional:
            lines.append(f"{indent}if {name} is not None:")
            indent += "    "
        if value.is_list:
            lines.append(f"{indent}for {self.kk}i, {self.kk}e in enumerate({name}):")
            return f"{self.kk}e", indent + "    "
        return name, indent

    def ranks(self, values: List[Value]) -> List[str]:
        lines: List[str] = []
        for value in values:
            if self.shapes.of(value) is not None and self._rank(value, ""):
                name, inside = self._each(value, lines, "    ")
                lines.append(self._fits(value, name, self._rank(value, name), inside))
        return lines

    def binds(self, with_outputs: bool) -> List[str]:
        """The sizes that tensors say, as variables."""
        lines = []
        for name, binder in self.shapes.binders.items():
            if not binder.is_sure or (binder.value.is_only_written and not with_outputs):
                continue
            factor = f" // {binder.factor}" if binder.factor > 1 else ""
            lines.append(f"    {self.names[name]} = {self._first(binder.value)}.shape[{binder.place}]{factor}")
        if self.shapes.run_of is not None:
            lines.append(f"    {self.kk}run = {self._run(self.shapes.run_of, self._first(self.shapes.run_of))}")
        return lines

    def sizes(self, values: List[Value]) -> List[str]:
        lines: List[str] = []
        for value in values:
            sizes = self.shapes.of(value)
            if not sizes:
                continue
            inner: List[str] = []
            name, inside = self._each(value, inner, "    ")
            opened = len(inner)
            for i, size in enumerate(sizes):
                for top, bottom in size.divisions:
                    inner.append(self._fits(value, name, f"({self._python(top)}) % ({self._python(bottom)}) == 0", inside))
                holds = self._holds(value, size, i, name)
                if holds:
                    inner.append(self._fits(value, name, holds, inside))
            lines += inner if len(inner) > opened else []
        return lines

    def _holds(self, value: Value, size: Size, i: int, name: str) -> str:
        if size.kind == "any":
            return ""
        if size.kind == "run":
            own = self.shapes.run_of is value and not value.is_list
            return "" if own or self.shapes.run_of is None else f"{self._run(value, name)} == {self.kk}run"
        if not all(map(self.shapes.is_sure, size.names)):
            return ""
        place = self.shapes.place(value, i)
        binder = self.shapes.binders.get(size.name) if size.kind == "scaled" else None
        if binder and binder.value is value and binder.place == place and not value.is_list:
            return f"{name}.shape[{place}] % {size.factor} == 0" if size.factor > 1 else ""
        return f"{name}.shape[{place}] == {self._python(size.python)}"

    def _shape(self, value: Value) -> str:
        parts = [f"*{self.kk}run" if size.kind == "run" else self._python(size.python) for size in self.shapes.of(value) or []]
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"

    def _new(self, value: Value) -> str:
        """A tensor as the line says it, uninitialised."""
        like = self._first(self.shapes.like) if self.shapes.like else ""
        dtype = f", dtype={self._dtype(value)}" if value.dtype else ""
        return f"{like}.new_empty({self._shape(value)}{dtype})"

    def _dtype(self, value: Value) -> str:
        if value.dtype == "?":
            return self._dtype_name(value)
        text = ""
        for word in reversed(re.split(r" +or +", value.dtype or "")):
            parameter: Optional[Value] = next((v for v in self.op.parameters if v.name == word), None)
            if parameter is None and DTYPES.fullmatch(word):
                one = f"{self.kk}torch.{word}"
            else:
                name = self.names[word]
                one = f"{name}.dtype" if parameter and parameter.type == "Tensor" else name
            text = f"({one} if {self.names[word]} is not None else {text})" if text else one
        return text

    def _arguments(self) -> str:
        texts = []
        for value in self.op.parameters:
            name = self.names[value.name]
            if not self._says_default(value):
                name = f"{default_of(value)} if {name} is None else {name}"
            if value.type == "Device":
                name = f"{self.kk}tvm_ffi.device(str({name}))"
                name = f"None if {self.names[value.name]} is None else {name}" if value.is_optional else name
            texts.append(name)
        return ", ".join(texts)

    def _refuse_gradient(self, values: List[Value], how: str) -> List[str]:
        asks = []
        for value in values:
            name = self.names[value.name]
            if value.type != "Tensor":
                continue
            if value.is_list:
                asks.append(f"any({self.kk}e.requires_grad for {self.kk}e in {name}{' or ()' * value.is_optional})")
            else:
                asks.append(f"({name} is not None and {name}.requires_grad)" if value.is_optional else f"{name}.requires_grad")
        if not asks:
            return []
        return [f"    if {self.kk}grad() and ({' or '.join(asks)}):", f'        {self.kk}no_gradient("{self.op.name}", "{how}")']

    def _wrote(self, values: List[Value]) -> List[str]:
        always = [f"{'*' * v.is_list}{self.names[v.name]}" for v in values if not v.is_optional]
        lines = [f"    {self.kk}wrote(({', '.join(always)},))"] * bool(always)
        for value in values:
            if value.is_optional:
                name = self.names[value.name]
                lines += [f"    if {name} is not None:", f"        {self.kk}wrote(({'*' * value.is_list}{name},))"]
        return lines

    def _function(self, name: str, parameters: List[Value], asked: List[str], lines: List[str]) -> List[str]:
        return ["", "", f"def {self.kk}{name}({self._signature(parameters, asked)}):", *(lines or ["    pass"])]

    def default(self) -> List[str]:
        """The op as it is declared."""
        op, all_of_them = self.op, self.op.parameters
        written = [v for v in self.tensors if v.is_written]
        how = "what is written has no gradient" if written else "has no gradient that torch knows; register_autograd gives it one"
        refuse = self._refuse_gradient(self.tensors, how)
        call = f"{self.kk}{op.name}({self._arguments()})"
        call = f"return tuple({call})" if len(op.results) > 1 else f"return {call}" if op.results else call
        made = [self._new(v) for v in op.results]
        fake = refuse + self.ranks(self.tensors) + self.binds(True) + self.sizes(self.tensors)
        fake += [f"    return {', '.join(made)}"] if made else []
        schema = self._schema(op.name, all_of_them, ["Tensor"] * len(op.results), [])
        return [
            "", "", f'{self.kk}{op.name} = {self.kk}module.get_function("{op.name}")',
            *self._function(f"{op.name}_kernel", all_of_them, [], refuse + [f"    {call}"] + self._wrote(written)),
            *self._function(f"{op.name}_fake", all_of_them, [], fake),
            "", "", f'{self.kk}define({schema!r}, {self.kk}{op.name}_kernel, {self.kk}{op.name}_fake)',
        ]  # fmt: skip

    def functional(self) -> List[str]:
        """The form that makes and returns what the op writes and never reads."""
        op, asked = self.op, self._asked()
        how = "has no gradient that torch knows; register_autograd gives it one"
        refuse = self._refuse_gradient(self.inputs, how)
        names = ", ".join(self.names[v.name] for v in self.out)
        made = ", ".join(self._new(v) for v in self.out)
        new = refuse + self.ranks(self.inputs) + self.binds(False) + self.sizes(self.inputs)
        new += [line for v in self.out for line in self._divisions(v)] + [f"    return {made}"]
        passed = [self.names[v.name] for v in self.inputs] + [f"{text.split()[-1]}={text.split()[-1]}" for text in asked]
        kernel = [f"    {names} = {self.kk}{op.name}_new({', '.join(passed)})"]
        kernel += [f"    {self.kk}{op.name}({self._arguments()})"]
        kernel += self._wrote([v for v in self.inputs if v.is_written]) + [f"    return {names}"]
        schema = self._schema(f"{op.name}.functional", self.inputs, ["Tensor"] * len(self.out), asked)
        lines = [
            *self._function(f"{op.name}_new", self.inputs, asked, new),
            *self._function(f"{op.name}_functional", self.inputs, asked, kernel),
            "", "", f'{self.kk}define({schema!r}, {self.kk}{op.name}_functional, {self.kk}{op.name}_new)',
        ]  # fmt: skip
        if self.is_batched():
            lines.append(f"{self.kk}batched({self.kk}torch.ops.{self.namespace}.{op.name}.functional)")
        return lines

    def _divisions(self, value: Value) -> List[str]:
        """What must divide for an output that is not there yet."""
        lines = []
        for size in self.shapes.of(value) or []:
            for top, bottom in size.divisions:
                text = f'"{self.op.name}(): {value.name}: {size.text} is no whole number"'
                holds = f"({self._python(top)}) % ({self._python(bottom)}) == 0"
                lines.append(f"    {self.kk}torch._check({holds}, lambda: {text})")
        return lines

    def in_graph(self) -> List[str]:
        names = ", ".join(self.names[v.name] for v in self.op.parameters)
        lines = [f"    return {self.kk}torch.ops.{self.namespace}.{self.op.name}.default({names})"]
        written = self._function(f"{self.op.name}_in_graph", self.op.parameters, [], lines)
        written[2:2] = [f"@{self.kk}torch.compiler.substitute_in_graph({self.kk}ops.{self.function}, skip_signature_check=True)"]
        return written


def source(package: str, library: str, namespace: str, ops: List[Op]) -> str:
    """The text of _torch.py. Raises SchemaError for a line that no library has."""
    functions = python_names([op.name for op in ops])
    taken = " ".join(op.line for op in ops)
    kk = "_kk_"
    while kk in taken:
        kk = "_" + kk
    listed, body = [], []
    for op in ops:
        body += ["", "", f"# {op.line}"]
        try:
            writer = _Writer(op, functions[op.name], kk, namespace)
        except SchemaError as error:
            raise SchemaError(f"{op.line}: {error}") from None
        reason = writer.why_not()
        if reason:
            body.append(f"# No operator of torch: {reason}.")
            continue
        listed.append(functions[op.name])
        body = body[:-1] + [*writer.default()[2:], *(writer.functional() if writer.has_functional() else []), *writer.in_graph()]
        body += ["", "", f"{functions[op.name]} = {kk}torch.ops.{namespace}.{op.name}"]
    lines = "".join(f'    "{name}",\n' for name in listed)
    head = _HEAD.format(package=package, namespace=namespace, kk=kk, listed=lines, file=json.dumps(library))
    return head + "\n".join(body) + "\n"
