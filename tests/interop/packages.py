# SPDX-License-Identifier: Apache-2.0
"""Functions that write and import Python packages of libraries by `kernkit bindings`."""

import importlib
import os
import shutil
import subprocess
import sys

import compiled


def write_package(root, library, folder, name, *options):
    """Writes package `name` of a library into the folder."""
    package = folder / name
    written = subprocess.run(
        [sys.executable, "-m", "kernkit", "bindings", str(library), "--package", name, "--output", str(package), *options],
        cwd=root / "sdk/python", capture_output=True, text=True,
    )  # fmt: skip
    assert written.returncode == 0, written.stderr
    shutil.copy(library, package)
    (package / "__init__.py").write_text("from ._ops import *\n")
    return package


def imported(folder, module):
    """Imports a module of a package in the folder and returns the module."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(str(folder))


def write_shaped(root, folder):
    """Writes package `shaped`, whose ops have shapes in their schema lines, for both frameworks."""
    library = folder / "libshaped.so"
    compiled.build(root / "tests/interop/frameworks/frameworks.cc", library, "-fvisibility=hidden", "-O2")
    return write_package(root, library, folder, "shaped", "--frameworks")


def ratios(root, shaped, framework, cwd):
    """Runs the frameworks benchmark, which fails if a ratio exceeds its limit; returns its output."""
    program = [sys.executable, root / "bench/python/frameworks.py", framework]
    env = {**os.environ, "PYTHONPATH": str(shaped)}
    result = subprocess.run(program, env=env, capture_output=True, text=True, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
