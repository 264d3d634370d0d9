# SPDX-License-Identifier: Apache-2.0
"""A library without third_party/kernkit_dev is built from third_party/kernkit only, and its tests and commands use an
installed kernkit."""

import json
import os
import pathlib
import shutil
import sys

import pytest
from commands import path_without
from rendering import NAME, check, files_below, render, run

OPTIONS = ["-G", "Ninja", "-DKERNKIT_CUDA=OFF"]
INSTALL = "-m pip install --no-index --no-deps --find-links FOLDER kernkit==0.1.0, where FOLDER holds the wheel of kernkit"


@pytest.fixture(scope="module")
def rendered(template, environment, tmp_path_factory):
    """Returns a library rendered with the answer of --without dev."""
    output = tmp_path_factory.mktemp("without_dev")
    result = render(template, output, environment, library_name=NAME, dev="installed")
    assert result.returncode == 0, result.stdout
    return output / NAME


@pytest.fixture(scope="module")
def nothing_installed(tmp_path_factory):
    """Returns environment variables with which kernkit is found neither by this Python nor as a program on PATH."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PIP_FIND_LINKS", "KK_VENV")}
    return {**inherited, "VIRTUAL_ENV": sys.prefix, "PATH": path_without(tmp_path_factory.mktemp("path"), "kernkit")}


@pytest.fixture(scope="module")
def program(root, tmp_path_factory):
    """Returns the folder of a program `kernkit`, whose package has the layout of a wheel."""
    folder = tmp_path_factory.mktemp("program")
    package = folder / "packages/kernkit"
    (package / "share/cmake").mkdir(parents=True)
    for path in (root / "sdk/python/kernkit").iterdir():
        (package / path.name).symlink_to(path)
    (package / "share/cmake/kernkit").symlink_to(root / "sdk/cmake/wheel/kernkit")
    (package / "sdk").symlink_to(root / "sdk")
    (folder / "bin").mkdir()
    lines = f"--version) echo kernkit 0.1.0 ;; cmakedir) echo {package}/share/cmake/kernkit ;; *) exit 3 ;;"
    (folder / "bin/kernkit").write_text(f'#!/bin/sh\ncase "$1" in {lines} esac\n')
    (folder / "bin/kernkit").chmod(0o755)
    return folder / "bin"


def test_new_leaves_the_folder_out_and_names_the_wheel(kernkit_new, rendered, tmp_path):
    result = kernkit_new(NAME, "--without", "ptx,dev", "--no-git")
    assert result.stdout == (f"{tmp_path / NAME} is ready: cd there and run PIP_FIND_LINKS=FOLDER ./kk all, where FOLDER holds the "
                             "wheel of kernkit, since no package index has kernkit\n")  # fmt: skip
    assert files_below(tmp_path / NAME) == files_below(rendered)
    assert json.loads((rendered / ".kernkit.json").read_text())["answers"]["dev"] == "installed"
    assert [path.name for path in sorted(rendered.glob("third_party/kernkit*"))] == ["kernkit"]
    assert "an installed kernkit of the\nsame version" in (rendered / "README.md").read_text()
    assert "kernkit_dev" not in (rendered / "third_party/README.md").read_text()


@pytest.mark.parametrize("options", [["--with", "dev"], ["--with", "dev,scratch"]])
def test_new_copies_named_development_components(kernkit_new, tmp_path, options):
    assert kernkit_new(NAME, "--no-git", *options).returncode == 0
    record = json.loads((tmp_path / NAME / ".kernkit.json").read_text())
    assert record["answers"]["dev"] == "copied" and "dev" not in record["answers"]["parts"]
    assert (tmp_path / NAME / "third_party/kernkit_dev/simulator").is_dir()


def test_a_build_without_tests_needs_no_other_kernkit(rendered, nothing_installed, tmp_path):
    """A build without tests needs no installed kernkit, and neither does the Python package: `kernkit bindings` in
    third_party/kernkit writes its modules."""
    without = ["-DKERNKIT_BUILD_TESTS=OFF", "-DKERNKIT_BUILD_BENCHMARKS=OFF"]
    check("cmake", "-S", rendered, "-B", tmp_path, *OPTIONS, *without, env=nothing_installed)
    targets = check("ninja", "-C", tmp_path, "-t", "targets", "all")
    assert f"{NAME}_python: phony\n" in targets and "simulator" not in targets
    bindings = check("ninja", "-C", tmp_path, "-t", "commands", f"{NAME}_python")
    assert f"PYTHONPATH={rendered}/third_party/kernkit/python " in bindings


def test_the_copy_writes_a_package(rendered, nothing_installed, library, tmp_path):
    environment = {**nothing_installed, "PYTHONPATH": str(rendered / "third_party/kernkit/python")}
    bindings = [sys.executable, "-B", "-m", "kernkit", "bindings", library, "--package", "x", "--output", tmp_path / "x", "--frameworks"]
    check(*bindings, env=environment, cwd=tmp_path)
    assert "def scale(" in (tmp_path / "x/_ops.py").read_text()


@pytest.mark.parametrize("command", ["test", "new", "run"])
def test_a_command_that_is_elsewhere(rendered, nothing_installed, command):
    """third_party/kernkit contains the command `bindings`, which a build runs. Other commands end with an error that
    names third_party/kernkit_dev."""
    environment = {**nothing_installed, "PYTHONPATH": str(rendered / "third_party/kernkit/python")}
    listed = check(sys.executable, "-B", "-m", "kernkit", "--help", env=environment, cwd=rendered)
    assert "\n    bindings " in listed and "\n    doctor " not in listed
    result = run(sys.executable, "-B", "-m", "kernkit", command, env=environment, cwd=rendered)
    assert (result.returncode, result.stdout) == (3, (
        f"kernkit: third_party/kernkit has only the command bindings, and third_party/kernkit_dev, which has {command}, is not in "
        "this library; run ./kk, which uses an installed kernkit, or ./kk update --with dev\n"))  # fmt: skip


def sentences(output):
    """Returns CMake's output with spaces in place of line breaks."""
    return " ".join(output.split())


def test_tests_without_an_installed_kernkit_are_a_message(rendered, nothing_installed, tmp_path):
    result = run("cmake", "-S", rendered, "-B", tmp_path, *OPTIONS, env=nothing_installed)
    assert result.returncode != 0 and (
        "kernkit_add_tests(): this library has no third_party/kernkit_dev, and no kernkit is installed: "
        f"{sys.prefix}/bin/python has none, and no program kernkit is on PATH. Run {sys.prefix}/bin/python {INSTALL}, or configure with "
        "-DKERNKIT_BUILD_TESTS=OFF -DKERNKIT_BUILD_BENCHMARKS=OFF") in sentences(result.stdout)  # fmt: skip
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/kernkit").write_text("#!/bin/sh\necho kernkit 0.1.1\n")  # another version
    (tmp_path / "bin/kernkit").chmod(0o755)
    path = f"{tmp_path}/bin:{nothing_installed['PATH']}"
    result = run("./kk", "test", cwd=rendered, env={**nothing_installed, "KK_VENV": sys.prefix, "PATH": path})
    assert (result.returncode, result.stdout) == (1, (
        f"kk: kernkit 0.1.0 was not found: {sys.prefix} has none, PATH has no program kernkit of this version, PIP_FIND_LINKS is not set, and no "
        f"package index has kernkit. Run {sys.prefix}/bin/python {INSTALL}.\n"))  # fmt: skip


@pytest.mark.parametrize("how", ["package", "program"])
def test_tests_use_an_installed_kernkit(root, rendered, nothing_installed, program, how, tmp_path):
    environment = {**nothing_installed, "PYTHONPATH": str(root / "sdk/python")}
    if how == "program":
        environment = {**nothing_installed, "PATH": f"{program}:{nothing_installed['PATH']}"}
    printed = check("cmake", "-S", rendered, "-B", tmp_path, *OPTIONS, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", env=environment)
    assert "-- kernkit: tests and benchmarks use the installed kernkit in " in printed
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    (test,) = {entry["command"] for entry in commands if f"/{NAME}_test_files.dir/" in entry["command"]}
    assert f"-I{rendered}/third_party/kernkit/include " in test and f"-I{root}/sdk/include " not in test
    headers = tmp_path / "third_party/kernkit/kernkit_dev/include"
    assert f"-I{headers} " in test and [path.name for path in (headers / "kernkit").iterdir()] == ["testing"]
    assert (headers / "kernkit/testing/contract.h").is_file()
    # CMake also succeeds when run again without kernkit in the environment, as ninja may run CMake.
    check("cmake", "-S", rendered, "-B", tmp_path, env=nothing_installed)


@pytest.mark.parametrize("how", ["package", "program"])
def test_kk_uses_an_installed_kernkit(root, rendered, nothing_installed, program, how, tmp_path):
    shutil.copytree(rendered, tmp_path / NAME)
    environment = {**nothing_installed, "KK_VENV": sys.prefix, "PYTHONPATH": str(root / "sdk/python")}
    if how == "program":
        environment = {**nothing_installed, "KK_VENV": sys.prefix, "PATH": f"{program}:{nothing_installed['PATH']}"}
    at = {"cwd": tmp_path / NAME, "env": environment}
    assert "kernels/swish/swish.cc" in check("./kk", "add", "swish", "(Tensor(a!) y, Tensor x) -> ()", **at)
    assert check("./kk", "sanitize", "--help", **at).startswith("usage: kernkit sanitize")
    link = tmp_path / NAME / "build/installed/kernkit"
    assert link.is_symlink() == (how == "program")


def test_an_installed_kernkit_of_another_version_is_a_message(root, rendered, nothing_installed, tmp_path):
    folder = shutil.copytree(rendered, tmp_path / NAME)
    header = folder / "third_party/kernkit/include/kernkit/base/version.h"
    header.write_text(header.read_text().replace("PATCH 0", "PATCH 7"))
    environment = {**nothing_installed, "KK_VENV": sys.prefix, "PYTHONPATH": str(root / "sdk/python")}
    result = run("cmake", "-S", folder, "-B", tmp_path / "build", *OPTIONS, env=environment)
    assert result.returncode != 0
    assert f"the installed kernkit in {root}/sdk has version 0.1.0, not 0.1.7. Run " in sentences(result.stdout)
    result = run("./kk", "add", "swish", "(Tensor(a!) y, Tensor x) -> ()", cwd=folder, env=environment)
    assert (result.returncode, result.stdout) == (1, (
        f"kk: third_party/kernkit is kernkit 0.1.7, and the installed kernkit in {root}/sdk/python is 0.1.0; run {sys.prefix}/bin/python "
        "-m pip install --no-index --no-deps --find-links FOLDER kernkit==0.1.7, where FOLDER holds the wheel of kernkit, or "
        "./kk update\n"))  # fmt: skip


@pytest.mark.all
def test_a_test_builds_with_an_installed_kernkit(root, rendered, nothing_installed, tmp_path):
    """A test is built from the headers of the copy and from the test headers of the installed kernkit."""
    environment = {**nothing_installed, "PYTHONPATH": str(root / "sdk/python")}
    check("cmake", "-S", rendered, "-B", tmp_path, *OPTIONS, "-DCMAKE_BUILD_TYPE=Debug", "-DKERNKIT_WERROR=ON", env=environment)
    check("cmake", "--build", tmp_path, "--target", "silu_and_mul_test", env=nothing_installed)
    check(tmp_path / "bin/silu_and_mul_test", "--gtest_brief=1")


def test_update_in_a_library_on_an_installed_kernkit_finds_that_kernkit(root, rendered, nothing_installed, tmp_path):
    folder = shutil.copytree(rendered, tmp_path / NAME)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "--quiet"], ["add", "--all"], [*identity, "commit", "--quiet", "-m", "Start"]):
        check("git", *arguments, cwd=folder)
    environment = {**nothing_installed, "KK_VENV": sys.prefix, "PYTHONPATH": str(root / "sdk/python"),
                   "GIT_CONFIG_GLOBAL": os.devnull}  # fmt: skip
    assert "fast_ops has kernkit 0.1.0" in check("./kk", "update", "--with", "dev", cwd=folder, env=environment)
    assert (folder / "third_party/kernkit_dev/MANIFEST").is_file()
    record = json.loads((folder / ".kernkit.json").read_text())
    assert record["answers"]["dev"] == "copied"
    # After the update the library's copy contains the command line, so ./kk needs no installed kernkit.
    assert check("./kk", "add", "--help", cwd=folder, env={**nothing_installed, "KK_VENV": sys.prefix}).startswith("usage: kernkit add")
    assert not pathlib.Path(folder, "third_party/kernkit/python/kernkit/driver").exists()
