# SPDX-License-Identifier: Apache-2.0
"""Write the Python functions of a library's ops, from the schema lines in the built file.

The library is not loaded, so it can be for another machine or need a GPU. The command writes into the package's
folder, which must contain the library when the package is imported:

  _ops.py    one function per op, with the names, defaults and types of the schema and the documentation
             of the op; type checkers and editors read this file in place of a .pyi file
  py.typed   marks the package as typed for type checkers
  torch.py   with --torch: the operators of PyTorch, which _torch.py defines; with --jax jax.py

The package's own __init__.py needs `from ._ops import *`, and for help() to list the functions
`from . import _ops` and `__all__ = _ops.__all__`.
"""

import argparse
import pathlib

from ..binaries.ops import read_ops
from ..codegen import python_ops
from ..errors import UserError

try:
    from ..codegen.frameworks import files as frameworks
except ModuleNotFoundError:  # a library's copy of kernkit without the component frameworks
    frameworks = None  # type: ignore[assignment]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library", type=pathlib.Path, metavar="LIB.so", help="the built library")
    parser.add_argument("--package", required=True, help="name of the Python package")
    parser.add_argument("--output", required=True, type=pathlib.Path, metavar="DIR",
                        help="the package's folder, made if it does not exist")  # fmt: skip
    parser.add_argument("--frameworks", action="store_true", help="write all files of the component `frameworks`, if this copy has the component")
    if frameworks:
        frameworks.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if not all(map(str.isidentifier, arguments.package.split("."))):
        raise UserError(f'--package: "{arguments.package}" is not the name of a Python package; enter identifiers, separated by dots')
    ops = read_ops(arguments.library)
    if not ops:
        raise UserError(f"{arguments.library}: schema line not found; export ops with KERNKIT_EXPORT, and keep section "
                        "kernkit_schema when stripping")  # fmt: skip
    files = {"_ops.py": python_ops.source(arguments.package, arguments.library.name, ops), "py.typed": ""}
    if frameworks:
        files.update(frameworks.files(arguments, ops))
    for op in ops:
        if f"{op.name}.py" in files:
            raise UserError(f"op {op.name} has the name of the module {arguments.package}.{op.name}, which kernkit bindings writes; choose "
                            "another name in KERNKIT_EXPORT")  # fmt: skip
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (arguments.output / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{arguments.output} cannot be written: {error.strerror}") from error
    return 0
