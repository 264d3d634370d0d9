# SPDX-License-Identifier: Apache-2.0
"""The cost of calling an op through the functions that `kernkit bindings` writes for PyTorch and JAX, compared with the
frameworks' own functions: ratios of medians of 20 interleaved runs in one process, for tensors of one element.

    python bench/python/frameworks.py [torch] [jax]

Exit code 1: a ratio is above its limit. In JAX the comparison is with ten multiplications, which XLA compiles into one
loop, and with ten calls of an op that is registered by hand through jax_tvm_ffi.

"""

import os
import pathlib
import statistics
import sys
import tempfile
import timeit

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS, CALLS = 20, 500
# Pairs of cases that are compared: (measured case, case to compare with, largest ratio of their times).
LIMITS = [
    ("operator of torch", "torch.mul(out=)", 1.0),
    ("operator of torch", "torch's custom_op", 0.3),
    ("plain function", "bare function", 2.5),
    ("compiled graph of ten calls", "compiled graph of ten calls of a custom_op", 0.45),
    ("jit of ten calls", "jit of ten multiplications of jnp", 1.3),
    ("jit of ten calls in place", "jit of ten multiplications of jnp", 1.3),
    ("jit of ten calls", "jit of ten calls of an op registered by hand", 1.0),
]


def package():
    """Returns the package `shaped` of tests/interop. Writes the package first if it cannot be imported."""
    try:
        import shaped
    except ImportError:
        folder = tempfile.mkdtemp()
        sys.path[:0] = [folder, *(str(ROOT / part) for part in ("tests/interop", "sdk/python"))]
        import packages

        packages.write_shaped(ROOT, pathlib.Path(folder))
        import shaped
    return shaped


def of_torch(shaped):
    import torch

    import shaped.torch  # noqa: F401

    torch.set_num_threads(1)
    op, bare = torch.ops.shaped.scale.default, shaped._ops._scale
    custom = torch.library.custom_op("peer::scale", lambda y, x, factor: bare(y, x, factor), mutates_args=("y",),
                                     schema="(Tensor(a!) y, Tensor x, float factor) -> ()")  # fmt: skip
    x, y = torch.randn(1), torch.empty(1)

    def ten(scale):
        def run(y, x):
            for _ in range(5):
                scale(y, x, 2.0)
                scale(x, y, 0.5)

        graph = torch.compile(run, fullgraph=True)
        return lambda: graph(y, x)

    return {
        "torch.mul(out=)": lambda: torch.mul(x, 2.0, out=y), "torch's custom_op": lambda: custom(y, x, 2.0),
        "bare function": lambda: bare(y, x, 2.0), "plain function": lambda: shaped.scale(y, x, 2.0),
        "operator of torch": lambda: op(y, x, 2.0),
        "compiled graph of ten calls": ten(op), "compiled graph of ten calls of a custom_op": ten(custom),
    }  # fmt: skip


def of_jax(shaped):
    import jax
    import jax_tvm_ffi
    import shaped.jax as ops
    import tvm_ffi

    library = pathlib.Path(shaped.__file__).with_name("libshaped.so")
    scale = tvm_ffi.load_module(str(library)).get_function("scale")
    jax_tvm_ffi.register_ffi_target("peer.scale", scale, ["rets", "args", "attrs.factor"], platform="cpu")
    x = jax.numpy.ones(1)

    def by_hand(x):
        return jax.ffi.ffi_call("peer.scale", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, factor=2.0)

    def ten(scale):
        def run(x):
            for _ in range(10):
                x = scale(x)
            return x

        compiled = jax.jit(run)
        return lambda: compiled(x).block_until_ready()

    return {
        "jit of ten calls": ten(lambda x: ops.scale(x, 2.0)), "jit of ten calls in place": ten(lambda x: ops.scale_(x, 2.0)),
        "jit of ten calls of an op registered by hand": ten(by_hand),
        "jit of ten multiplications of jnp": ten(lambda x: x * 2.0),
    }  # fmt: skip


def medians(cases):
    """Returns {case: median time of a call [s]}; the cases take turns."""
    for call in cases.values():
        call()
    runs = {name: [] for name in cases}
    for _ in range(RUNS):
        for name, call in cases.items():
            runs[name].append(timeit.timeit(call, number=CALLS) / CALLS)
    return {name: statistics.median(times) for name, times in runs.items()}


def main():
    requested = sys.argv[1:] or ["torch", "jax"]
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    shaped, worst = package(), 0.0
    for framework, cases in (("torch", of_torch), ("jax", of_jax)):
        if framework not in requested:
            continue
        times = medians(cases(shaped))
        for name, seconds in times.items():
            print(f"{name}: {1e6 * seconds:.2f} us")
        for measured, peer, most in LIMITS:
            if measured in times and peer in times:
                ratio = times[measured] / times[peer]
                worst = max(worst, ratio / most)
                print(f"{measured} / {peer}: {ratio:.2f}, at most {most}")
    return worst > 1


if __name__ == "__main__":
    sys.exit(main())
