# SPDX-License-Identifier: Apache-2.0
"""Python environments with packages that tests need, besides the environment of the tests."""

import hashlib
import subprocess
import sys

import pytest


def environment_with(root, requirements):
    """Returns the folder of a Python environment with the packages of tests/<requirements>, which remains in build/ for
    later runs. Skips the test if pip cannot install the packages."""
    file = root / "tests" / requirements
    digest = hashlib.sha256(file.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = root / "build/environments" / f"{file.stem}-{digest}"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", folder], check=True)
        command = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet", "--no-compile",
                   "--disable-pip-version-check", "-r", file]  # fmt: skip
        result = subprocess.run([str(argument) for argument in command], capture_output=True, text=True)
        if result.returncode != 0:
            pytest.skip(f"pip cannot install {file.name}: {result.stderr.strip().splitlines()[-1]}")
        (folder / "complete").touch()
    return folder
