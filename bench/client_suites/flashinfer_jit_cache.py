# SPDX-License-Identifier: Apache-2.0
"""Replaces the package flashinfer_jit_cache, in which FlashInfer searches for compiled modules: FlashInfer then loads
the modules in the cache of `kernkit run`. FlashInfer's tests do not compile all modules of a file in advance if this
package exists. With FLASHINFER_DISABLE_JIT=1, a test that requires a further module is skipped."""

import importlib.metadata

__version__ = importlib.metadata.version("flashinfer-python")


def get_jit_cache_dir():
    """Returns the folder in which FlashInfer keeps the modules that it compiles for the devices of this process."""
    from flashinfer.compilation_context import CompilationContext
    from flashinfer.jit.env import FLASHINFER_CACHE_DIR  # set before flashinfer.jit.env calls this function

    architecture = "_".join(f"{major}{minor}" for major, minor in sorted(CompilationContext().TARGET_CUDA_ARCHS))
    return str(FLASHINFER_CACHE_DIR / __version__ / architecture / "cached_ops")
