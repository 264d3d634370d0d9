# SPDX-License-Identifier: Apache-2.0
"""Texts that fill the skeletons of ops that compute with numbers: elementwise, row and
row_reduction."""

from typing import Dict, List

from ...errors import UserError
from ...schema import Op
from .types import EXAMPLES, example, is_tensor

MAX_INPUTS = 7  # largest number of inputs that kernkit::cpu::elementwise supports
_TO_COMPUTE = {"float": "static_cast<kernkit::compute_t<T>>({})", "int": "{}", "bool": "{}"}
_MEMBERS = {"float": "Compute {};", "int": "int64_t {};", "bool": "bool {};"}


def check(kind: str, op: Op) -> None:
    """Raises UserError if the kind does not support the arguments and results of the op."""
    tensors = [value for value in op.parameters if is_tensor(value)]
    numbers = [value for value in op.parameters if value.type in ("float", "int", "bool")]
    odd = [value for value in op.parameters if value not in tensors and value not in numbers]
    odd += [value for value in numbers if value.is_list or value.is_optional]
    inputs = [value for value in tensors if not value.is_written]
    if op.results:
        raise UserError(f"{kind} writes its result into a tensor, Tensor(a!), and ends with -> (); use "
                        "--kind custom for an op that returns a tensor")  # fmt: skip
    if odd:
        raise UserError(f"parameter {odd[0].name}: {kind} supports tensors, float, int and bool; use --kind custom")
    if not any(value.is_written for value in tensors):
        raise UserError("the schema has no output tensor; mark a tensor that the op writes with Tensor(a!), or use "
                        "--kind custom")  # fmt: skip
    if len(inputs) > MAX_INPUTS:
        raise UserError(f"{kind} reads at most {MAX_INPUTS} tensors; use --kind custom")
    if len(tensors) - len(inputs) != 1 or not inputs or (kind == "row_reduction" and inputs[1:]):
        requirement = "one tensor" if kind == "row_reduction" else "one tensor or more"
        raise UserError(f"{kind} reads {requirement} and writes one tensor, Tensor(a!); use --kind custom")


def fields(kind: str, op: Op) -> Dict[str, str]:
    """Returns {name: the text that replaces @name@ in the skeletons of elementwise, row and row_reduction ops}."""
    tensors = [value.name for value in op.parameters if is_tensor(value)]
    output = next(value.name for value in op.parameters if value.is_written)
    inputs = [name for name in tensors if name != output]
    first = inputs[0]
    scalars = [value for value in op.parameters if not is_tensor(value)]
    numbers = [value for value in scalars if value.type in ("float", "int")]

    def join(*parts: List[str]) -> str:
        return ", ".join(part for some in parts for part in some)

    def lines(pattern: str, some: List[str]) -> str:
        return "\n".join(pattern.format(x=name, i=i) for i, name in enumerate(some, 1))

    def product(begin: str, factor: str) -> str:
        return " * ".join([begin, *(value.name if value.type == "float" else factor.format(value.name)
                                    for value in numbers)])  # fmt: skip

    def formula(term: str, factor: str) -> str:
        total = " + ".join(term.format(name) for name in inputs)
        return product(f"({total})" if inputs[1:] and numbers else total, factor)

    if kind == "elementwise":
        doc = f"{output} = {formula('{}', '{}')}, elementwise."
    elif kind == "row":
        doc = f"{output} = {formula('{}', '{}')}, each row by its root mean square."
    else:
        doc = f"{output}[i] = {product(f'sum of row i of {first}', '{}')}."
    return {
        "doc": doc,
        "tensors": join(tensors),
        "first": first,
        "output": output,
        "others": " and ".join([*inputs[1:], output]),
        "expect_others": lines(f"KERNKIT_EXPECT({{x}}).like({first}).contiguous();", inputs[1:]),
        "no_partial_overlap": "".join(f".no_partial_overlap({name})" for name in inputs),
        "pointers": join([f"{output}.data<T>()"], [f"{name}.data<const T>()" for name in inputs]),
        "members": "\n".join(_MEMBERS[value.type].format(value.name) for value in scalars),
        "row_members": "\n".join([f"T* {output};", *(f"const T* {name};" for name in inputs)]),
        "row_inputs": join([f"{name} + r * columns" for name in inputs]),
        "and_constants": "".join(", " + _TO_COMPUTE[v.type].format(v.name) for v in scalars),
        "functor_parameters": join([f"Compute {name}" for name in inputs]),
        "functor_arguments": join([_TO_COMPUTE[v.type].format(v.name) for v in scalars]),
        "functor_constants": join([EXAMPLES[value.type] for value in scalars]),
        "formula_in_compute": formula("{}", "Compute({})"),
        "total_in_compute": product("total", "Compute({})"),
        "formula": formula("{}", "{}"),
        "total": product("total", "{}"),
        "double_parameters": join([f"double {x}" for x in inputs + [v.name for v in numbers]]),
        "row_parameters": join(
            ["const std::vector<double>& row"], [f"double {value.name}" for value in numbers]
        ),
        "row_arguments": join(["row"], [EXAMPLES[value.type] for value in numbers]),
        "decoded": join(
            [f"kernkit::testing::decode({name}[i])" for name in inputs],
            [EXAMPLES[value.type] for value in numbers],
        ),
        "elements": join([f"{name}[i]" for name in inputs]),
        "contract_examples": join(
            [("example<float>(4)" if kind == "row_reduction" and value.is_written else
              "example<float>(4, 37)" if is_tensor(value) else EXAMPLES[value.type])
             for value in op.parameters]
        ),
        "call": join([example(value) for value in op.parameters]),
        "make_inputs": lines(
            "TestTensor<TypeParam> {x}(shape, placement);\n"
            "kernkit::testing::fill_eighths({x}, {i});", inputs
        ),
        "make_bench_inputs": lines(
            "TestTensor<T> {x}({{count}});\nkernkit::testing::fill_eighths({x}, {i});", inputs
        ),
        "make_row_bench_inputs": lines(
            "TestTensor<T> {x}({{rows, columns}});\nkernkit::testing::fill_eighths({x}, {i});", inputs
        ),
        "float_tensors": lines("TestTensor<float> {x}{{{{2, 3}}}};", tensors),
        "tensor_count": str(len(tensors)),
    }  # fmt: skip
