# SPDX-License-Identifier: Apache-2.0
"""PyTorch's CUDA build on kernkit's CUDA runtime, without a GPU. PyTorch's package has its CUDA kernels as machine code
without PTX, which the simulator cannot run, so operators on CUDA tensors call PyTorch's kernels for the CPU, on the
same memory.

`kernkit run` puts the folder hook/ on PYTHONPATH. A Python process that imports torch then runs start.py, which
compiles aten_on_cpu.cc once, or uses the slower fallback.py. These files import no other modules of kernkit, since
kernkit need not be installed for the program's Python."""

import os
import pathlib
from typing import Dict, Iterable, Mapping

HERE = pathlib.Path(__file__).parent
HEADER = "simulator/include/kernkit/simulator/stream_work.h"  # path below a folder of the SDK


def architectures(given: str, capability: str) -> str:
    """Returns the TORCH_CUDA_ARCH_LIST with which PyTorch's extensions contain PTX: `given` with PTX of its last
    architecture or, if `given` is empty, PTX for `capability`, the compute capability of the devices."""
    if not given.strip():
        return f"{capability[:-1]}.{capability[-1]}+PTX"
    return given if "+PTX" in given else given.strip().rstrip(";") + "+PTX"


def settings(caches: pathlib.Path, sdk_folders: Iterable[pathlib.Path], capability: str,
             environment: Mapping[str, str]) -> Dict[str, str]:  # fmt: skip
    """Returns the environment variables of a run whose programs may import torch; {} without the simulator's headers.
    `caches`: folder of compiled code. `sdk_folders`: folders of the SDK, one of which has the headers. `capability`:
    compute capability of the devices, as in 80."""
    include = next((folder / "simulator/include" for folder in sdk_folders if (folder / HEADER).is_file()), None)
    if include is None:  # a library's copy without the simulator
        return {}
    path = [str(HERE / "hook"), *filter(None, [environment.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(path),
            "KERNKIT_TORCH_CACHE": environment.get("KERNKIT_TORCH_CACHE") or str(caches / "torch_cuda"),
            "KERNKIT_TORCH_INCLUDE": str(include),
            "TORCH_CUDA_ARCH_LIST": architectures(environment.get("TORCH_CUDA_ARCH_LIST", ""), capability)}  # fmt: skip
