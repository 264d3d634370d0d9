# SPDX-License-Identifier: Apache-2.0
"""What the kernels of rows and the template's sample ask of memory: tests/gpu/row_traffic_test.cc, by the PTX
that nvcc makes of them."""

import subprocess

import pytest
from cuda_tools import build


@pytest.mark.all  # nvcc compiles them for half a minute
def test_budgets_of_rows_and_of_the_sample(root):
    subprocess.run([build(root, "gpu_row_traffic_test") / "bin/gpu_row_traffic_test"], check=True)
