# SPDX-License-Identifier: Apache-2.0
"""Print the versions that a bug report needs: of kernkit, the tools, the machine, the simulator's runtime, the libraries.

Libraries are the installed packages that require apache-tvm-ffi, and each PACKAGE. A library's line contains the
identity in the file that Python would load, and the version that is installed. No library is loaded. Exit code 1:
Python would load another version than the installed version.
"""

import argparse
import importlib.metadata
import importlib.util
import pathlib
import re
import shutil
from typing import Dict, Iterator, List

from .. import programs
from ..bench import machine
from ..binaries.identity import as_line, read_identity
from ..errors import UserError
from ..sdk import version
from ..simulator import prebuilt

TOOLS = ("c++", "cmake", "ninja", "nvcc")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="a Python package that contains a library built with kernkit")


def version_of_tool(name: str) -> str:
    """Returns the longest version number in the output of NAME --version, such as 13.0.88 rather than 13.0 for nvcc, or
    a text that explains why no version was found."""
    if not shutil.which(name):
        return "not found"
    try:
        result = programs.run([name, "--version"], capture_output=True, text=True)
    except UserError as error:
        return str(error).partition(" ")[2]
    versions: List[str] = re.findall(r"\d+(?:\.\d+)+", result.stdout)
    return max(versions, key=len) if versions else "unknown"


def installed() -> Dict[str, str]:
    """Returns {name of the package's folder: version} of the installed packages that require apache-tvm-ffi and have a
    shared library."""
    versions = {}
    for distribution in importlib.metadata.distributions():
        if any(re.match(r"apache[-_.]tvm[-_.]ffi\b", requirement) for requirement in distribution.requires or ()):
            for file in distribution.files or ():
                if file.suffix == ".so" and len(file.parts) > 1:
                    versions[file.parts[0]] = distribution.version
    return versions


def files_of(package: str) -> List[pathlib.Path]:
    """Returns the shared libraries in the folder from which `import PACKAGE` would load."""
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    folders = (spec.submodule_search_locations or []) if spec else []
    return sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.so"))


def lines(packages: List[str], versions: Dict[str, str]) -> Iterator[str]:
    """Yields a line for each library, and for each package of the command line without a library. A line that ends in
    "they differ" makes the command's exit code 1."""
    for package in sorted({*packages, *versions}):
        of_kernkit = {path: identity for path in files_of(package) if (identity := read_identity(path))}
        if not of_kernkit and package in packages:
            yield f"{package}: import {package} finds no library built with kernkit; check the name of the package"
        for path, identity in of_kernkit.items():
            expected, present = identity["library"].rpartition(" ")[2], versions.get(package)
            line = f"{package}: loaded from {path}: {as_line(identity)}; installed "
            yield line + ("nowhere" if present is None else present if present == expected else f"{present}: they differ")


def run(arguments: argparse.Namespace) -> int:
    about = machine.context()
    print("kernkit", version())
    for name in ("python", "system", "libc", "processor"):
        print(name, about[name])
    for name in TOOLS:
        print(name, version_of_tool(name))
    print("simulator", prebuilt.description())
    for name, number in about["versions"].items():
        print(name, number)
    rows = list(lines(arguments.packages, installed()))
    print(*rows, sep="\n")
    return 1 if any(line.endswith("they differ") for line in rows) else 0
