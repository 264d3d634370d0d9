# SPDX-License-Identifier: Apache-2.0
"""The symbols that the built library exports, read from its file."""

import ctypes
import re

import pytest
from commands import run
from kernkit.binaries.library import read_library
from kernkit.commands.doctor import examine
from kernkit.sdk import version


@pytest.fixture(scope="module")
def built(library):
    return read_library(library)


def test_the_file_contains_the_ops(built, root):
    lines = (root / "kernels/CMakeLists.txt").read_text()
    ops = set(re.findall(r"^kernkit_add_kernel\(kernkit_kernels (\w+)\)$", lines, re.MULTILINE))
    assert built.ops == ops and "scale" in ops


def test_it_may_be_shipped(built):
    assert [finding for finding in examine(built) if not finding.ok] == []


def test_the_file_describes_itself(built, library):
    identity = built.identity
    assert identity["library"] == f"kernkit_kernels {version()}" and identity["kernkit"] == version()
    assert re.fullmatch(r"[0-9a-f]{40}\+?|unknown", identity["commit"]), "the commit is unknown only in a Debug build or without git"
    assert re.fullmatch(r"(GNU|Clang) [\d.]+", identity["compiler"])
    architectures = re.findall(r"\d+", identity["cuda"].partition(" for ")[2])
    assert {name[name.index("_") + 1 :] for name in built.architectures} == set(architectures)
    assert re.search(r"\] +library=kernkit_kernels ", run("readelf", "-p", ".kernkit", library))
    lib = ctypes.CDLL(str(library))
    lib.kernkit_identity.restype = ctypes.c_char_p
    assert lib.kernkit_identity() in library.read_bytes() and lib.kernkit_identity().startswith(b"library=kernkit_kernels")


def test_last_error_reaches_plain_ctypes(library):
    lib = ctypes.CDLL(str(library))
    lib.kernkit_last_error.restype = ctypes.c_char_p
    assert lib.kernkit_last_error() is not None
