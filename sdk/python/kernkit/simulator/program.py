# SPDX-License-Identifier: Apache-2.0
"""Programs that nvcc compiled: whether the simulator can run a program, and the environment in which it runs."""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .. import programs, torch_cuda
from ..binaries.elf import ElfFile, read_section
from ..binaries.fatbin import SECTIONS, FatbinError, newest_ptx, read_architectures
from ..errors import UserError
from ..sdk import development_folder, sdk_folder
from . import clients
from .runtime import NAME as RUNTIME
from .runtime import driver_of, drop_ins_of, folder_of_caches, folder_of_clients, find_or_build_runtime
from .single_file import compile_source, is_source

GPUS = pathlib.Path("/proc/driver/nvidia/gpus")  # folder with a subfolder for each GPU that NVIDIA's driver found
INTERRUPTED = (128 + signal.SIGINT, 128 + signal.SIGTERM)  # exit codes of an interrupted command
TOOLS_FOLDER = "KERNKIT_TOOLS_FOLDER"  # environment variable; a program that contains the tools contains this text
DRIVER = "libcuda.so.1"
SHARED = ("link it with nvcc's -cudart shared, in CMake CUDA_RUNTIME_LIBRARY Shared; with the CUDA toolkit of PyPI, "
          "which has no libcudart.so, with -cudart none -LFOLDER -l:libcudart.so.13, where FOLDER is nvidia/cu13/lib in "
          "site-packages; or link its objects with kernkit's runtime, by kernkit_add_simulated() in CMake")  # fmt: skip
PTX = "compile it with PTX, as nvcc's -arch=compute_80 does, in CMake CUDA_ARCHITECTURES 80-virtual"
# Entry in the symbol table of a file that contains the static runtime of CUDA 12 or earlier: CUDA 13 lacks the
# function.
REMOVED_FUNCTION = b"\0cudaThreadSynchronize\0"
# Prefix of the name of a table that libraries of kernkit_add_library() export. The version of CUDA follows the prefix.
STATIC_TABLE = "kernkit_static_runtime_"
# NVIDIA's libraries of host functions that contain kernels for GPUs.
OF_NVIDIA = re.compile(r"lib(cublas|cudnn|cudss|cufft|cufile|curand|cusolver|cusparse|cutensor|nccl|npp|nvjpeg)\w*\.so\b")


def is_elf(path: pathlib.Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def loaded_with(program: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields the program, and the libraries that the system's loader finds for the program."""
    yield program
    for path in re.findall(r"^\s*(?:\S+ => )?(\S*/.+) \(0x", listed_by_ldd(program), re.MULTILINE):
        yield pathlib.Path(path)


def listed_by_ldd(program: pathlib.Path) -> str:
    return programs.run(["ldd", program], capture_output=True, encoding="utf-8", errors="surrogateescape").stdout


def not_found(program: pathlib.Path) -> List[str]:
    """Returns the names of the libraries that the system's loader does not find for a program, except kernkit's
    libraries."""
    names = re.findall(r"^\s*(\S+) => not found", listed_by_ldd(program), re.MULTILINE)
    return [name for name in dict.fromkeys(names) if name not in (RUNTIME, DRIVER)]


def problem_of_static_runtime(file: ElfFile) -> Optional[str]:
    """Returns the reason why kernkit cannot replace the CUDA runtime that is linked into a file statically, or None.
    The rules follow libcudart/static_runtime.cc of the simulator."""
    names = file.names_of_symbols()
    tables = [symbol.name[len(STATIC_TABLE):] for symbol in file.symbols() or [] if symbol.name.startswith(STATIC_TABLE)]
    if any(version != "13" for version in tables) or (names and REMOVED_FUNCTION in names):
        return ("the CUDA runtime of CUDA 12 or earlier is linked into it statically, and kernkit replaces only the runtime of CUDA 13: "
                "compile it with CUDA 13")  # fmt: skip
    if tables or names is not None:
        return None
    return ("the CUDA runtime is linked into it statically, and its symbol table is stripped: build it without strip and "
            f"without the linker's option -s, or {SHARED}")  # fmt: skip


def problem_of(path: pathlib.Path) -> Optional[str]:
    """Returns the reason why kernkit cannot run the CUDA code of a program or library, with advice, or None."""
    file = ElfFile(path)
    runtimes = [name for name in file.needed() if name.startswith("libcudart.so.")]
    for name in runtimes:
        if name != RUNTIME:
            return f"it needs {name}, and kernkit replaces {RUNTIME}: compile it with CUDA 13"
    if not any(map(file.section, SECTIONS)):
        return None
    if file.dynamic() is None:
        return ("it is linked with -static, so that no library can be loaded in place of the CUDA runtime: link it without "
                "-static")  # fmt: skip
    if not runtimes and (problem := problem_of_static_runtime(file)):
        return problem
    try:
        kinds = read_architectures(path)
    except FatbinError as error:
        return f"its CUDA code cannot be read: {error}"
    if kinds and not any(kind.startswith("compute_") for kind in kinds):
        return f"it has machine code only ({', '.join(kinds)}): {PTX}"
    return None


def machine_code_only(path: pathlib.Path) -> List[str]:
    """Returns the architectures of a library that has machine code and no PTX; [] for other libraries."""
    try:
        kinds = read_architectures(path)
    except FatbinError:
        return []
    return [] if any(kind.startswith("compute_") for kind in kinds) else kinds


def brings_its_runtime(path: pathlib.Path) -> bool:
    """Returns whether the file is one of NVIDIA's libraries, such as libcublas, and contains kernels and its own copy of
    the CUDA runtime, which needs a GPU's driver."""
    if not OF_NVIDIA.match(path.name) or not read_section(path, ".nv_fatbin"):
        return False
    return not any(name.startswith(("libcudart.so.", "libcuda.so.")) for name in ElfFile(path).needed())


def environment_for(arguments: argparse.Namespace, runtime: Optional[pathlib.Path], capability: int) -> Dict[str, str]:
    environment = dict(os.environ)
    options = {"KERNKIT_SEED": arguments.seed, "KERNKIT_DEVICES": arguments.devices,
            "KERNKIT_CAPABILITY": arguments.capability, "KERNKIT_DEVICE_SUMMATION": arguments.device_summation}  # fmt: skip
    if capability > 90:
        environment.setdefault("KERNKIT_CAPABILITY", str(capability))
    environment.update({name: value for name, value in options.items() if value is not None})
    # The loader prefers a preloaded library to the libraries of any search path.
    if runtime:
        libraries = [*map(str, drop_ins_of(runtime)), environment.get("LD_PRELOAD", "")]
        environment["LD_PRELOAD"] = ":".join(filter(None, libraries))
    return environment


def report_gpu() -> None:
    """Prints that the program does not use the machine's GPU, if there is a GPU with a driver."""
    if GPUS.is_dir() and any(GPUS.iterdir()):
        print("kernkit: the program runs on the CPU, although this machine has a GPU; run the program without kernkit to use "
              "the GPU", file=sys.stderr)  # fmt: skip


def runtime_of(arguments: argparse.Namespace) -> pathlib.Path:
    """Returns the path of the runtime that --runtime names or, without the option, of kernkit's runtime, which is
    compiled at the first use unless a prebuilt runtime is installed. Raises UserError if the file of --runtime does not
    exist."""
    runtime = pathlib.Path(arguments.runtime).resolve() if arguments.runtime else find_or_build_runtime()
    if not runtime.is_file():
        raise UserError(f"--runtime: file {runtime} not found; leave out the option to build the runtime")
    return runtime


def compiled_program(arguments: argparse.Namespace) -> Tuple[str, pathlib.Path]:
    """Compiles a .cu file by nvcc. Returns (path of the program, path of the runtime that the program is linked with).
    Raises UserError if the file does not exist or cannot be compiled."""
    source = pathlib.Path(arguments.program)
    if not source.is_file():
        raise UserError(f"file {source} not found; correct the path")
    runtime = runtime_of(arguments)
    return str(compile_source(source, folder_of_caches(), runtime, arguments.nvcc_options, arguments.capability)), runtime


def prepared(arguments: argparse.Namespace, with_tools: bool = False) -> Tuple[str, Dict[str, str]]:
    """Compiles a .cu file if `arguments` names one. Returns (path of the program, environment in which it runs).
    `with_tools`: whether a program that contains the tools runs without kernkit's runtime. Raises UserError if the
    program does not exist, or cannot run in the simulator."""
    found, runtime = compiled_program(arguments) if is_source(arguments.program) else (shutil.which(arguments.program), None)
    if found is None:
        raise UserError(f"program {arguments.program} not found; build the program first, or correct the path")
    if arguments.nvcc_options and not is_source(arguments.program):
        raise UserError(f"--nvcc-options: {arguments.program} is not a .cu file; the options apply to a .cu file, which nvcc "
                        "compiles: leave out the options")  # fmt: skip
    program = pathlib.Path(found).resolve() if is_elf(pathlib.Path(found)) else None
    paths = list(loaded_with(program)) if program else []
    gpu_only = [path for path in paths if path != program and brings_its_runtime(path)]
    paths = [path for path in paths if path not in gpu_only]
    if with_tools and program and TOOLS_FOLDER.encode() in program.read_bytes():
        return found, environment_for(arguments, None, max(map(newest_ptx, paths), default=0))
    if gpu_only:
        print(f"kernkit: {', '.join(path.name for path in gpu_only)}: the CUDA runtime is linked into the library "
              "statically and runs machine code on a GPU only, so kernels of the library do not run here, and its "
              'functions return their own error, such as "not initialized": replace the calls with kernels that have '
              "PTX, or run the program on a GPU without kernkit", file=sys.stderr)  # fmt: skip
    for path in paths:
        if path != program and (kinds := machine_code_only(path)):
            print(f"kernkit: {path.name} has machine code only ({', '.join(kinds)}): its kernels do not run, and calls "
                  f"that launch them return an error: {PTX}", file=sys.stderr)  # fmt: skip
        elif path.name not in (RUNTIME, DRIVER) and (problem := problem_of(path)):
            raise UserError(f"{path} cannot run without a GPU: {problem}")
    if program and (missing := not_found(program)):
        raise UserError(f"{program} needs {', '.join(missing)}, which the system's loader does not find: add the folder "
                        "of the library to LD_LIBRARY_PATH")  # fmt: skip
    runtime = runtime or runtime_of(arguments)
    report_gpu()
    driver = driver_of(runtime)
    if driver is None and (client := next((path for path in paths if DRIVER in ElfFile(path).needed()), None)):
        raise UserError(f"{client} cannot run without a GPU: it calls the driver's API ({DRIVER}), which kernkit compiles "
                        "with cuda.h of CUDA 13: install the CUDA toolkit, or run "
                        f"{sys.executable} -m pip install nvidia-cuda-runtime")  # fmt: skip
    environment = environment_for(arguments, runtime, max(map(newest_ptx, paths), default=0))
    environment.update(clients.settings(folder_of_clients(), driver, environment))
    if clients.is_python(found):
        environment.setdefault("KERNKIT_CAPABILITY", clients.DEFAULT_CAPABILITY)
    environment.update(torch_cuda.settings(folder_of_clients() / "caches", dict.fromkeys((sdk_folder(), development_folder())),
                                           environment.get("KERNKIT_CAPABILITY", clients.DEFAULT_CAPABILITY), environment))  # fmt: skip
    if gpu_only and driver is None:  # hides GPUs of NVIDIA's driver, which cannot access the memory of kernkit's runtime
        every_device = ",".join(map(str, range(int(environment.get("KERNKIT_DEVICES", "1"), 0))))
        environment.setdefault("KERNKIT_VISIBLE_DEVICES", environment.get("CUDA_VISIBLE_DEVICES", every_device))
        environment["CUDA_VISIBLE_DEVICES"] = "-1"
    return found, environment


def run_with_tools(arguments: argparse.Namespace, tools: List[str], settings: Optional[Dict[str, str]] = None,
                   is_silent: bool = False) -> Tuple[int, List[Any]]:  # fmt: skip
    """Runs a program with `tools` of the simulator. Returns (exit code, reports), with a report for each process in
    which a kernel ran, in the order of the processes' numbers. The members "launches" and "outputs" of a report are
    texts of the tool determinism. If the command is interrupted, the exit code is a member of INTERRUPTED, and the
    reports have the findings of the kernels that ended. `is_silent`: whether the output of the program is discarded."""
    found, environment = prepared(arguments, with_tools=True)
    with tempfile.TemporaryDirectory(prefix="kernkit-") as folder:
        environment.update({"KERNKIT_TOOLS": ",".join(tools), TOOLS_FOLDER: folder, **(settings or {})})
        output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} if is_silent else {}
        code = programs.run_until_interrupted([arguments.program, *arguments.arguments], executable=found, env=environment, **output)
        results = []
        for file in sorted(pathlib.Path(folder).glob("*.json"), key=lambda path: int(path.stem)):
            texts = {name: path.read_text() for name in ("launches", "outputs") if (path := file.with_suffix(f".{name}")).is_file()}
            results.append({**json.loads(file.read_text()), **texts})
    return (128 - code if code < 0 else code), results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of every command that runs a program to `parser`."""
    parser.add_argument("--seed", metavar="N", help="seed of the order of blocks, threads and streams (default: the seed of the runtime)")
    parser.add_argument("--devices", metavar="N", help="number of devices (default: 1)")
    parser.add_argument("--capability", metavar="N", help="the devices' compute capability, as in 90 (default: 90, "
                        "or the program's newest PTX)")  # fmt: skip
    parser.add_argument("--device-summation", action="store_const", const="1", help="add in mma and wgmma as the tensor cores of "
                        "the devices' compute capability do (default: exact products, added in float)")  # fmt: skip
    parser.add_argument("--runtime", metavar="FILE", help=f"an existing {RUNTIME} (default: build the runtime once)")
    parser.add_argument("--nvcc-options", default="", metavar="OPTIONS", help="options of nvcc for a .cu file, as in "
                        "--nvcc-options='-I include -std=c++20'")  # fmt: skip
    parser.add_argument("program", metavar="PROGRAM", help="a program or script, or a .cu file, which nvcc compiles first")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENTS", help="arguments of the program")
