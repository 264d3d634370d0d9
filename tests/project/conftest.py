# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests of kernkit's tools, pages and template."""

import os
import pathlib
import shutil
import sys
import types
import zipfile

import pytest
import rendering
from commands import run
from published import download

# As by default, Python may write bytecode, so that tests notice a command or a hook that writes bytecode into a
# library.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

WHEEL = "flashinfer-python==0.7.2.post1"


@pytest.fixture(scope="session")
def prefix(root, tmp_path_factory):
    """Returns the prefix in which kernkit is installed."""
    folder = tmp_path_factory.mktemp("installed")
    prefix, build = folder / "a prefix", folder / "build"
    switched_off = ["-DKERNKIT_BUILD_" + part + "=OFF" for part in ("KERNELS", "TESTS", "BENCHMARKS")]
    run("cmake", "-S", root, "-B", build, "-G", "Ninja", *switched_off)
    run("cmake", "--build", build)
    run("cmake", "--install", build, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="session")
def template(root: pathlib.Path) -> pathlib.Path:
    return root / "template"


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Returns environment variables with which cookiecutter neither reads the user's settings nor writes into the
    user's folders."""
    folder = tmp_path_factory.mktemp("cookiecutter")
    config = folder / "config.yaml"
    config.write_text(f'cookiecutters_dir: "{folder}"\nreplay_dir: "{folder}"\n')
    inherited = {k: v for k, v in os.environ.items() if k != "DLPACK_INCLUDE_DIR"}
    temporary = tmp_path_factory.mktemp("temporary")
    return {**inherited, "COOKIECUTTER_CONFIG": str(config), "PYTHONUTF8": "1", "TMPDIR": str(temporary)}


@pytest.fixture(scope="session")
def driver_environment(environment):
    """Returns environment variables for ./kk: the environment of this Python, which has the packages of a library's
    requirements.txt."""
    inherited = {key: value for key, value in environment.items() if key not in ("LIBRARY", "KK_VENV")}
    path = f"{sys.prefix}/bin:{os.environ['PATH']}"
    limits = {"CMAKE_BUILD_PARALLEL_LEVEL": "2", "CUDAARCHS": "80;120-real"}  # halves nvcc's time
    return {**inherited, "KK_VENV": sys.prefix, "PATH": path, **limits}


@pytest.fixture(scope="module")
def default_library(template, environment, tmp_path_factory):
    """Returns a library rendered with the default answers."""
    output = tmp_path_factory.mktemp("default")
    result = rendering.render(template, output, environment, library_name=rendering.NAME)
    assert result.returncode == 0, result.stdout
    return output / rendering.NAME


@pytest.fixture(scope="session")
def csrc(tmp_path_factory):
    """Returns the folder of FlashInfer's sources, extracted from its wheel. No source of FlashInfer is in this
    repository."""
    if not shutil.which("nvcc"):
        pytest.skip("no CUDA compiler")
    folder = tmp_path_factory.mktemp("flashinfer")
    with zipfile.ZipFile(download(folder, WHEEL)) as wheel:
        wheel.extractall(folder)
    return folder / "flashinfer/data/csrc"


@pytest.fixture
def load_hook(template):
    """Returns load(name), which loads a hook of the template without rendering it: only main() contains Jinja's
    syntax."""

    def load(name: str) -> types.ModuleType:
        path = template / "hooks" / f"{name}_gen_project.py"
        module = types.ModuleType(name)
        module.__file__ = str(path)
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
        return module

    return load


@pytest.fixture
def kernkit_new(root, environment, tmp_path):
    """Returns a function that runs `kernkit new` in an empty folder."""

    def new(*arguments):
        tools = {**environment, "PYTHONPATH": str(root / "sdk/python")}
        arguments = [sys.executable, "-B", "-m", "kernkit", "new", *arguments]
        return rendering.run(*arguments, env=tools, cwd=tmp_path)

    return new


@pytest.fixture
def copy(template: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """Returns a copy of the template that a test may change."""
    shutil.copytree(template, tmp_path / "template", ignore=lambda *_: rendering.BUILD_OUTPUTS)
    return tmp_path / "template"
