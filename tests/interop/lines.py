# SPDX-License-Identifier: Apache-2.0
"""Makes ops from schema lines without a library, with the parser that `kernkit add` uses."""

import json

from kernkit.codegen.cpp import line_parser
from kernkit.parsed_line import read_op


def parse_all(lines):
    """Parses schema lines, such as "scale(Tensor x) -> ()". Returns the op of each schema line, or None if the parser
    rejects the line. An op without a name in its schema line gets the name "op"."""
    texts = line_parser.parse_texts([line[line.index("(") :] for line in lines])
    named = [(line.partition("(")[0] or "op", line, json.loads(text)) for line, text in zip(lines, texts)]
    return [None if "error" in parsed else read_op(name, line, parsed) for name, line, parsed in named]


def parse(line):
    (op,) = parse_all([line])
    assert op is not None, line
    return op


def _expression_text(node):
    if isinstance(node, str):
        return node
    operation, *operands = node
    texts = list(map(_expression_text, operands))
    if operation == "numel":
        return "numel(...)"
    if operation == "()":
        return f"({texts[0]})"
    return operation.join(texts) if operation in ("+", "-", "*", "/") else f"{operation}({','.join(texts)})"


def _size_text(size):
    if size.kind in ("any", "run"):
        return "_" if size.kind == "any" else "each..." if size.is_each else "..."
    return _expression_text(size.expression) + "?" * size.is_caller_sized


def shape_text(value):
    """Returns the sizes between the brackets, without spaces; "" for a value without a shape."""
    return ",".join(map(_size_text, value.shape or ()))


def dtype_words(op, value):
    """Returns the words after the colon of a value in the schema line: dtypes, and names of parameters whose dtype the
    value has."""
    return [source if isinstance(source, str) else op.parameters[source].name for source in value.dtype]


def line_of(op):
    """Returns a schema line that parses to the op: the tokens of the op's schema line, with other spaces."""
    def text_of(value):
        alias = "(out!)" if value.is_only_written else "(a!)" if value.is_written else "(a)" if value.is_alias else ""
        text = f"{value.type}{alias}{'[]' * value.is_list}{'?' * value.is_optional} {value.name}"
        text += "" if value.shape is None else f"[{shape_text(value)}]"
        text += f":{' or '.join(dtype_words(op, value))}" if value.dtype else ""
        return text + ("" if value.default is None else f"={value.default}")

    return f"{op.name}({','.join(map(text_of, op.parameters))})->({','.join(map(text_of, op.results))})"
