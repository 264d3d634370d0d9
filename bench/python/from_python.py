# SPDX-License-Identifier: Apache-2.0
"""scale and add called from Python, compared with NumPy, PyTorch and JAX, all with their default settings. Rows are
named "from Python/<op>/<dtype>/<implementation>/n:<elements>".

kernkit's ops are called with NumPy arrays, with tensors made of NumPy arrays in advance, with PyTorch's tensors, with
JAX's arrays and a NumPy array for the result, and inside a function under jax.jit. PyTorch's and NumPy's functions
write to `out`; JAX's functions are compiled, and the call waits for the result. With OMP_NUM_THREADS=1 in the
environment the program measures only kernkit and PyTorch, which both read the variable, in rows named "from
Python on one thread/<op>/...".

Additional rows measure the cost of a function that `kernkit bindings` writes, compared with tvm_ffi's function, for one
element.

"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import timeit

import numpy as np
import tvm_ffi
from rows import ROOT, Rows, interleaved

ONE_THREAD = os.environ.get("OMP_NUM_THREADS") == "1"
START = "from Python on one thread" if ONE_THREAD else "from Python"
SIZES = [1 << 14, 1 << 18, 16 << 20] if ONE_THREAD else [1, 1 << 10, 1 << 20, 16 << 20]
DTYPES = ["float32", "float16", "bfloat16"]
FACTOR = 2.0


def has(package):
    return importlib.util.find_spec(package) is not None


LIBRARY = ROOT / "build/release/lib/libkernkit_kernels.so"


def random_values(n, seed):
    """Returns n random integers from 1 to 30 as float32. Sums and doubles of such numbers are exact in every dtype."""
    return np.random.default_rng(seed).integers(1, 31, n).astype("float32")


class Call:
    """A Python statement that writes to y or makes a new result. result() returns the result as float32."""

    def __init__(self, statement, result, **names):
        self.statement, self.result, self.names = statement, result, names

    def is_right(self, expected):
        if "y" in self.names:
            self.names["y"][:] = 77  # a value that is neither a sum nor a double of the inputs
        exec(self.statement, self.names)
        return np.array_equal(self.result(), expected)


def numpy_calls(lib, op, dtype, a, b):
    """Returns {implementation: Call} for NumPy's arrays, as torch_calls() and jax_calls() do for other frameworks."""
    if dtype == "bfloat16":
        if not has("ml_dtypes"):
            return {}
        from ml_dtypes import bfloat16 as kind
    else:
        kind = np.dtype(dtype).type
    x, z, y = a.astype(kind), b.astype(kind), np.full(len(a), 77, kind)
    names = {"np": np, "lib": lib, "x": x, "z": z, "y": y, "factor": kind(FACTOR)}
    result = lambda: y.astype("float32")
    scale = "np.multiply(x, 2.0, out=y)" if dtype != "bfloat16" else "np.multiply(x, factor, out=y)"
    calls = {"numpy": Call(scale if op == "scale" else "np.add(x, z, out=y)", result, **names)}
    if dtype != "bfloat16":  # NumPy exports no bfloat16
        statement = "lib.scale(y, x, 2.0)" if op == "scale" else "lib.add(y, x, z)"
        calls["kernkit-numpy"] = Call(statement, result, **names)
        tensors = {"k" + name: tvm_ffi.from_dlpack(names[name]) for name in "xyz"}
        statement = "lib.scale(ky, kx, 2.0)" if op == "scale" else "lib.add(ky, kx, kz)"
        calls["kernkit-numpy-kept"] = Call(statement, result, **names, **tensors)
    return calls


def torch_calls(lib, op, dtype, a, b):
    import torch

    kind = getattr(torch, dtype)
    x, z = torch.from_numpy(a).to(kind), torch.from_numpy(b).to(kind)
    y = torch.full_like(x, 77)
    names = {"torch": torch, "lib": lib, "x": x, "z": z, "y": y}
    peer = "torch.mul(x, 2.0, out=y)" if op == "scale" else "torch.add(x, z, out=y)"
    statement = "lib.scale(y, x, 2.0)" if op == "scale" else "lib.add(y, x, z)"
    result = lambda: y.float().numpy()
    return {"torch": Call(peer, result, **names), "kernkit-torch": Call(statement, result, **names)}


def jax_calls(lib, op, dtype, a, b):
    import jax

    x, z = jax.numpy.asarray(a, dtype), jax.numpy.asarray(b, dtype)
    args = "x" if op == "scale" else "x, z"
    names = {"x": x, "z": z}

    def compiled(function):
        wait = f"f({args}).block_until_ready()"
        return Call(wait, lambda: np.asarray(eval(wait, {"f": function, **names}), "float32"),
                    f=function, **names)  # fmt: skip

    calls = {"jax": compiled(jax.jit(lambda x: x * FACTOR) if op == "scale" else jax.jit(jax.numpy.add))}
    if has("jax_tvm_ffi"):
        out = jax.ShapeDtypeStruct(x.shape, x.dtype)
        options = {"factor": FACTOR} if op == "scale" else {}
        call = lambda *args: jax.ffi.ffi_call(f"kernkit.{op}", out)(*args, **options)
        calls["kernkit-jax-jit"] = compiled(jax.jit(call))
    if dtype != "bfloat16":
        y = np.full(len(a), 77, dtype)
        into = "lib.scale(y, x, 2.0)" if op == "scale" else "lib.add(y, x, z)"
        calls["kernkit-jax"] = Call(into, lambda: y.astype("float32"), lib=lib, y=y, **names)
    return calls


def register_with_jax(lib):
    import jax_tvm_ffi

    for op, args in (("scale", ["rets", "args", "attrs.factor"]), ("add", ["rets", "args"])):
        jax_tvm_ffi.register_ffi_target(f"kernkit.{op}", getattr(lib, op), args, platform="cpu")


def measure(rows, lib, makers, op, dtype, n):
    start = f"{START}/{op}/{dtype}"
    if not rows.wants(f"{start}/n:{n}"):
        return
    a, b = random_values(n, 1), random_values(n, 2)
    expected = a * FACTOR if op == "scale" else a + b
    calls = {}
    for make in makers:
        for implementation, call in make(lib, op, dtype, a, b).items():
            if call.is_right(expected):
                calls[implementation] = timeit.Timer(call.statement, globals=call.names)
            else:
                rows.fail(f"{start}/{implementation}/n:{n}", "the result is wrong")
    time.sleep(0.02)  # waits until the threads that computed the expected results sleep
    times = interleaved(calls, 0.002 if n <= 1 << 14 else 0.02, 9 if n <= 1 << 20 else 3)
    moved = n * (4 if dtype == "float32" else 2) * (2 if op == "scale" else 3)
    for implementation, samples in times.items():
        rows.add(f"{start}/{implementation}/n:{n}", samples, moved=moved)


def generated(folder):
    """Runs `kernkit bindings` for the library, and returns the module that the command writes."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "sdk/python")}
    package = folder / "bound_kernels"
    command = [sys.executable, "-B", "-m", "kernkit", "bindings", LIBRARY, "--package", package.name]
    package.mkdir()
    subprocess.run([*command, "--output", package], env=env, check=True, capture_output=True)
    shutil.copy2(LIBRARY, package)
    spec = importlib.util.spec_from_file_location("bound_kernels", package / "_ops.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure_generated(rows, lib):
    x, y = (tvm_ffi.from_dlpack(array) for array in (random_values(1, 1), random_values(1, 2)))
    with tempfile.TemporaryDirectory() as folder:
        names = {"ours": generated(pathlib.Path(folder)).scale, "bare": lib.scale, "x": x, "y": y}
        for variant, call in (("positional", "ours(y, x, 2.0)"), ("keyword", "ours(y, x, factor=2.0)")):
            name = f"generated Python function/{variant}"
            if rows.wants(name):
                calls = {"kernkit": call, "tvm-ffi": "bare(y, x, 2.0)"}
                timers = {implementation: timeit.Timer(text, globals=names) for implementation, text in calls.items()}
                for implementation, samples in interleaved(timers, 0.002, 9).items():
                    rows.add(f"{name}/{implementation}", samples)


def main():
    with Rows(__doc__) as rows:
        lib, makers = tvm_ffi.load_module(str(LIBRARY)), []
        peers = {"torch": torch_calls}
        if not ONE_THREAD:
            peers.update(numpy=numpy_calls, jax=jax_calls)
        for package, make in peers.items():
            if has(package):
                makers.append(make)
            else:
                rows.skip(f"{START}/{package}", f"{package} is not installed")
        if not ONE_THREAD:
            measure_generated(rows, lib)
            if has("jax") and has("jax_tvm_ffi"):
                register_with_jax(lib)
        for n in SIZES:
            for dtype in DTYPES:
                for op in ("scale", "add"):
                    measure(rows, lib, makers, op, dtype, n)


if __name__ == "__main__":
    main()
