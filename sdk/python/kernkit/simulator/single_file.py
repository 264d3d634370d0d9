# SPDX-License-Identifier: Apache-2.0
"""A program of one .cu file, which nvcc compiles for the simulator. The compiled program is kept until the file, a
header of the file, an option or the compiler changes."""

import fcntl
import hashlib
import json
import os
import pathlib
import shlex
from typing import Dict, List, Optional, Tuple

from .. import programs
from ..errors import UserError
from .resources import tool

DEFAULT_CAPABILITY = "80"


def is_source(name: str) -> bool:
    return name.endswith(".cu")


def options_for(capability: str) -> List[str]:
    """Returns nvcc's options for PTX of a compute capability: from 9.0 on for the architecture with the suffix a, whose
    PTX has all instructions, such as wgmma. `-arch=compute_90a` would also compile PTX without the suffix."""
    if int(capability) < 90:
        return [f"-arch=compute_{capability}"]
    return ["-gencode", f"arch=compute_{capability}a,code=compute_{capability}a"]


def command_for(source: pathlib.Path, runtime: pathlib.Path, options: str, capability: Optional[str]) -> List[str]:
    """Returns nvcc's command for the file, without options for the outputs. An option such as -arch replaces the
    architecture of `capability`. The program is linked with kernkit's runtime, because the toolkit of PyPI has no
    libcudart.so. Raises UserError if `options` cannot be split as in a shell."""
    try:
        words = shlex.split(options)
    except ValueError as error:
        raise UserError(f"--nvcc-options: expected options of nvcc as in a shell, found {options}: {error}") from None
    has_architecture = any(word.startswith(("-arch", "--gpu-architecture", "-gencode", "--generate-code")) for word in words)
    architecture = [] if has_architecture else options_for(capability or DEFAULT_CAPABILITY)
    return [tool("nvcc"), *architecture, "-lineinfo", *words, str(source), "-cudart", "none", "-Xlinker", str(runtime)]


def state_of(paths: List[str]) -> Dict[str, Tuple[int, int]]:
    """Returns {path: (size [bytes], time of the last change [ns])} of the files that exist."""
    found = {}
    for path in paths:
        if os.path.isfile(path):
            entry = os.stat(path)
            found[path] = (entry.st_size, entry.st_mtime_ns)
    return found


def headers_in(dependencies: pathlib.Path) -> List[str]:
    """Returns the prerequisites of the make rule that a compiler wrote to the file `dependencies`."""
    _, _, files = dependencies.read_text(errors="surrogateescape").partition(":")
    placeholder = "\0"
    words = files.replace("\\\n", " ").replace("\\ ", placeholder).split()
    return [word.replace(placeholder, " ") for word in words]


def is_current(record: pathlib.Path, command: List[str]) -> bool:
    """Returns whether a kept program was compiled by `command` from files that have not changed since. `record`: JSON
    file with the command and the files of the kept program."""
    try:
        kept = json.loads(record.read_text())
        files = {path: tuple(state) for path, state in kept["files"].items()}
        return kept["command"] == command and state_of(list(files)) == files
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def compile_source(source: pathlib.Path, builds: pathlib.Path, runtime: pathlib.Path, options: str,
                   capability: Optional[str]) -> pathlib.Path:  # fmt: skip
    """Returns the path of the program of a .cu file, below the folder `builds`. Compiles the file unless a current
    program is kept. Raises UserError if nvcc is not installed or rejects the file; the compiler's messages are then on
    standard error."""
    source = source.resolve()
    command = command_for(source, runtime, options, capability)
    folder = builds / "programs" / hashlib.sha256(str(source).encode(errors="surrogateescape")).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    program, record, rule = folder / source.stem, folder / "record.json", folder / "dependencies"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program.is_file() and is_current(record, command):
            return program
        partial = folder / "partial"
        done = programs.run([*command, "-MD", "-MF", rule, "-o", partial])
        if done.returncode != 0:
            raise UserError(f"nvcc could not compile {source}; the command was {shlex.join(command)}")
        os.replace(partial, program)
        files = [command[0], str(source), str(runtime), *headers_in(rule)]
        record.write_text(json.dumps({"command": command, "files": state_of(files)}))
    return program
