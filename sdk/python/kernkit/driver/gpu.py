# SPDX-License-Identifier: Apache-2.0
"""./kk gpu, of a library and of kernkit's repository: builds for a GPU, and has `kernkit gpu` run it."""

import os
import shutil
from typing import Callable, Dict

from .. import programs
from ..commands.gpu import PARTS
from ..project import git
from ..on_gpu import devices
from .tools import ROOT, kernkit, run, say
from .options import Command, Options, Wrong

USAGE = """\
  gpu [PART...]  on a GPU: tests, memcheck, racecheck, frameworks, benchmarks, or those named
  gpu --build    only build for it; with --arch 90 for a GPU that is elsewhere
  gpu --run      only run what was built: no compiler, CMake or network is needed there
"""


def word(options: Options) -> str:
    """What nobody typed: which architectures to build for; without a GPU --run, which says why."""
    if options.step == "run" or options.architectures:
        return ""
    found = devices.find()
    if not isinstance(found, str):
        return f"--arch={devices.architectures(found).replace(';', ',')}"
    if options.step == "build":
        raise Wrong(f"{found}; for a GPU that is elsewhere say which: ./kk gpu --build --arch 90")
    return "--run"


def plan(options: Options) -> Dict[str, str]:
    """What ./kk prepares; `more` is a word that it adds to those that were typed."""
    more = word(options)
    if "run" in (options.step, more[2:]):
        return {"prepares": "nothing", "more": more}
    return {"prepares": "all", "more": more, "cuda": "ON"}


def check(architectures: str) -> None:
    """Wrong where nvcc has no such architecture; a nvcc that is not on PATH is not asked."""
    nvcc = shutil.which("nvcc")
    listed = programs.run([nvcc, "--list-gpu-code"], capture_output=True, text=True).stdout if nvcc else ""
    known = [code[3:] for code in listed.split() if code.startswith("sm_")]
    for wanted in architectures.split(";") if known else ():
        if wanted.rstrip("a") not in known:
            raise Wrong(f"{nvcc} has no architecture {wanted}; it has {', '.join(known)}")


def build(architectures: str, library: str) -> None:
    """As in "90" or "90;120". What runs on another machine is in build/gpu/bin and build/gpu/lib, C++
    libraries included."""
    check(architectures)
    say(f"cmake, preset release, for the architectures {architectures}: build/gpu")
    run("cmake", "--preset", "release", "-B", "build/gpu", f"-DCMAKE_CUDA_ARCHITECTURES={architectures}",
        "-DKERNKIT_CUDA=ON")  # fmt: skip
    run("cmake", "--build", "build/gpu", "--target", "kernkit_gpu")
    folder = (ROOT / "build/gpu").resolve()
    built = [*(folder / "bin").glob("*gpu_*"), folder / f"lib/lib{library}.so"]
    listed = programs.run(["ldd", *built], capture_output=True, text=True)
    if listed.returncode != 0:
        raise Wrong(f"ldd does not list the libraries of build/gpu/bin: {listed.stderr.strip()}")
    of_system = tuple(f"lib{name}.so" for name in ("c", "m", "dl", "rt", "pthread"))
    for line in sorted(set(listed.stdout.splitlines())):
        found = line.partition("=> /")[2].split()
        path = f"/{found[0]}" if found else ""
        if path and not os.path.basename(path).startswith(of_system) and not path.startswith(f"{folder}/"):
            shutil.copy(path, folder / "lib")
    (folder / "commit").write_text(git.described(ROOT) + "\n")


def phases(library: str) -> Dict[str, Callable[[], None]]:
    """What ./kk all does besides, where a GPU and nvcc are and CUDA is not left out."""
    found = devices.find()
    if isinstance(found, str) or not shutil.which("nvcc") or os.environ.get("KERNKIT_CUDA") == "OFF":
        return {}

    def tests() -> None:
        build(devices.architectures(found), library)
        kernkit("gpu", "tests", "--library", library, "--results", "build/gpu/results")

    return {f"tests on {found[0]['name']}": tests}


def command(library: str, *more: str) -> Command:
    """The command of this library's ./kk; `more` are words for `kernkit gpu`."""

    def gpu(options: Options) -> None:
        if options.step != "run":
            build(options.architectures, library)
        if options.step != "build":
            passed = [f"--option={word}" for word in options.google]
            kernkit("gpu", *options.words, "--library", library, *more, *passed)

    return Command(gpu, options=("--build", "--run", "--arch", "--benchmark_"), most=len(PARTS), known=PARTS)
