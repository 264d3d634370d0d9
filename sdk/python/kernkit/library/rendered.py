# SPDX-License-Identifier: Apache-2.0
"""What was rendered beside the copy of the SDK, kept in that copy: where the commit of a rendering is
lost, as after a squash merge, the next update begins from this. The template's hook loads this file.
"""

import base64
import bz2
import json
import os
import shutil

try:
    from . import seal
except ImportError:  # in the template's hook
    import seal  # type: ignore

SDK = os.path.join("third_party", "kernkit")
NAME = "RENDERED"


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


def restore(library: str, output: str) -> bool:
    """Makes the rendering that the library has, in an empty folder; False where its copy of the SDK was
    touched, or has none."""
    copy = os.path.join(library, SDK)
    if not os.path.isfile(os.path.join(copy, NAME)) or any(seal.touched(copy)):
        return False
    with open(os.path.join(copy, NAME), "rb") as stream:
        files = json.loads(bz2.decompress(base64.b64decode(stream.read())))
    shutil.copytree(copy, os.path.join(output, SDK), ignore=shutil.ignore_patterns("__pycache__"))
    for path, (is_program, text) in files.items():
        full = os.path.join(output, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        os.chmod(full, 0o755 if is_program else 0o644)
    return True
