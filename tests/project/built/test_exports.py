# SPDX-License-Identifier: Apache-2.0
"""What the built library shows to the outside, read from its file."""

import ctypes
import re

import pytest
from kernkit.binaries.library import read_library
from kernkit.doctor import examine


@pytest.fixture(scope="module")
def built(library):
    return read_library(library)


def test_ops_stand_in_the_file(built, root):
    lines = (root / "kernels/CMakeLists.txt").read_text()
    ops = set(re.findall(r"^kernkit_add_kernel\(kernkit_kernels (\w+)\)$", lines, re.MULTILINE))
    assert built.ops == ops and "scale" in ops


def test_it_may_be_shipped(built):
    assert [finding for finding in examine(built) if not finding.ok] == []


def test_last_error_reaches_plain_ctypes(library):
    lib = ctypes.CDLL(str(library))
    lib.kernkit_last_error.restype = ctypes.c_char_p
    assert lib.kernkit_last_error() is not None
