# SPDX-License-Identifier: Apache-2.0
"""The environment with the programs that check workflows."""

import hashlib
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def workflow_tools(root):
    """The folder of the programs in tests/requirements-workflows.txt. The environment remains in build/ for other runs."""
    requirements = root / "tests/requirements-workflows.txt"
    digest = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = root / "build/workflow_tools" / digest
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", folder], check=True)
        command = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet", "--no-compile",
                   "--disable-pip-version-check", "-r", requirements]  # fmt: skip
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"pip cannot install {requirements.name}: {done.stderr.strip().splitlines()[-1]}")
        (folder / "complete").touch()
    return folder / "bin"
