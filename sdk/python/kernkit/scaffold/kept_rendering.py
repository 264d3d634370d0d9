# SPDX-License-Identifier: Apache-2.0
"""The rendering of a library's own files, kept in the library's copy of the SDK. Where the commit of a rendering is
lost, as after a squash merge, the next update begins from the kept rendering. The template's hook loads this module.
"""

import base64
import bz2
import json
import os
import shutil
from typing import Any, Dict, Tuple

try:
    from ..project import manifest
except ImportError:  # inside the template's hook
    import manifest  # type: ignore

SDK = os.path.join("third_party", "kernkit")
NAME = "RENDERED"
MAX_SIZE = 64 << 20  # largest size of all texts together [bytes]


class Damaged(ValueError):
    """The file RENDERED is not one that keep() wrote. The text is the end of a sentence."""


def keep(library: str, version: str) -> None:
    """Stores the library's own files in its copy of the SDK, and writes the manifest of the copy."""
    files = {}
    for path in manifest.files_below(library):
        if not path.startswith(("third_party/kernkit/", ".git/")):
            full = os.path.join(library, path)
            with open(full, encoding="utf-8", newline="") as stream:
                files[path] = [os.access(full, os.X_OK), stream.read()]
    kept = base64.b64encode(bz2.compress(json.dumps(files, sort_keys=True).encode()))
    with open(os.path.join(library, SDK, NAME), "wb") as stream:
        stream.write(kept + b"\n")
    manifest.write(os.path.join(library, SDK), version)


def _is_own(path: str) -> bool:
    """Whether keep() can have written the path: in the library, outside its repository and its copy of the SDK."""
    parts = path.split("/")
    return (path.isprintable() and not path.startswith("third_party/kernkit/")
            and not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts))  # fmt: skip


def _read(kept: bytes) -> Dict[str, Tuple[bool, str]]:
    """{path: (whether the file is executable, text)}, parsed from the bytes of RENDERED. Raises Damaged."""
    try:
        unpack = bz2.BZ2Decompressor()
        content = unpack.decompress(base64.b64decode(kept), MAX_SIZE)
        files: Any = json.loads(content) if unpack.eof else None
    except (ValueError, EOFError, OSError, RecursionError) as error:
        raise Damaged(f"cannot be read ({error!r})") from None
    if not isinstance(files, dict):
        raise Damaged("is not a list of files")
    for path, value in files.items():
        if not _is_own(path):
            raise Damaged(f"has the path {json.dumps(path)}, which is not of the library")
        if not (isinstance(value, list) and [type(part) for part in value] == [bool, str]):
            raise Damaged(f"has an invalid entry for {json.dumps(path)}")
    return {path: (value[0], value[1]) for path, value in files.items()}


def restore(library: str, output: str) -> bool:
    """Restores the library's last rendering in an empty folder. Returns false where the copy of the SDK was changed or
    has no kept rendering. Raises Damaged where the copy agrees with its manifest, but RENDERED holds no rendering;
    `output` can then hold a part of the rendering."""
    copy = os.path.join(library, SDK)
    kept = os.path.join(copy, NAME)
    if os.path.islink(os.path.dirname(copy)) or not manifest.has_manifest(copy):
        return False
    if not os.path.isfile(kept) or any(manifest.changes(copy)):
        return False
    with open(kept, "rb") as stream:
        files = _read(stream.read())
    for path in manifest.files_below(copy):  # regular files, as no file was changed
        os.makedirs(os.path.dirname(os.path.join(output, SDK, path)), exist_ok=True)
        shutil.copy(os.path.join(copy, path), os.path.join(output, SDK, path))
    try:
        for path, (is_executable, text) in files.items():
            full = os.path.join(output, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "x", encoding="utf-8", newline="") as stream:
                stream.write(text)
            os.chmod(full, 0o755 if is_executable else 0o644)
    except (OSError, UnicodeEncodeError) as error:  # a path that is a file and a folder, a name that is too long
        raise Damaged(f"has files that cannot be made ({error!r})") from None
    return True
