# SPDX-License-Identifier: Apache-2.0
"""Elementwise loops round every float to bfloat16 like the SDK's type, with every instruction set."""

import os
import subprocess

import pytest

NAMES = ("Baseline", "Avx2", "Avx512", "Avx512Bf16")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_float(root, name):
    """All 2^32 bit patterns of float are rounded correctly, in order and shuffled."""
    program = root / "build/release/bin/sdk_cpu_test"
    assert program.exists(), f"{program} is missing: run ./kk build"
    command = [program, f"--gtest_filter=Ways/CpuElementwise.RoundsFloatsToBFloat16/{name}"]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "KERNKIT_BFLOAT16_STEP": "1"})
    assert result.returncode == 0, result.stdout
    if "[  SKIPPED ]" in result.stdout:
        pytest.skip(f"this processor has no {name}")
    assert "[  PASSED  ] 1 test." in result.stdout
