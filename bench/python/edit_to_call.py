# SPDX-License-Identifier: Apache-2.0
"""Time from an edited file to its first call in the same process, with tvm_ffi's own loader: load() for a file of
kernkit, load_inline() for the same kernel with tvm-ffi's headers. Every measurement starts with an empty build folder.
"kernkit" uses precompiled cold code of the SDK, as in docs/edit-to-call.md; "kernkit-alone" compiles all code. A CUDA
file is called with CPU tensors, which it rejects, so no GPU is necessary.

"""

import os
import pathlib
import tempfile
import time

import numpy as np
import tvm_ffi.cpp
from rows import ROOT, Rows

HEADERS = {"extra_include_paths": [str(ROOT / "sdk/include")]}
WITHOUT_COLD = {**HEADERS, "extra_cflags": ["-DKERNKIT_COMPILED", "-fvisibility=hidden"]}


def edited(path):
    """Returns the text of a file with an additional line that no earlier build had."""
    return path.read_text() + f"\n// edited at {time.time_ns()}\n"


def by_load(kind, folder, **options):
    file = folder / f"leaky_relu.{kind}"
    file.write_text(edited(ROOT / f"docs/examples/leaky_relu.{kind}"))
    files = {"cpp_files" if kind == "cc" else "cuda_files": str(file)}
    start = time.perf_counter_ns()
    lib = tvm_ffi.cpp.load(
        "leaky_relu", **files, **(options or HEADERS), build_directory=str(folder / "build")
    )
    return start, lib


def by_load_with_cold(kind, folder):
    cold = tvm_ffi.cpp.build(
        "kernkit", cpp_files=str(ROOT / "sdk/src/kernkit.cc"), output="kernkit.o", **WITHOUT_COLD,
        build_directory=str(folder / "cold"),
    )  # fmt: skip
    return by_load(kind, folder, **WITHOUT_COLD, extra_ldflags=[cold])


def by_load_inline(kind, folder):
    text = edited(ROOT / f"bench/peers/leaky_relu_inline.{kind}")
    sources = {"cpp_sources" if kind == "cc" else "cuda_sources": text}
    start = time.perf_counter_ns()
    lib = tvm_ffi.cpp.load_inline("leaky_relu", **sources, functions="leaky_relu",
                                  build_directory=str(folder / "build"))  # fmt: skip
    return start, lib


def call(lib, kind):
    """Calls leaky_relu, checks the result, and returns the time at which the call returned [ns]."""
    x, y = np.array([-2, 3], "float32"), np.full(2, 77, "float32")
    if kind == "cc":
        lib.leaky_relu(y, x, 0.5)
        now = time.perf_counter_ns()
        assert y.tolist() == [-1, 3]
        return now
    try:
        lib.leaky_relu(y, x, 0.5)
    except (ValueError, RuntimeError):
        return time.perf_counter_ns()
    raise AssertionError("the CUDA op accepted CPU tensors")


def sample(rows, name, load, kind):
    """Returns the time from the edit to the end of the call [ns]. None if the file cannot be compiled; the row then has
    the reason."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            start, lib = load(kind, pathlib.Path(folder))
        except RuntimeError as error:
            if kind == "cu" and "CUDA" in str(error) and "nvcc" not in str(error):
                rows.skip(name, "no CUDA toolkit was found")
            else:
                rows.fail(name, str(error)[-300:])
            return None
        return call(lib, kind) - start


def main():
    os.environ.setdefault("TVM_FFI_CUDA_ARCH_LIST", "9.0")
    with Rows(__doc__) as rows:
        for kind, device, repetitions, loaders in (
            ("cc", "CPU", 3, {"kernkit": by_load_with_cold, "kernkit-alone": by_load}),
            ("cu", "CUDA", 1, {"kernkit": by_load}),
        ):
            samples = {}
            for _ in range(repetitions):
                for implementation, load in {**loaders, "load_inline": by_load_inline}.items():
                    name = f"from edit to call/{device}/{implementation}"
                    if rows.wants(name) and None not in samples.setdefault(name, []):
                        samples[name].append(sample(rows, name, load, kind))
            for name, times in samples.items():
                if None not in times:
                    rows.add(name, times)


if __name__ == "__main__":
    main()
