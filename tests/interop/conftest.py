# SPDX-License-Identifier: Apache-2.0
"""What the tests of several frameworks use."""

import importlib
import sys

import packages
import pytest


@pytest.fixture(scope="session")
def shaped(root, tmp_path_factory):
    """The folder with package `shaped`, of ops whose lines say shapes."""
    folder = tmp_path_factory.mktemp("frameworks")
    packages.write_shaped(root, folder)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def plain(shaped):
    """The functions of its _ops.py."""
    return importlib.import_module("shaped")
