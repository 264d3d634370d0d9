# SPDX-License-Identifier: Apache-2.0
"""Print the folder of the CMake package, for a build that cannot find the package.

  cmake -Dkernkit_DIR="$(kernkit cmakedir)" ...
"""

import argparse
import pathlib

from ..errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(arguments: argparse.Namespace) -> int:
    folder = pathlib.Path(__file__).parents[1] / "share/cmake/kernkit"
    if not folder.is_dir():
        raise UserError("this kernkit is a folder of the SDK, not an installed wheel; add the folder to a CMake project by "
                        "add_subdirectory()")  # fmt: skip
    print(folder)
    return 0
