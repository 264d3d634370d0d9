# SPDX-License-Identifier: Apache-2.0
"""Build by CMake presets, run ctest and pytest, and print a summary.

    kernkit test --preset release --preset asan -- tests -k "not slow"

For each preset cmake, the build and ctest run; then pytest, if arguments for pytest follow "--".
Each step runs even if an earlier step failed, except that pytest needs the build of the first
preset. A preset that cannot be built counts as failed. The output of failed tests is printed; the output
of all tests is in build/junit. Tests that were skipped for the same reason
share a line; build/junit/skipped.txt contains their names. The last line is "N passed, M failed, K skipped". Exit code
1: a test failed, or no test ran.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import time
from typing import Dict, List, Optional, Tuple

from .. import programs
from ..binaries.identity import has_cuda
from ..junit import Results, read_junit
from ..sdk import python_folder

FOLDER = pathlib.Path("build/junit")
NO_TESTS = 5  # exit code with which pytest ends if it collects no test
NAMED = 3  # largest number of tests that a line about skipped tests names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", action="append", default=[], dest="presets", metavar="NAME",
                        help="a preset of CMakePresets.json to configure, build and test")
    parser.add_argument("--jobs", default=str(os.cpu_count() or 2), metavar="N",
                        help="number of tests that ctest runs in parallel (default: %(default)s)")
    parser.add_argument("--exclude-label", metavar="REGEX", help="regular expression: ctest skips tests with a matching label")
    parser.add_argument("--simulated", type=pathlib.Path, metavar="LIBRARY",
                        help="if this library has CUDA kernels, pytest runs under `kernkit run`, so that device=\"cuda\" needs no GPU")
    parser.add_argument("pytest", nargs="*", metavar="-- WORD",
                        help="arguments for pytest; without arguments pytest does not run")


def lines_of_skipped(skipped: List[Tuple[str, str]]) -> List[str]:
    """Returns a line for each reason why tests were skipped: number of tests, reason, and the names of the tests or,
    for more than NAMED tests, of their files."""
    reasons: Dict[str, List[str]] = collections.defaultdict(list)
    for name, reason in skipped:
        reasons[reason].append(name)
    lines = []
    for reason, names in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
        which = ", ".join(names)
        if len(names) > NAMED:
            files = collections.Counter(_file(name) for name in names)
            which = ", ".join(f"{file} {count}" for file, count in files.most_common())
        lines.append(f"skipped, {len(names)}: {reason} ({which})")
    return lines


def _file(name: str) -> str:
    """Returns the file name of a pytest test, or the program of a C++ test."""
    parts = name.split(".")
    return next((part for part in parts if part.startswith("test_")), parts[0])


def _print_heading(text: str) -> None:
    print(f"\033[1m==> {text}\033[0m", flush=True)


def _environment() -> Dict[str, str]:
    """Returns the environment for the tests, without the path of this package, so that the tests import their own
    kernkit."""
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep)
             if path and pathlib.Path(path).resolve() != python_folder()]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _run(command: List[str], log: pathlib.Path, watched: bool = False, environment: Optional[Dict[str, str]] = None) -> bool:
    """Runs a program and returns whether it succeeded. The output goes to the file `log` or, if `watched` is true and
    stdout is a terminal, to the terminal."""
    if watched and sys.stdout.isatty():
        return programs.run(command, env=environment).returncode == 0
    with log.open("w") as out:
        result = programs.run(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    return result.returncode == 0


def _print_log(log: pathlib.Path) -> None:
    if log.exists():
        print(log.read_text(errors="replace"), end="", flush=True)


def _ctest(preset: str, arguments: argparse.Namespace) -> Results:
    """Configures and builds a preset, runs ctest, and returns the results. A step that fails is a failed result."""
    started = time.monotonic()
    _print_heading(f"build, preset {preset}")
    for step, mode in (("configure", []), ("build", ["--build"])):
        log = FOLDER / f"{step}-{preset}.log"
        if not _run(["cmake", *mode, "--preset", preset], log, watched=step == "build"):
            _print_log(log)
            return Results(failed=[(f"{step}, preset {preset}", "")])
    built = time.monotonic()
    _print_heading(f"ctest, preset {preset}, after {built - started:.0f} s of building")
    file, log = FOLDER / f"ctest-{preset}.xml", FOLDER / f"ctest-{preset}.log"
    left_out = ["-LE", arguments.exclude_label] if arguments.exclude_label else []
    ran = _run(["ctest", "--preset", preset, "-j", arguments.jobs, "--no-tests=error", *left_out,
                "--output-junit", str(file.resolve())], log, environment=_environment())
    results = read_junit(file)
    for name, printed in results.failed:
        print(f"failed: {name}\n{printed}", flush=True)
    if not ran and not results.failed:
        _print_log(log)
        results.failed.append((f"ctest, preset {preset}", ""))
    print(f"{results} in {time.monotonic() - built:.0f} s", flush=True)
    return results


def _pytest(options: List[str], library: Optional[pathlib.Path]) -> Results:
    simulated = library is not None and has_cuda(library)
    _print_heading("pytest by kernkit run" if simulated else "pytest")
    file = FOLDER / "pytest.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "--junitxml", str(file), *options]
    if simulated:  # keeps this package on PYTHONPATH, since pytest loads the plugin `kernkit`
        command = [sys.executable, "-B", "-m", "kernkit", "run", *command, "-p", "kernkit"]
    code = programs.run(command, env=None if simulated else _environment()).returncode
    results = read_junit(file)
    if code == NO_TESTS and not results.failed:
        print("pytest found no test", flush=True)
    elif code != 0 and not results.failed:
        results.failed.append((f"pytest, exit code {code}", ""))
    return results


def run(arguments: argparse.Namespace) -> int:
    started, total = time.monotonic(), Results()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.xml"):
        old.unlink()
    for preset in arguments.presets:
        total.add(_ctest(preset, arguments))
    unbuilt = {f"{step}, preset {preset}" for step in ("configure", "build") for preset in arguments.presets[:1]}
    if arguments.pytest and unbuilt.isdisjoint(name for name, _ in total.failed):
        total.add(_pytest(arguments.pytest, arguments.simulated))
    _print_heading(f"sum, after {time.monotonic() - started:.0f} s")
    for line in lines_of_skipped(total.skipped):
        print(line)
    skipped = FOLDER / "skipped.txt"
    skipped.write_text("".join(f"{name}: {reason}\n" for name, reason in total.skipped))
    for name, _ in total.failed:
        print(f"failed: {name}")
    print(total)
    return 1 if total.failed or not total.passed else 0
