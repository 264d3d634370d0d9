# SPDX-License-Identifier: Apache-2.0
"""ThreadSanitizer reports no race in the simulator's runtime, in the PTX executor on several processors, and in kernels
under many seeds."""

import subprocess

import pytest
from commands import build_target


@pytest.mark.slow
@pytest.mark.parametrize("program", ["races_test", "seeds_races_test", "ptx_races_test"])
def test_programs(root, program):
    result = subprocess.run([build_target(root, program) / "bin" / program], capture_output=True, text=True)
    assert result.returncode == 0 and "[  PASSED  ]" in result.stdout, result.stdout[-8000:] + result.stderr[-8000:]
