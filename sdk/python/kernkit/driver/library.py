# SPDX-License-Identifier: Apache-2.0
"""The commands of a library's ./kk."""

import os
import pathlib
import time
from typing import Dict, List

from .. import programs
from ..errors import UserError
from ..project import copies
from ..sdk import VERSION_HEADER, python_folder, version, version_of, without_component
from . import simulated_cuda, tools
from .options import BENCHMARK, Command, Options
from .tools import PYTHON, ROOT, kernkit, library_name, need_aarch64, passed_on, print_heading, run
from .update import update
from .wheel import build_wheel, try_wheel, wheel, wheels

try:
    from . import gpu
except ImportError:  # a copy of kernkit without the component gpu
    gpu = None  # type: ignore

USAGE = """\
usage: ./kk COMMAND [options]

  all            build, test, run the benchmarks once, make the wheel, and test the wheel
  build          build the library, its tests and benchmarks (preset release)
  test [OP]      build and run all tests, or the C++ tests of OP (builds only the targets of those tests);
                 --all: also with sanitizers; --arch aarch64: cross-compile the C++ tests and run them
                 under qemu (needs the component aarch64); --no-ptx: run CUDA tests on kernels compiled by
                 the C++ compiler, not on the PTX of nvcc
  bench [OP]     run all benchmarks, or the benchmark of OP; --benchmark_... options are passed on;
                 --compare OLD.json: also list rows slower than in OLD.json;
                 --rounds=15: measure 15 times, not 5
  report         make a page of the last run in build/bench/report, with plots if matplotlib is installed
                 and kernkit has the component plots: ./kk update --with plots
  add NAME "SCHEMA" [--kind KIND]     create the files of a new kernel; ./kk add --help
  remove OP      remove the files of a kernel
""" + (gpu.USAGE if gpu else """\
  gpu            run tests and benchmarks on a GPU (needs the component gpu: ./kk update --with gpu)
""") + """\
  wheel          make the wheel and the sdist in dist/, and test the wheel; --arch aarch64: cross-compile
                 the wheel, without a test
  wheels         make the wheels of a release in dist/ with cibuildwheel, which needs docker or podman
  format         format the sources with clang-format
  run, counters, sanitize PROGRAM ARGUMENTS...   run a program that nvcc compiled, without a GPU; ./kk run --help
  calls FILE, replay FOLDER   print the last calls of a process; repeat a recorded call
  doctor         examine the built library, and list changes made by hand in the copy of kernkit in third_party/
  update [--from WHERE]   update the library to the template of a newer kernkit: the kernkit installed in
                 .venv, or WHERE: a checkout of its repository, a wheel, or any other pip requirement;
                 --with LIST: also add these components of kernkit, for example plots,ptx; --without LIST: leave
                 out these components, for example dev: then an installed kernkit runs tests and commands

  --cuda         install the CUDA compiler (wheels, about 300 MB) if nvcc is not found
  --no-cuda      build without CUDA (without both options: KERNKIT_CUDA decides, or whether nvcc is found)

The first run installs missing packages: Debian packages if this user may install them, and Python
packages into .venv. By hand:
  python3 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt
  cmake --workflow --preset cpu && pytest tests && pip wheel --no-deps .
"""
STARTED = time.monotonic()


def check_installed(options: Options) -> None:
    """Raises UserError if this kernkit and the library's copy of the SDK have different versions. Checks nothing for
    the command update, which changes the copy."""
    copy = ROOT / copies.SDK
    if options.command == "update" or not (copy / VERSION_HEADER).is_file() or version_of(copy) == version():
        return
    raise UserError(f"{copies.SDK} is kernkit {version_of(copy)}, and the installed kernkit in {python_folder()} is {version()}; run "
                    f"{PYTHON} -m pip install --no-index --no-deps --find-links FOLDER kernkit=={version_of(copy)}, where FOLDER "
                    "holds the wheel of kernkit, or ./kk update")  # fmt: skip


def build(options: Options) -> None:
    run("cmake", "--preset", "release")
    run("cmake", "--build", "--preset", "release")


def test(options: Options) -> None:
    """Builds and tests each preset, then runs pytest; a failed step does not end the run. Runs only the tests of an op
    if `options` names an op."""
    os.environ["KERNKIT_TESTS_ON_PTX"] = "OFF" if options.without_ptx else "ON"
    if options.positional:
        return test_op(options.positional[0], options)
    if options.architectures:
        need_aarch64()
        kernkit("test", "--preset=aarch64", "--jobs", tools.JOBS)
        return
    presets = ["--preset=release"] + ["--preset=asan"] * (options.tier == "all")
    simulated = [f"--simulated={simulated_cuda.library()}"] if simulated_cuda.is_wanted() else []
    kernkit("test", *presets, *simulated, "--jobs", tools.JOBS, "--", "tests")


def test_op(op: str, options: Options) -> None:
    """Builds and runs the test programs of one op. Runs CMake first, so that an op that was just added has targets.
    Raises UserError if the op has no test, or if `options` has --all or --arch."""
    if options.tier != "quick" or options.architectures:
        raise UserError(f"test {op}: --all and --arch apply to the tests of all ops; leave out {op}, or the option")
    run("cmake", "--preset", "release")
    targets = programs.run(["ninja", "-t", "targets", "all"], cwd=ROOT / "build/release", capture_output=True, text=True).stdout
    tests = [f"{op}_{kind}" for kind in ("test", "cuda_test", "ptx_test") if f"\n{op}_{kind}: phony\n" in f"\n{targets}"]
    if not tests:
        raise UserError(f"op {op}: tests/{op}_test.cc not found; name an op that has a test")
    run("cmake", "--build", "--preset", "release", "--target", *tests)
    for program in tests:
        run(f"build/release/bin/{program}", "--gtest_brief=1")


def benchmarks() -> List[str]:
    return sorted(path.stem for path in (ROOT / "bench").glob("*_bench.cc"))


def bench(options: Options) -> None:
    """Builds and runs all benchmarks, or the benchmark of an op, and writes the measurements to build/bench/run.json.
    Raises UserError if the benchmark does not exist."""
    names = [f"{op}_bench" for op in options.positional] or benchmarks()
    for program in names:
        if program not in benchmarks():
            raise UserError(f"bench/{program}.cc not found; name an op that has a benchmark")
    if not names:
        raise UserError("bench/<op>_bench.cc not found; add a benchmark, as ./kk add does")
    run("cmake", "--preset", "release")
    run("cmake", "--build", "--preset", "release", "--target", "kernkit_benchmarks")
    measured = [f"build/release/bin/{program}" for program in names]
    # Each benchmark program runs twice: on one thread, and on the number of threads that the op chooses.
    measured += [f"KERNKIT_BENCH_THREADS=all {program}" for program in measured]
    tools.bench(measured, options.rounds, options.benchmark_options, options.compare)


def report(options: Options) -> None:
    plots_module = pathlib.Path(__file__).parents[1] / "bench/plots.py"
    plots = [] if plots_module.exists() and tools.has_module("matplotlib") else ["--no-plots"]
    kernkit("report", "--output", "build/bench/report", *plots)


def everything(options: Options) -> None:
    once = Options("bench", rounds="1",
                   benchmark_options=["--benchmark_min_time=0.001", "--benchmark_repetitions=1"])  # fmt: skip
    phases = {
        "build and test": lambda: test(options),
        "benchmarks, once": lambda: bench(once),
        "doctor": lambda: doctor(Options("doctor")),
        "wheel": build_wheel,
        "the wheel, installed and called": try_wheel,
    }
    if not benchmarks():
        del phases["benchmarks, once"]
    phases.update(gpu.phases(library_name()) if gpu else {})
    times = []
    for phase, work in phases.items():
        started = time.monotonic()
        print_heading(phase)
        work()
        times.append(f"    {phase}: {time.monotonic() - started:.0f} s")
    print("\n".join([*times, f"    together: {time.monotonic() - STARTED:.0f} s"]))


def format_sources(options: Options) -> None:
    folders = [ROOT / folder for folder in ("kernels", "tests", "bench")]
    files = [path for folder in folders for path in sorted(folder.rglob("*.*"))]
    run("clang-format", "-i", *(path for path in files if path.suffix in (".h", ".cc", ".cu", ".cuh")))


def doctor(options: Options) -> None:
    passed_on(Options("doctor", options.positional or [f"build/release/lib/lib{library_name()}.so"]))


def without_gpu(options: Options) -> None:
    """Runs ./kk gpu in a copy of kernkit without the component gpu. Prints that the command is skipped if the machine
    has no GPU; otherwise, or with --build, runs `kernkit gpu`, which reports the missing component."""
    if simulated_cuda.has_gpu() or "--build" in options.positional:
        passed_on(options)  # `kernkit gpu` reports the missing component
    print(f"skipped: no GPU found; on a machine with a GPU: {without_component('gpu')}\n0 passed, 0 failed, 1 skipped")


def plan(options: Options) -> Dict[str, str]:
    """Returns the preparations that the command needs from the script ./kk, as {name: value}."""
    command = COMMANDS[options.command]
    of_gpu = gpu.plan(options) if gpu and options.command == "gpu" else {}
    return {"prepares": command.prepared(options), **({"cuda": options.cuda} if options.cuda else {}), **of_gpu}


COMMANDS: Dict[str, Command] = {
    "all": Command(everything),
    "build": Command(build),
    "test": Command(test, options=("--all", "--arch", "--no-ptx"), max_positional=1),
    "bench": Command(bench, options=("--compare", "--rounds", BENCHMARK), max_positional=1000),
    "wheel": Command(wheel, options=("--arch",)),
    "wheels": Command(wheels, "python"),
    "format": Command(format_sources),
    "report": Command(report, "python", is_passed_on=True),
    "add": Command(passed_on, "python", is_passed_on=True),
    "remove": Command(passed_on, "python", is_passed_on=True),
    "doctor": Command(doctor, "python", is_passed_on=True),
    **dict.fromkeys(("run", "counters", "sanitize", "calls", "replay"), Command(passed_on, "python", is_passed_on=True)),
    "update": Command(update, "python", is_passed_on=True),
    "gpu": gpu.command(os.environ.get("KK_LIBRARY", "")) if gpu else Command(without_gpu, "nothing", is_passed_on=True),
}
