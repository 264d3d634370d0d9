# SPDX-License-Identifier: Apache-2.0
"""Frameworks on a GPU, with a common interface for tests that call an op on a stream other than the
default stream."""

import itertools
from typing import Any, Callable, Dict, Iterator, List

import numpy as np
import pytest

from ..parsed_line import read_op

SPIN_CYCLES = 200_000_000  # duration of the kernel spin [clock cycles], about a tenth of a second
SPIN = ('extern "C" __global__ void spin(long long n) {'
        " const long long start = clock64(); while (clock64() - start < n) {} }")  # fmt: skip


def framework(name: str) -> Any:
    """Returns the module of the framework "torch", "cupy" or "jax". Skips the test if the framework is not installed or
    finds no GPU."""
    module = pytest.importorskip(name)
    try:
        frameworks = {
            "torch": lambda: module.cuda.is_available(),
            "cupy": lambda: module.cuda.runtime.getDeviceCount() > 0,
            "jax": lambda: any(device.platform == "gpu" for device in module.devices()),
        }[name]()
    except Exception as error:  # each framework raises its own exception without a driver
        pytest.skip(f"{name} finds no CUDA device: {error}")
    if not frameworks:
        pytest.skip(f"{name} finds no CUDA device")
    return module


class Framework:
    def bound(self, op: Callable[..., Any], example: Dict[str, Any]) -> Callable[..., Any]:
        """Returns a function that calls the op with this framework's tensors."""
        return op


class Torch(Framework):
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
        """Calls work() on a stream that is busy. Returns (result of work(), whether the stream was still busy when
        work() returned)."""
        stream = self.torch.cuda.Stream()
        with self.torch.cuda.stream(stream):
            self.torch.cuda._sleep(SPIN_CYCLES)
            result = work()
            return result, not stream.query()


class CuPy(Framework):
    """The framework CuPy. CuPy does not pass its current stream to tvm_ffi, so on_a_busy_stream() passes the stream."""

    def __init__(self) -> None:
        self.cupy = framework("cupy")

    def array(self, values: "np.ndarray", dtype: str, on_cpu: bool) -> Any:
        try:
            converted = values.astype(dtype)
        except TypeError:
            pytest.skip(f"cupy has no {dtype}")
        return converted if on_cpu else self.cupy.asarray(converted)

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


class Box:
    """Holds a tensor that an op writes. A JAX array is immutable, so each write stores a new array in `value`."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __dlpack__(self) -> Any:
        return self.value.__dlpack__()


class Jax(Framework):
    """The framework JAX, which runs all work in order on its own streams. An op is called as a custom call of XLA."""

    def __init__(self, jax: Any = None, platform: str = "gpu", size: int = 4096) -> None:
        self.jax, self.platform = jax or framework("jax"), platform
        jnp = self.jax.numpy
        # Each iteration multiplies two matrices of ones and divides the product by `size`, which gives a matrix of ones
        # again. The loop takes about a tenth of a second.
        self.spin = self.jax.jit(lambda x: self.jax.lax.fori_loop(0, 100, lambda i, y: y @ x / size, x))
        self.after = self.jax.jit(lambda x, busy: jnp.where(busy[0, 0] > 0, x, jnp.zeros_like(x)))
        self.ones = jnp.ones((size, size), "float32")
        self.busy = self.spin(self.ones)

    def array(self, values: "np.ndarray", dtype: str, on_cpu: bool) -> Any:
        if on_cpu and self.platform == "gpu":
            pytest.skip("jax cannot pass a tensor on the CPU to an op on a GPU")
        if not hasattr(self.jax.numpy, dtype):
            pytest.skip(f"jax has no {dtype}")
        converted = self.jax.numpy.asarray(values, getattr(self.jax.numpy, dtype))
        if str(converted.dtype) != dtype:
            pytest.skip(f"jax has no {dtype} unless JAX_ENABLE_X64=1")
        return Box(self.after(converted, self.busy))  # compiles the function

    def numbers(self, array: Any) -> "np.ndarray":
        return np.asarray(array.value).astype("float64")

    def copy(self, to: Box, source: Box) -> None:
        to.value = self.after(source.value, self.busy)

    def wait(self) -> None:
        self.busy.block_until_ready()

    def on_a_busy_stream(self, work: Callable[[], Any]) -> Any:
        self.busy = self.spin(self.ones)
        result = work()
        return result, not self.busy.is_ready()

    def bound(self, op: Callable[..., Any], example: Dict[str, Any]) -> Callable[..., Any]:
        """Returns a function that calls the op as a custom call of XLA. The arguments of the custom call are all
        tensors; its results are the written tensors, in the same memory."""
        jax_tvm_ffi = pytest.importorskip("jax_tvm_ffi")
        import tvm_ffi

        line = read_op(example["op"], example["op"] + example["schema"], example["parsed"])
        if any(result.type == "Tensor" for result in line.results):
            pytest.skip("jax has no allocator for an op that returns a tensor")
        written = [value.is_written for argument, value in zip(example["arguments"], line.parameters)
                   for _ in stated_tensors(argument)]  # fmt: skip
        aliases = {position: i for i, position in enumerate(position for position, is_written in enumerate(written) if is_written)}
        name = f"kernkit.{example['op']}.{id(op)}"

        def call_op(*passed: Any) -> None:
            tensors = list(passed[: len(written)])
            for position, i in aliases.items():
                tensors[position] = passed[len(written) + i]
            remaining = iter(tensors)
            op(*(filled(argument, remaining) for argument in example["arguments"]))

        jax_tvm_ffi.register_ffi_target(name, tvm_ffi.convert(call_op), platform=self.platform, pass_owned_tensor=True)

        @self.jax.jit
        def run(*values: Any) -> Any:
            results = [self.jax.ShapeDtypeStruct(values[position].shape, values[position].dtype) for position in aliases]
            return self.jax.ffi.ffi_call(name, results, has_side_effect=True, input_output_aliases=aliases)(*values)

        def call(*passed: Any) -> None:
            boxes = tensors_of(passed)
            for position, value in zip(aliases, run(*(box.value for box in boxes))):
                boxes[position].value = value

        return call


def stated_tensors(argument: Any) -> List[Any]:
    """Returns the descriptions of all tensors in an argument of an example (see testing/contract/example_json.h)."""
    if isinstance(argument, list):
        return [tensor for each in argument for tensor in stated_tensors(each)]
    return [argument] if isinstance(argument, dict) else []


def filled(argument: Any, tensors: Iterator[Any]) -> Any:
    """Returns the argument of an example with each description of a tensor replaced by the next tensor of `tensors`."""
    if isinstance(argument, list):
        return [filled(each, tensors) for each in argument]
    return next(tensors) if isinstance(argument, dict) else argument


def make(framework: Any, argument: Any, salt: int, seed: int) -> Any:
    """Returns an argument of an example (see testing/contract/example_json.h) with arrays of the framework. An array
    has the values of the example or, if the example has no values, integers from 1 to 13 that depend on `salt` and
    `seed`."""
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
    return [make(framework, stated, salt, 7 * i) for i, stated in enumerate(example["arguments"])]


def tensors_of(arguments: Any) -> List[Any]:
    if isinstance(arguments, (list, tuple)):
        return [tensor for each in arguments for tensor in tensors_of(each)]
    return [arguments] if hasattr(arguments, "__dlpack__") else []


def check_on_a_side_stream(framework: Any, op: Callable[..., Any], example: Dict[str, Any]) -> None:
    """Calls an op on a busy stream, after copies into the op's inputs. Asserts that the call does not wait for the
    stream, and that the op reads its inputs after the copies."""
    early, late, new = (arguments(framework, example, salt) for salt in (1, 0, 1))
    op = framework.bound(op, example)
    result = op(*early)
    framework.wait()
    expected = [framework.numbers(value) for value in tensors_of([early, result])]
    op(*late)  # loads the kernel
    framework.wait()

    def work() -> Any:
        for to, source in zip(tensors_of(late), tensors_of(new)):
            framework.copy(to, source)
        return op(*late)

    result, is_busy = framework.on_a_busy_stream(work)
    framework.wait()
    assert is_busy, f"{example['op']} waited for its stream"
    stated = [*stated_tensors(example["arguments"]), *({} for _ in tensors_of(result))]
    for got, reference, properties in zip(tensors_of([late, result]), expected, stated):
        if properties.get("scratch"):  # padding bytes
            continue
        np.testing.assert_allclose(framework.numbers(got), reference, rtol=1e-3, err_msg=(
            f"{example['op']}: the op's work did not run in order on the framework's stream"))  # fmt: skip
