# SPDX-License-Identifier: Apache-2.0
"""The manifest of a folder of a library's copy of kernkit: the version of kernkit, and a digest of each file, which
reveals changes made by hand.

The first line of MANIFEST contains the version and a digest, which is computed from the version and the second line.
The second line contains the digest of each file. The template's hook loads this module."""

import hashlib
import json
import os
import stat
from typing import Dict, List, NamedTuple, Optional

NAME = "MANIFEST"
FORMER_NAME = "SEAL"  # name in copies made by an early kernkit 0.1


class Changes(NamedTuple):
    """The differences between a folder and its manifest, as paths below the folder."""

    changed: List[str]
    missing: List[str]
    added: List[str]

    def __str__(self) -> str:
        """Returns the changes as text, such as "changed: a, b; added: c"; "" without changes."""
        return "; ".join(f"{how}: {', '.join(paths)}" for how, paths in zip(self._fields, self) if paths)


def files_below(folder: str) -> List[str]:
    """Returns the paths of all files below a folder, relative to the folder and with /, except Python bytecode. A link
    is listed as a file and not followed."""
    paths = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        paths += [os.path.relpath(os.path.join(parent, name), folder) for name in files + links]
    return sorted(path.replace(os.sep, "/") for path in paths if not path.endswith(".pyc"))


def name_in(folder: str) -> str:
    """Returns the name of the manifest in a folder: FORMER_NAME if the folder has only a file of that name, otherwise
    NAME."""
    is_former = os.path.lexists(os.path.join(folder, FORMER_NAME)) and not os.path.lexists(os.path.join(folder, NAME))
    return FORMER_NAME if is_former else NAME


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: str) -> Optional[bytes]:
    """Returns the bytes of a regular file; None if the path is a link or another kind of file, or cannot be read."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None


def _digests(folder: str) -> Dict[str, str]:
    """Returns {path: digest} of all files below the folder except the manifest. The digest is "" if the path is not a
    readable regular file."""
    by_path = {}
    name = name_in(folder)
    for path in files_below(folder):
        if path != name:
            content = _read(os.path.join(folder, path))
            by_path[path] = "" if content is None else _digest(content)[:16]
    return by_path


def write(folder: str, version: str) -> None:
    """Writes the manifest of the folder's files. `version`: version of kernkit."""
    digests = json.dumps(_digests(folder))
    with open(os.path.join(folder, name_in(folder)), "w", encoding="utf-8") as stream:
        stream.write(f"kernkit {version} sha256:{_digest(f'{version} {digests}'.encode())}\n{digests}\n")


def has_manifest(folder: str) -> bool:
    """Returns whether the folder and its manifest exist, and neither is a link."""
    path = os.path.join(folder, name_in(folder))
    return os.path.isfile(path) and not os.path.islink(path) and not os.path.islink(folder)


def version_line(folder: str) -> str:
    """Returns the first line of the folder's manifest, as in "kernkit 0.1.0 sha256:..."; "" if the manifest cannot be
    read."""
    content = _read(os.path.join(folder, name_in(folder))) or b""
    return content.decode(errors="replace").partition("\n")[0]


def changes(folder: str) -> Changes:
    """Returns the differences between the folder and its manifest. For an invalid manifest, the only difference is the
    manifest itself, as a changed file."""
    name = name_in(folder)
    try:
        first, _, digests = (_read(os.path.join(folder, name)) or b"").decode().rstrip("\n").partition("\n")
        version, _, digest = first[len("kernkit ") :].partition(" sha256:")
        written = json.loads(digests) if digest == _digest(f"{version} {digests}".encode()) else None
    except (ValueError, RecursionError):
        written = None
    if not isinstance(written, dict):
        return Changes(changed=[name], missing=[], added=[])
    present = _digests(folder)
    return Changes(
        changed=[path for path in present if path in written and (written[path] != present[path] or not present[path])],
        missing=[path for path in written if path not in present],
        added=[path for path in present if path not in written],
    )
