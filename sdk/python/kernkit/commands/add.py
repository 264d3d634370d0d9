# SPDX-License-Identifier: Apache-2.0
"""Start another kernel in the library of this folder.

  kernkit add swish "(Tensor(a!) y, Tensor x, float beta=1.0) -> ()"

makes declaration, CPU and CUDA code, export, test and benchmark, and adds one line to
kernels/CMakeLists.txt. It builds and passes at once; "Write it here" marks what is yours.

kinds: elementwise (the default) sums its inputs, times the numbers; row divides each row of such a
sum by its root mean square; row_reduction sums each row of a matrix; custom takes any arguments, checks its tensors, writes and returns zeros.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import sys
from typing import Dict

from .. import programs
from ..errors import UserError
from ..project import files, listing, names
from ..project.record import VENDORED_SDK, read_record
from ..codegen.cpp import custom, numeric
from ..codegen.cpp import identifiers as op_names
from ..codegen.cpp import typed_schema as op_schema
from ..codegen.cpp.types import includes, parameter_type, return_type
from ..schema import Op

SKELETONS = pathlib.Path(__file__).resolve().parents[1] / "codegen/cpp/skeletons"
# Folders whose <name>/<name>.h the files of every op include.
OTHER_HEADERS = ("benchmark", "dlpack", "gtest")


def why_not_op(name: str, library: str) -> str:
    """What is wrong with an op's name: the end of a sentence, or "" when nothing is."""
    if name in ("kernkit", "std", library, *OTHER_HEADERS):
        return "is taken already"
    for ending in ("_cuda", "_export"):
        if name.endswith(ending):
            return f"ends in {ending}, as files of another op do"
    return names.why_not_identifier(name)


def fields(library: str, cuda: bool, kind: str, op: Op, typed: str) -> Dict[str, str]:
    """What stands for @name@ in the skeletons; `typed` is a line that the op does not begin with."""
    cls = op_names.class_of_stand_in()
    parameters = ", ".join(f"{parameter_type(value)} {value.name}" for value in op.parameters)
    arguments = ", ".join(value.name for value in op.parameters)
    values = {
        "op": op.name,
        "Op": cls,
        "library": library,
        "schema": op.line[op.line.index("(") :],
        "typed": typed,
        "doc": f"What {op.name} does.",
        "export": "shapes/export.h" if op.says_shapes else "export.h",
        "includes": includes(op),
        "parameters": parameters,
        "of_both": ", the same on CPU and GPU" if cuda else "",
        "on_device": "cpu_or_cuda()" if cuda else "cpu()",
        "or_cuda_device": " or a CUDA device" if cuda else "",
        "or_on_one_device": " or on one CUDA device" if cuda else "",
        "or_cuda_error": ", RuntimeError (CUDA)" if cuda else "",
        "cuda_declaration": (
            f"\n/// The CUDA half: arguments are checked and not empty. Defined in {op.name}.cu.\n"
            f"{return_type(op)} {op.name}_cuda({parameters});" if cuda else ""
        ),
        "two_devices": f"// On the CPU; in {library}_cuda_test the CUDA kernel, run on the CPU." if cuda else "",
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
    """Replaces @name@; a line is dropped whose only content became nothing, and lines between
    //@ if name and //@ end when `name` is nothing."""
    lines, is_kept = [], True
    for line in skeleton.split("\n"):
        words = line.split()
        if words[:1] == ["//@"]:
            is_kept = words[1] == "end" or bool(values[words[2]])
            continue
        indent = line[: len(line) - len(line.lstrip())]
        new = re.sub(r"@(\w+)@", lambda found: values[found.group(1)], line)
        if is_kept and (new.strip() or not line.strip()):
            lines += [part if i == 0 or not part else indent + part
                      for i, part in enumerate(new.split("\n"))]  # fmt: skip
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="of the op: a Python and C++ function")
    parser.add_argument("schema", metavar="SCHEMA", help='"(Tensor(a!) y, Tensor x) -> ()"')
    kinds = sorted(folder.name for folder in SKELETONS.iterdir() if (folder / "op.h.in").exists())
    parser.add_argument("--kind", choices=kinds, default="elementwise")


def run(arguments: argparse.Namespace) -> int:
    name, kind = arguments.name, arguments.kind
    library = files.folder_of(pathlib.Path())
    answers = {**{key: choices[0] for key, choices in names.CHOICES.items()}, **read_record(library).answers}
    reason = why_not_op(name, answers["library_name"])
    if reason:
        raise UserError(f'op "{name}" {reason}; choose another name')
    asked, left_out = op_schema.read(name, arguments.schema)
    has_shapes = not pathlib.Path(VENDORED_SDK).is_dir() or pathlib.Path(VENDORED_SDK, "include/kernkit/shapes").is_dir()
    op, without = op_schema.beginning(asked, kind, has_shapes)
    cuda = answers["cuda"] != "none"
    if kind == "custom":
        cuda = cuda and bool(custom.anchor(op))
    else:
        numeric.check(kind, op)
    values = fields(answers["library_name"], cuda, kind, op_names.with_stand_ins(op), asked.line[len(name) :] if without else "")
    texts = {}
    for skeleton, path in {
        "op.h.in": f"kernels/{name}/{name}.h",
        "op.cc.in": f"kernels/{name}/{name}.cc",
        "op.cu.in": f"kernels/{name}/{name}.cu",
        "op_export.cc.in": f"kernels/{name}/{name}_export.cc",
        "op_test.cc.in": f"tests/{name}_test.cc",
        "op_bench.cc.in": f"bench/{name}_bench.cc",
    }.items():
        if skeleton == "op.cu.in" and not cuda:
            continue
        folder = SKELETONS / ("any" if skeleton == "op_export.cc.in" else kind)
        texts[path] = fill((folder / skeleton).read_text(encoding="utf-8"), values)
    texts = op_names.settle(texts, op)
    try:
        lines = files.read(library, listing.PATH)
        is_added = listing.adds(lines, name)
    except FileNotFoundError:
        raise UserError(f"{listing.PATH} is missing; restore it from git") from None
    except ValueError as error:
        raise UserError(f"{listing.PATH}: {error}; mend the file first") from None
    line = f"kernkit_add_kernel({answers['library_name']} {name}{'' if cuda else ' CPU_ONLY'})\n"
    for path in texts:
        if files.kind(files.at(library, path)):
            raise UserError(f"{path} exists, and nothing is overwritten; choose another name")
    if is_added:
        raise UserError(f"{listing.PATH} adds {name} already; choose another name")
    licence = answers["licence"]
    head = "" if licence == "none" else f"// SPDX-License-Identifier: {licence}\n"
    try:
        for path, text in texts.items():
            files.write(library, path, head + text.split("\n", 1)[1])
        files.write(library, listing.PATH, lines + ("" if lines.endswith("\n") else "\n") + line)
    except BaseException:
        for path in texts:  # none of which was there
            with contextlib.suppress(OSError):
                os.unlink(library / path)
        with contextlib.suppress(OSError):
            os.rmdir(library / f"kernels/{name}")
        raise
    if shutil.which("clang-format"):
        programs.run(["clang-format", "-i", *texts])
    if left_out:
        print(f"left out of the schema: {' '.join(left_out)}", file=sys.stderr)
    if without:
        print(f"left out of the schema: shapes, dtypes and (out!), {without}. {name}_export.cc keeps your line in a comment",
              file=sys.stderr)  # fmt: skip
    for path in [*texts, listing.PATH]:
        print(path)
    return 0
