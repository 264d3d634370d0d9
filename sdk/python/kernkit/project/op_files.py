# SPDX-License-Identifier: Apache-2.0
"""The files of an op in a library."""

import pathlib
from typing import List

from . import files, kernel_list
from .record import record_removed


def files_of(library: pathlib.Path, op: str) -> List[str]:
    """Returns the paths, relative to the library, of the op's folder and files that exist. Raises UserError if one of
    these paths is a link or another kind of file."""
    expected = {f"kernels/{op}": files.FOLDER, f"tests/{op}_test.cc": files.FILE,
                f"tests/test_{op}.py": files.FILE, f"bench/{op}_bench.cc": files.FILE}  # fmt: skip
    return [path for path, kind in expected.items() if files.kind(files.at(library, path, kind))]


def remove(library: pathlib.Path, op: str) -> None:
    """Removes an op's files, and its calls in kernels/CMakeLists.txt. Records the removal of an op of the template.
    Raises UserError if a file cannot be read, removed or written; the library is then unchanged."""
    with kernel_list.errors_of_user(str(library / kernel_list.PATH)):
        before = files.read(library, kernel_list.PATH)
        after = kernel_list.without(before, op)
    with files.set_aside(library, files_of(library, op)):
        if after != before:
            files.write(library, kernel_list.PATH, after)
        try:
            record_removed(library, op)
        except BaseException:
            if after != before:
                files.write(library, kernel_list.PATH, before)
            raise
