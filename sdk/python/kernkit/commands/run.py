# SPDX-License-Identifier: Apache-2.0
"""Run a program that nvcc compiled, without a GPU: the CPU executes the PTX of the kernels.

    kernkit run [--seed N] [--devices N] [--capability N] PROGRAM ARGUMENTS...
    kernkit run [--nvcc-options=OPTIONS] FILE.cu ARGUMENTS...

nvcc compiles a .cu file first, and again after a change of the file or of its headers. A compiled
program must contain the PTX of its kernels, as by nvcc's default, and use CUDA 13's runtime: as a shared
library or, nvcc's default, linked statically into a file that is not stripped. In both cases kernkit's runtime
replaces CUDA's runtime. The package kernkit-simulator contains the compiled runtime. Without the package, CMake
compiles the runtime at the first run, in a minute or two. The exit code is the exit code of the program.
"""

import argparse
import os
import sys
from typing import NoReturn

from ..simulator import program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    program.add_arguments(parser)


def run(arguments: argparse.Namespace) -> NoReturn:
    found, environment = program.prepared(arguments)
    sys.stdout.flush()
    os.execve(found, [arguments.program, *arguments.arguments], environment)
