# SPDX-License-Identifier: Apache-2.0
"""The seal of a library's copy of the SDK: which kernkit it is of, and what was touched since.

The first line of SEAL is the version and a digest of it and of the second, which has each file's digest.
The template's hook loads this file.
"""

import hashlib
import json
import os
import stat
from typing import Dict, List, NamedTuple, Optional

NAME = "SEAL"


class Touched(NamedTuple):
    """Paths below the sealed folder."""

    changed: List[str]
    missing: List[str]
    added: List[str]

    def __str__(self) -> str:
        """As in "changed: a, b; added: c", or "" when nothing was."""
        return "; ".join(f"{how}: {', '.join(paths)}" for how, paths in zip(self._fields, self) if paths)


def files_below(folder: str) -> List[str]:
    """Every file, as a path with / and relative to the folder, but for what tools leave there. A link is
    listed as a file, and not followed."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        found += [os.path.relpath(os.path.join(place, name), folder) for name in files + links]
    return sorted(path.replace(os.sep, "/") for path in found if not path.endswith(".pyc"))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: str) -> Optional[bytes]:
    """The bytes of a regular file, or None: a link, a pipe or another odd file, or not readable."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None


def _files(folder: str) -> Dict[str, str]:
    """{path: digest}, "" for what is no readable regular file."""
    found = {}
    for path in files_below(folder):
        if path != NAME:
            content = _read(os.path.join(folder, path))
            found[path] = "" if content is None else _digest(content)[:16]
    return found


def write(folder: str, version: str) -> None:
    """Seals the folder as it is."""
    files = json.dumps(_files(folder))
    with open(os.path.join(folder, NAME), "w", encoding="utf-8") as stream:
        stream.write(f"kernkit {version} sha256:{_digest(f'{version} {files}'.encode())}\n{files}\n")


def is_sealed(folder: str) -> bool:
    """Whether the folder and its seal are there, neither of them as a link."""
    path = os.path.join(folder, NAME)
    return os.path.isfile(path) and not os.path.islink(path) and not os.path.islink(folder)


def version_line(folder: str) -> str:
    """As in "kernkit 0.1.0 sha256:...", or "" where the seal cannot be read."""
    content = _read(os.path.join(folder, NAME)) or b""
    return content.decode(errors="replace").partition("\n")[0]


def touched(folder: str) -> Touched:
    """What differs from the folder as it was sealed."""
    try:
        first, _, files = (_read(os.path.join(folder, NAME)) or b"").decode().rstrip("\n").partition("\n")
        version, _, digest = first[len("kernkit ") :].partition(" sha256:")
        sealed = json.loads(files) if digest == _digest(f"{version} {files}".encode()) else None
    except (ValueError, RecursionError):
        sealed = None
    if not isinstance(sealed, dict):
        return Touched(changed=[NAME], missing=[], added=[])
    there = _files(folder)
    return Touched(
        changed=[path for path in there if path in sealed and (sealed[path] != there[path] or not there[path])],
        missing=[path for path in sealed if path not in there],
        added=[path for path in there if path not in sealed],
    )
