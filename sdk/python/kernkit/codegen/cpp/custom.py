# SPDX-License-Identifier: Apache-2.0
"""Texts that fill the skeletons of a custom op, which can have any arguments and results.

The new op checks its tensors, writes zeros into the tensors that the schema marks (a!), and returns zeros of the first
tensor's shape, or empty values.
"""

from typing import Dict, List

from ...schema import Op, Value
from .types import EXAMPLES, example, is_tensor, parameter_type, return_type

_NOTHING = {
    "int": "0",
    "float": "0.0",
    "bool": "false",
    "str": "std::string()",
    "bytes": "kernkit::BytesView()",
    "ScalarType": "kernkit::dl_float32",
    "Device": "DLDevice{kDLCPU, 0}",
    "Callable": 'kernkit::make_function("result", [] { return 0; })',
    "Any": "kernkit::Any()",
}
_EXPECT = {
    "bytes": "EXPECT_TRUE({x}.empty());",
    "Callable": "EXPECT_TRUE({x}.defined());",
    "Any": "EXPECT_TRUE({x}.is_none());",
    "ScalarType": "EXPECT_TRUE({x} == kernkit::dl_float32);",
    "Device": "EXPECT_TRUE({x} == (DLDevice{{kDLCPU, 0}}));",
}
_LIST = "kernkit::testing::TestList<kernkit::TensorView>"


def _is_tensor_list(value: Value) -> bool:
    return value.type == "Tensor" and value.is_list and not value.is_optional


def anchor(op: Op) -> str:
    """Returns the C++ expression of the tensor that determines the op's device: an input if possible, or the first
    tensor of a list, or "" if the op has neither a required tensor nor a required list of tensors."""
    tensors = [value for value in op.parameters if is_tensor(value)]
    lists = [value for value in op.parameters if _is_tensor_list(value)]
    for value in sorted(tensors, key=lambda value: value.is_written):
        return value.name
    return f"{lists[0].name}[0]" if lists else ""


def _each(value: Value, action: str) -> str:
    """Returns the C++ statement that applies `action` to a parameter: to the tensor, to an optional tensor that is
    present, or to each tensor of a list. `action` is a statement with {} in place of the tensor."""
    x = f"*{value.name}" if value.is_optional else value.name
    if not value.is_list:
        line = action.format(x)
        return f"if ({value.name}.has_value()) {{\n  {line}\n}}" if value.is_optional else line
    line = f"for (const kernkit::TensorView each : {x}) {{\n  {action.format('each')}\n}}"
    if not value.is_optional:
        return line
    inner = line.replace("\n", "\n  ")
    return f"if ({value.name}.has_value()) {{\n  {inner}\n}}"


def _checks(op: Op, types: str, on_device: str) -> str:
    first = anchor(op)
    begin = f"KERNKIT_EXPECT({{}}).dtype({types}{{{{}}}})"
    lines = []
    if first.endswith("[0]"):
        name = first[:-3]
        lines.append(f'KERNKIT_CHECK(!{name}.empty(), ValueError) << "{name}: must hold a tensor";')
    if first:
        lines.append(f"{begin}.{on_device}.contiguous();".format(first))
    if first and any(value.type == "Tensor" for value in op.results):
        lines.append(f"static_cast<void>({first}.numel());  // rejects the shapes that no result can have")
    for value in op.parameters:
        if value.type == "Tensor" and value.name != first:
            device_check = f"same_device({first})" if first else "cpu()"
            lines.append(_each(value, f"{begin}.{device_check}.contiguous();"))
    return "\n".join(lines)


def _body(op: Op, launch: str) -> str:
    """Returns the C++ statements of the op's function, which write zeros into the written tensors and return the
    results. `launch`: the first argument of write_zeros(), with a comma, on the GPU, and "" on the CPU."""
    first, names, lines = anchor(op), [], []
    for value in op.parameters:
        if value.type == "Tensor" and value.is_written:
            lines.append(_each(value, f"write_zeros({launch}{{}});"))
    allocation = (f"{first}.sizes(), {first}.dtype(), {first}.device()" if first
                  else "{3}, kernkit::dl_float32, {kDLCPU, 0}")  # fmt: skip
    for i, value in enumerate(op.results, 1):
        if value.type != "Tensor":
            names.append("kernkit::Shape()" if value.is_list else _NOTHING[value.type])
            continue
        names.append(f"result{i}" if op.results[1:] else "result")
        lines.append(f"kernkit::Tensor {names[-1]} = kernkit::alloc_tensor({allocation});")
        lines.append(f"write_zeros({launch}{names[-1]});")
    if names:
        lines.append(f"return {{{', '.join(names)}}};" if names[1:] else f"return {names[0]};")
    return "\n".join(lines)


def _variables(op: Op, only_written: bool = False) -> List[str]:
    """Returns the names of the variables that hold the tensors of a call in a test. Each list of tensors has two
    variables."""
    names = []
    for value in op.parameters:
        if only_written and not value.is_written:
            continue
        names += [value.name] if is_tensor(value) else []
        names += [f"{value.name}_{i}" for i in range(2)] if _is_tensor_list(value) else []
    return names


def _lists(op: Op, const: str, brackets: str) -> str:
    """Returns the C++ declarations of the lists of tensors that a test passes to the op. A list has the variables of
    _variables() as elements."""
    lines = []
    for value in filter(_is_tensor_list, op.parameters):
        views = ", ".join(f'{value.name}_{i}.view("{value.name}")' for i in range(2))
        lines.append(f"{const}{_LIST} {value.name}{brackets[0]}{views}{brackets[1]};")
    return "\n".join(lines)


def _expected_results(op: Op) -> str:
    lines = []
    for i, value in enumerate(op.results):
        x = f"std::get<{i}>(result)" if op.results[1:] else "result"
        if value.is_list:
            lines.append(f"EXPECT_EQ({x}.size(), 0u);")
        elif value.type == "Tensor":
            element = "TypeParam" if anchor(op) else "float"
            count = "count" if anchor(op) else "3"
            lines.append(f"ASSERT_EQ({x}.numel(), {count});\n"
                         f"EXPECT_TRUE(is_zero({count}, {x}.data<const {element}>()));")  # fmt: skip
        else:
            usual = f"EXPECT_EQ({{x}}, {_NOTHING[value.type]});"
            lines.append(_EXPECT.get(value.type, usual).format(x=x))
    return "\n".join(lines)


def _contract_example(value: Value) -> str:
    if value.is_optional or value.type == "Any":
        return "nullptr"
    if value.type == "Tensor":
        tensor = "example<float>(4, 37)"
        return f"list({tensor}, {tensor})" if value.is_list else tensor
    example = {"Callable": _NOTHING["Callable"]}.get(value.type, EXAMPLES[value.type])
    if value.is_list and value.type == "int":
        return "kernkit::ShapeView({3})"
    return f"list({example})" if value.is_list else example


def fields(op: Op, types: str, cuda: bool) -> Dict[str, str]:
    """Returns {name: the text that replaces @name@ in the skeletons of custom ops}. `types`: name of the C++ list of
    dtypes."""
    first = anchor(op)
    on_device = "cpu_or_cuda()" if cuda else "cpu()"
    checks, body, cuda_body = _checks(op, types, on_device), _body(op, ""), _body(op, "launch, ")
    plain = [value.name for value in op.parameters if is_tensor(value)]
    launched = ", ".join(plain or [first])

    def parameters(*texts: str) -> str:
        # The parameters' names are placeholders here, so `in` cannot find a name inside a longer word.
        used = [any(value.name in text for text in texts) for value in op.parameters]
        return ", ".join(
            ("" if used[i] else "[[maybe_unused]] ") + f"{parameter_type(value)} {value.name}"
            for i, value in enumerate(op.parameters)
        )

    arguments = ", ".join(value.name for value in op.parameters)
    written = _variables(op, only_written=True)
    variables = _variables(op)
    call = ", ".join(example(value) for value in op.parameters)
    contract_examples = ", ".join(_contract_example(value) for value in op.parameters)
    with_lists = [""] * any(map(_is_tensor_list, op.parameters))

    def each(pattern: str, some: List[str]) -> str:
        return "\n".join(pattern.format(x=x) for x in some)

    return {
        "returns": return_type(op),
        "lists": "yes" if "TestList" in call or with_lists else "",
        "take": f"const {return_type(op)} result = " if op.results else "",
        "writes": "yes" if "write_zeros" in body else "",
        "makes_functions": "yes" if "make_function" in body else "",
        "passes_functions": "yes" if "make_function" in contract_examples else "",
        "variables": " ".join(variables),
        "without_variables": "" if variables else "yes",
        "first": first,
        "first_name": first.replace("[0]", ""),
        "first_variable": first.replace("[0]", "_0"),
        "first_written": written[0] if written else "",
        "checks": checks,
        "body": body,
        "cuda_body": cuda_body,
        "cc_parameters": parameters(checks, body, arguments if cuda else ""),
        "cu_parameters": parameters(cuda_body, launched),
        "launched": launched,
        "make_typed_tensors": "\n".join(
            [each("TestTensor<TypeParam> {x}({{count}}, placement, TypeParam(77.0f));", variables),
             *(_lists(op, "const ", "()") for _ in with_lists)]),
        "make_bench_tensors": "\n".join(
            [each("TestTensor<T> {x}({{count}}, {{}}, T(77.0f));", variables),
             *(_lists(op, "const ", "()") for _ in with_lists)]),
        "float_tensors": "\n".join(
            [each("TestTensor<float> {x}{{{{2, 3}}}};", variables),
             *(_lists(op, "", "{}") for _ in with_lists)]),
        "expect_written": each("EXPECT_TRUE(is_zero(count, {x}.begin()));\n"
                               "EXPECT_TRUE({x}.intact());", written),
        "expect_results": _expected_results(op),
        "call": call,
        "contract_examples": contract_examples,
    }  # fmt: skip
