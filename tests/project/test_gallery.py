# SPDX-License-Identifier: Apache-2.0
"""The commands in the page of each gallery entry run in a copy of the entry's folder and print what the page shows."""

import importlib.metadata
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from published import install

ROOT = pathlib.Path(__file__).resolve().parents[2]
GALLERY, INDEX = ROOT / "docs/gallery", ROOT / "docs/gallery.md"
ENTRIES = sorted(path.parent.name for path in GALLERY.glob("*/README.md"))
# A block of commands, followed by the block of the output if the page shows the output.
STEP = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| \[[^]]+\]\(gallery/(\w+)/README\.md(?:#[\w-]+)?\) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
SIMULATOR = "kernkit_cudart/libcudart.so.13"


def steps(entry):
    """Returns [(commands, exit code, output or None)] of an entry's page."""
    page = (GALLERY / entry / "README.md").read_text()
    commands = []
    for step in STEP.finditer(page):
        before = page[: step.start()].rpartition("```\n")[2]  # the text between the previous block and the commands
        code = re.search(r"exit code is (\d+)", before)
        commands.append((step[1], int(code[1]) if code else 0, step[2]))
    return commands


def needs(entry):
    """Returns the programs and packages that the index lists in the rows of an entry."""
    return {name for folder, cell in ROW.findall(INDEX.read_text()) if folder == entry
            for name in re.findall("`([^`.]+)`", cell)}  # fmt: skip


def test_the_index_lists_every_folder():
    assert set(ENTRIES) == {path.name for path in GALLERY.iterdir() if path.is_dir()}
    assert {folder for folder, _ in ROW.findall(INDEX.read_text())} == set(ENTRIES)
    assert len(ROW.findall(INDEX.read_text())) == len(re.findall(r"\(gallery/", INDEX.read_text()))


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_page_has_commands_output_and_every_source(entry):
    page = (GALLERY / entry / "README.md").read_text()
    assert len(steps(entry)) == page.count("```sh\n")
    assert sum(output is not None for _, _, output in steps(entry)) == page.count("```text\n") > 0
    assert needs(entry)
    shown = set(re.findall(rf"<!-- from docs/gallery/{entry}/(\S+)", page))
    programs = {path.name for pattern in ("*.py", "*.cu", "*.cc", "*.c") for path in (GALLERY / entry).glob(pattern)}
    assert programs <= shown


@pytest.fixture(scope="session")
def installed(root, tmp_path_factory):
    """Returns the folder in which pip has installed kernkit."""
    folder = tmp_path_factory.mktemp("kernkit")
    arguments = ["install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", *arguments, "--target", folder, root], check=True)
    return folder


@pytest.fixture(scope="session")
def environment(root, installed, tmp_path_factory):
    """Returns environment variables with which `kernkit` is the installed kernkit and runs programs with the runtime of
    ./kk build."""
    folder = tmp_path_factory.mktemp("environment")
    runtime = root / "build/release" / SIMULATOR
    program = folder / "kernkit"
    program.write_text(f"""\
#!/bin/sh
export XDG_CACHE_HOME={shlex.quote(str(folder / "caches"))}
case $1 in
run|sanitize|replay)
  command=$1
  shift
  set -- "$command" --runtime {shlex.quote(str(runtime))} "$@";;
esac
exec {shlex.quote(sys.executable)} -B -m kernkit "$@"
""")
    program.chmod(0o755)
    path = os.pathsep.join([str(folder), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("KK_", "KERNKIT_", "kernkit_"))}
    return {**inherited, "PATH": path, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1",
            "VIRTUAL_ENV": sys.prefix, "TVM_FFI_CACHE_DIR": str(folder / "tvm-ffi"),
            "KERNKIT_TORCH_CACHE": str(root / "build/run/clients/caches/torch_cuda")}  # fmt: skip


def has_package(name):
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def require(entry):
    """Skips the test of an entry if a program or a package is missing, except for CUTLASS, which the test installs
    because few tests need it."""
    for name in sorted(needs(entry) - {"nvidia-cutlass"}):
        if name == "nvcc":
            if not shutil.which("nvcc"):
                pytest.skip("nvcc is not installed")
        elif not has_package(name):
            pytest.skip(f"{name} is not installed: ./kk test --with torch,jax,clients")
    if any("kernkit run" in commands or "kernkit sanitize" in commands for commands, _, _ in steps(entry)):
        if not (ROOT / "build/release" / SIMULATOR).with_name("driver").joinpath("libcuda.so.1").exists():
            pytest.skip("the build has no libcuda.so.1: run ./kk build with the headers of CUDA 13")


# Tests of tier slow: nvcc takes long to compile the headers of CUB and CUTLASS; tests/logging/test_rare_fault.py
# finds the same kind of fault in tier all.
SLOW = ("cuda_libraries", "rare_fault")
BY_TIER = [pytest.param(entry, marks=pytest.mark.slow if entry in SLOW else pytest.mark.all) for entry in ENTRIES]


@pytest.mark.parametrize("entry", BY_TIER)
def test_the_commands_print_what_the_page_shows(entry, environment, tmp_path):
    require(entry)
    if "nvidia-cutlass" in needs(entry) and not has_package("nvidia-cutlass"):
        path = os.pathsep.join([environment["PYTHONPATH"], str(install(tmp_path / "cutlass", "nvidia-cutlass"))])
        environment = {**environment, "PYTHONPATH": path}
    folder = shutil.copytree(GALLERY / entry, tmp_path / entry, ignore=shutil.ignore_patterns("build", "__pycache__"))
    for commands, code, output in steps(entry):
        result = subprocess.run(["bash", "-ec", commands], cwd=folder, env=environment, capture_output=True, text=True)
        assert result.returncode == code, result.stdout + result.stderr
        if output is not None:  # the page shows stdout, or stdout followed by stderr, to which tools write
            assert output in (result.stdout, result.stdout + result.stderr), result.stderr
