# SPDX-License-Identifier: Apache-2.0
"""FlashInfer imports this module as its package of compiled modules, which then are the modules in the cache of
`kernkit run`. FlashInfer's tests do not compile all modules of a file in advance if the package exists. With
FLASHINFER_DISABLE_JIT=1, a test that requires a further module is skipped."""

import importlib.metadata
import os
import pathlib

__version__ = importlib.metadata.version("flashinfer-python")


def get_jit_cache_dir():
    """Returns the folder in which FlashInfer keeps the modules that it compiles for the devices of this process."""
    from flashinfer.compilation_context import CompilationContext

    architecture = "_".join(f"{major}{minor}" for major, minor in sorted(CompilationContext().TARGET_CUDA_ARCHS))
    base = pathlib.Path(os.environ.get("FLASHINFER_WORKSPACE_BASE") or pathlib.Path.home())
    return str(base / ".cache/flashinfer" / __version__ / architecture / "cached_ops")
