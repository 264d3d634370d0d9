# SPDX-License-Identifier: Apache-2.0
"""Fixtures and paths that several test files use."""

import os
import pathlib
import shutil
import sys

import pytest
import tvm_ffi

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "sdk/python"))


# The slowest test files. ./kk test starts with these files, because a slow file that starts last would leave the other
# workers idle.
LONG = ("builds", "frameworks_builds", "headers", "simulator", "fuzz", "format", "cuda_code", "vectorised",
        "examples", "wheel", "gallery", "bench", "add", "consumers", "update", "doctor", "kk_gpu", "coexistence")  # fmt: skip


def pytest_collection_modifyitems(items: list) -> None:
    names = [f"test_{name}.py" for name in LONG]
    rank = {name: position for position, name in enumerate(names)}
    items.sort(key=lambda item: rank.get(item.path.name, len(names)))


@pytest.hookimpl(wrapper=True)
def skip_without_git(item: pytest.Item):
    """Skips a test that fails because git is not installed. Tests that do not need git run on a machine without git."""
    try:
        return (yield)
    except Exception as error:
        named = getattr(error, "filename", None) == "git" or "git is not installed" in str(error)
        if named and not shutil.which("git"):
            pytest.skip("git is not installed")
        raise


pytest_runtest_setup = pytest_runtest_call = skip_without_git


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """Returns the folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def library() -> pathlib.Path:
    """Returns the path of the library of reference kernels: $LIBRARY, or the library built by `./kk build`."""
    path = pathlib.Path(
        os.environ.get("LIBRARY", ROOT / "build/release/lib/libkernkit_kernels.so")
    )
    assert path.exists(), f"{path} is missing; run ./kk build"
    return path


@pytest.fixture(scope="session")
def kernels(library: pathlib.Path) -> tvm_ffi.Module:
    """Returns the module of the reference kernels, loaded by the real apache-tvm-ffi."""
    return tvm_ffi.load_module(str(library))


@pytest.fixture(scope="session")
def dlpack_include() -> pathlib.Path:
    """Returns the folder that contains dlpack/dlpack.h."""
    return pathlib.Path(tvm_ffi.__file__).parent / "include"


@pytest.fixture(scope="session")
def compat_includes(root, dlpack_include, tmp_path_factory) -> list:
    """Returns the compiler options for the include paths of kernkit's headers under tvm-ffi's names, without tvm-ffi's
    own headers."""
    folder = tmp_path_factory.mktemp("dlpack")
    (folder / "dlpack").symlink_to(dlpack_include / "dlpack")
    return ["-I", root / "sdk/tvm_ffi_compat", "-I", root / "sdk/include", "-isystem", folder]
