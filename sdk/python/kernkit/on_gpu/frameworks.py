# SPDX-License-Identifier: Apache-2.0
"""Frameworks on a GPU, each with what a test of a side stream needs."""

import itertools
from typing import Any, Callable, Dict, List

import numpy as np
import pytest

SPIN_CYCLES = 200_000_000  # about a tenth of a second
SPIN = ('extern "C" __global__ void spin(long long n) {'
        " const long long start = clock64(); while (clock64() - start < n) {} }")  # fmt: skip


def framework(name: str) -> Any:
    """The module, where it finds a GPU; skips the test elsewhere."""
    module = pytest.importorskip(name)
    try:
        found = {
            "torch": lambda: module.cuda.is_available(),
            "cupy": lambda: module.cuda.runtime.getDeviceCount() > 0,
            "jax": lambda: any(device.platform == "gpu" for device in module.devices()),
        }[name]()
    except Exception as error:  # each has its own way to say that there is no driver
        pytest.skip(f"{name} finds no CUDA device: {error}")
    if not found:
        pytest.skip(f"{name} finds no CUDA device")
    return module


class Torch:
    def __init__(self) -> None:
        self.torch = framework("torch")

    def array(self, values: "np.ndarray", dtype: str, on_cpu: bool) -> Any:
        if not hasattr(self.torch, dtype):
            pytest.skip(f"torch has no {dtype}")
        return self.torch.tensor(values).to(getattr(self.torch, dtype)).to("cpu" if on_cpu else "cuda")

    def numbers(self, array: Any) -> "np.ndarray":
        return self.torch.from_dlpack(array).double().cpu().numpy()

    def copy(self, to: Any, source: Any) -> None:
        to.copy_(source)

    def wait(self) -> None:
        self.torch.cuda.synchronize()

    def on_a_busy_stream(self, work: Callable[[], Any]) -> Any:
        """The work's result, and whether the stream was still busy when it returned."""
        stream = self.torch.cuda.Stream()
        with self.torch.cuda.stream(stream):
            self.torch.cuda._sleep(SPIN_CYCLES)
            result = work()
            return result, not stream.query()


class CuPy:
    """It says no stream of its own to tvm_ffi, so the stream is handed over."""

    def __init__(self) -> None:
        self.cupy = framework("cupy")

    def array(self, values: "np.ndarray", dtype: str, on_cpu: bool) -> Any:
        try:
            made = values.astype(dtype)
        except TypeError:
            pytest.skip(f"cupy has no {dtype}")
        return made if on_cpu else self.cupy.asarray(made)

    def numbers(self, array: Any) -> "np.ndarray":
        return self.cupy.asnumpy(self.cupy.from_dlpack(array)).astype("float64")

    def copy(self, to: Any, source: Any) -> None:
        to[...] = source

    def wait(self) -> None:
        self.cupy.cuda.Device().synchronize()

    def on_a_busy_stream(self, work: Callable[[], Any]) -> Any:
        import tvm_ffi

        spin = self.cupy.RawKernel(SPIN, "spin")
        spin((1,), (1,), (np.int64(1),))  # compiles
        self.wait()
        stream = self.cupy.cuda.Stream(non_blocking=True)
        with stream, tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream.ptr):
            spin((1,), (1,), (np.int64(SPIN_CYCLES),))
            result = work()
            return result, not stream.done


def make(framework: Any, argument: Any, salt: int, seed: int) -> Any:
    """An argument of an example, see note.h: a tensor's values are stated, or some from 1 to 13."""
    if isinstance(argument, list):
        return [make(framework, each, salt, seed + i) for i, each in enumerate(argument)]
    if not isinstance(argument, dict):
        return argument
    if "unknown" in argument:
        pytest.skip(f"the example has {argument['unknown']}")
    count = int(np.prod(argument["shape"]))
    stated = argument["values"] or [1 + (i * i + seed * (i // 2) + salt * (i + 1)) % 13 for i in range(97)]
    values = np.fromiter(itertools.islice(itertools.cycle(stated), count), "float64", count)
    return framework.array(values.reshape(argument["shape"]), argument["dtype"], argument["cpu"])


def arguments(framework: Any, example: Dict[str, Any], salt: int) -> List[Any]:
    return [make(framework, one, salt, 7 * i) for i, one in enumerate(example["arguments"])]


def tensors_of(arguments: Any) -> List[Any]:
    if isinstance(arguments, (list, tuple)):
        return [tensor for each in arguments for tensor in tensors_of(each)]
    return [arguments] if hasattr(arguments, "__dlpack__") else []


def check_on_a_side_stream(framework: Any, op: Callable[..., Any], example: Dict[str, Any]) -> None:
    """New inputs come late in the stream: an op that does not wait for them gives something else."""
    wanted, late, new = (arguments(framework, example, salt) for salt in (1, 0, 1))
    result = op(*wanted)
    framework.wait()
    expected = [framework.numbers(each) for each in tensors_of([wanted, result])]
    op(*late)  # has loaded the kernel
    framework.wait()

    def work() -> Any:
        for to, source in zip(tensors_of(late), tensors_of(new)):
            framework.copy(to, source)
        return op(*late)

    result, is_busy = framework.on_a_busy_stream(work)
    framework.wait()
    assert is_busy, f"{example['op']} waited for its stream"
    for got, want in zip(tensors_of([late, result]), expected):
        np.testing.assert_allclose(framework.numbers(got), want, rtol=1e-3, err_msg=(
            f"{example['op']}: its work did not run in order on the framework's stream"))  # fmt: skip
