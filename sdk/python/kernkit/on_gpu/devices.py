# SPDX-License-Identifier: Apache-2.0
"""The GPUs of this machine, their driver, and compute-sanitizer."""

import ctypes
import glob
import os
import pathlib
import re
import shutil
import sys
from typing import Dict, List, Optional, Union

Devices = List[Dict[str, str]]
MAJOR, MINOR = 75, 76  # CUdevice_attribute of the major and minor compute capability


def find() -> Union[Devices, str]:
    """Returns the GPUs that the driver lists, with the keys "name" and "compute_capability" (as in "9.0"). Without a
    GPU, returns a sentence with the reason."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"no CUDA driver: {error}"
    number, name = ctypes.c_int(), ctypes.create_string_buffer(256)
    error = cuda.cuInit(0)
    if error == 0:
        error = cuda.cuDeviceGetCount(ctypes.byref(number))
    if error != 0:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(error, ctypes.byref(text))
        return f"the CUDA driver reports: {(text.value or b'?').decode()} ({error})"
    if number.value == 0:
        return "the CUDA driver lists no device"
    devices = []
    for index in range(number.value):
        cuda.cuDeviceGetName(name, len(name), index)
        version = []
        for attribute in (MAJOR, MINOR):
            cuda.cuDeviceGetAttribute(ctypes.byref(number), attribute, index)
            version.append(str(number.value))
        devices.append({"name": name.value.decode(), "compute_capability": ".".join(version)})
    return devices


def architectures(devices: Devices) -> str:
    """Returns the architectures of the devices in CMake's notation, as in "90" or "80;90"."""
    return ";".join(sorted({device["compute_capability"].replace(".", "") for device in devices}))


def driver_version() -> str:
    """Returns the version of NVIDIA's kernel driver, as in "570.86.15", or "unknown" without the driver."""
    path = pathlib.Path("/proc/driver/nvidia/version")
    match = re.search(r"Module\D*?([\d.]{5,})", path.read_text()) if path.exists() else None
    return match[1] if match else "unknown"


def find_sanitizer() -> Optional[str]:
    """Returns the path of compute-sanitizer from PATH, the toolkit or the wheel nvidia-cuda-sanitizer-api; None if it
    is not installed."""
    on_path = shutil.which("compute-sanitizer")
    patterns = ["/usr/local/cuda*/bin", "/usr/local/cuda*/compute-sanitizer"]
    patterns += [f"{path}/nvidia/**" for path in sys.path if path.endswith("-packages")]
    paths = [path for pattern in patterns for path in glob.glob(f"{pattern}/compute-sanitizer", recursive=True)]
    paths = [path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)]
    return on_path or (paths[0] if paths else None)
