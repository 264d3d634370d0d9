# SPDX-License-Identifier: Apache-2.0
"""Take a kernel out of the library of this folder.

  kernkit remove swish

removes its files and its call in kernels/CMakeLists.txt; the next build contains no export, Python function or
documentation of the op. Without --force, the command fails if git could not restore the files. The command lists the
files that still name the op.
"""

import argparse
import pathlib
import re
from typing import List

from ..errors import UserError
from ..project import files, git, kernel_list, op_files
from ..project.record import RECORD, read_record


def check_committed(library: pathlib.Path, op: str, paths: List[str]) -> None:
    """Raises UserError if git cannot restore a file below the paths, because the file is not committed or git fails."""
    advice = "commit the files, or add --force"
    try:
        repository = git.Repository(library)
        status = repository.git("status", "--porcelain", "--untracked-files=all", "--", *paths)
        present = [file for path in paths for file in files.below(library, path)]
        present += [path for path in paths if files.kind(library / path) == files.FILE]
        lost = repository.uncommitted(paths, present)
    except UserError as error:
        raise UserError(f"git could not restore {op}: {error}; {advice}") from None
    if lost or status:
        named = ", ".join(lost[:5]) + f" and {len(lost) - 5} more" * (len(lost) > 5)
        raise UserError(f"git could not restore {op}: its files are not committed"
                        f"{' (' + named + ')' if lost else ''}; {advice}")  # fmt: skip


def check_not_included(library: pathlib.Path, op: str) -> None:
    """Raises UserError if a file of another op includes a header of this op."""
    for path in files.below(library, "kernels"):
        if path.startswith(f"kernels/{op}/") or files.kind(library / path) != files.FILE or "." not in path:
            continue
        try:
            text = (library / path).read_bytes()
        except OSError as error:
            raise UserError(f"{path} cannot be read: {error.strerror}") from None
        if f'#include "{op}/'.encode() in text:
            raise UserError(f"{path} includes a header of {op}; remove the #include first")


def check_not_used(library: pathlib.Path, op: str) -> None:
    """Raises UserError if kernels/CMakeLists.txt names this op after USES of another op."""
    with kernel_list.errors_of_user(kernel_list.PATH):
        users = kernel_list.users(files.read(library, kernel_list.PATH), op)
    if users:
        raise UserError(f"{kernel_list.PATH}: USES of {users[0]} names {op}; remove the name first")


def still_named(library: pathlib.Path, op: str) -> str:
    """Returns a sentence that lists the files that still name the op."""
    command = ["grep", "--untracked", "-lwz", "-e", op, "--", ".", ":!third_party", f":!{RECORD}"]
    try:
        result = git.attempt(library, *command)
    except UserError as error:
        return f"files that name {op} are not listed: {error}"
    if result.returncode not in (0, 1):
        return f"files that name {op} are not listed: git grep failed: {git.message(result)}"
    named = [path for path in result.stdout.split("\0") if path]
    return f"{op} is still named in {', '.join(named)}" if named else f"no file names {op}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the op")
    parser.add_argument("--force", action="store_true", help="also remove uncommitted files")


def run(arguments: argparse.Namespace) -> int:
    library, op = files.folder_of(pathlib.Path()), arguments.name
    read_record(library)  # raises UserError in a folder without a library
    export = f"kernels/{op}/{op}_export.cc"
    if not re.fullmatch(r"\w+", op) or files.kind(files.at(library, export)) != files.FILE:
        raise UserError(f"{export} not found; name an op whose files are in kernels/")
    paths = op_files.files_of(library, op)
    check_not_included(library, op)
    check_not_used(library, op)
    if not arguments.force:
        check_committed(library, op, paths)
    op_files.remove(library, op)
    print("\n".join(f"removed {path}" for path in paths))
    print(still_named(library, op))
    return 0
