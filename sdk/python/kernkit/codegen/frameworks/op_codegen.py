# SPDX-License-Identifier: Apache-2.0
"""Python source that is common to the functions of an op in all frameworks: names, checks of shapes, shapes of results.

The source calls {kk}fits(holds, op, name, tensor, wanted) and {kk}holds(holds, op, name, text), which the head of each
framework's module defines. All names that the source defines or imports begin with PREFIX, including names of builtin
functions, so that an op or a parameter of the same name does not change which function is called.
"""

import re
from typing import Dict, List, Tuple, TypeVar

from ...schema import Op, Value
from ..python_names import default_of, free_name, python_names
from .shapes import Shapes, Size

# Prefix of the names that a generated module defines for its own use. No name in a schema line begins with two
# underscores.
PREFIX = "__kk_"

# Builtins that the generated source uses, as PREFIX + name, so that no name of an op or a parameter shadows them.
BUILTINS = (
    "ImportError OSError RuntimeError ValueError all any bool complex enumerate float frozenset getattr globals int isinstance len list map "
    "open range str tuple type zip"
).split()

ARITHMETIC = '''

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


W = TypeVar("W", bound="OpCodegen")


class OpCodegen:
    """Writes the functions of one op. Each framework has a subclass."""

    def __init__(self, op: Op, function: str) -> None:
        self.op, self.function, self.kk = op, function, PREFIX
        self.shapes = Shapes(op)
        # {name: Python name} for all parameters, results and sizes.
        names = [v.name for v in op.parameters + op.results]
        for value in self.shapes.values:
            names += [name for size in self.shapes.sizes_of(value) or [] for name in size.names]
        self.names: Dict[str, str] = python_names(list(dict.fromkeys(names)))
        taken = set(self.names.values())
        # {output whose dtype the caller chooses: name of the argument for the dtype}, as in {"y": "y_dtype"}.
        self.dtype_names: Dict[str, str] = {}
        for value in op.parameters:
            if value.is_only_written and value.has_any_dtype:
                self.dtype_names[value.name] = free_name(f"{self.names[value.name]}_dtype", taken)
                taken.add(self.dtype_names[value.name])
        self.out = [v for v in op.parameters if v.is_only_written]
        self.inputs = [v for v in op.parameters if not v.is_only_written]
        # Tensors in the order in which the op checks them: inputs, then tensors that are only written.
        self.tensors = [v for v in self.inputs + self.out if v.type == "Tensor"]

    def has_functional(self) -> bool:
        plain = all(v.shape is not None and not v.is_list and not v.is_optional for v in self.out)
        return bool(self.out) and plain and self.shapes.like is not None and not self.op.results

    def is_batched(self) -> bool:
        """Returns whether one call can compute a batch: every shape begins with "each...", and no tensor is both read
        and written.

        A plain "..." accepts any leading sizes, but does not state that the op computes the items of a batch
        independently: x / sum(x) accepts any shape, and its result for a batch differs from the results for the items.
        """
        values = [v for v in self.shapes.values if v.type == "Tensor"]
        return self.is_each() and not any(v.is_written and not v.is_only_written for v in values)

    def is_each(self) -> bool:
        """Returns whether every tensor is outside lists and has a shape that begins with "each..." and has no
        numel(...). Tensors that are both read and written are permitted, unlike in is_batched()."""
        def begins(v: Value) -> bool:
            sizes = self.shapes.sizes_of(v) or []
            return bool(sizes) and sizes[0].is_each and not v.is_list
        values = [v for v in self.shapes.values if v.type == "Tensor"]
        return all(map(begins, values)) and not any(s.has_run for v in values for s in self.shapes.sizes_of(v) or [])

    def _caller_parameters(self) -> List[str]:
        """Returns the parameters, as "type name", by which the caller passes sizes and dtypes of the outputs that the
        functional form allocates."""
        sizes = [f"SymInt {self.names[name]}" for v in self.out for name in self.shapes.caller_sized(v)]
        return list(dict.fromkeys(sizes)) + [f"ScalarType {self._dtype_name(v)}" for v in self.out if v.has_any_dtype]

    def _dtype_name(self, value: Value) -> str:
        return self.dtype_names[value.name]

    # The subclass of a framework overrides _framework_dtype(), and can override _default().

    def _default(self, value: Value) -> str:
        return default_of(value)

    def _framework_dtype(self, dtype: str) -> str:
        raise NotImplementedError

    # Bodies of functions.

    def _signature(self, parameters: List[Value], extra: List[str]) -> str:
        texts = [self.names[v.name] + ("" if v.default is None else f"={self._default(v)}") for v in parameters]
        return ", ".join(texts + ["*"] * bool(extra) + [text.split()[-1] for text in extra])

    def _python(self, text: str) -> str:
        """Returns an expression of sizes as Python source: Python names replace the names of the schema line."""
        def spelled(word: "re.Match[str]") -> str:
            return self.kk + word[0][2:] if word[0].startswith("__") else self.names.get(word[0], word[0])
        return re.sub(r"[A-Za-z_]\w*", spelled, text)

    def _helper_name(self, kind: str) -> str:
        """Returns the name of a helper function of the op in the generated module. `kind`: purpose of the function,
        such as "kernel"."""
        return f"{self.kk}{kind}_of_{self.op.name}"

    def _expected_shape(self, value: Value) -> str:
        return "[" + ", ".join(size.text for size in self.shapes.sizes_of(value) or []) + "]"

    def _first(self, value: Value) -> str:
        return self.names[value.name] + "[0]" * value.is_list

    def _rank(self, value: Value, name: str) -> str:
        sizes = self.shapes.sizes_of(value) or []
        if self.shapes.axis_of_run(value) < 0:
            return f"{name}.ndim == {len(sizes)}"
        return f"{name}.ndim >= {len(sizes) - 1}" if len(sizes) > 1 else ""

    def _run(self, value: Value, name: str) -> str:
        first = self.shapes.axis_of_run(value)
        after = len(self.shapes.sizes_of(value) or []) - 1 - first
        return f"{name}.shape[{first or ''}:{-after or ''}]"

    def _fits(self, value: Value, name: str, holds: str, indent: str) -> str:
        shown = f'"{value.name}"' if not value.is_list else f'f"{value.name}[{{{self.kk}i}}]"'
        return f'{indent}{self.kk}fits({holds}, "{self.op.name}", {shown}, {name}, "{self._expected_shape(value)}")'

    def _each(self, value: Value, lines: List[str], indent: str) -> Tuple[str, str]:
        """Appends to `lines` the `if` and the `for` for an optional tensor or a list of tensors. Returns (name of the
        tensor, indent) for the statements inside."""
        name = self.names[value.name]
        if value.is_optional:
            lines.append(f"{indent}if {name} is not None:")
            indent += "    "
        if value.is_list:
            lines.append(f"{indent}for {self.kk}i, {self.kk}e in {self.kk}enumerate({name}):")
            return f"{self.kk}e", indent + "    "
        return name, indent

    def ranks(self, values: List[Value]) -> List[str]:
        lines: List[str] = []
        for value in values:
            if self.shapes.sizes_of(value) is not None and self._rank(value, ""):
                name, inside = self._each(value, lines, "    ")
                lines.append(self._fits(value, name, self._rank(value, name), inside))
        return lines

    def binds(self, with_outputs: bool) -> List[str]:
        """Returns the source lines that assign the sizes of tensors to variables. A size is None if its tensor is
        None."""
        lines = self.first_items(with_outputs)
        for name, binder in self.shapes.binders.items():
            if not binder.always_bound or (binder.value.is_only_written and not with_outputs):
                continue
            factor = f" // {binder.factor}" if binder.factor > 1 else ""
            size = f"{self._first(binder.value)}.shape[{binder.axis}]{factor}"
            lines.append(f"    {self.names[name]} = {size}{self._if_present(binder.value)}")
        if self.shapes.run_of is not None:
            lines.append(f"    {self.kk}run = {self._run(self.shapes.run_of, self._first(self.shapes.run_of))}")
        return lines

    def first_items(self, with_outputs: bool) -> List[str]:
        """Returns the source lines that check that required lists are not empty. Only lists whose first tensor
        determines a size or the dtype of an output are checked."""
        lines = []
        for value in self.shapes.values:
            if not value.is_list or value.is_optional or (value.is_only_written and not with_outputs):
                continue
            bound = [name for name, binder in self.shapes.binders.items() if binder.value is value]
            bound += ["..."] * (self.shapes.run_of is value)
            if self.shapes.like is value and (self.op.results or not with_outputs):
                bound += [f"the dtype of {v.name}" for v in self.out + self.op.results if not v.dtype]
            if bound:
                lines.append(f'    {self.kk}has_items({self.names[value.name]}, "{self.op.name}", "{value.name}", "{bound[0]}")')
        return lines

    def _if_present(self, value: Value) -> str:
        """Returns the suffix, as in " if x is not None else None", that makes an expression None if the optional tensor
        is None, or if the optional list is None or empty. Returns "" for a required value."""
        if not value.is_optional:
            return ""
        return f" if {self.names[value.name]}{'' if value.is_list else ' is not None'} else None"

    def _unless_missing(self, size: Size) -> str:
        """Returns the prefix, as in "d is None or ", that makes a condition about a size true if an optional tensor
        that determines the size is None."""
        binders = {name: self.shapes.binders.get(name) for name in size.names}
        missing = [self.names[name] for name, binder in binders.items() if binder and binder.value.is_optional]
        return "".join(f"{name} is None or " for name in missing)

    def sizes(self, values: List[Value]) -> List[str]:
        lines: List[str] = []
        for value in values:
            sizes = self.shapes.sizes_of(value)
            if not sizes:
                continue
            inner: List[str] = []
            name, inside = self._each(value, inner, "    ")
            opened = len(inner)
            for i, size in enumerate(sizes):
                for condition, _ in self._divides(size):
                    inner.append(self._fits(value, name, f"{self._unless_missing(size)}{condition}", inside))
                holds = self._holds(value, size, i, name)
                if holds:
                    inner.append(self._fits(value, name, holds, inside))
            lines += inner if len(inner) > opened else []
        return lines

    def _divides(self, size: Size) -> List[Tuple[str, str]]:
        """Returns the conditions that the divisions in a size require, as (condition, message if the condition is
        false), in the order of evaluation."""
        conditions = []
        for top, bottom, is_exact in size.divisions:
            if not bottom.isdigit() or int(bottom) == 0:
                conditions.append((self._in_range(f"({self._python(bottom)})", "> 0"), f"{size.text}: a divisor is not positive"))
            if is_exact:
                conditions.append((f"({self._python(top)}) % ({self._python(bottom)}) == 0", f"{size.text} is not an integer"))
        return conditions

    def _holds(self, value: Value, size: Size, i: int, name: str) -> str:
        if size.kind == "any":
            return ""
        if size.kind == "run":
            has_own_run = self.shapes.run_of is value and not value.is_list
            return "" if has_own_run or self.shapes.run_of is None else f"{self._run(value, name)} == {self.kk}run"
        if not all(map(self.shapes.always_bound, size.names)):
            return ""
        axis = self.shapes.axis(value, i)
        binder = self.shapes.binders.get(size.name) if size.kind == "scaled" else None
        if binder and binder.value is value and binder.axis == axis and not value.is_list:
            return f"{name}.shape[{axis}] % {size.factor} == 0" if size.factor > 1 else ""
        return f"{self._unless_missing(size)}{name}.shape[{axis}] == {self._python(size.python)}"

    def _shape(self, value: Value) -> str:
        parts = [f"*{self.kk}run" if size.kind == "run" else self._python(size.python) for size in self.shapes.sizes_of(value) or []]
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"

    def _dtype(self, value: Value) -> str:
        """Returns the Python source of the dtype that the schema line requires."""
        if value.has_any_dtype:
            return self._dtype_name(value)
        text = ""
        for source in reversed(value.dtype):
            if isinstance(source, str):
                text = self._framework_dtype(source)  # the last source
                continue
            parameter = self.op.parameters[source]
            name = self.names[parameter.name]
            dtype = f"{name}.dtype" if parameter.type == "Tensor" else name
            text = f"({dtype} if {name} is not None else {text})" if text else dtype
        return text

    def _in_range(self, text: str, limit: str) -> str:
        """Returns the Python source of a condition: the size `text` is within `limit`, such as "> 0"."""
        return f"{text} {limit}"

    def output_sizes(self, value: Value) -> List[str]:
        """Returns the source lines that check the sizes of an output before its allocation. The range of a size is
        checked if the caller passes a number that the size contains, or if the size contains a subtraction."""
        lines = []
        for size in self.shapes.sizes_of(value) or []:
            conditions = self._divides(size)
            is_given = any(name in self.shapes.ints or self.shapes.is_caller_sized(name) for name in size.names)
            text = self._python(size.python)
            if is_given or "-" in size.text:
                conditions.append((self._in_range(text, ">= 0"), f"{size.text} is negative"))
            if is_given:
                conditions.append((self._in_range(text, "< 2**63"), f"{size.text} exceeds 2^63 - 1"))
            for condition, message in conditions:
                lines.append(f'    {self.kk}holds({condition}, "{self.op.name}", "{value.name}", "{message}")')
        return lines

    def _function(self, kind: str, parameters: List[Value], extra: List[str], lines: List[str]) -> List[str]:
        return ["", "", f"def {self._helper_name(kind)}({self._signature(parameters, extra)}):", *(lines or ["    pass"])]


def one_line(line: str) -> str:
    """Returns a schema line as text for a one-line comment. Line breaks, which a default can contain, are escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
