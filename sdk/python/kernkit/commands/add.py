# SPDX-License-Identifier: Apache-2.0
"""Create the files of a new kernel in the library of this folder.

  kernkit add swish "(Tensor(a!) y, Tensor x, float beta=1.0) -> ()"

makes declaration, CPU and CUDA code, export, test and benchmark, and adds one line to
kernels/CMakeLists.txt. The new op builds and its tests pass; "Write it here" marks the lines to replace.

kinds: elementwise (the default) multiplies the sum of its input tensors by its numbers; row computes the same
product, and divides each row by the root mean square of the row; row_reduction adds up each row of a matrix;
custom takes any arguments, checks its tensors, writes zeros and returns zeros.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import sys
from typing import Dict

from .. import programs
from ..codegen.cpp import op_files, typed_schema
from ..errors import UserError
from ..project import copies, files, kernel_list, names
from ..project.record import read_record

# Names that no op can have: the op's header is <name>/<name>.h, and the op's files include <benchmark/benchmark.h>,
# <dlpack/dlpack.h> and <gtest/gtest.h>.
OTHER_HEADERS = ("benchmark", "dlpack", "gtest")


def why_not_op(name: str, library: str) -> str:
    """Returns the reason why an op cannot have the name, worded as the end of a sentence, or "" if the name is
    valid."""
    if name in ("kernkit", "std", library, *OTHER_HEADERS):
        return "is reserved"
    for ending in ("_cuda", "_export"):
        if name.endswith(ending):
            return f"ends in {ending}, which is reserved for the names of generated files"
    return names.why_not_identifier(name)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the op: a Python and C++ function")
    parser.add_argument("schema", metavar="SCHEMA", help='"(Tensor(a!) y, Tensor x) -> ()"')
    parser.add_argument("--kind", choices=op_files.kinds(), default="elementwise", help="kind of the generated code, which you then edit (default: %(default)s)")


def write_files(library: pathlib.Path, texts: Dict[str, str], licence: str, lines: str) -> None:
    """Writes the files of an op, then replaces kernels/CMakeLists.txt, whose complete new text is `lines`. Deletes the
    new files if a file cannot be written."""
    head = "" if licence == "none" else f"// SPDX-License-Identifier: {licence}\n"
    try:
        for path, text in texts.items():
            files.write(library, path, head + text.split("\n", 1)[1])
        files.write(library, kernel_list.PATH, lines)
    except BaseException:
        for path in texts:
            with contextlib.suppress(OSError):
                os.unlink(library / path)
        for folder in {os.path.dirname(path) for path in texts if path.startswith("kernels/")}:
            with contextlib.suppress(OSError):
                os.rmdir(library / folder)
        raise


def run(arguments: argparse.Namespace) -> int:
    name, kind = arguments.name, arguments.kind
    library = files.folder_of(pathlib.Path())
    answers = {**{key: choices[0] for key, choices in names.CHOICES.items()}, **read_record(library).answers}
    if reason := why_not_op(name, answers["library_name"]):
        raise UserError(f'op "{name}" {reason}; choose another name')
    typed, removed = typed_schema.read(name, arguments.schema)
    has_shapes = not pathlib.Path(copies.SDK).is_dir() or pathlib.Path(copies.SDK, "include/kernkit/shapes").is_dir()
    op, why_without_shapes = typed_schema.without_unsupported_shapes(typed, kind, has_shapes)
    cuda = op_files.has_cuda(kind, op) and answers["cuda"] != "none"
    texts = op_files.texts(answers["library_name"], cuda, kind, op, typed.line[len(name) :] if why_without_shapes else "")
    with kernel_list.errors_of_user(kernel_list.PATH):
        lines = files.read(library, kernel_list.PATH)
        is_added = kernel_list.adds(lines, name)
    for path in texts:
        if files.kind(files.at(library, path)):
            raise UserError(f"{path} exists and is not overwritten; choose another name")
    if is_added:
        raise UserError(f"{kernel_list.PATH} already adds {name}; choose another name")
    line = f"kernkit_add_kernel({answers['library_name']} {name}{'' if cuda else ' CPU_ONLY'})\n"
    write_files(library, texts, answers["licence"], lines + ("" if lines.endswith("\n") else "\n") + line)
    if shutil.which("clang-format"):
        programs.run(["clang-format", "-i", *texts])
    if removed:
        print(f"left out of the schema: {' '.join(removed)}", file=sys.stderr)
    if why_without_shapes:
        print(f"left out of the schema: shapes, dtypes and (out!), {why_without_shapes}. {name}_export.cc keeps your schema line in a comment",
              file=sys.stderr)  # fmt: skip
    for path in [*texts, kernel_list.PATH]:
        print(path)
    return 0
