# SPDX-License-Identifier: Apache-2.0
"""The machine, the versions and the processor time of a run of benchmarks."""

import datetime
import importlib.metadata
import os
import pathlib
import platform
import re
from typing import Any, Dict, List

from ..project import git

PACKAGES = ("apache-tvm-ffi", "numpy", "torch", "jax", "jax-tvm-ffi", "ml_dtypes")


def _read(path: pathlib.Path, default: str = "") -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return default


def _processor() -> str:
    match = re.search(r"^(?:model name|Model)\s*: (.*)$", _read(pathlib.Path("/proc/cpuinfo")),
                      re.MULTILINE)
    return match[1] if match else platform.machine()


CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")


def caches(folder: pathlib.Path = CACHES) -> List[Dict[str, Any]]:
    """Returns the data caches and unified caches of processor 0, as in [{"level": 1, "bytes": 32768, "type": "Data"},
    ...]. The list is empty if `folder` describes no cache, as in a container without /sys."""
    levels = []
    for index in sorted(folder.glob("index*")):
        kind, size = _read(index / "type"), _read(index / "size")
        if kind != "Instruction" and size.endswith("K"):
            levels.append({"level": int(_read(index / "level", "0")), "type": kind,
                           "bytes": int(size[:-1]) * 1024})
    return levels


def _commit() -> str:
    """Returns the hash of the checked-out commit, followed by "+" if files differ from the commit."""
    return git.described(pathlib.Path())


def context() -> Dict[str, Any]:
    """Returns a description of the machine, the commit and the versions of packages, without names of hosts, users or
    folders."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    governor = _read(pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": _commit(),
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "frequency_governor": governor or "unknown",
        "caches": caches(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"),
        "huge_pages": _read(pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled"), "unknown"),
        "system": f"{platform.system()} {platform.release()}",
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "versions": versions,
    }


def busy_seconds() -> float:
    """Returns the busy time since boot, summed over all processors [s], including the time that the hypervisor gave to
    other virtual machines."""
    ticks = [int(text) for text in _read(pathlib.Path("/proc/stat"), "cpu 0").split("\n")[0].split()[1:]]
    idle = sum(ticks[3:5])
    return (sum(ticks[:8]) - idle) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
