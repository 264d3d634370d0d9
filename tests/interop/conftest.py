# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tests of several frameworks."""

import importlib
import sys

import compiled
import numpy as np
import packages
import pytest
import tvm_ffi


@pytest.fixture(scope="session")
def kernkit_flags(compat_includes):
    """Returns the compiler options for code written for tvm-ffi, with kernkit's headers under tvm-ffi's names."""
    return [*compiled.WARNINGS, *compat_includes]


@pytest.fixture(scope="session")
def shaped(root, tmp_path_factory):
    """Yields the folder with package `shaped`, whose ops have shapes in their schema lines."""
    folder = tmp_path_factory.mktemp("frameworks")
    packages.write_shaped(root, folder)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def plain(shaped):
    """Returns the Python package `shaped`, whose module _ops contains the plain functions."""
    return importlib.import_module("shaped")


@pytest.fixture(scope="session")
def rows(root, tmp_path_factory):
    """Yields the folder that contains the package `on_rows`: the row kernels, for the CPU and for the simulator."""
    built = root / "build/release/lib/libkernkit_row_kernels_on_cpu.so"
    if not built.exists():
        pytest.skip(f"{built} is missing: run ./kk build")
    folder = tmp_path_factory.mktemp("rows")
    packages.write_package(root, built, folder, "on_rows", "--frameworks")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def torch_ops(shaped):
    """Returns torch.ops.shaped."""
    return _imported("shaped.torch")


@pytest.fixture(scope="session")
def torch_rows(rows):
    """Returns torch.ops.on_rows."""
    return _imported("on_rows.torch")


@pytest.fixture(scope="session")
def torch_reference(root, library, tmp_path_factory):
    """Returns torch.ops.reference: the ops of the reference library, in a namespace that differs from the package's
    name."""
    folder = tmp_path_factory.mktemp("reference")
    packages.write_package(root, library, folder, "reference_ops", "--torch", "--torch-namespace", "reference")
    sys.path.insert(0, str(folder))
    yield _imported("reference_ops.torch", "reference")
    sys.path.remove(str(folder))


def _imported(module, namespace=None):
    ops = importlib.import_module("torch").ops
    importlib.import_module(module)
    return getattr(ops, namespace or module.partition(".")[0])


class Device:
    """Gives access to a device of the simulator, through the library of package `on_rows`."""

    def __init__(self, folder):
        self.library = folder / "on_rows/libkernkit_row_kernels_on_cpu.so"
        self.module = tvm_ffi.load_module(str(self.library))

    def put(self, array):
        return self.module.on_device(np.array(array))

    def get(self, tensor):
        array = np.empty(tuple(tensor.shape), str(tensor.dtype))
        self.module.copy(array, tensor)
        return array

    def calls(self, run):
        """Calls run() with a new stream as the current stream, and returns the number of kernel launches on this
        stream."""
        stream = self.module.new_stream()
        self.module.launches(stream)
        with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream):
            run()
        return self.module.launches(stream)


@pytest.fixture
def device(rows):
    return Device(rows)
