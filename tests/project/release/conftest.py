# SPDX-License-Identifier: Apache-2.0
"""A fixture with the programs that check workflows."""

import pytest
from environments import environment_with


@pytest.fixture(scope="session")
def workflow_tools(root):
    """Returns the folder with the programs of tests/requirements-workflows.txt."""
    return environment_with(root, "requirements-workflows.txt") / "bin"
