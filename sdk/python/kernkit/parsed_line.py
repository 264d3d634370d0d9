# SPDX-License-Identifier: Apache-2.0
"""Reads the parsed schema line of an op, which the compiler writes into a library as JSON.

docs/calling-convention.md lists the keys. The file may be damaged or hostile, and its names become Python source, so
read_op() accepts only values that kernkit/schema/line_json.h can write.
"""

import re
import reprlib
from typing import Any, Dict, List, NoReturn, Optional, Set, Tuple, Union

from .schema import Expression, Op, SchemaError, Size, Source, Value

VERSION = 1  # version of the JSON: kJsonVersion in kernkit/schema/line_json.h
TYPES = ("Tensor", "int", "float", "bool", "str", "ScalarType", "Device", "bytes", "Callable", "Any")
# Largest number of levels of an expression. A schema line can have 256 parts, at most 128 of which are operations, and
# Python compiles at most 200 nested parentheses.
MAX_DEPTH = 150

_OPERANDS = {"+": 2, "-": 2, "*": 2, "/": 2, "ceil_div": 2, "round_up": 2, "numel": 0, "()": 1}
_NAME = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"[0-9]{1,1000}")
_DTYPE = re.compile(r"[a-z][a-z0-9_]*")
# {type: pattern of the type's defaults, except None}.
_DEFAULTS = {
    "bool": re.compile(r"True|False"),
    "int": re.compile(r"-?[0-9]{1,1000}"),
    "float": re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|-?inf|nan"),
    "str": re.compile(r"'[^']*'|\"[^\"]*\""),
    "ScalarType": _DTYPE,
}


def _fail(expected: str, node: Any) -> NoReturn:
    raise ValueError(f"expected {expected}, found {reprlib.repr(node)}")


def _name(node: Any) -> str:
    if not isinstance(node, str) or not _NAME.fullmatch(node):
        _fail("a name", node)
    return node


def _index(node: Any, count: int, first: int = 0) -> int:
    if type(node) is not int or not first <= node < count:
        _fail(f"an index from {first} to {count - 1}", node)
    return node


def _flag(node: Dict[str, Any], key: str) -> bool:
    value = node.get(key, False)
    if not isinstance(value, bool):
        _fail(f"true or false for {key}", value)
    return value


def _factor(node: Dict[str, Any]) -> int:
    return _index(node.get("factor", 1), 2**63, 1)


def _list(node: Any) -> List[Any]:
    if not isinstance(node, list):
        _fail("a list", node)
    return node


def _expression(node: Any, names: Set[str], depth: int = 0) -> Expression:
    """Returns the expression in a node of the JSON, and adds the names in the expression to `names`. Raises ValueError
    if the node is not an expression, or has more than MAX_DEPTH levels."""
    if isinstance(node, str):
        if not _NUMBER.fullmatch(node):
            names.add(_name(node))
        return node
    operation, *operands = _list(node) or [None]
    if not isinstance(operation, str) or _OPERANDS.get(operation) != len(operands):
        _fail("an operation with its operands", node)
    if depth == MAX_DEPTH:
        raise ValueError(f"an expression has more than {MAX_DEPTH} levels")
    parts: List[Expression] = [operation]
    for operand in operands:
        parts.append(_expression(operand, names, depth + 1))
    return tuple(parts)


def _size(node: Any) -> Size:
    if node == "_":
        return Size("any")
    if node in ("...", "each..."):
        return Size("run", is_each=node == "each...")
    if isinstance(node, str):
        return Size("scaled", _name(node), node)
    names: Set[str] = set()
    expression, name = _expression(node["expression"], names), node.get("name", "")
    if name != "" and name not in names:
        _fail("a name of the expression", name)
    return Size("scaled" if name else "sum", expression, name, _factor(node), _flag(node, "caller"))


def _default(node: Dict[str, Any]) -> Optional[str]:
    text = node.get("default")
    if text is None or (text == "None" and node.get("optional")):
        return text
    pattern = _DEFAULTS.get(node["type"])
    if pattern is None or node.get("list") or not pattern.fullmatch(text):
        _fail(f"a default of {node['type']}", text)
    return str(text)


def _dtype(node: Any) -> Union[int, str]:
    if isinstance(node, str) and (node == "?" or _DTYPE.fullmatch(node)):
        return node
    if type(node) is int:
        return node
    _fail("a dtype, or the index of a parameter", node)


def _value(node: Dict[str, Any], is_result: bool) -> Value:
    kind, name, alias, shape = node["type"], node.get("name", ""), node.get("alias", ""), node.get("shape")
    if kind not in TYPES:
        _fail("a type", kind)
    if alias not in ("", "a", "a!", "out!"):
        _fail("an alias", alias)
    if kind != "Tensor" and (alias or shape is not None or "dtype" in node):
        raise ValueError(f"a value of type {kind} has a shape, a dtype or an alias")
    if name != "" or not is_result:
        _name(name)
    if is_result and "default" in node:
        raise ValueError("a result has a default")
    return Value(kind, name, _flag(node, "list"), _flag(node, "optional"), alias.endswith("!"), _default(node), alias == "out!",
                 None if shape is None else tuple(map(_size, _list(shape))), tuple(map(_dtype, _list(node.get("dtype", [])))),
                 bool(alias))  # fmt: skip


def _source(node: Dict[str, Any], parameters: List[Value]) -> Source:
    source = Source(_name(node["name"]), _index(node["value"], len(parameters)), node["place"], _factor(node), _flag(node, "optional"))
    shape = parameters[source.value].shape or ()
    size = shape[_index(source.axis, len(shape), -len(shape))]
    if (size.name, size.factor) != (source.name, source.factor):
        _fail(f"the size of name {source.name} at place {source.axis}", size.name)
    return source


def _check_defaults(parameters: List[Value]) -> None:
    has_default = [value.default is not None for value in parameters]
    if has_default != sorted(has_default):
        raise ValueError("a parameter without a default follows a parameter with a default")


def _check_names(values: List[Value]) -> None:
    names = [value.name for value in values if value.name]
    if len(set(names)) < len(names):
        _fail("different names", names)


def _check_dtypes(values: List[Value], parameters: List[Value]) -> None:
    for value in values:
        for source in value.dtype:
            if isinstance(source, int) and parameters[_index(source, len(parameters))].type not in ("Tensor", "ScalarType"):
                _fail("the index of a parameter with a dtype", source)
        if "?" in value.dtype and not value.has_any_dtype:
            _fail('"?" alone', value.dtype)


def _tensor(node: Dict[str, Any], key: str, parameters: List[Value]) -> Optional[int]:
    """Returns the index of a tensor parameter, the value of the key `key` in the parsed schema line; None if the key is
    missing."""
    if key not in node:
        return None
    index = _index(node[key], len(parameters))
    has_run = any(size.kind == "run" for size in parameters[index].shape or ())
    if parameters[index].type != "Tensor" or (key == "run_of" and not has_run):
        _fail(f"the index of a tensor for {key}", index)
    return index


def _version(name: str, parsed: Any) -> None:
    version = parsed.get("version") if isinstance(parsed, dict) else None
    if type(version) is not int or version != VERSION:
        raise SchemaError(f"{name}: the parsed schema line has version {reprlib.repr(version)}; this kernkit reads version {VERSION}")


def damaged(name: str, problem: object) -> SchemaError:
    """Returns the error for an op whose parsed schema line was changed, or was not written by kernkit. `problem`:
    description of the damage."""
    return SchemaError(f"{name}: the parsed schema line is damaged: {problem}")


def read_op(name: str, line: str, parsed: Any, doc: str = "") -> Op:
    """Returns the op that the parsed line `parsed` describes. line: the schema line, which begins with the op's name.
    Raises SchemaError if the name is invalid, or the parsed line is damaged or has another version than VERSION."""
    if not _NAME.fullmatch(name):
        raise SchemaError(f"{reprlib.repr(name)} is not a valid name of an op; in KERNKIT_EXPORT choose a name of letters, digits and _ "
                          "that does not begin with __")  # fmt: skip
    _version(name, parsed)
    try:
        parameters = [_value(node, is_result=False) for node in _list(parsed["parameters"])]
        results = [_value(node, is_result=True) for node in _list(parsed["results"])]
        _check_defaults(parameters)
        _check_names(parameters)
        _check_names(results)
        _check_dtypes(parameters + results, parameters)
        sources = tuple(_source(node, parameters) for node in _list(parsed.get("names", [])))
        return Op(name, line, parameters, results, doc, sources, _tensor(parsed, "run_of", parameters), _tensor(parsed, "like", parameters))
    except KeyError as error:
        raise damaged(name, f"key {error} is missing") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise damaged(name, error) from None
