# SPDX-License-Identifier: Apache-2.0
"""The kernels of rows and the template's sample by the PTX that nvcc makes of them: what they ask of memory,
tests/gpu/row_traffic_test.cc, and the tests that run as compiled for the CPU, too."""

import subprocess

import pytest
from cuda_tools import build


@pytest.mark.all  # nvcc compiles them for half a minute
@pytest.mark.parametrize("program", ["gpu_row_traffic_test", "row_kernels_on_ptx_test"])
def test_rows_and_the_sample_by_their_ptx(root, program):
    subprocess.run([build(root, program) / "bin" / program], check=True)
