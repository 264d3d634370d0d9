# SPDX-License-Identifier: Apache-2.0
"""Fast tests of commands on machines that lack one tool or have one unusual setting. test_bare_systems.py tests whole
systems."""

import os
import shutil
import subprocess
import sys

import pytest
from commands import path_without


def test_tests_that_require_git_are_skipped_without_git(root, tmp_path):
    path = path_without(tmp_path / "bin", "git")
    files = [f"tests/project/test_{name}.py" for name in ("kk", "docs", "faults")]
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-k",
               "autocrlf or faults_apply or lists_every_folder", *files]  # fmt: skip
    result = subprocess.run(
        command, cwd=root, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout
    assert (
        result.stdout.splitlines()[-1].startswith("4 skipped,")
        and "git is not installed" in result.stdout
    )


def test_files_of_an_unpacked_archive_are_not_listed_by_git(root, tmp_path):
    """Tests that need a list of files from git are skipped for the sources of an archive, which are in no
    repository."""
    copy = tmp_path / "tests/project"
    copy.mkdir(parents=True)
    (copy / "test_format.py").symlink_to(root / "tests/project/test_format.py")
    program = "import sys, pathlib; sys.path.insert(0, 'tests/project'); import test_format\n"
    program += "test_format.tracked(pathlib.Path())"
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    result = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ("this copy has no git repository" if shutil.which("git") else "git is not installed") in result.stderr


def test_debian_packages_that_a_user_cannot_install_are_named(root, tmp_path):
    """If the user may not call apt-get, one message names the packages and the command, and nothing is written."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/c++").write_text("#!/bin/sh\ncat > /dev/null\nexit 1\n")  # finds no header
    for name, text in (("sudo", "exit 1"), ("id", "echo 1000")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
    for tool in (tmp_path / "bin").iterdir():
        tool.chmod(0o755)
    inherited = {
        key: value
        for key, value in os.environ.items()
        if key not in ("CMAKE_PREFIX_PATH", "CMAKE_TOOLCHAIN_FILE", "KK_VENV")
    }
    environment = {**inherited, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    script = f"source ./kk; root={tmp_path} venv={tmp_path}/venv; install_packages"
    result = subprocess.run(
        ["bash", "-c", script], cwd=root, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 1
    packages = "libgtest-dev libbenchmark-dev"
    assert (
        result.stderr == f"kk: missing: {packages}. Install them: sudo apt-get install {packages}\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


@pytest.mark.parametrize(
    "settings",
    [{"HOME": "/proc"}, {"HOME": ""}, {"HOME": None}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX"}],
)
def test_a_library_is_started_with_other_settings_of_the_user(root, tmp_path, settings):
    """A library is created if HOME is read-only, empty or absent, in the locale C, with a space in the path of
    temporary files and letters outside ASCII in the path of the output, and with a umask that gives permissions only to
    the user."""
    temporary, output = tmp_path / "temporary files", tmp_path / "wörk folder"
    temporary.mkdir()
    output.mkdir()
    inherited = {
        key: value
        for key, value in os.environ.items()
        if key not in ("LANG", "LC_ALL", "PYTHONUTF8", *settings)
    }
    environment = {**inherited, "TMPDIR": str(temporary), "PYTHONPATH": str(root / "sdk/python")}
    environment.update({key: value for key, value in settings.items() if value is not None})
    command = [
        "sh",
        "-c",
        'umask 077; exec "$0" "$@"',
        sys.executable,
        "-B",
        "-m",
        "kernkit",
        "new",
        "fast_ops",
        "--output",
        output,
    ]
    result = subprocess.run([str(argument) for argument in command], env=environment, capture_output=True)
    assert result.returncode == 0, result.stderr
    assert b"is ready" in result.stdout and result.stderr == b""
    assert os.access(output / "fast_ops/kk", os.X_OK) and list(temporary.iterdir()) == []


BUILD = """
from kernkit.driver import wheel
settings = {"wheel.cmake": "false", "wheel.packages": "small"}
wheel.build_archive("wheel", "made", settings, {})
"""


def test_a_wheel_is_built_whatever_options_pip_has(root, tmp_path):
    """A wheel is built without options for pip, because the pip of Debian 12 and of Ubuntu 22.04 cannot pass settings
    to the build backend. Here pip rejects every option."""
    for name, text in (
        ("pip/__init__.py", ""),
        ("pip/__main__.py", "import sys\nsys.exit('no such option: ' + ' '.join(sys.argv[1:]))\n"),
        ("small/__init__.py", ""),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["scikit-build-core"]\n'
        'build-backend = "scikit_build_core.build"\n[project]\nname = "small"\nversion = "1.0"\n'
    )
    environment = {
        **os.environ,
        "KK_ROOT": str(tmp_path),
        "VIRTUAL_ENV": sys.prefix,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(root / "sdk/python")]),
    }
    command = [sys.executable, "-B", "-c", BUILD]
    result = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert [path.suffix for path in (tmp_path / "made").iterdir()] == [".whl"]
