# SPDX-License-Identifier: Apache-2.0
"""kernkit as another project finds it."""

import pytest
from commands import run


@pytest.fixture(scope="session")
def prefix(root, tmp_path_factory):
    """kernkit, installed."""
    folder = tmp_path_factory.mktemp("installed")
    prefix, build = folder / "prefix", folder / "build"
    switched_off = ["-DKERNKIT_BUILD_" + what + "=OFF" for what in ("KERNELS", "TESTS", "BENCHMARKS")]
    run("cmake", "-S", root, "-B", build, "-G", "Ninja", *switched_off)
    run("cmake", "--build", build)
    run("cmake", "--install", build, "--prefix", prefix)
    return prefix
