# SPDX-License-Identifier: Apache-2.0
"""The numbers of loads and stores in a kernel's PTX, which the counters report, are compared with the numbers in ptxas'
machine code for sm_80. Nothing runs."""

import collections
import re
import subprocess

import pytest
from cuda_tools import build, tool

IN_PTX = re.compile(r"^\s*(?:@!?%p\d+\s+)?(ld|st)((?:\.\w+)*)\s", re.MULTILINE)
IN_SASS = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z]+)\b", re.MULTILINE)
SASS = {"LDG": "ld.global", "STG": "st.global", "LDS": "ld.shared", "LDSM": "ld.shared", "STS": "st.shared", "LDL": "ld.local",
        "STL": "st.local", "LD": "ld.generic", "ST": "st.generic"}  # fmt: skip


def kernels_of_ptx(text):
    """Returns {mangled name of a kernel: {instruction, such as "ld.global": number of occurrences in the PTX}}."""
    counts_by_kernel = {}
    for part in re.split(r"\.entry\s+", text)[1:]:
        counts = counts_by_kernel[re.match(r"\w+", part)[0]] = collections.Counter()
        for instruction, suffixes in IN_PTX.findall(part):
            spaces = [space for space in ("global", "shared", "local", "param", "const") if f".{space}" in suffixes]
            counts[f"{instruction}.{spaces[0] if spaces else 'generic'}"] += 1
        del counts["ld.param"]
    return counts_by_kernel


def kernels_of_sass(text):
    names_by_kernel = {}
    for part in re.split(r"\n\.text\.", text)[1:]:
        names = (SASS[name] for name in IN_SASS.findall(part) if name in SASS)
        names_by_kernel[re.match(r"\w+", part)[0]] = collections.Counter(names)
    return names_by_kernel


def differences(folder, program):
    """Returns {kernel: {instruction: (count in PTX, count in machine code)}} of the counts that differ in an object's
    code for sm_80, and the number of kernels."""
    tools = {name: tool(name) for name in ("cuobjdump", "nvdisasm", "ptxas")}
    if None in tools.values():
        pytest.skip(f"{[name for name, unequal_by_kernel in tools.items() if unequal_by_kernel is None]} not installed")
    subprocess.run([tools["cuobjdump"], "--extract-ptx", "all", program.resolve()], cwd=folder, check=True, capture_output=True)
    (ptx,) = folder.glob("*sm_80.ptx")
    subprocess.run([tools["ptxas"], "-arch=sm_80", "-o", folder / "cubin", ptx], check=True)
    sass = subprocess.run([tools["nvdisasm"], "-c", folder / "cubin"], check=True, capture_output=True, text=True).stdout
    of_ptx, of_sass = kernels_of_ptx(ptx.read_text()), kernels_of_sass(sass)
    assert of_ptx and set(of_ptx) == set(of_sass)
    unequal_by_kernel = {}
    for name, counts in of_ptx.items():
        if unequal := {instruction: (counts[instruction], of_sass[name][instruction]) for instruction in {**counts, **of_sass[name]}
                       if counts[instruction] != of_sass[name][instruction]}:  # fmt: skip
            unequal_by_kernel[name] = unequal
    return unequal_by_kernel, len(of_ptx)


def built(root, target, op):
    (program,) = (path for path in build(root, target).rglob(f"{op}.cu.o") if f"{target}.dir" in str(path))
    return program


def test_a_difference_is_found():
    """kernels_of_ptx() and kernels_of_sass() count the loads and stores of a kernel correctly, here in a PTX text and
    in machine code with different counts."""
    ptx = ".entry k(\n)\n{\nld.param.u64 %r1, [p];\n@%p1 ld.global.nc.v4.u32 {%r1}, [%r2];\nst.shared.u32 [%r1], %r2;\n}\n"
    sass = "\n.text.k:\n        /*0000*/      LDG.E.128 R4, [R2.64] ;\n        /*0010*/      @!P0 LDG.E R4, [R2.64] ;\n"
    assert kernels_of_ptx(ptx) == {"k": {"ld.global": 1, "st.shared": 1}}
    assert kernels_of_sass(sass) == {"k": {"ld.global": 2}}


@pytest.mark.all
@pytest.mark.parametrize("target, op, count", [("kernkit_kernels_objects", "scale", 8), ("kernkit_kernels_objects", "add", 18),
                                               ("gpu_row_kernels", "silu_and_mul", 8)])  # fmt: skip
def test_kernels_of_elements(root, tmp_path, target, op, count):
    assert differences(tmp_path, built(root, target, op)) == ({}, count)


@pytest.mark.all
@pytest.mark.parametrize("op, count", [("softmax", 20), ("gelu_and_mul", 15), ("rms_norm", 20), ("rms_norm_fp8", 15),
                                       ("fused_add_rms_norm", 20), ("layer_norm", 20)])  # fmt: skip
def test_kernels_of_rows(root, tmp_path, op, count):
    """The counts differ only for ld.shared in kernels that use a whole block per row: ptxas unrolls the loop that adds
    up the results of warps, and the number of executed loads is the same."""
    unequal_by_kernel, kernels = differences(tmp_path, built(root, "gpu_row_kernels", op))
    assert kernels == count
    for name, unequal in unequal_by_kernel.items():
        assert not re.search("rows_kernelILi32E", name), (name, unequal)
        assert set(unequal) == {"ld.shared"}, (name, unequal)
