# SPDX-License-Identifier: Apache-2.0
"""Connects cuda-bindings with kernkit's CUDA runtime. The package links NVIDIA's runtime statically and without a symbol table, so
that the simulator cannot redirect its functions. Its modules of Cython find the functions of the runtime by the capsules of
`__pyx_capi__`, whose pointers this module replaces. The module uses Python's standard library only: kernkit need not be installed
in the environment of the program."""

import ctypes

RUNTIME = "libcudart.so.13"  # LD_PRELOAD has loaded kernkit's library of this name
SUFFIXES = ("_ptsz", "_ptds", "")  # functions for streams per thread, and functions that have no such variant


def start(module):
    """Replaces the functions of `cuda.bindings._internal.runtime` or `runtime_ptds`, before another module reads them.
    A function that kernkit's runtime lacks is left as it is."""
    runtime = ctypes.CDLL(RUNTIME)
    set_pointer = ctypes.pythonapi.PyCapsule_SetPointer
    set_pointer.argtypes = [ctypes.py_object, ctypes.c_void_p]
    suffixes = SUFFIXES if module.__name__.endswith("_ptds") else ("",)
    for name, capsule in module.__pyx_capi__.items():
        names = [name[1:] + suffix for suffix in suffixes] if name.startswith("_cuda") else []
        function = next((getattr(runtime, name) for name in names if hasattr(runtime, name)), None)
        if function is not None:
            set_pointer(capsule, ctypes.cast(function, ctypes.c_void_p))
