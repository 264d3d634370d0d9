# SPDX-License-Identifier: Apache-2.0
"""Generates the files of a new op from the skeletons of the op's kind."""

import pathlib
import re
from typing import Dict, List

from ...schema import Op
from . import custom, identifiers, numeric
from .types import includes, parameter_type, return_type

SKELETONS = pathlib.Path(__file__).resolve().parent / "skeletons"


def values_of(library: str, cuda: bool, kind: str, op: Op, typed: str) -> Dict[str, str]:
    """Returns {name: the text that replaces @name@ in the skeletons}. The names in `op` are placeholders. `typed`: the
    schema as the user typed it, or "" if the files have the same schema."""
    cls = identifiers.CLASS_PLACEHOLDER
    parameters = ", ".join(f"{parameter_type(value)} {value.name}" for value in op.parameters)
    arguments = ", ".join(value.name for value in op.parameters)
    values = {
        "op": op.name,
        "Op": cls,
        "library": library,
        "schema": op.line[op.line.index("(") :],
        "typed": typed,
        "doc": f"What {op.name} does.",
        "export": "shapes/export.h" if op.has_shapes else "export.h",
        "includes": includes(op),
        "parameters": parameters,
        "of_both": ", the same on CPU and GPU" if cuda else "",
        "on_device": "cpu_or_cuda()" if cuda else "cpu()",
        "or_cuda_device": " or a CUDA device" if cuda else "",
        "or_on_one_device": " or on one CUDA device" if cuda else "",
        "or_cuda_error": ", RuntimeError (CUDA)" if cuda else "",
        "cuda_declaration": (
            f"\n/// The CUDA implementation: arguments are checked and not empty. Defined in {op.name}.cu.\n"
            f"{return_type(op)} {op.name}_cuda({parameters});" if cuda else ""
        ),
        "two_devices": f"// These tests run the CPU code. In {library}_cuda_test they run the CUDA kernel, on the CPU." if cuda else "",
    }
    if kind == "custom":
        values.update(custom.fields(op, f"{cls}Types", cuda))
    else:
        values.update(numeric.fields(kind, op))
    first = values["first"]
    values["cuda_dispatch"] = (
        f"if constexpr (kernkit::kWithCuda) {{\n"
        f"  if (kernkit::is_cuda({first}.device())) return {op.name}_cuda({arguments});\n}}" if cuda else ""
    )
    return values


def fill(skeleton: str, values: Dict[str, str]) -> str:
    """Returns the skeleton with each @name@ replaced. Removes lines that become empty, and the lines from `//@ if name`
    to `//@ end` if the value of `name` is ""."""
    lines, is_kept = [], True
    for line in skeleton.split("\n"):
        directive = line.split()
        if directive[:1] == ["//@"]:
            is_kept = directive[1] == "end" or bool(values[directive[2]])
            continue
        indent = line[: len(line) - len(line.lstrip())]
        new = re.sub(r"@(\w+)@", lambda match: values[match.group(1)], line)
        if is_kept and (new.strip() or not line.strip()):
            lines += [part if i == 0 or not part else indent + part
                      for i, part in enumerate(new.split("\n"))]  # fmt: skip
    return "\n".join(lines)


def kinds() -> List[str]:
    """Returns the names of the kinds of ops that have skeletons."""
    return sorted(folder.name for folder in SKELETONS.iterdir() if (folder / "op.h.in").exists())


def has_cuda(kind: str, op: Op) -> bool:
    """Returns whether an op of this kind can have a CUDA kernel. Raises UserError if the kind does not support the op's
    arguments or results."""
    if kind == "custom":
        return bool(custom.anchor(op))
    numeric.check(kind, op)
    return True


def texts(library: str, cuda: bool, kind: str, op: Op, typed: str) -> Dict[str, str]:
    """Returns {path in the library: text} of the files of a new op. Each text begins with the licence line of its
    skeleton. `typed`: see values_of(). Raises UserError if the files use a name of the op for something else."""
    values = values_of(library, cuda, kind, identifiers.with_placeholders(op), typed)
    name = op.name
    files = {}
    for skeleton, path in {
        "op.h.in": f"kernels/{name}/{name}.h",
        "op.cc.in": f"kernels/{name}/{name}.cc",
        "op.cu.in": f"kernels/{name}/{name}.cu",
        "op_export.cc.in": f"kernels/{name}/{name}_export.cc",
        "op_test.cc.in": f"tests/{name}_test.cc",
        "op_bench.cc.in": f"bench/{name}_bench.cc",
    }.items():
        if skeleton != "op.cu.in" or cuda:
            folder = SKELETONS / ("any" if skeleton == "op_export.cc.in" else kind)
            files[path] = fill((folder / skeleton).read_text(encoding="utf-8"), values)
    return identifiers.replace_placeholders(files, op)
