# SPDX-License-Identifier: Apache-2.0
"""The largest errors of row kernels on the CPU, of kernkit and of eager PyTorch, as a table for docs/rows-and-math.md.

The exact result is computed in float64 from the same rounded inputs; for float64 in the 64-bit mantissa of x87. PyTorch
has no rms_norm for float8; the comparison is with the usual code: F.rms_norm, the largest magnitude and a division. The
error of a result that is normal in the dtype is in units in the last place (of the dtype, at the exact result); the
error of a subnormal result is absolute. Inputs: 64 rows of 4096 and 64 rows of 1000; x and r from N(0, 1) and from
N(3, 10), weight and bias from N(0, 1), seed 1.

An error in units in the last place is large where terms cancel: at the mean of a row, with a bias, in gelu of a
negative number.

"""

import math

from rows import ROOT

LIBRARY = ROOT / "build/release/lib/libkernkit_row_kernels.so"
DTYPES = ["float64", "float32", "float16", "bfloat16"]
OPS = {
    "rms_norm": ("F.rms_norm(x, (d,), w, 1e-6)", "lib.rms_norm(y, x, w, 1e-6)"),
    "fused_add_rms_norm": ("F.rms_norm(x + r, (d,), w, 1e-6)", "lib.fused_add_rms_norm(y, s, x, r, w, 1e-6)"),
    "layer_norm": ("F.layer_norm(x, (d,), w, b, 1e-5)", "lib.layer_norm(y, x, w, b, 1e-5)"),
    "layer_norm, no bias": ("F.layer_norm(x, (d,), w, None, 1e-5)", "lib.layer_norm(y, x, w, None, 1e-5)"),
    "softmax": ("torch.softmax(x, -1)", "lib.softmax(y, x)"),
    "gelu_and_mul": ("F.gelu(x) * r", "lib.gelu_and_mul(y, torch.cat([x, r], -1))"),
}
# Formulas for the exact results of float64 in NumPy's widest float; PyTorch has no type wider than float64.
WIDE = {
    "rms_norm": "x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w",
    "fused_add_rms_norm": "(x + r) / np.sqrt(((x + r) ** 2).mean(-1, keepdims=True) + 1e-6) * w",
    "layer_norm": "centred(x) / np.sqrt((centred(x) ** 2).mean(-1, keepdims=True) + 1e-5) * w + b",
    "layer_norm, no bias": "centred(x) / np.sqrt((centred(x) ** 2).mean(-1, keepdims=True) + 1e-5) * w",
    "softmax": "np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)",
}  # fmt: skip


def errors(torch, got, exact):
    """Returns (largest error of normal results [ulp], largest absolute error of subnormal results)."""
    kind = torch.finfo(got.dtype)
    off, size = (got.double() - exact).abs(), exact.abs()
    # The ulp of 1 is eps, and the mantissa of frexp is at least 0.5.
    ulp = torch.ldexp(torch.full_like(size, kind.eps), torch.frexp(size)[1] - 1)
    normal = size >= kind.smallest_normal
    worst = (off / ulp)[normal].max().item()
    return worst, off[~normal].max().item() if (~normal).any() else 0.0


def errors_of_float64(np, got, exact):
    """Returns the errors of a float64 array in the form of errors(). `exact` has a wider type."""
    off, size = np.abs(got - exact), np.abs(exact).astype("float64")
    normal = size >= np.finfo("float64").smallest_normal
    worst = float((off / np.spacing(size))[normal].max())
    return worst, 0.0 if normal.all() else float(off[~normal].max())


def inputs(torch, dtype):
    """Yields, for each row length and distribution, the variables that the statements read and write."""
    kind = getattr(torch, dtype)
    drawn = torch.float64 if dtype == "float64" else torch.float32
    torch.manual_seed(1)
    for d in (4096, 1000):
        for mean, deviation in ((0, 1), (3, 10)):
            names = {"torch": torch, "F": torch.nn.functional, "d": d}
            names |= {name: (torch.randn(64, d, dtype=drawn) * deviation + mean).to(kind) for name in "xr"}
            names |= {name: torch.randn(d, dtype=drawn).to(kind) for name in "wb"}
            yield names | {name: torch.full((64, d), 77.0).to(kind) for name in "ys"}


def greatest(greatest_errors, op, pair):
    old = greatest_errors.get(op, ((0.0, 0.0), (0.0, 0.0)))
    greatest_errors[op] = tuple(tuple(map(max, before, new)) for before, new in zip(old, pair))


def measure(torch, lib, dtype):
    """Returns {op: (kernkit's errors, PyTorch's errors)} in the form of errors()."""
    import numpy as np

    greatest_errors = {}
    for names in inputs(torch, dtype):
        names["lib"] = lib
        exact = {name: names[name].double() for name in "xrwb"}
        wide = {name: tensor.numpy().astype(np.longdouble) for name, tensor in exact.items()}
        wide |= {"np": np, "centred": lambda x: x - x.mean(-1, keepdims=True)}
        for op, (peer_statement, statement) in OPS.items():
            if dtype == "float64" and op not in WIDE:
                continue
            exec(statement, names)
            peer = eval(peer_statement, names)
            if dtype == "float64":
                expected = eval(WIDE[op], wide)
                pair = tuple(errors_of_float64(np, got.numpy(), expected) for got in (names["y"], peer))
            else:
                expected = eval(peer_statement, names | exact)
                pair = errors(torch, names["y"], expected), errors(torch, peer, expected)
            greatest(greatest_errors, op, pair)
    return greatest_errors


def measure_fp8(torch, lib, dtype):
    """Returns the errors of rms_norm_fp8's output, divided by its scale, and the errors of the scale."""
    greatest_errors, fp8 = {}, torch.float8_e4m3fn

    def quantized(norm):
        scale = (norm.abs().amax(-1) / 448).clamp(min=1 / (448 * 512))
        return norm / scale[:, None], scale

    for names in inputs(torch, dtype):
        x, w, d = names["x"], names["w"], (names["d"],)
        expected, expected_scale = quantized(torch.nn.functional.rms_norm(x.double(), d, w.double(), 1e-6))
        y, scale = torch.zeros(x.shape, dtype=fp8), torch.zeros(64)
        lib.rms_norm_fp8(y, scale, x, w, 1e-6)
        peer_output, peer_scale = quantized(torch.nn.functional.rms_norm(x, d, w, 1e-6).float())
        pair = (errors(torch, y, expected), errors(torch, peer_output.to(fp8), expected))
        greatest(greatest_errors, "rms_norm_fp8", pair)
        greatest(greatest_errors, "scale of rms_norm_fp8",
                 (errors(torch, scale, expected_scale), errors(torch, peer_scale, expected_scale)))  # fmt: skip
    return greatest_errors


def shown(error):
    ulp, absolute = error
    text = f"{ulp:.2f}" if ulp < 10 else f"{ulp:.0f}" if ulp < 1e5 else f"{ulp:.1e}"
    return text + (f"; {absolute:.1e}" if absolute and math.isfinite(absolute) else "")


def main():
    import torch
    import tvm_ffi

    lib = tvm_ffi.load_module(str(LIBRARY))
    print("| greatest error, ulp; absolute below the normal numbers | kernkit | PyTorch |")
    print("|---|---|---|")
    for dtype in DTYPES:
        for op, (error, peer_error) in measure(torch, lib, dtype).items():
            print(f"| {op}, {dtype} | {shown(error)} | {shown(peer_error)} |")
    for dtype in DTYPES[1:]:
        for op, (error, peer_error) in measure_fp8(torch, lib, dtype).items():
            print(f"| {op}, {dtype} | {shown(error)} | {shown(peer_error)} |")


if __name__ == "__main__":
    main()
