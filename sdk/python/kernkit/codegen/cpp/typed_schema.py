# SPDX-License-Identifier: Apache-2.0
"""The schema of a new op, as a user typed or pasted it.

A schema that the C++ parser (kernkit/schema/parser.h) would reject is a UserError, which names what to write instead.
"""

import re
from typing import List, Tuple

from ...errors import UserError
from ...project import names
from ...schema import MAX_PARAMETERS, MAX_RESULTS, Op, SchemaError, Value, is_dtype, is_float, is_int, parse

# Types of PyTorch's schemas that kernkit does not have, and the types to write instead.
_OTHER_TYPES = {
    "Scalar": "float",
    "SymInt": "int",
    "double": "float",
    "Layout": "str",
    "MemoryFormat": "str",
    "Dimname": "str",
    "Generator": "int, as a seed",
    "string": "str",
    "String": "str",
}
_KEYWORD_MARK = re.compile(r"('[^']*')|(\()\s*\*\s*,\s*|,\s*\*\s*(?=[,)])")
_SHAPES = re.compile(r"('[^']*')|(?<=\w)\[[^]]+\]|(?<=[\w\]]) *: *[^,=)]*[^,=) ]|\(out!\)")


def _without_decoration(text: str) -> Tuple[str, List[str]]:
    """The schema from its first parenthesis on, without a * that marks keyword parameters; and the removed texts."""
    text = re.sub(r"^(- )?func:", "", " ".join(text.split())).strip()
    found = re.match(r"(\w+::)?\w+(\.\w+)?(?=\()", text)
    removed = [found[0]] if found else []
    text = text[found.end() :] if found else text
    if not text.startswith("("):
        raise UserError('the schema must begin with its parameters, for example: "(Tensor(a!) y, Tensor x) -> ()"')
    plain = _KEYWORD_MARK.sub(lambda star: star[1] or star[2] or "", text)
    return plain, removed + ["*"] * (plain != text)


def _check_notation(text: str) -> None:
    """Rejects notation of PyTorch that kernkit does not have."""
    text = re.sub("'[^']*'", "''", text)
    for word in re.findall(r"(?:^|[(,>]) *(\w+)", text):
        if word in _OTHER_TYPES:
            raise UserError(f"unsupported type {word} in the schema; write {_OTHER_TYPES[word]}")
    found = re.search(r"(\w+)\[(\d+)\]", text)
    if found:
        raise UserError(f"{found[0]}: a list of fixed length is unsupported; write {found[1]}[]")
    found = re.search(r"(\w+)\?\[\]", text)
    if found:
        raise UserError(f"{found[0]}: a list of optional values is unsupported; write {found[1]}[]")
    found = re.search(r"(\w+)\( *(\w+)( *!)?( *->| *\||[^)]*\))", text)
    if found and (found[1] != "Tensor" or not found[4].strip(" ") == ")"):
        raise UserError(f"{found[0]}: an annotation is a letter after Tensor, with ! for what is "
                        "written: Tensor(a!)")  # fmt: skip


def _expected_default(value: Value) -> str:
    """A description of the valid defaults of this type; "" where the value's default is valid."""
    text = value.default or ""
    if text == "None" and value.is_optional:
        return ""
    if value.is_list or value.type in ("Tensor", "Device", "bytes", "Callable", "Any"):
        return "None, after a type with ?"
    if value.type == "str":
        return "" if text[0] == "'" else "a text in '...'"
    is_valid, expected = {
        "bool": (("True", "False").__contains__, "True or False"),
        "int": (is_int, "a whole number of 64 bits"),
        "float": (is_float, "a number"),
        "ScalarType": (is_dtype, "a dtype, such as float32"),
    }[value.type]
    return "" if is_valid(text) else expected


def _check_parameters(op: Op) -> None:
    for index, value in enumerate(op.parameters):
        name, before = value.name, op.parameters[:index]
        if not name:
            raise UserError(f"parameter {index + 1} has no name; write a name after the type")
        reason = names.why_not_word(name)
        if reason:
            raise UserError(f"parameter {name}: the name {reason}; choose another name")
        if name in [other.name for other in before] + [op.name]:
            raise UserError(f"parameter {name}: the name is used twice; choose another name")
        if value.default is None and any(other.default for other in before):
            raise UserError(f"parameter {name}: has no default, but follows a parameter with a default; add a default")
        wanted = _expected_default(value) if value.default else ""
        if wanted:
            is_none = value.default == "None"
            hint = f"{value.type}{'[]' * value.is_list}?" if is_none else f"{wanted}"
            raise UserError(f"parameter {name}: {value.default} is not a default of "
                            f"{value.type}{'[]' * value.is_list}; write {hint}")  # fmt: skip


def _check_results(op: Op) -> None:
    for value in op.results:
        if value.is_written:
            raise UserError("unsupported result Tensor(a!): a result is a new tensor, and a tensor that the op writes is "
                            "not returned; end with -> ()")  # fmt: skip
        if value.is_optional or (value.is_list and value.type != "int"):
            kind = f"{value.type}{'[]' * value.is_list}{'?' * value.is_optional}"
            raise UserError(f"unsupported result {kind}; several results are in parentheses: "
                            "-> (Tensor, int[])")  # fmt: skip


def read(name: str, text: str) -> Tuple[Op, List[str]]:
    """The op, and the texts that were removed because kernkit does not use them."""
    if not " ".join(text.split()).isprintable() or set(text) & set('"\\') or not text.isascii():
        raise UserError("the schema contains an unsupported character; use printable ASCII without \" and \\, and '...' for strings")
    text, removed = _without_decoration(text)
    _check_notation(text)
    try:
        op = parse(name + text, is_checked=False)
    except SchemaError as error:
        raise UserError(f"the schema does not parse: {error}; see docs/adding-a-kernel.md") from None
    if len(op.parameters) > MAX_PARAMETERS or len(op.results) > MAX_RESULTS:
        raise UserError(f"an op has at most {MAX_PARAMETERS} parameters and {MAX_RESULTS} results")
    _check_parameters(op)
    _check_results(op)
    try:
        return parse(name + text), removed
    except SchemaError as error:
        raise UserError(f"the schema does not parse: {error}; see docs/adding-a-kernel.md") from None


def _holds(op: Op, kind: str) -> bool:
    """Whether the shapes and dtypes agree with the example in the files of a new op, of shape [4, 37]."""
    bound = {value.name: -1 for value in op.parameters if value.type == "int"}
    for value in op.parameters + op.results:
        sizes = (4,) if kind == "row_reduction" and value.is_written else (4, 37)
        words = (value.shape or "...").replace(" ", "").split(",")
        both = zip(words, [sizes] if words == ["..."] else sizes)
        if value.dtype or (words != ["..."] and len(words) != len(sizes)):
            return False
        if value.shape and any(not (w.isidentifier() or w == "...") or (w != "_" and bound.setdefault(w, s) != s) for w, s in both):
            return False
    return True


def without_unsupported_shapes(op: Op, kind: str, has_shapes: bool) -> Tuple[Op, str]:
    """The op with the schema line that its new files have, and the reason why that line has no shapes and dtypes, or
    "" where the line keeps them. `has_shapes`: the library has the component `frameworks`."""
    if not op.has_shapes or (has_shapes and _holds(op, kind)):
        return op, ""
    plain = _SHAPES.sub(lambda found: found[1] or "(a!)" * (found[0] == "(out!)"), op.line)
    reason = f"which the files of kind {kind} do not begin with"
    return parse(plain), reason if has_shapes else "which third_party/kernkit lacks: kernkit update --with frameworks"
