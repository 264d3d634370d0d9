# SPDX-License-Identifier: Apache-2.0
"""Running the ordinary tools: cmake, pip, pytest, and kernkit's other commands."""

import os
import pathlib
import sys
from typing import Any, List

from .. import programs
from .options import Done, Options, Wrong

ROOT = pathlib.Path(os.environ.get("KK_ROOT", "."))
JOBS = str(len(os.sched_getaffinity(0)))
PYTHON = os.path.join(os.environ.get("VIRTUAL_ENV", ""), "bin", "python")
if not os.path.exists(PYTHON):  # no environment is needed, and none is there
    PYTHON = sys.executable
KERNKIT = (PYTHON, "-B", "-m", "kernkit")


def set_environment() -> None:
    """For what every command runs."""
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", JOBS)
    own = pathlib.Path(__file__).resolve().parents[1]
    if (own / "share/cmake/kernkit").is_dir():  # the wheel: find_package(kernkit) finds it here
        os.environ["kernkit_ROOT"] = str(own)


def say(text: str) -> None:
    print(f"\033[1m==> {text}\033[0m", flush=True)


def run(*words: Any, stdout: Any = None, **environment: str) -> None:
    """Runs a command in the project's folder; where it fails ./kk ends with its exit code."""
    run_here(*words, cwd=ROOT, stdout=stdout, env={**os.environ, **environment})


def run_here(*words: Any, **options: Any) -> None:
    """The same in the folder where ./kk was called."""
    code = programs.run(words, **options).returncode
    if code != 0:
        raise Done(code)


def kernkit(*words: Any, stdout: Any = None) -> None:
    """Another command of kernkit's, in the project's folder."""
    run(*KERNKIT, *words, stdout=stdout)


def passed_on(options: Options) -> None:
    """kernkit's command of the same name, where ./kk was called."""
    run_here(*KERNKIT, options.command, *options.words)


def has_module(name: str) -> bool:
    return programs.run([PYTHON, "-c", f"import {name}"], capture_output=True).returncode == 0


def pip_install(*words: Any) -> None:
    quiet = ["--disable-pip-version-check", "--quiet"]
    done = programs.run([PYTHON, "-m", "pip", "install", *quiet, *words], cwd=ROOT)
    if done.returncode != 0:
        raise Wrong(f"pip could not install: {' '.join(map(str, words))}. Check the network (or "
                    "PIP_INDEX_URL), then run this again; nothing is half done.")  # fmt: skip


def bench(programs: List[str], rounds: str, google: List[str], compare: str, *options: Any) -> None:
    """Measures into build/bench/run.json, and compares."""
    passed = [f"--option={word}" for word in ["--benchmark_min_time=0.01", *google]]
    kernkit("bench", *programs, "--rounds", rounds, *passed, *options)
    if compare:
        say(f"compared with {compare}")
        kernkit("compare", compare, "build/bench/run.json")
