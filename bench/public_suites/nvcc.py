# SPDX-License-Identifier: Apache-2.0
"""Makes nvcc generate PTX of one compute capability in place of the architectures that a build names. The simulator
runs no machine code, and nine architectures take nine times as long to compile.

The builds of the suites call the script `nvcc` that write_wrapper() writes, and are unchanged otherwise.
"""

import os
import pathlib
import re
import shlex
import stat
import sys
from typing import List

_WITH_VALUE = ("-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code")


def with_ptx(arguments: List[str], capability: str) -> List[str]:
    """Returns the arguments of nvcc with the option for PTX of a compute capability, such as "80", in place of the
    architectures. Arguments without an architecture are unchanged: nvcc's default output contains PTX."""
    kept, skip = [], False
    for argument in arguments:
        name = argument.partition("=")[0]
        if not skip and name not in _WITH_VALUE and not re.match(r"-arch\w", argument):
            kept.append(argument)
        skip = not skip and argument in _WITH_VALUE
    return kept if len(kept) == len(arguments) else [f"-arch=compute_{capability}", *kept]


def write_wrapper(folder: pathlib.Path, nvcc: str, capability: str) -> None:
    """Writes a script `nvcc` into a folder, which must come before the folder of the real nvcc in PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "nvcc"
    words = [sys.executable, "-B", str(pathlib.Path(__file__).resolve()), nvcc, capability]
    script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


if __name__ == "__main__":
    real, wanted, *words = sys.argv[1:]
    os.execv(real, [real, *with_ptx(words, wanted)])
