# SPDX-License-Identifier: Apache-2.0
"""kernkit's CUDA runtime for programs that nvcc compiled: libcudart.so.13 and, in the folder driver/ next to it, the
driver's API as libcuda.so.1 and the linker of device code as libnvJitLink.so.13. The package kernkit_simulator contains
these libraries. Without the package, CMake compiles them once; libcuda.so.1 and libnvJitLink.so.13 require cuda.h of
CUDA 13.

A compiled runtime is kept with a digest of its sources. While the digest stays the same, neither CMake nor a compiler
is started. Each library is replaced as a whole, under a lock between processes."""

import fcntl
import hashlib
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
from typing import Dict, List, Mapping, Optional

from .. import programs
from ..errors import UserError
from ..project import manifest
from ..sdk import development_folder, sdk_folder, version
from . import prebuilt

NAME = "libcudart.so.13"
DRIVER = "driver/libcuda.so.1"  # path below the runtime's folder
LINKER = "driver/libnvJitLink.so.13"  # path below the runtime's folder; built with the driver
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(kernkit_run LANGUAGES C CXX)
add_subdirectory("{sdk}" sdk)
"""
SOURCES = ("cmake", "include", "simulator", "src")  # folders of the SDK with sources of the runtime


def digest_of(sdk: pathlib.Path) -> str:
    """Returns a digest of the sources of the runtime and of the path of CUDA's headers, in hexadecimal digits. In a
    library's copy the sources are in two folders."""
    digest = hashlib.sha256((sdk / "CMakeLists.txt").read_bytes())
    digest.update(f"{cuda_headers()}\n".encode())
    for folder in [place / name for place in dict.fromkeys((sdk, development_folder())) for name in SOURCES]:
        for path in manifest.files_below(str(folder)):
            digest.update(f"{folder.name}/{path}\n".encode())
            digest.update((folder / path).read_bytes())
    return digest.hexdigest()


def folder_of_caches() -> pathlib.Path:
    """Returns the folder build/run of a library or of kernkit's repository if ./kk runs this process; otherwise
    kernkit's folder among the user's caches."""
    if root := os.environ.get("KK_ROOT"):
        return pathlib.Path(root).resolve() / "build/run"
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(caches).resolve() / "kernkit"


def folder_of_clients() -> pathlib.Path:
    """Returns the folder of caches and tools for packages that compile kernels themselves, see clients.py."""
    return folder_of_caches() / "clients"


def folder_of_builds(digest: str) -> pathlib.Path:
    """Returns the folder of the compiled runtime: folder_of_caches() if ./kk runs this process, otherwise a subfolder
    for the version and the digest."""
    caches = folder_of_caches()
    return caches if os.environ.get("KK_ROOT") else caches / f"run-{version()}-{digest[:16]}"


def search_path() -> str:
    """Returns PATH with the folder of programs of this Python's environment, which need not be active."""
    own, path = sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)
    is_venv = sys.prefix != sys.base_prefix
    return os.pathsep.join([own, path] if is_venv else [path, own])


def dlpack_folder(sdk: pathlib.Path) -> Optional[pathlib.Path]:
    """Returns the folder with dlpack/dlpack.h, of a library's copy or of this Python's apache-tvm-ffi; None if no such
    folder is found."""
    found = importlib.util.find_spec("tvm_ffi")  # without an import
    packages = list(found.submodule_search_locations or []) if found else []
    folders = [sdk.parent / "dlpack/include", *(pathlib.Path(place) / "include" for place in packages)]
    return next((folder for folder in folders if (folder / "dlpack/dlpack.h").is_file()), None)


def cuda_headers() -> Optional[pathlib.Path]:
    """Returns the folder with cuda.h of CUDA 13, of a toolkit or of a package of this Python; None if no such folder is
    found."""
    folders = [pathlib.Path(root) / "include" for name in ("CUDA_HOME", "CUDA_PATH") if (root := os.environ.get(name))]
    if nvcc := shutil.which("nvcc", path=search_path()):
        folders.append(pathlib.Path(nvcc).resolve().parents[1] / "include")
    folders.append(pathlib.Path("/usr/local/cuda/include"))
    for package, below in (("nvidia", "cu13/include"), ("triton", "backends/nvidia/include")):
        found = importlib.util.find_spec(package)  # without an import
        folders += [pathlib.Path(place) / below for place in (found.submodule_search_locations or [] if found else [])]
    for folder in folders:
        header = folder / "cuda.h"
        if header.is_file() and (folder / "cudaTypedefs.h").is_file():
            if re.search(r"^#define CUDA_VERSION 13\d{3}$", header.read_text(errors="replace"), re.MULTILINE):
                return folder
    return None


def driver_of(runtime: pathlib.Path) -> Optional[pathlib.Path]:
    """Returns the path of the libcuda.so.1 that was built with a runtime; None if libcuda.so.1 was not built."""
    driver = runtime.parent / DRIVER
    return driver if driver.is_file() else None


def drop_ins_of(runtime: pathlib.Path) -> List[pathlib.Path]:
    """Returns the paths of the runtime, and of the libraries that were built with it and replace NVIDIA's libraries."""
    return [runtime, *(path for name in (DRIVER, LINKER) if (path := runtime.parent / name).is_file())]


def generator(path: str) -> List[str]:
    """Returns CMake's option for the generator: Ninja if ninja is installed, otherwise make; [] if CMAKE_GENERATOR is
    set. Raises UserError if neither ninja nor make is installed."""
    if os.environ.get("CMAKE_GENERATOR"):
        return []
    for program, name in (("ninja", "Ninja"), ("make", "Unix Makefiles")):
        if shutil.which(program, path=path):
            return ["-G", name]
    raise UserError(f"neither ninja nor make is installed; CMake needs one of the two programs to compile kernkit's runtime: run "
                    f"{sys.executable} -m pip install ninja, or install make")  # fmt: skip


def kept_runtime(folder: pathlib.Path, digest: str) -> Optional[pathlib.Path]:
    """Returns the path of the runtime in `folder` if it was compiled from sources with this digest; otherwise None."""
    kept = folder / "digest"
    if kept.is_file() and kept.read_text() == digest and (folder / NAME).is_file():
        return folder / NAME
    return None


def put(source: pathlib.Path, target: pathlib.Path) -> None:
    """Copies a file. Other processes see either the whole old file or the whole new file."""
    partial = target.with_name(target.name + ".partial")
    shutil.copy(source, partial)
    os.replace(partial, target)


def run_cmake(folder: pathlib.Path, *words: str, environment: Dict[str, str]) -> bool:
    """Runs CMake in a folder, and appends its output to the folder's file log. Returns whether CMake succeeded. Raises
    UserError if cmake is not installed."""
    cmake = shutil.which("cmake", path=environment["PATH"])
    if cmake is None:
        raise UserError(f"cmake is not installed; kernkit compiles its runtime by CMake: run {sys.executable} -m pip "
                        "install cmake")  # fmt: skip
    with (folder / "log").open("a") as log:
        done = programs.run([cmake, *words], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
    return done.returncode == 0


def error_in(log: pathlib.Path) -> str:
    """Returns the first error in a log of CMake, in one line."""
    found = re.search(r"^CMake Error.*(?:\n  .*)?|^.*\berror: .*", log.read_text(errors="replace"), re.MULTILINE)
    return " ".join(found[0].split()) if found else "no error was printed"


def compile_runtime(folder: pathlib.Path, sdk: pathlib.Path, variables: Mapping[str, str] = {}) -> pathlib.Path:
    """Compiles the runtime in `folder`, with `variables` added to the environment. Returns the path of the runtime.
    Raises UserError if CMake or a compiler failed."""
    environment = {**os.environ, "PATH": search_path(), **variables}
    options = generator(environment["PATH"])
    (folder / "source").mkdir(exist_ok=True)
    project, text = folder / "source/CMakeLists.txt", PROJECT.format(sdk=sdk.as_posix())
    if not project.exists() or project.read_text() != text:
        project.write_text(text)
    if (headers := cuda_headers()) is not None:
        options.append(f"-DKERNKIT_CUDA_INCLUDE_DIR={headers}")
    if (dlpack := dlpack_folder(sdk)) is not None:
        options.append(f"-DDLPACK_INCLUDE_DIR={dlpack}")
    (folder / "log").write_text("")
    build, marker = folder / "build", folder / "build/configured"
    settings = [*options, *(f"{name}={os.environ.get(name, '')}" for name in ("CMAKE_GENERATOR", "CC", "CXX"))]
    if not marker.is_file() or marker.read_text() != "\n".join(settings):
        shutil.rmtree(build, ignore_errors=True)  # removes CMake's cache, which keeps the generator and the compilers
    for step, *words in (("configure", "-S", "source", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", *options),
                         ("compile", "--build", "build", "--target", "kernkit_drop_ins",
                          "--parallel", str(os.cpu_count() or 2))):  # fmt: skip
        if not run_cmake(folder, *words, environment=environment):
            if step == "configure":
                shutil.rmtree(build, ignore_errors=True)
            raise UserError(f"CMake could not {step} kernkit's runtime: {error_in(folder / 'log')}. The output of CMake is "
                            f"in {folder / 'log'}")  # fmt: skip
        marker.write_text("\n".join(settings))
    return folder / "build/kernkit_cudart" / NAME


def find_or_build_runtime() -> pathlib.Path:
    """Returns the path of kernkit's runtime: the prebuilt runtime if it was compiled from these sources, otherwise the
    runtime of build_runtime()."""
    found = prebuilt.find()
    if found is None:
        return build_runtime()
    problem = prebuilt.problem_of(found)
    return build_runtime(f"the runtime of kernkit-simulator {found.version} is not used: {problem}") if problem else found.folder / NAME


def build_runtime(reason: str = "") -> pathlib.Path:
    """Returns the path of a runtime that was compiled from these sources. If no such runtime is kept, prints `reason`
    and compiles the runtime. Raises UserError if CMake or a compiler failed."""
    sdk = sdk_folder()
    digest = digest_of(sdk)
    folder = folder_of_builds(digest)
    if runtime := kept_runtime(folder, digest):
        return runtime
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if runtime := kept_runtime(folder, digest):  # another process compiled the runtime while this process waited
            return runtime
        if reason:
            print(f"kernkit: {reason}", file=sys.stderr)
        print(f"kernkit: compiling the runtime, once, into {folder}", file=sys.stderr)
        compiled = compile_runtime(folder, sdk)
        for path in drop_ins_of(compiled):
            target = folder / path.relative_to(compiled.parent)
            target.parent.mkdir(exist_ok=True)
            put(path, target)
        (folder / "digest.partial").write_text(digest)
        os.replace(folder / "digest.partial", folder / "digest")
        if not os.environ.get("KK_ROOT"):  # sources of an installed kernkit do not change, so no later build is incremental
            shutil.rmtree(folder / "build")
    return folder / NAME
