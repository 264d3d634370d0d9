# SPDX-License-Identifier: Apache-2.0
"""Functions that build a library from one file by one call of the compiler, without CMake."""

import os
import pathlib
import subprocess

import tvm_ffi

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# The folder of the installed package tvm_ffi, which contains tvm-ffi's own headers. Code for tvm-ffi is also compiled
# against kernkit's headers of the same names (fixture kernkit_flags).
PACKAGE = pathlib.Path(tvm_ffi.__file__).parent
COMPILE = ["c++", "-std=c++17", "-fPIC", "-O0", "-fvisibility=hidden"]  # not optimised, to save time
# Options that link the hook of calls into a library: test_recorded_ops.py sets KERNKIT_TEST_HOOK to the object of
# sdk/src/kernkit.cc.
HOOK = ["-DKERNKIT_COMPILED", os.environ["KERNKIT_TEST_HOOK"]] if "KERNKIT_TEST_HOOK" in os.environ else []
TVM_FFI_FLAGS = ["-w", "-isystem", PACKAGE / "include"]


def build(
    path: pathlib.Path, library: pathlib.Path, *options: str, include: pathlib.Path | None = None
) -> pathlib.Path:
    """Compiles the file into the library, with the SDK's headers or the headers in `include`."""
    command = ["c++", "-std=c++17", "-shared", "-fPIC", *WARNINGS, *options]
    command += ["-I", include or ROOT / "sdk/include", "-isystem", PACKAGE / "include", path, *HOOK, "-o", library]
    subprocess.run(command, check=True)
    return library


def load(source: str, folder: pathlib.Path, *options: str) -> tvm_ffi.Module:
    """Compiles tests/interop/<source> in `folder` and loads the library by tvm_ffi."""
    path = ROOT / "tests/interop" / source
    return tvm_ffi.load_module(str(build(path, folder / f"lib{path.stem}.so", "-fvisibility=hidden", *options)))
