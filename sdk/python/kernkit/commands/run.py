# SPDX-License-Identifier: Apache-2.0
"""Run a program that nvcc compiled, without a GPU: its kernels run by their PTX on the CPU.

    kernkit run [--seed N] [--devices N] [--capability N] PROGRAM ARGUMENTS...
    kernkit run [--nvcc-options=OPTIONS] FILE.cu ARGUMENTS...

nvcc compiles a .cu file first, and again after a change of the file or of its headers. A program that
is compiled already needs PTX of its kernels, which nvcc's default includes, and CUDA 13's runtime: as a
shared library, or linked statically, nvcc's default, in a file that is not stripped. kernkit's runtime
takes the place of both. The package kernkit-simulator has the runtime prebuilt. Without the package, CMake
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
