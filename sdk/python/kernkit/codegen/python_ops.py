# SPDX-License-Identifier: Apache-2.0
"""Writes _ops.py: one Python function for each op of a library, with the names, defaults and types of the schema."""

import json
from typing import Dict, List, Set

from ..schema import Op, Value
from .python_names import default_of, free_name, python_names

# {type of a schema: type annotation}. Dtypes and devices are Any, because each framework has its own classes. A
# returned tensor is Any, because its class depends on the caller's framework.
_PARAMETERS = {
    "Tensor": "{Tensor}",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "{str}",
    "ScalarType": "{Any}",
    "Device": "{Any}",
    "bytes": "{bytes}",
    "Callable": "{Callable}[..., {Any}]",
    "Any": "{Any}",
}
_RESULTS = {**_PARAMETERS, "Tensor": "{Any}"}
# Python source for PyTorch's lazy tensors, whose elements are the conjugates or the negatives of the values in memory. A
# flag of the tensor marks such a tensor; DLPack does not transfer the flag.
_LAZY = '''

{eager}: {Set}[{type}] = {{{type}(None)}}  # classes of arguments that are never lazy
{real}: {Set}[{Any}] = {set}()  # dtypes of PyTorch that are never lazily conjugate


def {is_lazy}(x: {Any}) -> {Any}:
    """Whether x is a lazily conjugate or negative tensor of PyTorch, or a list with such a tensor."""
    try:
        if x.dtype in {real}:
            return x.is_neg()
        if not x.is_complex():
            {real}.add(x.dtype)
        return x.is_conj() or x.is_neg()
    except {AttributeError}:
        if {isinstance}(x, ({list}, {tuple})):
            return {any}(one.__class__ not in {eager} and {is_lazy}(one) for one in x)
        {eager}.add(x.__class__)
        return False


def {resolved}(x: {Any}) -> {Any}:
    if {isinstance}(x, ({list}, {tuple})):
        return [{resolved}(one) if {is_lazy}(one) else one for one in x]
    return x.resolve_conj().resolve_neg()


def {not_written}(op: {str}, name: {str}) -> None:
    raise {ValueError}(f"{{op}}(): {{name}}: is lazily conjugate or negative, and an op writes memory as it is; "
                     "pass what resolve_conj() and resolve_neg() return")
'''
# Python source that converts NumPy's bools to Python's. NumPy's bools are not instances of Python's bool, and tvm_ffi
# would pass them as objects of an unknown type.
_BOOL = '''

def {plain_bool}(value: {Any}) -> {Any}:
    """A bool of NumPy as a bool of Python; another value unchanged."""
    is_numpys = {type}(value).__module__ == "numpy" and {type}(value).__name__ in ("bool_", "bool")
    return value.item() if is_numpys else value
'''
# Names in _LAZY and _BOOL that the functions of ops use. The module changes these names where a parameter has the same
# name.
_LAZY_WORDS = ("eager", "real", "is_lazy", "resolved", "not_written", "plain_bool")
# {name in braces in the source: module that defines the name, or "" if the name is a module}. A builtin is imported only
# if an op has the same name.
_MODULES = {
    "os": "",
    "tvm_ffi": "",
    "str": "builtins",
    "bytes": "builtins",
    **dict.fromkeys("any isinstance list set tuple type AttributeError ValueError".split(), "builtins"),
    "Callable": "collections.abc",
    "Sequence": "collections.abc",
    "Any": "typing",
    "Optional": "typing",
    "Protocol": "typing",
    "Set": "typing",
}
_HEAD = '''class {Tensor}({Protocol}):
    """An array or tensor that DLPack exchanges, of NumPy, PyTorch, JAX, CuPy or tvm_ffi."""

    def __dlpack__(self, *args: {Any}, **kwargs: {Any}) -> {Any}: ...

    def __dlpack_device__(self) -> {Any}: ...


{library} = {tvm_ffi}.load_module({os}.path.join({os}.path.dirname(__file__), '''
_FUNCTION = '''

{bare}: {Callable}[..., {result}] = {library}.get_function("{op}")


def {name}({parameters}) -> {result}:
    {docstring}
{marks}    {returns}{bare}({arguments})
'''


def _docstring(op: Op) -> str:
    text = f"{op.doc}\n\n{op.line}" if op.doc else op.line
    shown = []
    for line in text.expandtabs(4).splitlines():
        line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line.replace("\\", "\\\\"))
        shown.append("    " + line.replace('"""', r"\"\"\"") if line.strip() else "")
    return '"""' + "\n".join(shown).strip() + '\n    """'


class _Spelling(Dict[str, str]):
    """{name: the name of the same object in the generated module}. The two names differ if an op's function has the name
    that is the key."""

    def __init__(self, taken: Set[str]) -> None:
        super().__init__()
        self.taken = taken

    def __missing__(self, name: str) -> str:
        self[name] = free_name(name, self.taken)
        self.taken.add(self[name])
        return self[name]

    def imports(self) -> str:
        """Returns the import statements of the names in _MODULES that were looked up."""
        groups: Dict[str, List[str]] = {}
        for name in sorted(set(self) & set(_MODULES)):
            if _MODULES[name] != "builtins" or self[name] != name:
                import_text = name if self[name] == name else f"{name} as {self[name]}"
                groups.setdefault(_MODULES[name] or import_text, []).append(import_text)
        lines = [f"from {module} import {', '.join(names)}" if module in _MODULES.values()
                 else f"import {module}" for module, names in groups.items()]  # fmt: skip
        tvm_ffi_imports = [line for line in lines if line.startswith("import tvm_ffi")]
        return "\n".join(sorted(set(lines) - set(tvm_ffi_imports)) + [""] + tvm_ffi_imports)


def _annotation(value: Value, types: Dict[str, str]) -> str:
    text = types[value.type]
    if value.is_list:
        text = f"{{Sequence}}[{text}]"
    return f"{{Optional}}[{text}]" if value.is_optional and text != "{Any}" else text


def _result(op: Op) -> str:
    """Returns the type annotation of an op's result. Several results are annotated as a sequence, because a host
    returns them in a class of its own instead of a tuple."""
    if not op.results:
        return "None"
    first, *more = [_annotation(value, _RESULTS) for value in op.results]
    if not more:
        return first
    return f"{{Sequence}}[{first if set(more) == {first} else '{Any}'}]"


def _marks(op: Op, names: Dict[str, str]) -> str:
    """Returns the source lines by which the op's function converts or rejects arguments. The function resolves a lazy
    tensor (see _LAZY) that the op reads, rejects a lazy tensor that the op writes, and converts a NumPy bool to a Python
    bool."""
    lines = ""
    for value in op.parameters:
        name = names[value.name]
        if value.type in ("Tensor", "Any"):
            written = f'{{not_written}}("{op.name}", "{value.name}")'
            line = written if value.is_written else f"{name} = {{resolved}}({name})"
            lines += f"    if {name}.__class__ not in {{eager}} and {{is_lazy}}({name}):\n        {line}\n"
        elif value.type == "bool" and not value.is_list:
            lines += f"    if {name}.__class__ is not bool:\n        {name} = {{plain_bool}}({name})\n"
        elif value.type == "bool":
            lines += f"    if {{isinstance}}({name}, ({{list}}, {{tuple}})):\n        {name} = [{{plain_bool}}(one) for one in {name}]\n"
    return lines


def _function(op: Op, name: str, spelling: _Spelling) -> str:
    names = python_names([value.name for value in op.parameters])
    parameters = []
    for value in op.parameters:
        text = f"{names[value.name]}: " + _annotation(value, _PARAMETERS).format_map(spelling)
        parameters.append(text if value.default is None else f"{text} = {default_of(value)}")
    bare = free_name("_" + op.name, spelling.taken | set(names.values()))
    spelling.taken.add(bare)
    parts = {
        "op": op.name,
        "name": name,
        "bare": bare,
        "parameters": ", ".join(parameters),
        "result": _result(op).format_map(spelling),
        "docstring": _docstring(op),
        "marks": _marks(op, names).format_map(spelling),
        "returns": "return " if op.results else "",
        "arguments": ", ".join(names.values()),
    }
    return _FUNCTION.format(**parts, **{word: spelling[word] for word in ("Callable", "library")})


def source(package: str, library: str, ops: List[Op]) -> str:
    """Returns the text of _ops.py. `library`: name of the library's file."""
    names = python_names([op.name for op in ops])
    spelling = _Spelling(set(names.values()))
    parameters = {name for op in ops for name in python_names([value.name for value in op.parameters]).values()}
    for name in _LAZY_WORDS:
        spelling[name] = free_name("_" + name, spelling.taken | parameters)
        spelling.taken.add(spelling[name])
    head = f"{_HEAD.format_map(spelling)}{json.dumps(library)}))\n"
    if any(value.type in ("Tensor", "Any") for op in ops for value in op.parameters):
        head += _LAZY.format_map(spelling)
    if any(value.type == "bool" for op in ops for value in op.parameters):
        head += _BOOL.format_map(spelling)
    functions = "".join(_function(op, names[op.name], spelling) for op in ops)
    listed = "".join(f'    "{name}",\n' for name in names.values())
    return f'''"""The ops of {package}. Generated by kernkit from the library; do not edit."""

from __future__ import annotations

{spelling.imports()}

__all__ = [
{listed}]


{head}{functions}'''
