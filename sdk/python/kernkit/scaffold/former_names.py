# SPDX-License-Identifier: Apache-2.0
"""Rewrites names of an earlier kernkit in the files that a library's authors wrote."""

import pathlib
import re
from typing import List

from ..errors import UserError
from ..project import copies, files, git

# (pattern of a former name, replacement). The former names stay valid for one release.
_RENAMED = (
    (r"\bkernkit/cuda_on_cpu/(?=(?:counters|initcheck|racecheck|runtime)\.h)", "kernkit/simulator/"),
    (r"\bkernkit_add_cuda_on_cpu\b", "kernkit_add_on_fibers"),
    (r"\bkernkit_add_on_ptx\b", "kernkit_add_simulated"),
    (r"\bkernkit::cuda_on_cpu_runtime\b", "kernkit::simulator"),
    (r"\bkernkit::cuda_on_cpu_main\b", "kernkit::simulator_main"),
    (r"\bkernkit::cuda_on_ptx\b", "kernkit::simulator_ptx"),
    (r"\bKERNKIT_CUDA_ON_CPU\b", "KERNKIT_ON_FIBERS"),
)
# kernkit::cuda_on_cpu is a target in CMake and a namespace in C++, which have different new names.
_IN_CMAKE = ((r"\bkernkit::cuda_on_cpu\b", "kernkit::simulator_fibers"), (r"(?<=\w)_cuda_on_cpu\b", "_on_fibers"))
_IN_CPP = ((r"\bkernkit::cuda_on_cpu\b", "kernkit::simulator"), (r"\bkernkit::Where\b", "kernkit::SourceLocation"))
_CPP = (".h", ".cc", ".cu", ".cuh", ".cpp", ".hpp")


def renamed(name: str, text: str) -> str:
    """Returns the text of a file with former names replaced by current names. `name`: the file's name, which determines
    the language."""
    cmake = name.endswith((".cmake", "CMakeLists.txt"))
    if not cmake and not name.endswith(_CPP):
        return text
    for pattern, replacement in (*_RENAMED, *(_IN_CMAKE if cmake else _IN_CPP)):
        text = re.sub(pattern, replacement, text)
    return text


def rewrite(library: pathlib.Path) -> List[str]:
    """Replaces former names in the library's tracked files, except in its copy of kernkit. Returns the paths of the
    changed files."""
    changed = []
    for name in git.output(library, "ls-files", "-z").split("\0"):
        if not name or copies.is_copied(name):
            continue
        try:
            before = files.read(library, name)
        except (UserError, FileNotFoundError):
            continue  # the file is a link, is not text, or was deleted
        after = renamed(name, before)
        if after != before:
            files.write(library, name, after)
            changed.append(name)
    return changed
