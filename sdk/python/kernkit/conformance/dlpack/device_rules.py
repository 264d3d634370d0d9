# SPDX-License-Identifier: Apache-2.0
"""Rules about devices and streams, for arrays on the CPU."""

from typing import Any, Tuple

from ..rule import MUST, SHOULD, Broken, Rules, described
from . import sources
from .exporting import exported, raised, require_keyword
from .producers import Producer
from .structures import CPU

RULES = Rules()
_WEBGPU = 15  # kDLWebGPU


def _device_of(array: Any) -> Tuple[int, int]:
    device = array.__dlpack_device__()
    if not isinstance(device, tuple) or len(device) != 2:
        raise Broken(f"__dlpack_device__() returns {device!r}; expected a tuple of two integers")
    return int(device[0]), int(device[1])


@RULES.add(MUST, sources.DEVICE)
def device_method(producer: Producer) -> None:
    """`__dlpack_device__()` of an array on the CPU returns the tuple (kDLCPU, 0)."""
    device = _device_of(producer.make((2, 3)))
    if device != (CPU, 0):
        raise Broken(f"__dlpack_device__() returns {device}; expected {(CPU, 0)}")


@RULES.add(MUST, sources.DEVICE)
def device_of_tensor(producer: Producer) -> None:
    """The device in the capsule equals the result of `__dlpack_device__()`, also for an array of rank zero and for an
    array without elements."""
    for shape in ((2, 3), (), (0, 2)):
        array = producer.make(shape)
        device = exported(array).tensor.device
        if (device.device_type, device.device_id) != _device_of(array):
            raise Broken(f"the capsule has device {(device.device_type, device.device_id)}, but __dlpack_device__() returns {_device_of(array)}")


@RULES.add(MUST, sources.METHOD)
def export_to_cpu(producer: Producer) -> None:
    """An export with `dl_device=(kDLCPU, 0)` returns a capsule on the CPU."""
    capsule = require_keyword(producer.make((2, 3)), dl_device=(CPU, 0), max_version=(1, 0))
    if capsule.tensor.device.device_type != CPU:
        raise Broken(f"the capsule has device type {capsule.tensor.device.device_type}; expected {CPU}, the CPU")


@RULES.add(MUST, sources.METHOD)
def export_to_unsupported_device(producer: Producer) -> None:
    """An export with a `dl_device` that the package does not support, here kDLWebGPU, raises BufferError."""
    error = raised(producer.make((2, 3)), dl_device=(_WEBGPU, 0), max_version=(1, 0))
    if not isinstance(error, BufferError):
        raise Broken(described(error) if error else "the export returns a capsule")


@RULES.add(MUST, sources.METHOD)
def stream_none(producer: Producer) -> None:
    """`stream=None` is accepted."""
    require_keyword(producer.make((2, 3)), stream=None)


@RULES.add(MUST, sources.METHOD)
def stream_on_cpu(producer: Producer) -> None:
    """An export with `stream=1` raises an exception: for an array on the CPU the only valid stream is None."""
    if raised(producer.make((2, 3)), stream=1) is None:
        raise Broken("the export with stream=1 returns a capsule")


@RULES.add(SHOULD, sources.METHOD)
def stream_minus_one(producer: Producer) -> None:
    """An export with `stream=-1` (no synchronisation) raises an exception: for an array on the CPU the only valid
    stream is None."""
    if raised(producer.make((2, 3)), stream=-1) is None:
        raise Broken("the export with stream=-1 returns a capsule")
