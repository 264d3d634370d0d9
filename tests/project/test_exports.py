# SPDX-License-Identifier: Apache-2.0
"""What the built library shows to the outside, read from its file."""

import ctypes

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_DT_FLAGS_1

NEEDED = {
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
}


@pytest.fixture(scope="module")
def elf(library):
    with open(library, "rb") as file:
        yield ELFFile(file)


def defined_symbols(elf):
    for symbol in elf.get_section_by_name(".dynsym").iter_symbols():
        if symbol["st_shndx"] != "SHN_UNDEF":
            yield symbol


def ops(elf):
    """Names of the ops, from the section where each schema line stands as name(...) and NUL."""
    section = elf.get_section_by_name("kernkit_schema").data()
    return {line.split(b"(")[0].decode() for line in section.split(b"\0") if line}


def test_ops_stand_in_the_file(elf, root):
    assert ops(elf) == {p.name[: -len("_export.cc")] for p in root.glob("kernels/*/*_export.cc")}


def test_exports_ops_and_nothing_else(elf):
    expected = {"__tvm_ffi__library_ctx", "kernkit_last_error", "kernkit_use_host"}
    for op in ops(elf):
        expected |= {f"__tvm_ffi_{op}", f"__tvm_ffi__metadata_{op}", f"__tvm_ffi__doc_{op}"}
    assert {symbol.name for symbol in defined_symbols(elf)} == expected


def test_no_symbol_is_process_wide(elf):
    assert all(symbol["st_info"]["bind"] != "STB_LOOS" for symbol in defined_symbols(elf))


def dynamic_tags(elf, name):
    (section,) = (s for s in elf.iter_sections() if isinstance(s, DynamicSection))
    return list(section.iter_tags(name))


def test_needs_no_framework_and_no_cuda_runtime(elf):
    assert {tag.needed for tag in dynamic_tags(elf, "DT_NEEDED")} <= NEEDED


def test_asks_for_no_host_symbol(elf):
    undefined = {
        symbol.name
        for symbol in elf.get_section_by_name(".dynsym").iter_symbols()
        if symbol["st_shndx"] == "SHN_UNDEF"
    }
    assert not {name for name in undefined if "TVMFFI" in name or "tvm" in name.lower()}


def test_is_never_unmapped_and_binds_itself(elf):
    (flags,) = dynamic_tags(elf, "DT_FLAGS_1")
    assert flags["d_val"] & ENUM_DT_FLAGS_1["DF_1_NODELETE"]
    assert dynamic_tags(elf, "DT_SYMBOLIC") or dynamic_tags(elf, "DT_FLAGS")[0]["d_val"] & 2


def test_last_error_reaches_plain_ctypes(library):
    lib = ctypes.CDLL(str(library))
    lib.kernkit_last_error.restype = ctypes.c_char_p
    assert lib.kernkit_last_error() is not None
