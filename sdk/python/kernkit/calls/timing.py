# SPDX-License-Identifier: Apache-2.0
"""Measures the time of a recorded call, as rows of benchmarks."""

import ctypes
import json
import os
import pathlib
import re
import tempfile
import time
from typing import Any, Callable, Dict, Optional

from ..errors import UserError
from . import child, differences, replay
from .device import DeviceMemory, Driver
from .dtypes import dtype_name
from .recording import Recording, tensors_of

_REPETITIONS = 3
_SECONDS = 0.02  # shortest duration of a repetition [s]; a repetition consists of several calls
_MOST_CALLS = 1 << 20  # largest number of calls in a repetition, even if its duration is below _SECONDS


def _bytes_of(recording: Recording) -> int:
    """Returns the number of bytes that the call reads and writes: each tensor is read once, unless it is only written,
    and each written tensor is written once."""
    only_written = set(re.findall(r"\(out!\) (\w+)", recording.schema))
    total = 0
    for value in tensors_of(recording.arguments):
        passes = 2 if value.is_written and value.name not in only_written else 1
        total += passes * value.num_elements() * value.item_bits() // 8
    return total


def name_of(recording: Recording) -> str:
    """Returns the name of the call's row, as in scale/float32/1024x64/kernkit/bytes:524288: op, dtype and shape of the
    first tensor, number of bytes."""
    first = next(tensors_of(recording.arguments), None)
    parts = [recording.op]
    if first is not None:
        parts += [dtype_name(*first.dtype), "x".join(map(str, first.shape)) or "scalar"]
    return "/".join([*parts, "kernkit", f"bytes:{_bytes_of(recording)}"])


def _best(call: Callable[[], Any], wait: Callable[[], Any], begin: Callable[[], Any]) -> float:
    """Returns the smallest of _REPETITIONS mean times of a call [ns]. `begin` is called before each repetition, and
    `wait` before and after the timed calls."""
    count, best = 1, float("inf")
    repetitions = 0
    while repetitions < _REPETITIONS:
        begin()
        wait()
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        seconds = time.perf_counter() - start
        if seconds < _SECONDS and count < _MOST_CALLS:
            count = min(max(2 * count, int(1.2 * count * _SECONDS / max(seconds, 1e-7))), _MOST_CALLS)
            continue
        repetitions += 1
        best = min(best, 1e9 * seconds / count)
    return best


def _measure(recording: Recording, library: pathlib.Path, tolerance: float) -> Dict[str, Any]:
    """Returns {"rows": the rows of one round, "overhead": time of a call through ctypes that does no work [ns],
    "device": the name of the CUDA device, or None if no tensor is on a CUDA device}."""
    call = replay.PreparedCall(recording, library)
    name, size = name_of(recording), _bytes_of(recording)
    driver = next((memory.driver for memory in call.memory if isinstance(memory, DeviceMemory)), None)
    device = next((memory.index for memory in call.memory if isinstance(memory, DeviceMemory)), 0)
    device_name = driver.name(device) if driver is not None else None
    outcome = call.run()
    problem: Optional[str] = None
    if outcome.error is not None:
        problem = outcome.error
    elif recording.results is not None:
        different, _ = differences.compare(recording, outcome, tolerance)
        problem = different[0] if different else None
    if problem is not None:
        return {"rows": [{"name": name, "reason": problem}], "overhead": 0, "device": device_name}

    def wait() -> None:
        if driver is not None:
            driver.use(device)
            driver.call("cuCtxSynchronize")

    rows = [{"name": name, "bytes": size, "samples": [_best(call.repeat, wait, call.restore)]}]
    if size >= 2:
        rows.append({"name": f"copy/{'memmove' if driver is None else 'cuMemcpyDtoD'}/bytes:{size}", "bytes": size,
                     "samples": [_best(_copy(size // 2, driver, device), wait, lambda: None)]})  # fmt: skip
    return {"rows": rows, "overhead": _best(call.nothing, lambda: None, lambda: None), "device": device_name}


def _copy(size: int, driver: Optional[Driver], device: int) -> Callable[[], Any]:
    """Returns a function that copies `size` bytes, on the CPU or, with a driver, on the device."""
    if driver is None:
        source, target = ctypes.create_string_buffer(b"\x01" * size, size), ctypes.create_string_buffer(size)
        return lambda: ctypes.memmove(target, source, size)
    memory = [DeviceMemory(driver, device, 0, size, None) for _ in range(2)]
    driver.use(device)
    function = driver.library.cuMemcpyDtoDAsync_v2
    arguments = ctypes.c_uint64(memory[0].base), ctypes.c_uint64(memory[1].base), ctypes.c_size_t(size), None
    return lambda: function(*arguments)


def measure(recording: Recording, library: pathlib.Path, tolerance: float) -> Dict[str, Any]:
    """Returns the result of _measure(), which runs in a new process. Raises UserError if the call cannot be made, or if
    it ends its process."""
    with tempfile.TemporaryDirectory(prefix="kernkit-") as folder:
        file = pathlib.Path(folder) / "rows.json"

        def work() -> None:
            try:
                file.write_text(json.dumps(_measure(recording, library, tolerance)))
            except UserError as error:
                file.write_text(json.dumps({"problem": str(error)}))

        if child.run(work) != 0 or not file.is_file():
            raise UserError(f"{recording.op}: the call ended its process, so that its time cannot be measured")
        result: Dict[str, Any] = json.loads(file.read_text())
    if "problem" in result:
        raise UserError(result["problem"])
    return result
