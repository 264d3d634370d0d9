# SPDX-License-Identifier: Apache-2.0
"""The rendering of a library's own files, kept in the library's copy of the SDK. If the commit of a rendering is lost,
as after a squash merge, the next update begins from the kept rendering. The template's hook loads this module.

RENDERED does not contain the files of the copy itself, because a copy that agrees with its manifest is unchanged. If
the rendering had third_party/kernkit_dev, RENDERED contains the first line of the manifest of this folder."""

import base64
import bz2
import json
import os
import shutil
from typing import Any, Dict, Tuple

try:
    from ..project import copies, manifest
except ImportError:  # the template's hook loads this file without its package
    import copies  # type: ignore
    import manifest  # type: ignore

NAME = "RENDERED"
_MANIFEST = f"{copies.DEVELOPMENT}/{manifest.NAME}"
MAX_SIZE = 64 << 20  # largest size of RENDERED after decompression [bytes]


class Damaged(ValueError):
    """Raised if the file RENDERED does not have the form that keep() writes. The text is the end of
    a sentence that begins with the path of the file."""


def keep(library: str, version: str) -> None:
    """Writes RENDERED, which contains the library's own files, into the library's copy of the SDK, and writes the
    manifests of both folders of the copy. `version`: version of kernkit."""
    files = {}
    development = os.path.join(library, copies.DEVELOPMENT)
    if os.path.isdir(development):
        manifest.write(development, version)
        files[_MANIFEST] = [False, manifest.version_line(development)]
    for path in manifest.files_below(library):
        if not (copies.is_copied(path) or path.startswith(".git/")):
            full = os.path.join(library, path)
            with open(full, encoding="utf-8", newline="") as stream:
                files[path] = [os.access(full, os.X_OK), stream.read()]
    encoded = base64.b64encode(bz2.compress(json.dumps(files, sort_keys=True).encode()))
    with open(os.path.join(library, copies.SDK, NAME), "wb") as stream:
        stream.write(encoded + b"\n")
    manifest.write(os.path.join(library, copies.SDK), version)


def _is_own(path: str) -> bool:
    """Returns whether keep() could have written an entry for the path: a printable path inside the library that is
    neither in a folder .git nor in the copy of kernkit, or the manifest of third_party/kernkit_dev."""
    parts = path.split("/")
    return (path.isprintable() and (path == _MANIFEST or not copies.is_copied(path))
            and not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts))  # fmt: skip


def _read(encoded: bytes) -> Dict[str, Tuple[bool, str]]:
    """Returns {path: (whether the file is executable, text)} for the content of RENDERED. Raises Damaged if the content
    does not have the form that keep() writes."""
    try:
        unpack = bz2.BZ2Decompressor()
        content = unpack.decompress(base64.b64decode(encoded), MAX_SIZE)
        files: Any = json.loads(content) if unpack.eof else None
    except (ValueError, EOFError, OSError, RecursionError) as error:
        raise Damaged(f"cannot be read ({error!r})") from None
    if not isinstance(files, dict):
        raise Damaged("is not a list of files")
    for path, value in files.items():
        if not _is_own(path):
            raise Damaged(f"has the path {json.dumps(path)}, which is not a path of the library")
        if not (isinstance(value, list) and [type(part) for part in value] == [bool, str]):
            raise Damaged(f"has an invalid entry for {json.dumps(path)}")
    return {path: (value[0], value[1]) for path, value in files.items()}


def _is_unchanged(library: str, folder: str) -> bool:
    """Returns whether a folder of the library's copy agrees with its manifest."""
    copy = os.path.join(library, folder)
    return manifest.has_manifest(copy) and not any(manifest.changes(copy))


def restore(library: str, output: str) -> bool:
    """Restores the library's last rendering in the empty folder `output`, and returns true. Returns false if the
    library's copy of the SDK was changed or has no kept rendering. Raises Damaged if the copy agrees with its manifest,
    but RENDERED holds no valid rendering; `output` can then contain a part of the rendering."""
    rendering = os.path.join(library, copies.SDK, NAME)
    if os.path.islink(os.path.join(library, "third_party")) or not _is_unchanged(library, copies.SDK):
        return False
    if not os.path.isfile(rendering):
        return False
    with open(rendering, "rb") as stream:
        files = _read(stream.read())
    folders = [copies.SDK]
    if _MANIFEST in files:
        folders.append(copies.DEVELOPMENT)
        _, written = files.pop(_MANIFEST)
        development = os.path.join(library, copies.DEVELOPMENT)
        if not _is_unchanged(library, copies.DEVELOPMENT) or manifest.version_line(development) != written:
            return False
    for folder in folders:
        for path in manifest.files_below(os.path.join(library, folder)):  # only regular files, as the folder agrees with its manifest
            os.makedirs(os.path.dirname(os.path.join(output, folder, path)), exist_ok=True)
            shutil.copy(os.path.join(library, folder, path), os.path.join(output, folder, path))
    try:
        for path, (is_executable, text) in files.items():
            full = os.path.join(output, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "x", encoding="utf-8", newline="") as stream:
                stream.write(text)
            os.chmod(full, 0o755 if is_executable else 0o644)
    except (OSError, UnicodeEncodeError) as error:  # for example, a path is both a file and a folder
        raise Damaged(f"has files that cannot be made ({error!r})") from None
    return True
