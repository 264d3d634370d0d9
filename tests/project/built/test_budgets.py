# SPDX-License-Identifier: Apache-2.0
"""Row kernels and the template's sample, run from nvcc's PTX, stay within the limits of memory traffic in
tests/gpu/row_traffic_test.cc, and pass the tests that also run on kernels compiled for the CPU."""

import subprocess

import pytest
from cuda_tools import build


@pytest.mark.slow  # nvcc compiles for half a minute
@pytest.mark.parametrize("program", ["gpu_row_traffic_test", "row_kernels_on_ptx_test"])
def test_rows_and_the_sample_by_their_ptx(root, program):
    subprocess.run([build(root, program) / "bin" / program], check=True)
