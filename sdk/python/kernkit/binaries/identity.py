# SPDX-License-Identifier: Apache-2.0
"""The identity that KernkitIdentity.cmake writes into a library's file."""

import pathlib
from typing import Dict

from .elf import read_section


def read_identity(path: pathlib.Path) -> Dict[str, str]:
    """Returns the entries of the identity in a library's file, as in {"library": "fast_ops 0.1.0", "commit": ...,
    "compiler": ..., "cuda": ..., "kernkit": ...}, or {} for a library that kernkit_add_library() did not link. The file
    is not loaded."""
    text = (read_section(path, ".kernkit") or b"").rstrip(b"\0").decode(errors="replace")
    parts = (part.partition("=") for part in text.split("; "))
    return {name: value.strip() for name, equals, value in parts if equals}


def as_line(identity: Dict[str, str]) -> str:
    """Returns an identity as one line of text, with the entries separated by semicolons."""
    return "; ".join(value if name == "library" else f"{name} {value}" for name, value in identity.items())


def has_cuda(path: pathlib.Path) -> bool:
    """Returns whether a library has CUDA kernels according to its identity, or False for a file that does not exist."""
    return path.is_file() and read_identity(path).get("cuda", "none") != "none"
