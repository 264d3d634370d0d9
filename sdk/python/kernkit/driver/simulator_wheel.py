# SPDX-License-Identifier: Apache-2.0
"""The wheel kernkit-simulator of ./kk dist --simulator: the runtime of `kernkit run`, compiled for one processor."""

import pathlib
import re
import shlex
import shutil
from typing import Dict

from ..errors import UserError
from ..sdk import version_of
from ..simulator import prebuilt, runtime
from .wheel import build_archive, for_processor, repair

PROJECT = "wheels/simulator"  # the folder of the wheel's pyproject.toml
BUILD = "build/runtime"  # the folder in which the runtime is compiled


def version_of_cuda() -> str:
    """Returns the version of the CUDA headers that runtime.cuda_headers() finds, as in "13.0". Raises UserError if no
    headers are found."""
    headers = runtime.cuda_headers()
    if headers is None:
        raise UserError("dist --simulator: cuda.h and cudaTypedefs.h of CUDA 13, which define the names of the driver's "
                        "functions, were not found: add --cuda, or install the CUDA toolkit")  # fmt: skip
    text = (headers / "cuda.h").read_text(errors="replace")
    number = int(re.findall(r"^#define CUDA_VERSION (\d+)$", text, re.MULTILINE)[0])
    return f"{number // 1000}.{number % 1000 // 10}"


def _compiler_settings(sources: pathlib.Path, processor: str) -> Dict[str, str]:
    """Returns environment variables for CMake that make the compiler's output independent of the folder and of the
    caller's options. The variables also disable ccache, because a cached object file would hide a dependence on the
    folder."""
    settings = {"CXXFLAGS": shlex.quote(f"-ffile-prefix-map={sources}=."), "CFLAGS": "", "LDFLAGS": "", "CCACHE_DISABLE": "1"}
    if processor:
        settings["CMAKE_TOOLCHAIN_FILE"] = str(sources / f"sdk/cmake/{processor}.cmake")
    return settings


def build(sources: pathlib.Path, epoch: str, processor: str = "") -> Dict[str, pathlib.Path]:
    """Builds the wheel from the copy of the repository in `sources`, where the function also writes other files.
    Returns {file name: path of the wheel}.

    epoch: time in the wheel [s since 1970]. processor: "aarch64", or "" for this machine's processor. Raises UserError
    if CUDA's headers are missing, or CMake, a compiler or auditwheel failed."""
    cuda = version_of_cuda()
    (sources / BUILD).mkdir(parents=True)
    compiled = runtime.compile_runtime(sources / BUILD, sources / "sdk", _compiler_settings(sources, processor))
    package = sources / PROJECT / prebuilt.PACKAGE
    for path in runtime.drop_ins_of(compiled):
        target = package / path.relative_to(compiled.parent)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)
    prebuilt.write_record(package, sources / "sdk", version_of(sources / "sdk"), cuda)
    environment = {"SOURCE_DATE_EPOCH": epoch, **(for_processor(processor) if processor else {})}
    build_archive("wheel", "linux", {}, environment, sources / PROJECT)
    (wheel,) = (sources / PROJECT / "linux").iterdir()
    repair(wheel, "repaired", environment, sources / PROJECT)
    return {path.name: path for path in (sources / PROJECT / "repaired").iterdir()}
