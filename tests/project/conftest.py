# SPDX-License-Identifier: Apache-2.0
"""kernkit as another project finds it."""

import os
import pathlib
import types

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


@pytest.fixture(scope="session")
def template(root: pathlib.Path) -> pathlib.Path:
    return root / "template"


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Keeps the user's settings of cookiecutter out, and the tests' answers out of his folder."""
    folder = tmp_path_factory.mktemp("cookiecutter")
    config = folder / "config.yaml"
    config.write_text(f'cookiecutters_dir: "{folder}"\nreplay_dir: "{folder}"\n')
    kept = {k: v for k, v in os.environ.items() if k != "DLPACK_INCLUDE_DIR"}
    return {**kept, "COOKIECUTTER_CONFIG": str(config), "PYTHONUTF8": "1"}


@pytest.fixture
def load_hook(template):
    """A hook as Python reads it before Jinja does; only main() needs Jinja."""

    def load(name: str) -> types.ModuleType:
        path = template / "hooks" / f"{name}_gen_project.py"
        module = types.ModuleType(name)
        module.__file__ = str(path)
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
        return module

    return load
