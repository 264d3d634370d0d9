# SPDX-License-Identifier: Apache-2.0
"""./kk of a library."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from typing import Dict, List

from .. import programs
from ..sdk import without_component
from . import tools
from .tools import PYTHON, ROOT, kernkit, passed_on, run, say
from .options import Command, Options, Wrong

try:
    from . import gpu
except ImportError:  # the part gpu is not in this copy
    gpu = None  # type: ignore

USAGE = """\
usage: ./kk COMMAND [options]

  all            everything: build, test, run the benchmarks once, make the wheel, try it
  build          build the library, its tests and benchmarks (preset release)
  test [OP]      build, then every test, or one op's in C++: builds what these need, and nothing else;
                 --all: with sanitizers as well; --arch aarch64: those in C++, by a cross compiler and
                 under qemu, with the part aarch64; --no-ptx: CUDA tests run what the C++ compiler made of
                 kernels, not the PTX of nvcc
  bench [OP]     run the benchmarks, or one op's; --benchmark_... options are passed on;
                 --compare OLD.json: and say what became slower than in that run;
                 --rounds=15: measure 15 times, not 5
  report         make a page of the last run in build/bench/report, with plots where matplotlib is
                 and third_party/kernkit has the part: ./kk update --with plots
  add NAME "SCHEMA" [--kind KIND]     start another kernel; ./kk add --help
  remove OP      take a kernel out
""" + (gpu.USAGE if gpu else """\
  gpu            run tests and benchmarks on a GPU, once ./kk update --with gpu has brought that part
""") + """\
  wheel          make the wheel and the sdist in dist/, and try it; --arch aarch64: by a cross compiler, untried
  wheels         make the wheels of a release in dist/: cibuildwheel runs in its containers, and needs docker or podman
  format         format the sources with clang-format
  run, counters, sanitize PROGRAM ARGUMENTS...   run a program that nvcc compiled, without a GPU; ./kk run --help
  doctor         look into the built library for what it must not have, and into third_party/kernkit
                 for what was changed by hand
  update [--from WHERE]   bring the library to the template of a newer kernkit: the one installed in
                 .venv, or WHERE: a checkout of its repository, a wheel, or what else pip installs;
                 --with LIST: and take these parts of kernkit, as in plots,ptx

  --cuda         bring the CUDA compiler (wheels, about 300 MB) when the machine has none
  --no-cuda      leave CUDA out (neither: as KERNKIT_CUDA says, or where nvcc is found)

The first run installs what is missing: Debian packages when this user may install them, and Python
packages into .venv. By hand:
  python3 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt
  cmake --workflow --preset cpu && pytest tests && pip wheel --no-deps .
"""
CIBUILDWHEEL = "cibuildwheel==4.2.1"
STARTED = time.monotonic()


def name() -> str:
    return os.environ["KK_LIBRARY"]  # ./kk says it


def build(options: Options) -> None:
    run("cmake", "--preset", "release")
    run("cmake", "--build", "--preset", "release")


def need_aarch64() -> None:
    if not (ROOT / "third_party/kernkit/cmake/aarch64.cmake").exists():
        raise Wrong(without_component("aarch64", "option"))


def test(options: Options) -> None:
    """Builds and tests by presets, then pytest: whatever failed before, to the sum in the last line."""
    os.environ["KERNKIT_TESTS_ON_PTX"] = "OFF" if options.is_without_ptx else "ON"
    if options.words:
        return test_op(options.words[0], options)
    if options.architectures:
        need_aarch64()
        kernkit("test", "--preset=aarch64", "--jobs", tools.JOBS)
        return
    presets = ["--preset=release"] + ["--preset=asan"] * (options.tier == "all")
    kernkit("test", *presets, "--jobs", tools.JOBS, "--", "tests")


def test_op(op: str, options: Options) -> None:
    """Builds and runs the programs of one op, after CMake, which lists the programs of the library as it is now."""
    if options.tier != "quick" or options.architectures:
        raise Wrong("--all and --arch are for the tests of all ops")
    run("cmake", "--preset", "release")
    targets = programs.run(["ninja", "-t", "targets", "all"], cwd=ROOT / "build/release", capture_output=True, text=True).stdout
    tests = [f"{op}_{kind}" for kind in ("test", "cuda_test", "ptx_test") if f"\n{op}_{kind}: phony\n" in f"\n{targets}"]
    if not tests:
        raise Wrong(f"there is no tests/{op}_test.cc of an op")
    run("cmake", "--build", "--preset", "release", "--target", *tests)
    for program in tests:
        run(f"build/release/bin/{program}", "--gtest_brief=1")


def benchmarks() -> List[str]:
    return sorted(path.stem for path in (ROOT / "bench").glob("*_bench.cc"))


def bench(options: Options) -> None:
    """All that is measured goes into build/bench/run.json."""
    names = [f"{op}_bench" for op in options.words] or benchmarks()
    for program in names:
        if program not in benchmarks():
            raise Wrong(f"there is no bench/{program}.cc")
    if not names:
        raise Wrong("there is no bench/<op>_bench.cc")
    run("cmake", "--preset", "release")
    run("cmake", "--build", "--preset", "release", "--target", "kernkit_benchmarks")
    measured = [f"build/release/bin/{program}" for program in names]
    # On one thread, then on as many as each op takes by itself.
    measured += [f"KERNKIT_BENCH_THREADS=all {program}" for program in measured]
    tools.bench(measured, options.rounds, options.google, options.compare)


def report(options: Options) -> None:
    part = pathlib.Path(__file__).parents[1] / "bench/plots.py"
    plots = [] if part.exists() and tools.has_module("matplotlib") else ["--no-plots"]
    kernkit("report", "--output", "build/bench/report", *plots)


def build_archive(kind: str, folder: str, settings: Dict[str, str], environment: Dict[str, str]) -> None:
    """A "wheel" or "sdist" in `folder` by scikit-build-core's own function: the pip of Debian 12 and of
    Ubuntu 22.04 cannot pass settings on."""
    code = f"from scikit_build_core.build import build_{kind}; build_{kind}({folder!r}, {settings!r})"
    run(PYTHON, "-c", code, stdout=subprocess.DEVNULL, **environment)


def build_wheel(preset: str = "release") -> None:
    """A wheel of the library that build/release holds and the tests have seen; `pip wheel .` compiles
    it anew. The same sources give the same bytes: no time of day in the archives. Another preset's stands
    beside it in dist/."""
    package = f"build/{preset}/python/{name()}"
    run("cmake", "--preset", preset)
    run("cmake", "--build", "--preset", preset, "--target", f"{name()}_python")
    made = {"SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "1735689600")}
    if preset != "release":  # the tag of pip; GNU's tools of that architecture, by Debian's paths
        made.update(_PYTHON_HOST_PLATFORM=f"linux-{preset}", PATH=f"/usr/{preset}-linux-gnu/bin:{os.environ['PATH']}")
    for folder in ["build/wheel"] + ["dist"] * (preset == "release"):
        shutil.rmtree(ROOT / folder, ignore_errors=True)
    settings = {"wheel.cmake": "false", "wheel.platlib": "true", "wheel.packages": package,
                "sdist.include": package}  # fmt: skip
    build_archive("wheel", "build/wheel", settings, made)
    # scikit-build-core's tag says only "linux"; the libraries and symbols it needs say which glibc.
    (wheel,) = (ROOT / "build/wheel").glob("*.whl")
    repaired = programs.run(
        ["auditwheel", "repair", "--strip", "--plat", "auto", "--wheel-dir", "dist", str(wheel)],
        cwd=ROOT, env={**os.environ, **made, "AUDITWHEEL_PATCHER": "none"}, capture_output=True, text=True,
    )  # fmt: skip
    if repaired.returncode != 0:
        raise Wrong(f"auditwheel refused the wheel\n{repaired.stderr}")
    build_archive("sdist", "dist", {}, made)
    run("ls", "-l", "dist")


def try_wheel() -> None:
    """The tests of tests/, on what the wheel installs."""
    wheels = [path.relative_to(ROOT) for path in (ROOT / "dist").glob("*.whl")]
    run(PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--no-deps",
        "--no-index", "--target", "build/wheel/installed", *wheels)  # fmt: skip
    run(PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o",
        "pythonpath=../build/wheel/installed", "tests")  # fmt: skip


def wheel(options: Options) -> None:
    if options.architectures:
        need_aarch64()
        return build_wheel(options.architectures)
    build_wheel()
    try_wheel()


def wheels(options: Options) -> None:
    """As pyproject.toml says in [tool.cibuildwheel], on an old glibc; what `./kk wheel` made is replaced."""
    if not any(map(shutil.which, ("docker", "podman"))):
        raise Wrong("wheels needs docker or podman: cibuildwheel builds in containers")
    tools.pip_install(CIBUILDWHEEL)
    for path in (ROOT / "dist").glob("*.whl"):
        path.unlink()
    run(PYTHON, "-m", "cibuildwheel", "--platform", "linux", "--output-dir", "dist")


def everything(options: Options) -> None:
    once = Options("bench", rounds="1",
                   google=["--benchmark_min_time=0.001", "--benchmark_repetitions=1"])  # fmt: skip
    phases = {
        "build and test": lambda: test(options),
        "benchmarks, once": lambda: bench(once),
        "doctor": lambda: doctor(Options("doctor")),
        "wheel": build_wheel,
        "the wheel, installed and called": try_wheel,
    }
    if not benchmarks():
        del phases["benchmarks, once"]
    phases.update(gpu.phases(name()) if gpu else {})
    times = []
    for phase, work in phases.items():
        started = time.monotonic()
        say(phase)
        work()
        times.append(f"    {phase}: {time.monotonic() - started:.0f} s")
    print("\n".join([*times, f"    together: {time.monotonic() - STARTED:.0f} s"]))


def format_sources(options: Options) -> None:
    folders = [ROOT / folder for folder in ("kernels", "tests", "bench")]
    files = [path for folder in folders for path in sorted(folder.rglob("*.*"))]
    run("clang-format", "-i", *(path for path in files if path.suffix in (".h", ".cc", ".cu", ".cuh")))


def doctor(options: Options) -> None:
    passed_on(Options("doctor", options.words or [f"build/release/lib/lib{name()}.so"]))


def update(options: Options) -> None:
    """By another kernkit than the copy in this tree, which has no template."""
    with contextlib.ExitStack() as scratch:
        update_by(options, scratch)


def update_by(options: Options, scratch: contextlib.ExitStack) -> None:
    """What pip installs for the update is in a folder that `scratch` deletes."""
    words, source = list(options.words), ""
    if "--from" in words:
        at = words.index("--from")
        if at + 1 == len(words):
            raise Wrong("--from needs a kernkit: a checkout of its repository, a wheel, or what else "
                        "pip installs")  # fmt: skip
        source = words[at + 1]
        del words[at : at + 2]
    own = str(pathlib.Path(__file__).resolve().parents[2])
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep)
             if path and os.path.realpath(path) != own]  # fmt: skip
    if source and os.path.isdir(f"{source}/sdk/python/kernkit"):  # as it lies
        paths.insert(0, os.path.abspath(f"{source}/sdk/python"))
    elif source:
        target = scratch.enter_context(tempfile.TemporaryDirectory(prefix="kernkit-"))
        tools.pip_install("--no-index", "--no-deps", "--no-build-isolation", "--target", target, source)
        paths.insert(0, target)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    found = programs.run([PYTHON, "-c", "import kernkit"], env=environment, capture_output=True)
    if found.returncode != 0:
        raise Wrong(f"no other kernkit than this library's copy is installed; type: ./kk {' '.join(['update', *words])} "
                    "--from WHERE, a checkout of its repository, a wheel, or what else pip installs")  # fmt: skip
    if not os.environ.get("KK_VENV") and not tools.has_module("cookiecutter"):
        tools.pip_install("cookiecutter>=1.7.3")  # which renders the template
    tools.run_here(*tools.KERNKIT, "update", *words, env=environment)


def gpu_not_taken(options: Options) -> None:
    """./kk gpu without the part: nothing is missed where there is no GPU."""
    try:
        is_here = ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        is_here = False
    if is_here or "--build" in options.words:
        passed_on(options)  # which refuses it
    print(f"skipped: no GPU is here; where one is: {without_component('gpu')}\n0 passed, 0 failed, 1 skipped")


def plan(options: Options) -> Dict[str, str]:
    """What ./kk prepares."""
    command = COMMANDS[options.command]
    of_gpu = gpu.plan(options) if gpu and options.command == "gpu" else {}
    return {"prepares": command.prepared(options), **({"cuda": options.cuda} if options.cuda else {}), **of_gpu}


COMMANDS: Dict[str, Command] = {
    "all": Command(everything),
    "build": Command(build),
    "test": Command(test, options=("--all", "--arch", "--no-ptx"), most=1),
    "bench": Command(bench, options=("--compare", "--rounds", "--benchmark_"), most=1000),
    "wheel": Command(wheel, options=("--arch",)),
    "wheels": Command(wheels, "python"),
    "format": Command(format_sources),
    "report": Command(report, "python", is_passed_on=True),
    "add": Command(passed_on, "python", is_passed_on=True),
    "remove": Command(passed_on, "python", is_passed_on=True),
    "doctor": Command(doctor, "python", is_passed_on=True),
    **dict.fromkeys(("run", "counters", "sanitize"), Command(passed_on, "python", is_passed_on=True)),
    "update": Command(update, "python", is_passed_on=True),
    "gpu": gpu.command(os.environ.get("KK_LIBRARY", "")) if gpu else Command(gpu_not_taken, "nothing", is_passed_on=True),
}
