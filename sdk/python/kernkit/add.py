# SPDX-License-Identifier: Apache-2.0
"""Start another kernel in the library of this folder.

  kernkit add swish "(Tensor(a!) y, Tensor x, float beta=1.0) -> ()"

makes declaration, CPU and CUDA code, export, test and benchmark, and adds one line to
kernels/CMakeLists.txt. It builds and passes at once; "Write it here" marks what is yours.

kinds: elementwise (the default) sums its inputs, times the numbers; row_reduction sums each row of
a matrix; custom checks its arguments and writes zeros.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
from typing import Dict, List

from . import names
from .cli import Refusal
from .schema import Op, SchemaError, Value, parse
from .update import read_record

KINDS = pathlib.Path(__file__).resolve().parent / "kinds"

CPP_TYPES = {
    "Tensor": "kernkit::TensorView",
    "float": "double",
    "int": "int64_t",
    "bool": "bool",
    "str": "std::string_view",
    "ScalarType": "DLDataType",
    "Device": "DLDevice",
}
# What tests and benchmarks pass. 2.5 and 3 are exact in every floating type.
EXAMPLES = {
    "float": "2.5",
    "int": "3",
    "bool": "true",
    "str": '"text"',
    "ScalarType": "kernkit::dl_float32",
    "Device": "DLDevice{kDLCPU, 0}",
}
# Names that the skeletons use themselves.
TAKEN = set(
    "T Compute Types benchmark call columns count device_ element eighths expected i j "
    "elements kernkit launch op placement row rows shape shapes sizes state std tag testing thread "
    "total".split()
)


def cpp_type(value: Value) -> str:
    element = CPP_TYPES[value.type]
    if value.is_list:
        element = "kernkit::ShapeView" if value.type == "int" else f"kernkit::ListView<{element}>"
    return f"kernkit::Optional<{element}>" if value.is_optional else element


def example(value: Value) -> str:
    if value.is_optional:
        return "{}"
    if value.is_list:
        return "{}" if value.type == "int" else f'{{nullptr, 0, "{value.name}"}}'
    return f'{value.name}.view("{value.name}")' if is_tensor(value) else EXAMPLES[value.type]


def is_tensor(value: Value) -> bool:
    """A tensor that is there and is one."""
    return value.type == "Tensor" and not value.is_list and not value.is_optional


def read_schema(name: str, schema: str) -> Op:
    """The op, or a refusal: what parses and is within what the skeletons can do."""
    if not schema.isprintable() or set(schema) & set('"\\') or not schema.isascii():
        raise Refusal("the schema holds a character that no schema needs; use '...' for texts")
    if not schema.strip().startswith("("):
        raise Refusal('the schema begins with its parameters: "(Tensor(a!) y, Tensor x) -> ()"')
    try:
        op = parse(name + schema.strip())
    except SchemaError as error:
        raise Refusal(f"the schema does not parse: {error}; see docs/adding-a-kernel.md") from None
    if op.results:
        raise Refusal(
            "a new kernel writes its results into tensors: end the schema with -> (), and mark "
            "what is written with Tensor(a!)"
        )
    for index, value in enumerate(op.parameters):
        name = value.name
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or "__" in name:
            raise Refusal(f"parameter {index + 1} has no name that C++ and Python could use")
        if name in names.CPP_WORDS or name in TAKEN or names.keyword.iskeyword(name):
            raise Refusal(f"parameter {name}: the name is taken; choose another")
        if name in [other.name for other in op.parameters[:index]] + [op.name]:
            raise Refusal(f"parameter {name}: the name stands twice; choose another")
        if value.default is None and any(other.default for other in op.parameters[:index]):
            raise Refusal(f"parameter {name}: has no default and follows one that has")
        if value.type not in CPP_TYPES:
            raise Refusal(
                f"parameter {name}: for {value.type} the C++ code is yours from the start; use "
                f"another type now and change it in the files"
            )
    if not any(is_tensor(value) and value.is_written for value in op.parameters):
        raise Refusal("the schema says no tensor that is written; mark one with Tensor(a!)")
    return op


def check_kind(kind: str, op: Op) -> None:
    """Refuses what this kind's files could not be made for."""
    if kind == "custom":
        return
    tensors = [value for value in op.parameters if is_tensor(value)]
    numbers = [value for value in op.parameters if value.type in ("float", "int", "bool")]
    odd = [value for value in op.parameters if value not in tensors and value not in numbers]
    odd += [value for value in numbers if value.is_list or value.is_optional]
    inputs = [value for value in tensors if not value.is_written]
    if odd:
        raise Refusal(f"{kind} has tensors, float, int and bool; {odd[0].name}: use --kind custom")
    if len(tensors) - len(inputs) != 1 or not inputs or (kind == "row_reduction" and inputs[1:]):
        wanted = "one tensor" if kind == "row_reduction" else "one tensor or more"
        raise Refusal(f"{kind} reads {wanted} and writes one, Tensor(a!); use --kind custom")


def fields(library: str, cuda: bool, kind: str, op: Op) -> Dict[str, str]:
    """What stands for @name@ in the skeletons."""
    output = next(value.name for value in op.parameters if is_tensor(value) and value.is_written)
    tensors = [value.name for value in op.parameters if is_tensor(value)]
    inputs = [name for name in tensors if name != output]
    first = (inputs or [output])[0]
    scalars = [value for value in op.parameters if not is_tensor(value)]
    numbers = [value for value in scalars if value.type in ("float", "int")]
    parameters = [f"{cpp_type(value)} {value.name}" for value in op.parameters]

    def join(*parts: List[str]) -> str:
        return ", ".join(part for some in parts for part in some)

    def lines(pattern: str, some: List[str], **more: object) -> str:
        return "\n".join(pattern.format(x=name, i=i, **more) for i, name in enumerate(some, 1))

    def formula(term: str, factor: str) -> str:
        total = " + ".join(term.format(name) for name in inputs)
        total = f"({total})" if inputs[1:] and numbers else total
        factors = [value.name if value.type == "float" else factor.format(value.name)
                   for value in numbers]  # fmt: skip
        return " * ".join([total, *factors])

    def total(factor: str) -> str:
        return " * ".join(["total", *(value.name if value.type == "float"
                                      else factor.format(value.name) for value in numbers)])

    if kind == "elementwise":
        doc = f"{output} = {formula('{}', '{}')}, elementwise."
    elif kind == "row_reduction":
        doc = f"{output}[i] = {total('{}').replace('total', f'sum of row i of {first}')}."
    else:
        doc = f"What {op.name} does."
    to_compute = {"float": "static_cast<kernkit::compute_t<T>>({})", "int": "{}", "bool": "{}"}
    member = {"float": "Compute {};", "int": "int64_t {};", "bool": "bool {};"}
    numeric = kind != "custom"
    device = "on_device" if cuda else ""
    arguments = [value.name for value in op.parameters]
    outputs = [value.name for value in op.parameters if is_tensor(value) and value.is_written]
    cuda_call = f"return {op.name}_cuda({join(arguments)});"
    pointers = [f"{output}.data<T>()"] + [f"{name}.data<const T>()" for name in inputs]
    expect = {
        "elementwise": "KERNKIT_EXPECT({x}).like({first}).contiguous();",
        "custom": "KERNKIT_EXPECT({x}).dtype({Op}Types{{}}).same_device({first}).contiguous();",
    }.get(kind, "")
    camel = "".join(word.capitalize() for word in op.name.split("_"))
    others = [name for name in inputs[1:]] if kind == "elementwise" else tensors
    checks = lines(expect, [name for name in others if name != first], first=first, Op=camel)
    if kind == "custom":
        left = [value.name for value in op.parameters if value.type == "Tensor"]
        left = [name for name in left if name not in tensors]
        checks += "\n" * bool(checks and left)
        checks += lines("// Write it here: the check of {x}.", left)
    includes = []
    if any(value.is_list and value.type != "int" for value in op.parameters):
        includes.append('#include "kernkit/list.h"')
    if any(value.is_optional for value in op.parameters):
        includes.append('#include "kernkit/optional.h"')
    if any(value.type == "str" for value in op.parameters):
        includes.insert(0, "#include <string_view>\n")
    assert outputs
    return {
        "op": op.name,
        "Op": camel,
        "library": library,
        "schema": op.line[len(op.name) :],
        "doc": doc,
        "includes": "\n".join(includes),
        "parameters": join(parameters),
        "unused_parameters": join(
            [p if v.name in (tensors if cuda else [first, output]) else f"[[maybe_unused]] {p}"
             for p, v in zip(parameters, op.parameters)]
        ),
        "tensors": join(tensors),
        "first": first,
        "output": output,
        "others": " and ".join([*inputs[1:], output]),
        "of_both": ", the same on CPU and GPU" if cuda else "",
        "on_device": "cpu_or_cuda()" if cuda else "cpu()",
        "or_cuda_device": " or a CUDA device" if cuda else "",
        "or_on_one_device": " or on one CUDA device" if cuda else "",
        "or_cuda_error": ", RuntimeError (CUDA)" if cuda else "",
        "cuda_declaration": (
            f"\n/// The CUDA half: arguments are checked and not empty. Defined in {op.name}.cu.\n"
            f"void {op.name}_cuda({join(parameters)});" if cuda else ""
        ),
        "cuda_dispatch": (
            "if constexpr (kernkit::kWithCuda) {\n"
            f"  if (kernkit::is_cuda({first}.device())) {cuda_call}\n}}" if cuda else ""
        ),
        "two_devices": (
            f"// On the CPU; in {op.name}_cuda_test the CUDA kernel, run on the CPU." if device else ""
        ),
        "expect_others": checks,
        "no_partial_overlap": "".join(f".no_partial_overlap({name})" for name in inputs),
        "pointers": join(pointers),
        "members": "\n".join(member[v.type].format(v.name) for v in scalars) if numeric else "",
        "functor_parameters": join([f"Compute {name}" for name in inputs]),
        "functor_arguments": (
            join([to_compute[v.type].format(v.name) for v in scalars]) if numeric else ""
        ),
        "functor_constants": join([EXAMPLES[v.type] for v in scalars]) if numeric else "",
        "formula_in_compute": formula("{}", "Compute({})") if numeric else "",
        "total_in_compute": total("Compute({})") if numeric else "",
        "formula": formula("{}", "{}") if numeric else "",
        "total": total("{}") if numeric else "",
        "double_parameters": join([f"double {x}" for x in inputs + [v.name for v in numbers]]),
        "row_parameters": join(
            ["const std::vector<double>& row"], [f"double {v.name}" for v in numbers]
        ),
        "row_arguments": join(["row"], [EXAMPLES[v.type] for v in numbers]),
        "decoded": join(
            [f"decode({name}[i])" for name in inputs], [EXAMPLES[v.type] for v in numbers]
        ),
        "elements": join([f"{name}[i]" for name in inputs]),
        "contract_examples": join(
            [("example<float>(4)" if kind == "row_reduction" and value.is_written else
              "example<float>(4, 37)" if is_tensor(value) else EXAMPLES[value.type])
             for value in op.parameters] if numeric else []
        ),
        "call": join([example(value) for value in op.parameters]),
        "make_inputs": lines(
            "TestTensor<TypeParam> {x}(shape, placement);\nfill_eighths({x}, {i});", inputs
        ),
        "make_typed_tensors": lines(
            "TestTensor<TypeParam> {x}({{count}}, placement, TypeParam(77.0f));", tensors
        ),
        "make_bench_inputs": lines("HostTensor<T> {x}({{count}});\nfill_eighths({x}, {i});", inputs),
        "make_bench_tensors": lines("HostTensor<T> {x}({{count}}, {{}}, T(77.0f));", tensors),
        "float_tensors": lines("TestTensor<float> {x}{{{{2, 3}}}};", tensors),
        "tensor_count": str(len(tensors)),
    }


def fill(skeleton: str, values: Dict[str, str]) -> str:
    """Replaces @name@; a line is dropped whose only content became nothing."""
    lines = []
    for line in skeleton.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        new = re.sub(r"@(\w+)@", lambda found: values[found.group(1)], line)
        if new.strip() or not line.strip():
            lines += [part if i == 0 or not part else indent + part
                      for i, part in enumerate(new.split("\n"))]  # fmt: skip
    return "\n".join(lines)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="of the op: a Python and C++ function")
    parser.add_argument("schema", metavar="SCHEMA", help='"(Tensor(a!) y, Tensor x) -> ()"')
    kinds = sorted(folder.name for folder in KINDS.iterdir() if (folder / "h").exists())
    parser.add_argument("--kind", choices=kinds, default="elementwise")


def run(arguments: argparse.Namespace) -> int:
    name, kind = arguments.name, arguments.kind
    answers = read_record(pathlib.Path().resolve()).answers
    reason = names.why_not_identifier(name)
    if not reason and (name in ("kernkit", "std", answers["library_name"]) or name[-5:] == "_cuda"):
        reason = "is taken already"
    if reason:
        raise Refusal(f'op "{name}" {reason}; choose another name')
    op = read_schema(name, arguments.schema)
    check_kind(kind, op)
    cuda = answers["cuda"] != "none"
    values = fields(answers["library_name"], cuda, kind, op)
    texts = {}
    for ending, path in {
        "h": f"kernels/{name}/{name}.h",
        "cc": f"kernels/{name}/{name}.cc",
        "cu": f"kernels/{name}/{name}.cu",
        "export": f"kernels/{name}/{name}_export.cc",
        "test": f"tests/{name}_test.cc",
        "bench": f"bench/{name}_bench.cc",
    }.items():
        if ending == "cu" and not cuda:
            continue
        folder = KINDS / ("any" if ending == "export" else kind)
        texts[pathlib.Path(path)] = fill((folder / ending).read_text(encoding="utf-8"), values)
    listing = pathlib.Path("kernels/CMakeLists.txt")
    lines = listing.read_text(encoding="utf-8")
    line = f"kernkit_add_kernel({answers['library_name']} {name}{'' if cuda else ' CPU_ONLY'})\n"
    for path in texts:
        if path.exists():
            raise Refusal(f"{path} exists, and nothing is overwritten; choose another name")
    if re.search(rf"kernkit_add_kernel\(\s*\w+\s+{name}\b", lines):
        raise Refusal(f"{listing} adds {name} already; choose another name")
    licence = answers["licence"]
    for path, text in texts.items():
        head = "" if licence == "none" else f"// SPDX-License-Identifier: {licence}\n"
        path.parent.mkdir(exist_ok=True)
        path.write_text(head + text.split("\n", 1)[1], encoding="utf-8")
    listing.write_text(lines + ("" if lines.endswith("\n") else "\n") + line, encoding="utf-8")
    if shutil.which("clang-format"):
        subprocess.run(["clang-format", "-i", *map(str, texts)], check=False)
    for path in [*texts, listing]:
        print(path)
    return 0
