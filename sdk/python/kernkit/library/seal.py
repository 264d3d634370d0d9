# SPDX-License-Identifier: Apache-2.0
"""The seal of a library's copy of the SDK: which kernkit it is of, and what was touched since.

The first line of SEAL is the version and a digest of it and of the second, which has each file's digest.
The template's hook loads this file.
"""

import hashlib
import json
import os
from typing import Dict, List, NamedTuple

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
    """Every file, as a path with / and relative to the folder, but for what tools leave there."""
    found = []
    for place, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [os.path.relpath(os.path.join(place, name), folder) for name in files]
    return sorted(path.replace(os.sep, "/") for path in found if not path.endswith(".pyc"))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _files(folder: str) -> Dict[str, str]:
    found = {}
    for path in files_below(folder):
        if path != NAME:
            with open(os.path.join(folder, path), "rb") as stream:
                found[path] = _digest(stream.read())[:16]
    return found


def write(folder: str, version: str) -> None:
    """Seals the folder as it is."""
    files = json.dumps(_files(folder))
    with open(os.path.join(folder, NAME), "w", encoding="utf-8") as stream:
        stream.write(f"kernkit {version} sha256:{_digest(f'{version} {files}'.encode())}\n{files}\n")


def is_sealed(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, NAME))


def version_line(folder: str) -> str:
    """As in "kernkit 0.1.0 sha256:...". """
    with open(os.path.join(folder, NAME), encoding="utf-8") as stream:
        return stream.readline().rstrip("\n")


def touched(folder: str) -> Touched:
    """What differs from the folder as it was sealed."""
    with open(os.path.join(folder, NAME), encoding="utf-8") as stream:
        first, _, files = stream.read().rstrip("\n").partition("\n")
    version, _, digest = first[len("kernkit ") :].partition(" sha256:")
    if digest != _digest(f"{version} {files}".encode()):
        return Touched(changed=[NAME], missing=[], added=[])
    sealed, there = json.loads(files), _files(folder)
    return Touched(
        changed=[path for path in there if path in sealed and sealed[path] != there[path]],
        missing=[path for path in sealed if path not in there],
        added=[path for path in there if path not in sealed],
    )
