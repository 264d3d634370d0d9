# SPDX-License-Identifier: Apache-2.0
"""The schema of a new op, as a user typed or pasted it.

line_parser.py parses the schema. For a schema that the parser rejects, read() raises UserError with the text that is
expected. The patterns below find notation of PyTorch that kernkit does not support, before the parser reads the schema.
"""

import re
from typing import Any, Dict, List, Optional, Tuple

from ...errors import UserError
from ...project import names
from ...schema import Op, Size, Value
from .line_parser import LineError, parse

# {type of PyTorch's schemas that kernkit does not support: the type to write instead}.
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
# Parser errors about a name or a default, for which _check_parameters() raises UserError with the text to write
# instead.
_OF_A_VALUE = ("kName", "kReservedName", "kDuplicateName", "kDefault", "kDefaultOrder")
_KEYWORD_MARK = re.compile(r"('[^']*')|(\()\s*\*\s*,\s*|,\s*\*\s*(?=[,)])")
_SHAPES = re.compile(r"('[^']*')|(?<=\w)\[[^]]+\]|(?<=[\w\]]) *: *[^,=)]*[^,=) ]|\(out!\)")


def _without_decoration(text: str) -> Tuple[str, List[str]]:
    """Returns (schema, removed texts): the schema without its name before the first parenthesis and without the * that
    marks keyword parameters, and these two texts."""
    text = re.sub(r"^(- )?func:", "", " ".join(text.split())).strip()
    match = re.match(r"(\w+::)?\w+(\.\w+)?(?=\()", text)
    removed = [match[0]] if match else []
    text = text[match.end() :] if match else text
    if not text.startswith("("):
        raise UserError('the schema must begin with its parameters, for example: "(Tensor(a!) y, Tensor x) -> ()"')
    plain = _KEYWORD_MARK.sub(lambda star: star[1] or star[2] or "", text)
    return plain, removed + ["*"] * (plain != text)


def _check_notation(text: str) -> None:
    """Raises UserError if the schema has notation of PyTorch that kernkit does not support."""
    text = re.sub("'[^']*'", "''", text)
    for name in re.findall(r"(?:^|[(,>]) *(\w+)", text):
        if name in _OTHER_TYPES:
            raise UserError(f"unsupported type {name} in the schema; write {_OTHER_TYPES[name]}")
    match = re.search(r"(\w+)\[(\d+)\]", text)
    if match:
        raise UserError(f"{match[0]}: a list of fixed length is unsupported; write {match[1]}[]")
    match = re.search(r"(\w+)\?\[\]", text)
    if match:
        raise UserError(f"{match[0]}: a list of optional values is unsupported; write {match[1]}[]")
    match = re.search(r"(\w+)\( *(\w+)( *!)?( *->| *\||[^)]*\))", text)
    if match and (match[1] != "Tensor" or not match[4].strip(" ") == ")"):
        raise UserError(f"{match[0]}: an annotation is a letter after Tensor, with ! for a tensor "
                        "that the op writes: Tensor(a!)")  # fmt: skip


def _expected_default(value: Value) -> str:
    """Returns a description of the valid defaults of parameters of this type."""
    if value.is_list or value.type in ("Tensor", "Device", "bytes", "Callable", "Any"):
        return "None, after a type with ?"
    return {"str": "a string in '...'", "bool": "True or False", "int": "a 64-bit integer", "float": "a number",
            "ScalarType": "a dtype, such as float32"}[value.type]  # fmt: skip


def _check_parameters(op: Op, error: Optional[LineError]) -> None:
    """Raises UserError if the name or the default of a parameter is invalid. `error`: the parser's error, if any, which
    concerns the last parameter."""
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
        if error and error.name == "kDefault" and value is op.parameters[-1] and value.default:
            is_none = value.default == "None"
            hint = f"{value.type}{'[]' * value.is_list}?" if is_none else _expected_default(value)
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


def _does_not_parse(op: Op, error: LineError) -> UserError:
    expected = error.text if error.is_of_shape else f"expected {error.text}"
    return UserError(f'the schema does not parse: "{op.line}": {expected} at character {len(op.name) + error.position}; '
                     f"see docs/{'shapes' if error.is_of_shape else 'adding-a-kernel'}.md")  # fmt: skip


def read(name: str, text: str) -> Tuple[Op, List[str]]:
    """Returns (op, texts of the schema that were removed because kernkit does not use them). Raises UserError if the
    schema is invalid or unsupported."""
    if not " ".join(text.split()).isprintable() or set(text) & set('"\\') or not text.isascii():
        raise UserError("the schema contains an unsupported character; use printable ASCII without \" and \\, and '...' for strings")
    text, removed = _without_decoration(text)
    _check_notation(text)
    op, error = parse(name, text)
    if error and error.name == "kTooMany" and not error.is_of_shape:
        raise UserError(f"an op has {error.text}")
    if not error or error.name in _OF_A_VALUE:
        _check_parameters(op, error)
        _check_results(op)
    if error:
        raise _does_not_parse(op, error)
    return op, removed


def _size_text(size: Size) -> str:
    """Returns the text of a size that is "_", "..." or a name, or "" for another size."""
    if size.kind in ("any", "run"):
        return "_" if size.kind == "any" else "..." * (not size.is_each)
    return size.name if size.expression == size.name and not size.is_caller_sized else ""


def _holds(op: Op, kind: str) -> bool:
    """Returns whether the schema line has no dtypes and its shapes accept the tensors of the generated tests, whose
    shape is [4, 37] or, for outputs of the kind row_reduction, [4]."""
    bound: Dict[str, Any] = {value.name: -1 for value in op.parameters if value.type == "int"}
    for value in op.parameters + op.results:
        sizes = (4,) if kind == "row_reduction" and value.is_written else (4, 37)
        size_texts = list(map(_size_text, value.shape or ()))
        both = zip(size_texts, [sizes] if size_texts == ["..."] else sizes)
        if value.dtype or (size_texts and size_texts != ["..."] and len(size_texts) != len(sizes)):
            return False
        if any(not w or (w != "_" and bound.setdefault(w, s) != s) for w, s in both):
            return False
    return True


def without_unsupported_shapes(op: Op, kind: str, has_shapes: bool) -> Tuple[Op, str]:
    """Returns (op with the schema line for its new files, reason why this schema line has no shapes and dtypes). The
    reason is "" if the shapes and dtypes are kept. `has_shapes`: whether the library has the component
    `frameworks`."""
    if not op.has_shapes or (has_shapes and _holds(op, kind)):
        return op, ""
    line = _SHAPES.sub(lambda match: match[1] or "(a!)" * (match[0] == "(out!)"), op.line)
    plain, error = parse(op.name, line[len(op.name) :])
    if error:
        raise _does_not_parse(plain, error)
    reason = f"which do not fit the generated code of kind {kind}"
    return plain, reason if has_shapes else "which third_party/kernkit lacks: kernkit update --with frameworks"
