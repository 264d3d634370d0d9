# SPDX-License-Identifier: Apache-2.0
"""python tests/project/real_kernels FOLDER [PART OF A NAME...]: runs the kernels of the libraries in the
folder, FOLDER/cub.so and others, and prints for each whether its results are correct, then the SHA-256 of
all results. With --names: prints the names only."""

import ctypes
import os
import pathlib
import sys
import traceback

import device
import flashinfer_attention  # noqa: F401
import flashinfer_kernels  # noqa: F401
import numpy as np
import toolkit  # noqa: F401
import tvm_ffi
from table import TABLE

OF_C = ("attention", "cub", "groups")  # names of the libraries that export C functions


def load(folder, name):
    path = folder / f"{name}.so"
    if not path.exists():
        return None
    return ctypes.CDLL(str(path)) if name in OF_C else tvm_ffi.load_module(str(path))


def main():
    if sys.argv[1:] == ["--names"]:
        return print("\n".join(TABLE))
    folder, expected = pathlib.Path(sys.argv[1]), sys.argv[2:]
    libraries = {name: load(folder, name) for name in {library for library, _ in TABLE.values()}}
    failed = False
    for name, (library, function) in TABLE.items():
        if libraries[library] is None or (expected and not any(part in name for part in expected)):
            continue
        random = np.random.default_rng([int(os.environ.get("KERNKIT_SEED", 0)), len(name)])
        try:
            function(libraries[library], random)
            print(f"{name}: right", flush=True)
        except Exception:
            failed = True
            print(f"{name}: wrong", flush=True)
            traceback.print_exc()
    print(device.results.hexdigest())
    sys.exit(failed)


if __name__ == "__main__":
    main()
