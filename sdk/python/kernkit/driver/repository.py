# SPDX-License-Identifier: Apache-2.0
"""Functions that run the commands of ./kk in kernkit's own repository."""

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Dict, List

from ..errors import UserError
from . import gpu, tools
from .options import BENCHMARK, Command, Options
from .release import dist, release
from .tools import PYTHON, ROOT, kernkit, passed_on, print_heading, run

USAGE = """\
usage: ./kk COMMAND [options]

  build          build everything (preset release)
  test           run the quick tests, at most 10 minutes
  test --all     also with sanitizers, the second compiler, frameworks and renderings, at most 30 minutes
  test --slow    also the slow tests
  test --arch aarch64        cross-compile the C++ tests for aarch64 and run them under qemu
  bench [OP]     run all benchmarks, or the benchmark of OP; --benchmark_... options are passed on
  bench --compare OLD.json   also list rows slower than in OLD.json; exit code 1 if a row is slower
  bench --rounds=15          measure 15 times, not 5
  report         make a page and plots of the last run: bench/results/cpu
  run PROGRAM ARGUMENTS...   run a program that nvcc compiled, without a GPU; ./kk run --help
  counters, sanitize PROGRAM...   count the memory traffic of its kernels; find errors of its kernels
  calls FILE, replay FOLDER   print the last calls of a process; repeat a recorded call
  new NAME       create a kernel library from the template, in ./NAME; ./kk new --help
  demo           build, create a library, call its kernel from Python, run the benchmarks
  docs           build the site: build/docs/html/index.html
  matrix [AXIS | CELL...]    build and test with each compiler, standard, CUDA version, Python and apache-tvm-ffi of
                 docs/tested-versions.md; needs Debian's compilers, and installs packages of PyPI into build/matrix
  dist           make in dist/ the sdist and the wheel of the last commit, which are built in two folders and must
                 have equal bytes, their bill of materials (CycloneDX) and SHA256SUMS
  dist --simulator           also make the wheel kernkit-simulator: the runtime of run, counters and sanitize,
                             compiled for this machine's processor; needs the headers of CUDA 13;
                             with --arch aarch64 also the wheel for aarch64, by Debian's cross compiler
  release        check what a release requires, then make dist/; --check: only list what is missing
""" + gpu.USAGE + """
  --cuda         install the CUDA compiler (wheels, about 300 MB) if nvcc is not found
  --no-cuda      build without CUDA (default: with CUDA if nvcc is found)
  --with LIST    also test with these frameworks: torch,jax,clients (installs missing frameworks; clients:
                 Triton, Numba, cuda.core and CuPy)

The first run installs missing packages: Debian packages if this user may install them, and Python
packages into .venv. By hand:
  python3 -m venv .venv && . .venv/bin/activate && cat tests/requirements*.txt
  pip install -r tests/requirements.txt    # and optional requirements
  cmake --workflow --preset release && pytest tests -m "not all and not slow"
"""
# GoogleTest filter of the tests under compute-sanitizer: every path of every kernel runs once, with
# few launches, because a sanitizer slows kernels down up to a hundred times.
REDUCED = "GpuElementwise*InPlace:GpuStream*Captured*:GpuStream*EveryDevice:GpuRejections*Different*"
STARTED = time.monotonic()
DEMO = "my_kernels"
CALL = """
import sys
import tempfile
import numpy as np

sys.path.insert(0, sys.argv[1] + "/build/release/python")
import my_kernels

x = np.array([[1, 2, 3, 10, 20, 30]], dtype="float32")
y = np.empty((1, 3), dtype="float32")
my_kernels.silu_and_mul(y, x)
print(f"silu_and_mul({x}) = {y}")
"""


def build(options: Options) -> None:
    print_heading("cmake --workflow --preset build")
    run("cmake", "--workflow", "--preset", "build")


def use_compiler_cache() -> None:
    """Sets the environment variables by which CMake uses ccache, if ccache is installed and CMAKE_CXX_COMPILER_LAUNCHER
    is not set. ccache saves time because the tests render libraries that compile the same sources of the SDK in
    different temporary folders."""
    if shutil.which("ccache") and "CMAKE_CXX_COMPILER_LAUNCHER" not in os.environ:
        for language in ("C", "CXX", "CUDA"):
            os.environ[f"CMAKE_{language}_COMPILER_LAUNCHER"] = "ccache"
        # ccache makes paths below CCACHE_BASEDIR relative, also in messages of the compiler. Therefore CCACHE_BASEDIR
        # is not set for a repository below the folder for temporary files.
        if not str(ROOT).startswith(tempfile.gettempdir()):
            os.environ.setdefault("CCACHE_BASEDIR", tempfile.gettempdir())
        os.environ.setdefault("CCACHE_NOHASHDIR", "1")


def test(options: Options) -> None:
    use_compiler_cache()
    if options.architectures:
        kernkit("test", f"--preset={options.architectures}", "--jobs", tools.JOBS)
        return
    presets = {"quick": ["release"], "all": ["release", "asan_core"], "slow": ["release", "asan", "clang"]}[options.tier]
    chosen = {"quick": "not all and not slow", "all": "not slow", "slow": ""}[options.tier]
    kernkit("test", *(f"--preset={preset}" for preset in presets), "--jobs", tools.JOBS, "--",
            "tests", "-m", chosen, "--numprocesses", tools.JOBS, "--dist", "loadfile", "--no-loadscope-reorder")  # fmt: skip


def build_benchmarks(with_clang: bool) -> None:
    print_heading("cmake, preset release: the library and its benchmarks")
    run("cmake", "--preset", "release")
    run("cmake", "--build", "--preset", "release", "--target", "kernkit_benchmarks")
    if with_clang:
        print_heading("cmake, preset clang: what a call costs")
        run("cmake", "--preset", "clang")
        run("cmake", "--build", "--preset", "clang", "--target", "kernkit_overhead_benchmarks")


def programs_of_release() -> List[str]:
    return sorted(f"build/release/bin/{path.name}" for path in (ROOT / "build/release/bin").glob("*_bench"))


def bench(options: Options) -> None:
    """Builds and runs all benchmarks, or the benchmark of an op, and writes the measurements to build/bench/run.json.
    Raises UserError if the op has no benchmark."""
    op = options.positional[0] if options.positional else ""
    if op and not (ROOT / f"bench/kernels/{op}_bench.cc").exists():
        raise UserError(f"bench/kernels/{op}_bench.cc not found; name an op that has a benchmark")
    with_clang = not op and shutil.which("clang++") is not None
    build_benchmarks(with_clang)
    programs = [f"build/release/bin/{op}_bench"] if op else programs_of_release()
    programs += [f"KERNKIT_BENCH_THREADS=all build/release/bin/{name}_bench" for name in ([op] if op else ["scale", "add"])]
    positional: List[str] = []
    if not op:
        if with_clang:
            programs += [f"build/clang/bin/{name}_bench" for name in ("overhead", "start", "tensor")]
        programs += [f"bench/python/{name}.py" for name in ("build_cost", "edit_to_call", "from_python", "ptx_decode", "row_kernels")]
        programs += [f"OMP_NUM_THREADS=1 bench/python/{name}.py" for name in ("from_python", "row_kernels")]
        positional = ["--sources", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "bench/peers").iterdir())]
    tools.bench(programs, options.rounds, options.benchmark_options, options.compare, "--repetitions", "5", *positional)


def install_plots() -> None:
    """Installs matplotlib if it is missing. Installs nothing if KK_VENV is set, since the caller then chose the
    environment."""
    if not os.environ.get("KK_VENV") and not tools.has_module("matplotlib"):
        tools.pip_install("-r", "tests/requirements-report.txt")


def report(options: Options) -> None:
    install_plots()
    kernkit("report")


def is_same(folder: str, copy: str) -> bool:
    """Returns whether two folders contain the same files. Outputs of a build are not compared."""
    comparison = filecmp.dircmp(folder, copy, ignore=["build", ".venv", "__pycache__"])
    is_equal = not (comparison.left_only or comparison.right_only or comparison.diff_files or comparison.funny_files)
    return is_equal and all(is_same(f"{folder}/{name}", f"{copy}/{name}") for name in comparison.common_dirs)


def demo(options: Options) -> None:
    build_benchmarks(with_clang=False)
    print_heading(f"a library from the template: build/demo/{DEMO}")
    folder, fresh = ROOT / "build/demo", ROOT / "build/demo/new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    kernkit("new", DEMO, "--output", fresh, stdout=subprocess.DEVNULL)
    # If the rendered library equals the library of an earlier demo, the earlier library is kept
    # with its build.
    if not (folder / DEMO).is_dir() or not is_same(str(fresh / DEMO), str(folder / DEMO)):
        shutil.rmtree(folder / DEMO, ignore_errors=True)
        shutil.move(str(fresh / DEMO), str(folder / DEMO))
    shutil.rmtree(fresh)
    run(folder.resolve() / DEMO / "kk", "build", KK_VENV=os.environ["VIRTUAL_ENV"])
    print_heading("the demo library's kernel, called from Python")
    run(PYTHON, "-c", CALL, folder / DEMO)
    print_heading("the benchmarks, once")
    tools.bench(programs_of_release(), "1", options.benchmark_options, "", "--repetitions", "1", "--brief")
    page = folder / "report"
    try:
        install_plots()
    except UserError as error:  # the demo continues without plots
        print(f"kk: {error}", file=sys.stderr)
    plots = [] if tools.has_module("matplotlib") else ["--no-plots"]
    shutil.rmtree(page, ignore_errors=True)
    kernkit("report", "--output", page, *plots, stdout=subprocess.DEVNULL)
    print_heading(f"done in {time.monotonic() - STARTED:.0f} s")
    picture = "picture    build/demo/report/scale.png\n" if (page / "scale.png").exists() else ""
    print(f"""\
built      build/release/lib/libkernkit_kernels.so: scale and add, for every framework
           build/demo/{DEMO}: a library from the template, with one kernel
measured   build/demo/report/report.md: all tables; all rows are in run.json beside it
{picture}next       cd build/demo/{DEMO} && ./kk test    tests of that library
           ./kk new NAME                          a library of yours, in ./NAME
           ./kk bench && ./kk report              all benchmarks, five times, in about ten minutes""")


def docs(options: Options) -> None:
    run(PYTHON, "-B", "docs/site/build.py", "build/docs")
    print("built      build/docs/html/index.html")


def matrix(options: Options) -> None:
    use_compiler_cache()
    run(PYTHON, "-B", "tests/matrix", *options.positional)


def check_installed(options: Options) -> None:
    """Does nothing: the repository uses its own kernkit, so no installed kernkit has to match."""


def plan(options: Options) -> Dict[str, str]:
    """Returns the preparations that a command needs from the script ./kk, as {name: value}."""
    prepares = "nothing" if options.is_check else "all" if options.is_simulator else COMMANDS[options.command].prepared(options)
    return {"prepares": prepares, "tier": options.tier,
            "frameworks": options.frameworks.replace(",", " "), **({"cuda": options.cuda} if options.cuda else {}),
            **(gpu.plan(options) if options.command == "gpu" else {})}  # fmt: skip


_FRAMEWORKS = ("--with",)
COMMANDS: Dict[str, Command] = {
    "build": Command(build, options=_FRAMEWORKS),
    "test": Command(test, options=("--all", "--slow", "--arch", *_FRAMEWORKS)),
    "bench": Command(bench, options=("--compare", "--rounds", BENCHMARK, *_FRAMEWORKS), max_positional=1),
    "report": Command(report),
    "new": Command(passed_on, "template", is_passed_on=True),
    **dict.fromkeys(("run", "counters", "sanitize", "calls", "replay"), Command(passed_on, "python", is_passed_on=True)),
    "demo": Command(demo, options=(BENCHMARK,)),
    "docs": Command(docs, "docs"),
    "matrix": Command(matrix, max_positional=100),
    "dist": Command(dist, "python", options=("--simulator", "--arch")),
    "release": Command(release, "python", options=("--check", "--simulator", "--arch")),
    "gpu": gpu.command("kernkit_kernels", "--reduced", REDUCED, "--first", "GpuStream/scale*Captured*", "--first",
                       "GpuStream/add*Captured*", "--tests", "tests/gpu", "--also", "bench/gpu/torch_bench.py"),
}
