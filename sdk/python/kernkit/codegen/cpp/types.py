# SPDX-License-Identifier: Apache-2.0
"""The C++ types of a schema's parameters and results, and example values."""

from typing import List

from ...schema import Op, Value

_TYPES = {
    "Tensor": "kernkit::TensorView",
    "float": "double",
    "int": "int64_t",
    "bool": "bool",
    "str": "std::string_view",
    "ScalarType": "DLDataType",
    "Device": "DLDevice",
    "bytes": "kernkit::BytesView",
    "Callable": "kernkit::Function",
    "Any": "kernkit::AnyView",
}
_RESULTS = {**_TYPES, "Tensor": "kernkit::Tensor", "str": "std::string", "Any": "kernkit::Any"}
# {type: argument in generated tests and benchmarks}. 2.5 and 3 are exact in every floating-point type.
EXAMPLES = {
    "float": "2.5",
    "int": "3",
    "bool": "true",
    "str": '"text"',
    "ScalarType": "kernkit::dl_float32",
    "Device": "DLDevice{kDLCPU, 0}",
    "bytes": 'kernkit::BytesView("text", 4)',
    "Callable": "kernkit::Function()",
    "Any": "kernkit::AnyView()",
}
_HEADERS = {"bytes": "bytes", "Callable": "function", "Any": "any_view"}
_RESULT_HEADERS = {**_HEADERS, "Tensor": "owning_tensor", "Any": "owning_any"}


def is_tensor(value: Value) -> bool:
    """Returns whether the value is a single, required tensor: a tensor that is neither optional nor in a list."""
    return value.type == "Tensor" and not value.is_list and not value.is_optional


def parameter_type(value: Value) -> str:
    element = _TYPES[value.type]
    if value.is_list:
        element = "kernkit::ShapeView" if value.type == "int" else f"kernkit::ListView<{element}>"
    return f"kernkit::Optional<{element}>" if value.is_optional else element


def result_type(value: Value) -> str:
    return "kernkit::Shape" if value.is_list else _RESULTS[value.type]


def return_type(op: Op) -> str:
    """Returns the C++ return type of the op's function: void, one type, or a tuple."""
    types = [result_type(value) for value in op.results]
    return f"std::tuple<{', '.join(types)}>" if types[1:] else types[0] if types else "void"


def example(value: Value) -> str:
    """Returns the C++ expression of an argument in a generated test. For a tensor or a list of tensors, the expression
    is a variable with the parameter's name."""
    if value.is_optional:
        return "{}"
    if value.type == "Tensor":
        return f'{value.name}.view("{value.name}")'
    if value.is_list and value.type == "int":
        return "kernkit::ShapeView({3})"
    if value.is_list:
        element = EXAMPLES[value.type]
        return f'kernkit::testing::TestList<{_TYPES[value.type]}>({element}).view("{value.name}")'
    return EXAMPLES[value.type]


def includes(op: Op) -> str:
    """Returns the #include lines that the declaration of the op needs."""
    std, sdk_headers = set(), set()
    for value in op.parameters:
        std |= {"string_view"} if value.type == "str" else set()
        sdk_headers |= {_HEADERS[value.type]} if value.type in _HEADERS else set()
        sdk_headers |= {"list"} if value.is_list and value.type != "int" else set()
        sdk_headers |= {"optional"} if value.is_optional else set()
    for value in op.results:
        std |= {"string"} if value.type == "str" else set()
        sdk_headers |= {_RESULT_HEADERS[value.type]} if value.type in _RESULT_HEADERS else set()
        sdk_headers |= {"owning_shape"} if value.is_list else set()
    std |= {"tuple"} if op.results[1:] else set()
    lines: List[str] = [f"#include <{name}>" for name in sorted(std)] + [""] * bool(std)
    lines += [f'#include "kernkit/{name}.h"' for name in sorted(sdk_headers | {"dispatch", "tensor"})]
    return "\n".join(lines)
