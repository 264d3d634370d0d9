# SPDX-License-Identifier: Apache-2.0
"""`pip install -e` of a library is rejected, because edits of the sources would not reach the package."""

import sys

import pytest
from rendering import run


def test_an_editable_installation_is_rejected(default_library, driver_environment, tmp_path):
    pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")
    code = "from scikit_build_core.build import build_editable as b; import sys; b(sys.argv[1])"
    result = run(sys.executable, "-c", code, tmp_path, cwd=default_library, env={**driver_environment, "KERNKIT_CUDA": "OFF"})
    assert result.returncode != 0
    printed = " ".join(result.stdout.split())
    assert "kernkit: an editable installation (pip install -e) is not supported, because the package is copied" in printed
    assert not list(tmp_path.glob("*.whl"))
