# SPDX-License-Identifier: Apache-2.0
"""What was rendered beside the copy of the SDK, kept in that copy: where the commit of a rendering is
lost, as after a squash merge, the next update begins from this. The template's hook loads this file.
"""

import base64
import bz2
import json
import os
import shutil
from typing import Any, Dict, Tuple

try:
    from . import seal
except ImportError:  # in the template's hook
    import seal  # type: ignore

SDK = os.path.join("third_party", "kernkit")
NAME = "RENDERED"
MOST = 64 << 20  # of the texts together [bytes]


class Damaged(ValueError):
    """The file RENDERED is not as keep() wrote it: the end of a sentence."""


def keep(library: str, version: str) -> None:
    """Writes the library's own files, as they are, into its copy of the SDK, and seals that."""
    files = {}
    for path in seal.files_below(library):
        if not path.startswith(("third_party/kernkit/", ".git/")):
            full = os.path.join(library, path)
            with open(full, encoding="utf-8", newline="") as stream:
                files[path] = [os.access(full, os.X_OK), stream.read()]
    kept = base64.b64encode(bz2.compress(json.dumps(files, sort_keys=True).encode()))
    with open(os.path.join(library, SDK, NAME), "wb") as stream:
        stream.write(kept + b"\n")
    seal.write(os.path.join(library, SDK), version)


def _is_own(path: str) -> bool:
    """Whether keep() may have written the path: inside the library, not of its repository or its SDK."""
    parts = path.split("/")
    return (path.isprintable() and not path.startswith("third_party/kernkit/")
            and not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts))  # fmt: skip


def _read(kept: bytes) -> Dict[str, Tuple[bool, str]]:
    """{path: (is a program, text)} of the file's bytes. Damaged: another content."""
    try:
        unpack = bz2.BZ2Decompressor()
        content = unpack.decompress(base64.b64decode(kept), MOST)
        files: Any = json.loads(content) if unpack.eof else None
    except (ValueError, EOFError, OSError, RecursionError) as error:
        raise Damaged(f"cannot be read ({error!r})") from None
    if not isinstance(files, dict):
        raise Damaged("holds no list of files")
    for path, value in files.items():
        if not _is_own(path):
            raise Damaged(f"has the path {json.dumps(path)}, which is not of the library")
        if not (isinstance(value, list) and [type(part) for part in value] == [bool, str]):
            raise Damaged(f"has no text for {json.dumps(path)}")
    return {path: (value[0], value[1]) for path, value in files.items()}


def restore(library: str, output: str) -> bool:
    """Makes the rendering that the library has, in an empty folder; False where its copy of the SDK was
    touched, or has none. Damaged: the copy is as it was sealed, and RENDERED has something else than a
    rendering; `output` may then hold a part of it."""
    copy = os.path.join(library, SDK)
    kept = os.path.join(copy, NAME)
    if os.path.islink(os.path.dirname(copy)) or not seal.is_sealed(copy):
        return False
    if not os.path.isfile(kept) or any(seal.touched(copy)):
        return False
    with open(kept, "rb") as stream:
        files = _read(stream.read())
    for path in seal.files_below(copy):  # regular files, since nothing was touched
        os.makedirs(os.path.dirname(os.path.join(output, SDK, path)), exist_ok=True)
        shutil.copy(os.path.join(copy, path), os.path.join(output, SDK, path))
    try:
        for path, (is_program, text) in files.items():
            full = os.path.join(output, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "x", encoding="utf-8", newline="") as stream:
                stream.write(text)
            os.chmod(full, 0o755 if is_program else 0o644)
    except (OSError, UnicodeEncodeError) as error:  # a file that is a folder as well, a name that is too long
        raise Damaged(f"has files that cannot be made ({error!r})") from None
    return True
