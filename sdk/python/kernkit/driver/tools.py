# SPDX-License-Identifier: Apache-2.0
"""Functions that run programs: cmake, pip, pytest, and other commands of kernkit."""

import os
import pathlib
import sys
from typing import Any, List

from .. import programs
from ..errors import UserError
from ..sdk import without_component
from .options import CommandFailed, Options

ROOT = pathlib.Path(os.environ.get("KK_ROOT", "."))
JOBS = str(len(os.sched_getaffinity(0)))
PYTHON = os.path.join(os.environ.get("VIRTUAL_ENV", ""), "bin", "python")
if not os.path.exists(PYTHON):  # no virtual environment exists, and the command needs none
    PYTHON = sys.executable
KERNKIT = (PYTHON, "-B", "-m", "kernkit")


def set_environment() -> None:
    """Sets environment variables for the programs that commands run: the number of parallel jobs of CMake, and the
    folder of an installed kernkit."""
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", JOBS)
    installed = pathlib.Path(__file__).resolve().parents[1]
    if (installed / "share/cmake/kernkit").is_dir():  # an installed wheel, which contains the CMake package
        os.environ["kernkit_ROOT"] = str(installed)


def print_heading(text: str) -> None:
    print(f"\033[1m==> {text}\033[0m", flush=True)


def run(*arguments: Any, stdout: Any = None, **environment: str) -> None:
    """Runs a program in the project's folder, with `environment` added to the variables of this process. Raises
    CommandFailed if the program failed."""
    run_here(*arguments, cwd=ROOT, stdout=stdout, env={**os.environ, **environment})


def run_here(*arguments: Any, **options: Any) -> None:
    """Runs a program, by default in the folder where ./kk was called. `options`: keyword arguments of subprocess.run.
    Raises CommandFailed if the program failed."""
    code = programs.run(arguments, **options).returncode
    if code != 0:
        raise CommandFailed(code)


def kernkit(*arguments: Any, stdout: Any = None) -> None:
    """Runs a command of kernkit in the project's folder. Raises CommandFailed if the command failed."""
    run(*KERNKIT, *arguments, stdout=stdout)


def passed_on(options: Options) -> None:
    """Runs the command of kernkit with the same name as the command of ./kk, in the folder where ./kk was called.
    Raises CommandFailed if the command failed."""
    run_here(*KERNKIT, options.command, *options.positional)


def has_module(name: str) -> bool:
    return programs.run([PYTHON, "-c", f"import {name}"], capture_output=True).returncode == 0


def pip_install(*arguments: Any) -> None:
    quiet = ["--disable-pip-version-check", "--quiet"]
    result = programs.run([PYTHON, "-m", "pip", "install", *quiet, *arguments], cwd=ROOT)
    if result.returncode != 0:
        raise UserError(f"pip could not install: {' '.join(map(str, arguments))}. Check the network (or "
                    "PIP_INDEX_URL), then run the command again.")  # fmt: skip


def bench(programs: List[str], rounds: str, benchmark_options: List[str], compare: str, *options: Any) -> None:
    """Runs benchmark programs by `kernkit bench`, which writes the measurements to build/bench/run.json, and compares
    them with the measurements in the file `compare`, unless `compare` is empty."""
    passed = [f"--option={option}" for option in ["--benchmark_min_time=0.01", *benchmark_options]]
    kernkit("bench", *programs, "--rounds", rounds, *passed, *options)
    if compare:
        print_heading(f"compared with {compare}")
        kernkit("compare", compare, "build/bench/run.json")


def library_name() -> str:
    """Returns the name of the library: the value of KK_LIBRARY, which the script ./kk sets."""
    return os.environ["KK_LIBRARY"]


def need_aarch64() -> None:
    """Raises UserError if the library's copy of the SDK lacks the component aarch64."""
    if not (ROOT / "third_party/kernkit/cmake/aarch64.cmake").exists():
        raise UserError(without_component("aarch64", "the option --arch aarch64"))
