# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs: scale of one element, and a call that is refused, here and in the
peer on tvm-ffi's own headers; and here through the function that `kernkit bindings` writes.
Interleaved in one process; medians.

    python bench/call_from_python.py [build/release/lib]
"""

import importlib.util
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np
import tvm_ffi

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPETITIONS, CALLS = 151, 2000


def arguments():
    """Pairs (y, x) of one element, by the kind of tensor."""
    made = {"numpy": lambda: np.full(1, 3, "float32")}
    made["tvm_ffi"] = lambda: tvm_ffi.from_dlpack(np.full(1, 3, "float32"))
    if importlib.util.find_spec("torch"):
        import torch

        made["torch"] = lambda: torch.full((1,), 3.0)
    return {name: (make(), make()) for name, make in made.items()}


def accepted(function, y, x):
    for _ in range(CALLS):
        function(y, x, 2.0)


def refused(function, y, x):
    for _ in range(CALLS // 20):
        try:
            function(y, x, "2")
        except TypeError:
            pass
        else:
            raise SystemExit("a str was accepted as factor")


def measure(call, functions, y, x):
    """Nanoseconds of one call, by function: the median over interleaved repetitions."""
    calls = CALLS if call is accepted else CALLS // 20
    times = {name: [] for name in functions}
    for _ in range(REPETITIONS):
        for name, function in functions.items():
            start = time.perf_counter_ns()
            call(function, y, x)
            times[name].append((time.perf_counter_ns() - start) / calls)
    return {name: statistics.median(values) for name, values in times.items()}


def bindings(library):
    """The module of Python functions for a library."""
    sys.path.insert(0, str(ROOT / "sdk/python"))
    from kernkit.bindings import source
    from kernkit.schema import read_ops

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "ops.py")
        path.write_text(source("ops", str(library.resolve()), read_ops(library)))
        spec = importlib.util.spec_from_file_location("ops", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def main():
    libraries = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release/lib"
    functions = {
        "kernkit": tvm_ffi.load_module(str(libraries / "libkernkit_kernels.so")).scale,
        "tvm-ffi": tvm_ffi.load_module(str(libraries / "libscale_tvm_ffi.so")).scale,
        "bindings": bindings(libraries / "libkernkit_kernels.so").scale,
    }
    print(f"{'call':<18}{'kernkit':>10}{'tvm-ffi':>10}{'ratio':>8}{'bindings':>12}")
    for kind, (y, x) in arguments().items():
        for function in functions.values():
            function(y, x, 2.0)
            assert float(y[0] if kind != "tvm_ffi" else np.from_dlpack(y)[0]) == 6.0
        for call in (accepted, refused):
            ours, theirs, bound = measure(call, functions, y, x).values()
            print(f"{kind + ' ' + call.__name__:<18}{ours:>7.0f} ns{theirs:>7.0f} ns"
                  f"{ours / theirs:>8.2f}{bound - ours:>+9.0f} ns")  # fmt: skip


if __name__ == "__main__":
    main()
