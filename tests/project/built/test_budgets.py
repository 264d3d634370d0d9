# SPDX-License-Identifier: Apache-2.0
"""What the kernels of rows and the template's sample ask of memory: tests/gpu/row_traffic_test.cc, by the PTX
that nvcc makes of them."""

import shutil
import subprocess

import pytest


@pytest.mark.all  # nvcc compiles them for half a minute
def test_budgets_of_rows_and_of_the_sample(root):
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    build = root / "build/release"
    subprocess.run(["cmake", "--build", build, "--target", "gpu_row_traffic_test"], check=True)
    subprocess.run([build / "bin/gpu_row_traffic_test"], check=True)
