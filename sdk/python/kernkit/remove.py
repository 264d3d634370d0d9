# SPDX-License-Identifier: Apache-2.0
"""Take a kernel out of the library of this folder.

  kernkit remove swish

removes its files and its call in kernels/CMakeLists.txt; the next build leaves its export, Python function and
documentation out. Refuses what git could not bring back, unless --force. Lists the files that still name the op.
"""

import argparse
import pathlib
import re
import shutil
import subprocess

from .cli import Refusal
from .library.record import note_removed, read_record


def files_of(library: pathlib.Path, op: str):
    paths = (f"kernels/{op}", f"tests/{op}_test.cc", f"tests/test_{op}.py", f"bench/{op}_bench.cc")
    return [library / path for path in paths if (library / path).exists()]


def take_out(library: pathlib.Path, op: str) -> None:
    for path in files_of(library, op):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    listing = library / "kernels/CMakeLists.txt"
    adds = rf"(?m)^[ \t]*kernkit_add_kernel\(\s*\w+\s+{op}\b[^)]*\)[^\n]*\n"
    listing.write_text(re.sub(adds, "", listing.read_text(encoding="utf-8")), encoding="utf-8")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="of the op")
    parser.add_argument("--force", action="store_true", help="also what is not committed")


def run(arguments: argparse.Namespace) -> int:
    library, op = pathlib.Path().resolve(), arguments.name
    read_record(library)  # refuses where no library is
    if not re.fullmatch(r"\w+", op) or not (library / f"kernels/{op}/{op}_export.cc").is_file():
        raise Refusal(f"there is no kernels/{op}/{op}_export.cc; name an op whose files are in kernels/")
    paths = [str(path.relative_to(library)) for path in files_of(library, op)]
    for path in sorted((library / "kernels").rglob("*.*")):
        if f"kernels/{op}/" not in path.as_posix() and f'#include "{op}/' in path.read_text(errors="replace"):
            raise Refusal(f"{path.relative_to(library)} includes a header of {op}; edit it first")
    status = subprocess.run(["git", "status", "--porcelain", "--", *paths], cwd=library, capture_output=True, text=True)
    if not arguments.force and (status.returncode != 0 or status.stdout):
        raise Refusal(f"git could not bring {op} back: its files are not committed; commit them, or type --force")
    take_out(library, op)
    note_removed(library, op)
    print("\n".join(f"removed {path}" for path in paths))
    words = ["git", "grep", "--untracked", "-lw", op, "--", ".", ":!third_party", ":!.kernkit.json"]
    named = subprocess.run(words, cwd=library, capture_output=True, text=True).stdout.split()
    print(f"{op} is still named in {', '.join(named)}" if named else f"nothing names {op} any more")
    return 0
