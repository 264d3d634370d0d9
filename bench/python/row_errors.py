# SPDX-License-Identifier: Apache-2.0
"""The greatest errors of the kernels of rows on the CPU, ours and eager PyTorch's, as a table for
docs/rows-and-math.md. The exact result is that of the same rounded inputs in float64. A result that is normal
in the dtype counts in units of its last place (of the dtype, at the exact result), another by its absolute
error. Inputs: 64 rows of 4096 and 64 of 1000, x and r of N(0, 1) and of N(3, 10), weight and bias of N(0, 1),
seed 1.

In units of the last place an error is large where terms cancel: at the mean of a row, beside a bias, in gelu of
a negative number.
"""

import math

from rows import ROOT

LIBRARY = ROOT / "build/release/lib/libkernkit_row_kernels.so"
DTYPES = ["float32", "float16", "bfloat16"]
OPS = {
    "rms_norm": ("F.rms_norm(x, (d,), w, 1e-6)", "lib.rms_norm(y, x, w, 1e-6)"),
    "fused_add_rms_norm": ("F.rms_norm(x + r, (d,), w, 1e-6)", "lib.fused_add_rms_norm(y, s, x, r, w, 1e-6)"),
    "layer_norm": ("F.layer_norm(x, (d,), w, b, 1e-5)", "lib.layer_norm(y, x, w, b, 1e-5)"),
    "layer_norm, no bias": ("F.layer_norm(x, (d,), w, None, 1e-5)", "lib.layer_norm(y, x, w, None, 1e-5)"),
    "softmax": ("torch.softmax(x, -1)", "lib.softmax(y, x)"),
    "gelu_and_mul": ("F.gelu(x) * r", "lib.gelu_and_mul(y, torch.cat([x, r], -1))"),
}


def errors(torch, got, exact):
    """(greatest error of normal results in ulp, of others, absolute)"""
    kind = torch.finfo(got.dtype)
    off, size = (got.double() - exact).abs(), exact.abs()
    # An ulp of 1 is eps; frexp's mantissa begins at a half.
    ulp = torch.ldexp(torch.full_like(size, kind.eps), torch.frexp(size)[1] - 1)
    normal = size >= kind.smallest_normal
    worst = (off / ulp)[normal].max().item()
    return worst, off[~normal].max().item() if (~normal).any() else 0.0


def measure(torch, lib, dtype):
    """{op: (ours, PyTorch's)}, each as errors() has it"""
    kind, found = getattr(torch, dtype), {op: ((0.0, 0.0), (0.0, 0.0)) for op in OPS}
    torch.manual_seed(1)
    for d in (4096, 1000):
        for mean, deviation in ((0, 1), (3, 10)):
            names = {"torch": torch, "F": torch.nn.functional, "lib": lib, "d": d}
            names |= {name: (torch.randn(64, d) * deviation + mean).to(kind) for name in "xr"}
            names |= {name: torch.randn(d).to(kind) for name in "wb"}
            names |= {name: torch.full((64, d), 77.0).to(kind) for name in "ys"}
            exact = {name: names[name].double() for name in "xrwb"}
            for op, (theirs, ours) in OPS.items():
                wanted = eval(theirs, names | exact)
                exec(ours, names)
                pair = errors(torch, names["y"], wanted), errors(torch, eval(theirs, names), wanted)
                found[op] = tuple(tuple(map(max, old, new)) for old, new in zip(found[op], pair))
    return found


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
        for op, (ours, theirs) in measure(torch, lib, dtype).items():
            print(f"| {op}, {dtype} | {shown(ours)} | {shown(theirs)} |")


if __name__ == "__main__":
    main()
