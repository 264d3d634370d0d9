# SPDX-License-Identifier: Apache-2.0
"""The simulator's runtime, its machine on several processors, and the kernels under many seeds, under
ThreadSanitizer."""

import subprocess

import pytest
from commands import build_target


@pytest.mark.slow
@pytest.mark.parametrize("program", ["races_test", "seeds_races_test", "ptx_races_test"])
def test_programs(root, program):
    done = subprocess.run([build_target(root, program) / "bin" / program], capture_output=True, text=True)
    assert done.returncode == 0 and "[  PASSED  ]" in done.stdout, done.stdout[-8000:] + done.stderr[-8000:]
