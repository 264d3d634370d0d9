# SPDX-License-Identifier: Apache-2.0
"""./kk of kernkit's own repository."""

import filecmp
import os
import shutil
import subprocess
import sys
import time
from typing import Dict, List

from . import tools
from .tools import PYTHON, ROOT, kernkit, passed_on, run, say
from .words import Command, Options, Wrong

USAGE = """\
usage: ./kk COMMAND [options]

  build          build everything (preset release)
  test           every test that is quick, at most 10 minutes
  test --all     and sanitizers, the second compiler, frameworks, renderings, at most 30 minutes
  test --slow    and what takes longer
  bench [OP]     run the benchmarks, or one op's; --benchmark_... options are passed on
  bench --compare OLD.json   and say what became slower than in that run; exit code 1 if something did
  bench --rounds=15          measure 15 times, not 5
  report         make a page and plots of the last run: bench/results/cpu
  run PROGRAM ARGUMENTS...   run a program that nvcc compiled, without a GPU; ./kk run --help
  new NAME       start a kernel library from the template, in ./NAME; ./kk new --help
  demo           build, start a library, call its kernel from Python, run the benchmarks
  cuda-matrix    compile and inspect the CUDA code with the compilers from PyPI as well
  gpu [PART...]  on a GPU: tests, memcheck, racecheck, frameworks, benchmarks, or those named
  gpu --build    only build for it; with --arch 90 for a GPU that is elsewhere
  gpu --run      only run what was built: no compiler, CMake or network is needed there

  --cuda         bring the CUDA compiler (wheels, about 300 MB) when the machine has none
  --no-cuda      leave CUDA out (default: used when the machine has nvcc)
  --with LIST    test with these frameworks too: torch,jax (installs what is missing)

The first run installs what is missing: Debian packages when this user may install them, and Python
packages into .venv. By hand:
  python3 -m venv .venv && . .venv/bin/activate && cat tests/requirements*.txt
  pip install -r tests/requirements.txt    # and the others that you want
  cmake --workflow --preset release && pytest tests -m "not all and not slow"
"""
PARTS = ("tests", "memcheck", "racecheck", "frameworks", "benchmarks")  # of gpu
STARTED = time.monotonic()
DEMO = "my_kernels"
CALL = """
import sys
import numpy as np

sys.path.insert(0, sys.argv[1] + "/build/release/python")
import my_kernels

x = np.array([[1, 2, 3, 10, 20, 30]], dtype="float32")
y = np.empty((1, 3), dtype="float32")
my_kernels.silu_and_mul(y, x)
print(f"silu_and_mul({x}) = {y}")
"""


def build(options: Options) -> None:
    say("cmake --workflow --preset build")
    run("cmake", "--workflow", "--preset", "build")


def use_compiler_cache() -> None:
    """Where one is installed; CMAKE_CXX_COMPILER_LAUNCHER= ./kk test goes without."""
    if shutil.which("ccache") and "CMAKE_CXX_COMPILER_LAUNCHER" not in os.environ:
        for language in ("C", "CXX", "CUDA"):
            os.environ[f"CMAKE_{language}_COMPILER_LAUNCHER"] = "ccache"


def test(options: Options) -> None:
    use_compiler_cache()
    presets = ["release"] + ["clang", "asan"] * (options.tier != "quick")
    chosen = {"quick": "not all and not slow", "all": "not slow", "slow": ""}[options.tier]
    kernkit("test", *(f"--preset={preset}" for preset in presets), "--jobs", tools.JOBS, "--",
            "tests", "-m", chosen, "--numprocesses", tools.JOBS, "--dist", "loadfile", "--no-loadscope-reorder")  # fmt: skip


def build_benchmarks(with_clang: bool) -> None:
    say("cmake, preset release: the library and its benchmarks")
    run("cmake", "--preset", "release")
    run("cmake", "--build", "--preset", "release", "--target", "kernkit_benchmarks")
    if with_clang:
        say("cmake, preset clang: what a call costs")
        run("cmake", "--preset", "clang")
        run("cmake", "--build", "--preset", "clang", "--target", "kernkit_overhead_benchmarks")


def programs_of_release() -> List[str]:
    return sorted(f"build/release/bin/{path.name}" for path in (ROOT / "build/release/bin").glob("*_bench"))


def bench(options: Options) -> None:
    """All that is measured goes into build/bench/run.json."""
    op = options.words[0] if options.words else ""
    if op and not (ROOT / f"bench/kernels/{op}_bench.cc").exists():
        raise Wrong(f"there is no bench/kernels/{op}_bench.cc")
    with_clang = not op and shutil.which("clang++") is not None
    build_benchmarks(with_clang)
    programs = [f"build/release/bin/{op}_bench"] if op else programs_of_release()
    programs += [f"KERNKIT_BENCH_THREADS=all build/release/bin/{each}_bench" for each in ([op] if op else ["scale", "add"])]
    words: List[str] = []
    if not op:
        if with_clang:
            programs += [f"build/clang/bin/{each}_bench" for each in ("overhead", "start", "tensor")]
        programs += [f"bench/python/{each}.py" for each in ("build_cost", "edit_to_call", "from_python", "row_kernels")]
        programs += [f"OMP_NUM_THREADS=1 bench/python/{each}.py" for each in ("from_python", "row_kernels")]
        words = ["--sources", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "bench/peers").iterdir())]
    tools.bench(programs, options.rounds, options.google, options.compare, "--repetitions", "5", *words)


def install_plots() -> None:
    """What draws the plots, in an environment of ours."""
    if not os.environ.get("KK_VENV") and not tools.has_module("matplotlib"):
        tools.pip_install("-r", "tests/requirements-report.txt")


def report(options: Options) -> None:
    install_plots()
    kernkit("report")


def is_same(one: str, other: str) -> bool:
    """Whether two folders hold the same files, but for what a build leaves."""
    found = filecmp.dircmp(one, other, ignore=["build", ".venv", "__pycache__"])
    same = not (found.left_only or found.right_only or found.diff_files or found.funny_files)
    return same and all(is_same(f"{one}/{name}", f"{other}/{name}") for name in found.common_dirs)


def demo(options: Options) -> None:
    build_benchmarks(with_clang=False)
    say(f"a library from the template: build/demo/{DEMO}")
    folder, fresh = ROOT / "build/demo", ROOT / "build/demo/new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    kernkit("new", DEMO, "--output", fresh, stdout=subprocess.DEVNULL)
    # Keeps the one that was built when nothing has changed in it.
    if not (folder / DEMO).is_dir() or not is_same(str(fresh / DEMO), str(folder / DEMO)):
        shutil.rmtree(folder / DEMO, ignore_errors=True)
        shutil.move(str(fresh / DEMO), str(folder / DEMO))
    shutil.rmtree(fresh)
    run(folder.resolve() / DEMO / "kk", "build", KK_VENV=os.environ["VIRTUAL_ENV"])
    say("its kernel, called from Python")
    run(PYTHON, "-c", CALL, folder / DEMO)
    say("the benchmarks, once")
    tools.bench(programs_of_release(), "1", options.google, "", "--repetitions", "1", "--brief")
    page = folder / "report"
    try:
        install_plots()
    except Wrong as wrong:  # a demo without pictures is one
        print(f"kk: {wrong}", file=sys.stderr)
    plots = [] if tools.has_module("matplotlib") else ["--no-plots"]
    shutil.rmtree(page, ignore_errors=True)
    kernkit("report", "--output", page, *plots, stdout=subprocess.DEVNULL)
    say(f"done in {time.monotonic() - STARTED:.0f} s")
    picture = "picture    build/demo/report/scale.png\n" if (page / "scale.png").exists() else ""
    print(f"""\
built      build/release/lib/libkernkit_kernels.so: scale and add, for every framework
           build/demo/{DEMO}: a library from the template, with one kernel
measured   build/demo/report/report.md: all tables; all rows are in run.json beside it
{picture}next       cd build/demo/{DEMO} && ./kk test    tests of that library
           ./kk new NAME                          a library of yours, in ./NAME
           ./kk bench && ./kk report              all benchmarks, five times, in about ten minutes""")


def cuda_matrix(options: Options) -> None:
    run("tests/gpu/cuda_matrix.sh")


def architectures() -> str:
    """Of the GPUs here, as in "90"; Wrong, with the reason, where there is none."""
    asked = subprocess.run([PYTHON, "tests/gpu/run.py", "--architectures"], cwd=ROOT, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    if asked.returncode != 0:
        raise Wrong(asked.stdout.strip())
    return asked.stdout.strip()


def gpu_word(options: Options) -> str:
    """What nobody typed: which architectures to build for; without a GPU --run, where run.py says why."""
    if options.step == "run" or options.architectures:
        return ""
    try:
        return f"--arch={architectures().replace(';', ',')}"
    except Wrong as wrong:
        if options.step == "build":
            raise Wrong(f"{wrong}; for a GPU that is elsewhere say which: ./kk gpu --build --arch 90") from None
        return "--run"


def gpu(options: Options) -> None:
    if options.step != "run":
        build_for_gpu(options.architectures)
    if options.step != "build":
        run(PYTHON, "tests/gpu/run.py", *options.words, *options.google)


def build_for_gpu(architectures: str) -> None:
    """As in "90" or "90;120". What runs on another machine is in build/gpu/bin and build/gpu/lib, C++
    libraries included."""
    say(f"cmake, preset release, for the architectures {architectures}: build/gpu")
    run("cmake", "--preset", "release", "-B", "build/gpu", f"-DCMAKE_CUDA_ARCHITECTURES={architectures}")
    run("cmake", "--build", "build/gpu", "--target", "kernkit_gpu")
    folder = (ROOT / "build/gpu").resolve()
    listed = subprocess.run(["ldd", folder / "bin/gpu_bench", folder / "bin/gpu_test"],
                            capture_output=True, text=True, check=True).stdout  # fmt: skip
    of_system = tuple(f"lib{name}.so" for name in ("c", "m", "dl", "rt", "pthread"))
    for line in sorted(set(listed.splitlines())):
        found = line.partition("=> /")[2].split()
        path = f"/{found[0]}" if found else ""
        if path and not os.path.basename(path).startswith(of_system) and not path.startswith(f"{folder}/"):
            shutil.copy(path, folder / "lib")
    described = subprocess.run(["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"],
                               cwd=ROOT, capture_output=True, text=True)  # fmt: skip
    (folder / "commit").write_text(described.stdout or "unknown\n")


def plan(options: Options) -> Dict[str, str]:
    """What ./kk prepares; `more` is a word that it adds to those that were typed."""
    prepares, cuda, more = COMMANDS[options.command].prepares, options.cuda, ""
    if options.command == "gpu":
        more = gpu_word(options)
        prepares = "nothing" if "run" in (options.step, more[2:]) else "all"
        cuda = "ON" if prepares == "all" else cuda
    return {"prepares": prepares, "more": more, "tier": options.tier, "frameworks": options.frameworks.replace(",", " "),
            **({"cuda": cuda} if cuda else {})}  # fmt: skip


_FRAMEWORKS = ("--with",)
COMMANDS: Dict[str, Command] = {
    "build": Command(build, options=_FRAMEWORKS),
    "test": Command(test, options=("--all", "--slow", *_FRAMEWORKS)),
    "bench": Command(bench, options=("--compare", "--rounds", "--benchmark_", *_FRAMEWORKS), most=1),
    "report": Command(report),
    "new": Command(passed_on, "python", is_passed_on=True),
    "run": Command(passed_on, "python", is_passed_on=True),
    "demo": Command(demo, options=("--benchmark_",)),
    "cuda-matrix": Command(cuda_matrix),
    "gpu": Command(gpu, options=("--build", "--run", "--arch", "--benchmark_"), most=len(PARTS), known=PARTS),
}
