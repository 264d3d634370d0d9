# SPDX-License-Identifier: Apache-2.0
"""Connects cuda-bindings with kernkit's CUDA runtime. The package cuda-bindings links NVIDIA's runtime statically and
without a symbol table, so the simulator cannot redirect the functions of that runtime. The Cython modules of the
package find the functions through the capsules in `__pyx_capi__`, and this module replaces the pointers in the
capsules. This module uses Python's standard library only, since kernkit need not be installed in the environment of the
program."""

import ctypes

RUNTIME = "libcudart.so.13"  # name of kernkit's runtime, which LD_PRELOAD has loaded
# Suffixes of the variants of functions for per-thread default streams; "" for functions without such a variant.
SUFFIXES = ("_ptsz", "_ptds", "")


def start(module):
    """Replaces the functions in `module`, which is cuda.bindings._internal.runtime or runtime_ptds, before another
    module reads them. Functions that kernkit's runtime lacks stay unchanged."""
    runtime = ctypes.CDLL(RUNTIME)
    set_pointer = ctypes.pythonapi.PyCapsule_SetPointer
    set_pointer.argtypes = [ctypes.py_object, ctypes.c_void_p]
    suffixes = SUFFIXES if module.__name__.endswith("_ptds") else ("",)
    for name, capsule in module.__pyx_capi__.items():
        names = [name[1:] + suffix for suffix in suffixes] if name.startswith("_cuda") else []
        function = next((getattr(runtime, name) for name in names if hasattr(runtime, name)), None)
        if function is not None:
            set_pointer(capsule, ctypes.cast(function, ctypes.c_void_p))
