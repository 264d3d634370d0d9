# SPDX-License-Identifier: Apache-2.0
"""The errors of the functions of math.h stay within the documented limits for all floats."""

import os
import re
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_no_float_exceeds_the_documented_error(root):
    program = root / "build/release/bin/sdk_math_test"
    assert program.exists(), f"{program} is missing: run ./kk build"
    result = subprocess.run([program], capture_output=True, text=True,
                            env={**os.environ, "KERNKIT_MATH_STEP": "1"})  # fmt: skip
    assert result.returncode == 0, result.stdout


def test_the_test_holds_the_limits_of_the_header(root):
    """The limit in each function's comment equals the limit in the function's test."""
    header = (root / "sdk/include/kernkit/math.h").read_text()
    documented = re.findall(r"(?:within|at most) ([\d.]+)\s+(?:/// )?ulp(?:(?!within|at most).)*?KERNKIT_MATH float (\w+)\(", header, re.DOTALL)
    test = (root / "tests/sdk/math_test.cc").read_text()
    checked = re.findall(r"kWithin = ([\d.]+);.*?operator\(\)\(float x\) const \{ return (\w+)\(", test, re.DOTALL)
    assert len(checked) == 10 and sorted(documented) == sorted(checked)


def table(text):
    """Returns {kernel and dtype: largest error of kernkit [ulp]} from the table of row_errors.py."""
    rows = re.findall(r"^\| ([\w ]+(?:, no bias)?, b?float\d+) \| ([\d.e+]+)", text, re.MULTILINE)
    return {name: float(ulp) for name, ulp in rows}


@pytest.mark.slow  # compiles the row kernels
def test_row_kernels_have_the_documented_errors(root):
    pytest.importorskip("torch")
    subprocess.run(["cmake", "--build", root / "build/release", "--target", "kernkit_row_kernels"], check=True)
    result = subprocess.run([sys.executable, root / "bench/python/row_errors.py"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    measured, documented = table(result.stdout), table((root / "docs/rows-and-math.md").read_text())
    assert len(measured) == 18 + 5 + 6 and measured.keys() == documented.keys()
    # The inputs are PyTorch's random numbers, whose last digits may depend on the processor.
    assert [name for name in documented if measured[name] > 1.2 * documented[name]] == []
