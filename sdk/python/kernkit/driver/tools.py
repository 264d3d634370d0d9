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
if not os.path.exists(PYTHON):  # the command needs no environment, and none exists
    PYTHON = sys.executable
KERNKIT = (PYTHON, "-B", "-m", "kernkit")


def set_environment() -> None:
    """Sets environment variables for the programs that commands run."""
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", JOBS)
    installed = pathlib.Path(__file__).resolve().parents[1]
    if (installed / "share/cmake/kernkit").is_dir():  # the installed wheel: find_package(kernkit) finds the package here
        os.environ["kernkit_ROOT"] = str(installed)


def print_heading(text: str) -> None:
    print(f"\033[1m==> {text}\033[0m", flush=True)


def run(*arguments: Any, stdout: Any = None, **environment: str) -> None:
    """Runs a program in the project's folder. CommandFailed: the program failed."""
    run_here(*arguments, cwd=ROOT, stdout=stdout, env={**os.environ, **environment})


def run_here(*arguments: Any, **options: Any) -> None:
    """Runs a program in the folder where ./kk was called. CommandFailed: the program failed."""
    code = programs.run(arguments, **options).returncode
    if code != 0:
        raise CommandFailed(code)


def kernkit(*arguments: Any, stdout: Any = None) -> None:
    """Runs a command of kernkit in the project's folder."""
    run(*KERNKIT, *arguments, stdout=stdout)


def passed_on(options: Options) -> None:
    """Runs the command of kernkit with the same name, in the folder where ./kk was called."""
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
    """Writes measurements to build/bench/run.json, and compares them with an earlier file if `compare` names one."""
    passed = [f"--option={option}" for option in ["--benchmark_min_time=0.01", *benchmark_options]]
    kernkit("bench", *programs, "--rounds", rounds, *passed, *options)
    if compare:
        print_heading(f"compared with {compare}")
        kernkit("compare", compare, "build/bench/run.json")


def library_name() -> str:
    """The name of the library, which ./kk sets."""
    return os.environ["KK_LIBRARY"]


def need_aarch64() -> None:
    """Checks that the library's copy of the SDK has the component aarch64. UserError: the component
    is missing."""
    if not (ROOT / "third_party/kernkit/cmake/aarch64.cmake").exists():
        raise UserError(without_component("aarch64", "the option --arch aarch64"))
