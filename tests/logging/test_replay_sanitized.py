# SPDX-License-Identifier: Apache-2.0
"""`kernkit replay` with a library that is compiled with AddressSanitizer names the line of an access past a tensor."""

import os
import subprocess
import sys

import called
import pytest

SOURCE = """\
#include "kernkit/export.h"
#include "kernkit/tensor.h"
static float sum = 0;
static void ignore(kernkit::TensorView x) {
  sum += x.data<const float>()[OFFSET];  // the access
}
KERNKIT_EXPORT(ignore, "(Tensor x) -> ()", "Reads one element.", ignore)
"""


def library(root, dlpack_include, folder):
    """Compiles an op `ignore` that reads the elements 5, 6 and -1, and returns the libraries."""
    source = folder / "op.cc"
    source.write_text(SOURCE)
    includes = [f"-I{root / 'sdk/include'}", f"-I{dlpack_include}"]
    for offset in (5, 6, -1):
        flags = ["-std=c++17", "-g", "-fPIC", "-shared", "-fvisibility=hidden", "-fsanitize=address", f"-DOFFSET={offset}"]
        subprocess.run(["g++", *flags, *includes, source, "-o", folder / f"lib{offset}.so"], check=True)
    return [folder / f"lib{offset}.so" for offset in (5, 6, -1)]


@pytest.mark.all
def test_an_access_past_a_tensor_is_reported_with_its_line(root, dlpack_include, tmp_path):
    runtime = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(runtime):
        pytest.skip("AddressSanitizer is not installed")
    correct, after, before = library(root, dlpack_include, tmp_path)
    called.run("ops.ignore(x)", KERNKIT_RECORD=str(tmp_path / "calls"))
    (call,) = (tmp_path / "calls").iterdir()

    def replay(built):
        settings = {"PYTHONPATH": str(root / "sdk/python"), "LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0:handle_segv=2"}
        command = [sys.executable, "-m", "kernkit", "replay", call, "--library", built]
        result = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=300)
        return result.returncode, result.stdout + result.stderr

    assert replay(correct)[0] == 0
    line = 1 + SOURCE.split("// the access")[0].count("\n")
    for built in (after, before):
        code, text = replay(built)
        assert code == 1 and "AddressSanitizer: use-after-poison" in text and f"op.cc:{line}\n" in text, text
