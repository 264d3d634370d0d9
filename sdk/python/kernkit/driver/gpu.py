# SPDX-License-Identifier: Apache-2.0
"""The command gpu of ./kk, in a library and in kernkit's repository: builds tests and benchmarks for a GPU, and runs
them by `kernkit gpu`."""

import os
import shutil
from typing import Callable, Dict

from .. import programs
from ..commands.gpu import PARTS
from ..errors import UserError
from ..on_gpu import devices
from ..project import git
from .options import BENCHMARK, Command, Options
from .tools import ROOT, kernkit, print_heading, run

USAGE = """\
  gpu [PART...]  run all parts on a GPU, or only PART...: tests, memcheck, racecheck, frameworks, benchmarks
  gpu --build    only build for the GPU; --arch 90: for a GPU of another machine
  gpu --run      only run the build: needs no compiler, no CMake and no network
"""


def missing_option(options: Options) -> str:
    """Returns the option that ./kk adds to the command line: "" if the user named --arch or --run, otherwise --arch
    with the architectures of this machine's GPUs or, without a GPU, --run, which reports the missing GPU. Raises
    UserError for --build without --arch on a machine without a GPU."""
    if options.step == "run" or options.architectures:
        return ""
    gpus = devices.find()
    if not isinstance(gpus, str):
        return f"--arch={devices.architectures(gpus).replace(';', ',')}"
    if options.step == "build":
        raise UserError(f"{gpus}; to build for a GPU of another machine, name its architecture: ./kk gpu --build --arch 90")
    return "--run"


def plan(options: Options) -> Dict[str, str]:
    """Returns the preparations that the command gpu needs from the script ./kk, as {name: value}. The value of "more"
    is an option that ./kk adds to the command line, or "" for none."""
    more = missing_option(options)
    if "run" in (options.step, more[2:]):
        return {"prepares": "nothing", "more": more}
    return {"prepares": "all", "more": more, "cuda": "ON"}


def check(architectures: str) -> None:
    """Raises UserError if nvcc does not support one of the architectures, a list such as "90;120". Checks nothing if
    nvcc is not on PATH."""
    nvcc = shutil.which("nvcc")
    listed = programs.run([nvcc, "--list-gpu-code"], capture_output=True, text=True).stdout if nvcc else ""
    supported = [code[3:] for code in listed.split() if code.startswith("sm_")]
    for architecture in architectures.split(";") if supported else ():
        if architecture.rstrip("a") not in supported:
            raise UserError(f"--arch: {nvcc} does not support the architecture {architecture}; supported: {', '.join(supported)}")


def build(architectures: str, library: str) -> None:
    """Builds the tests and benchmarks for the architectures, a list such as "90" or "90;120". Writes to build/gpu/bin
    and build/gpu/lib all files that another machine needs, C++ libraries included. Raises UserError if nvcc does not
    support an architecture, or ldd fails."""
    check(architectures)
    print_heading(f"cmake, preset release, for the architectures {architectures}: build/gpu")
    run("cmake", "--preset", "release", "-B", "build/gpu", f"-DCMAKE_CUDA_ARCHITECTURES={architectures}",
        "-DKERNKIT_CUDA=ON")  # fmt: skip
    run("cmake", "--build", "build/gpu", "--target", "kernkit_gpu")
    folder = (ROOT / "build/gpu").resolve()
    built = [*(folder / "bin").glob("*gpu_*"), folder / f"lib/lib{library}.so"]
    listed = programs.run(["ldd", *built], capture_output=True, text=True)
    if listed.returncode != 0:
        raise UserError(f"ldd does not list the libraries of build/gpu/bin: {listed.stderr.strip()}")
    of_system = tuple(f"lib{name}.so" for name in ("c", "m", "dl", "rt", "pthread"))
    for line in sorted(set(listed.stdout.splitlines())):
        fields = line.partition("=> /")[2].split()
        path = f"/{fields[0]}" if fields else ""
        if path and not os.path.basename(path).startswith(of_system) and not path.startswith(f"{folder}/"):
            shutil.copy(path, folder / "lib")
    (folder / "commit").write_text(git.described(ROOT) + "\n")


def phases(library: str) -> Dict[str, Callable[[], None]]:
    """Returns the steps for GPUs that ./kk all runs, as {heading: function}; {} on a machine without a GPU or without
    nvcc, and if KERNKIT_CUDA is OFF."""
    gpus = devices.find()
    if isinstance(gpus, str) or not shutil.which("nvcc") or os.environ.get("KERNKIT_CUDA") == "OFF":
        return {}

    def tests() -> None:
        build(devices.architectures(gpus), library)
        kernkit("gpu", "tests", "--library", library, "--results", "build/gpu/results")

    return {f"tests on {gpus[0]['name']}": tests}


def command(library: str, *more: str) -> Command:
    """Returns the command gpu for the library. `more`: further arguments for `kernkit gpu`."""

    def gpu(options: Options) -> None:
        if options.step != "run":
            build(options.architectures, library)
        if options.step != "build":
            passed = [f"--option={option}" for option in options.benchmark_options]
            kernkit("gpu", *options.positional, "--library", library, *more, *passed)

    return Command(gpu, options=("--build", "--run", "--arch", BENCHMARK), max_positional=len(PARTS), allowed_positional=PARTS)
