# SPDX-License-Identifier: Apache-2.0
"""Resources that ptxas assigns to a kernel (registers, spills, shared memory, barriers), and the resulting occupancy.

Occupancy is computed by the rules of cuda_occupancy.h of the CUDA toolkit, for the largest amount of shared memory that
a multiprocessor can have.
"""

import pathlib
import re
import shutil
import sysconfig
import tempfile
from typing import Any, Dict, Optional, Tuple

from .. import programs
from ..errors import UserError

WARP, REGISTERS, REGISTERS_AT_ONCE, PARTITIONS, SHARED_AT_ONCE = 32, 65536, 256, 4, 128
# {compute capability: (warps, blocks, KiB of shared memory, barriers divided by blocks)} of a multiprocessor. The
# number of barriers is not limited if the last number is 0.
LIMITS = {
    75: (32, 16, 64, 0), 80: (64, 32, 164, 0), 86: (48, 16, 100, 0), 87: (48, 16, 164, 0), 89: (48, 24, 100, 0),
    90: (64, 32, 228, 2), 100: (64, 32, 228, 2), 103: (64, 32, 228, 2), 110: (48, 24, 228, 1), 120: (48, 24, 100, 1),
    121: (48, 24, 100, 1),
}  # fmt: skip
Usage = Dict[str, Any]
# Line of the output of ptxas that precedes the resources of a kernel. Only ptxas reports spills, so machine code
# without PTX is not read.
_ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(sm_\w+)'")
_FIGURES = {
    "launch__registers_per_thread": r"Used (\d+) registers", "barriers": r"used (\d+) barriers",
    "stack_bytes": r"(\d+) bytes stack frame", "spill_store_bytes": r"(\d+) bytes spill stores",
    "spill_load_bytes": r"(\d+) bytes spill loads", "launch__shared_mem_per_block_static": r"(\d+) bytes smem",
}  # fmt: skip


def tool(name: str) -> str:
    wheel = pathlib.Path(sysconfig.get_path("purelib")) / "nvidia/cu13/bin"
    path = shutil.which(name) or shutil.which(name, path=f"/usr/local/cuda/bin:{wheel}")
    if path is None:
        package = "nvcc" if name == "ptxas" else name
        raise UserError(f"{name} is not installed: it comes with the CUDA toolkit or the wheel nvidia-cuda-{package}")
    return path


def plain_names(mangled: "list[str]") -> "list[str]":
    """Returns the demangled names of kernels, without parameters, as in counters; the mangled names if c++filt is not
    installed."""
    if not shutil.which("c++filt"):
        return mangled
    result = programs.run(["c++filt", "--no-params"], input="\n".join(mangled), capture_output=True, text=True)
    return result.stdout.splitlines()


def usage_of_ptx(ptx: pathlib.Path, architecture: str) -> Dict[str, Usage]:
    """Returns {mangled name of a kernel: the resources that ptxas reports}. Raises UserError if ptxas rejects the
    file."""
    command = [tool("ptxas"), "-v", f"-arch={architecture}", "-o", "/dev/null", str(ptx)]
    result = programs.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise UserError(f"ptxas rejects {ptx.name}: {result.stderr.strip().splitlines()[0]}")
    usages: Dict[str, Usage] = {}
    parts = _ENTRY.split(result.stderr)
    for name, target, report in zip(parts[1::3], parts[2::3], parts[3::3]):
        figures = {key: re.search(pattern, report) for key, pattern in _FIGURES.items()}
        usages[name] = {"architecture": target, **{key: int(figure[1]) if figure else 0 for key, figure in figures.items()}}
    return usages


def resource_usage(path: pathlib.Path, architecture: Optional[str] = None) -> Dict[str, Usage]:
    """Returns {kernel: its resources} for all PTX in a library, program or object file, or for a file of PTX. The
    default architecture is the target of the PTX. If the file contains PTX of a kernel for several targets, the newest
    target is used. Raises UserError if the file contains no PTX."""
    usages: Dict[str, Usage] = {}
    with tempfile.TemporaryDirectory(prefix="kernkit-") as folder:
        files = [path.resolve()]
        if path.suffix != ".ptx":
            command = [tool("cuobjdump"), "--extract-ptx", "all", str(path.resolve())]
            result = programs.run(command, cwd=folder, capture_output=True, text=True)
            files = sorted(pathlib.Path(folder).glob("*.ptx"), key=lambda file: (_target(file), file.name))
            if result.returncode != 0 or not files:
                detail = f": {result.stderr.strip()}" if result.stderr.strip() else ""
                raise UserError(f"PTX not found in {path}; compile with nvcc -arch=compute_80{detail}")
        for file in files:
            usages.update(usage_of_ptx(file, architecture or f"sm_{_target(file)}"))
    return dict(zip(plain_names(list(usages)), usages.values()))


def _target(ptx: pathlib.Path) -> int:
    target = re.search(r"^\.target\s+sm_(\d+)", ptx.read_text(errors="replace"), re.MULTILINE)
    return int(target[1]) if target else 0


def occupancy(usage: Usage, threads: int, dynamic_bytes: int) -> Dict[str, float]:
    """Returns {Nsight Compute's name: value} of the number of blocks that each resource allows on a multiprocessor, and
    of the share of active warps [%]; {} for an architecture that LIMITS lacks. `threads`: threads of a block.
    `dynamic_bytes`: dynamic shared memory of a block."""
    limits = LIMITS.get(int("".join(re.findall(r"\d", usage["architecture"]))))
    if limits is None:
        return {}
    most_warps, most_blocks, shared, barriers = limits
    warps = -(-threads // WARP)
    of_warp = _up(usage["launch__registers_per_thread"] * WARP, REGISTERS_AT_ONCE)
    reserved = 0 if most_warps == 32 else 1024
    bytes_of_block = _up(usage["launch__shared_mem_per_block_static"] + dynamic_bytes + reserved, SHARED_AT_ONCE)
    by = {
        "blocks": most_blocks, "warps": most_warps // warps if threads <= 1024 else 0,
        "registers": _blocks_by_registers(of_warp, warps, most_blocks),
        "shared_mem": shared * 1024 // bytes_of_block if bytes_of_block else most_blocks,
        "barriers": barriers * most_blocks // usage["barriers"] if barriers and usage["barriers"] else most_blocks,
    }  # fmt: skip
    figures: Dict[str, float] = {f"launch__occupancy_limit_{name}": blocks for name, blocks in by.items()}
    return {**figures, "sm__maximum_warps_per_active_cycle_pct": 100 * min(by.values()) * warps / most_warps}


def _blocks_by_registers(of_warp: int, warps: int, otherwise: int) -> int:
    if not of_warp:
        return otherwise
    if of_warp * _up(warps, PARTITIONS) > REGISTERS:
        return 0
    return REGISTERS // PARTITIONS // of_warp * PARTITIONS // warps


def _up(value: int, to: int) -> int:
    return -(-value // to) * to


def with_occupancy(usage: Usage, shapes: Dict[str, int]) -> Usage:
    """Returns `usage`, the resources of a kernel, with the lowest occupancy of all launches added. `shapes`: {"T+B":
    number of launches with T threads and B bytes of dynamic shared memory in a block}."""
    launches: "list[Tuple[int, int]]" = [(int(threads), int(more)) for threads, more in (shape.split("+") for shape in shapes)]
    all_of_them = [occupancy(usage, threads, more) for threads, more in launches]
    worst = min(filter(None, all_of_them), key=lambda limits: limits["sm__maximum_warps_per_active_cycle_pct"], default={})
    return {**usage, **worst}
