# SPDX-License-Identifier: Apache-2.0
"""The parts of the SDK: which files each has, and whether a library's copy holds them.

What no part has is the core: from the ABI to export, with the loops of elements and CMake. It
includes nothing of a part. Patterns are paths below sdk/, where * stands for any characters, / as
well; a file belongs to the first part that names it. The template's hook loads this file, after seal.py.
"""

import fnmatch
import os
from typing import Dict, Iterable, List, NamedTuple, Tuple

try:
    from .seal import files_below
except ImportError:  # in the template's hook
    from seal import files_below  # type: ignore

ALWAYS, ASKED, NEVER = "always", "asked", "never"


class Part(NamedTuple):
    name: str
    taken: str  # by a library's copy: ALWAYS, when ASKED for (--with), NEVER
    what: str
    patterns: Tuple[str, ...]


PARTS: Tuple[Part, ...] = (
    Part("rows", ALWAYS, "vector math and loops of rows, which the template's kernel uses; AVX512_BF16",
         ("include/kernkit/math*", "include/kernkit/cpu/avx512_bf16.h", "include/kernkit/cpu/exp_log.h", "include/kernkit/cpu/reduction.h",
          "include/kernkit/c*/row*", "include/kernkit/cuda/block_reduce.cuh",
          "include/kernkit/testing/contract/row_rules.h", "python/kernkit/ops/kinds/row/*")),
    Part("ptx", ASKED, "CUDA on the CPU for what nvcc compiled",
         ("simulator/ptx/*", "simulator/tools/*", "simulator/libcudart/*", "cmake/KernkitSimulatorPtx.cmake", "simulator/include/kernkit/simulator/counters.h",
          "simulator/include/kernkit/simulator/*check.h",
          "python/kernkit/run.py", "python/kernkit/runtime.py", "python/kernkit/counters.py", "python/kernkit/counting/*", "python/kernkit/sanitize.py")),
    Part("gpu", ASKED, "./kk gpu: tests and benchmarks on a GPU",
         ("cmake/KernkitGpu.cmake", "include/kernkit/testing/backends/gpu*", "include/kernkit/testing/hold.h",
          "include/kernkit/testing/contract/gpu_rules.h", "include/kernkit/testing/contract/example_json.h", "python/kernkit/gpu.py", "python/kernkit/on_gpu/*", "python/kernkit/driver/gpu.py")),
    Part("tvm_ffi_compat", ASKED, "headers under tvm-ffi's names, and what only they need",
         ("tvm_ffi_compat/*", "include/kernkit/call/array.h", "include/kernkit/call/export_typed.h",
          "include/kernkit/call/tuple_argument.h", "include/kernkit/call/typed_line.h",
          "include/kernkit/errors/streamable.h")),
    Part("frameworks", ASKED, "shapes in schema lines, from which torch operators and JAX functions come",
         ("include/kernkit/shapes/*", "include/kernkit/cuda/impl/xla_results.h", "include/kernkit/abi/xla.h", "include/kernkit/testing/line.h",
          "python/kernkit/frameworks/*")),
    Part("c_callers", ASKED, "tensors as arguments and results, for callers in C",
         ("include/kernkit/abi/any_tensor.h",)),
    Part("scratch", ASKED, "scratch of a call, from its caller or the caller's framework",
         ("include/kernkit/call/scratch.h",)),
    Part("aarch64", ASKED, "./kk test --arch aarch64, by a cross compiler and under qemu", ("cmake/aarch64*",)),
    Part("plots", ASKED, "pictures of benchmarks, for `kernkit report`",
         ("python/kernkit/benchmarks/plots.py",)),
    Part("simulator", ALWAYS, "CUDA on the CPU, for tests",
         ("simulator/*", "cmake/KernkitSimulator.cmake", "cmake/compile_on_cpu.sh")),
    Part("testing", ALWAYS, "test tensors, references, contract tests, benchmarks",
         ("include/kernkit/testing/*", "src/testing/*", "cmake/KernkitTests.cmake")),
    Part("host", ALWAYS, "a host in C++", ("include/kernkit/host/*", "src/host/*")),
    Part("starting", NEVER, "what starts a library; what an installed kernkit and its repository need",
         ("python/kernkit/driver/repository.py", "python/kernkit/new.py", "python/kernkit/update.py", "python/kernkit/cmakedir.py",
          "python/kernkit/env.py",
          "python/kernkit/library/former_names.py", "python/kernkit/library/rendering.py", "python/kernkit/library/rendered.py", "python/kernkit/library/parts.py",
          "python/kernkit/benchmarks/summary.py", "cmake/wheel/*", "cmake/KernkitInstall.cmake", "cmake/kernkitConfig.cmake")),
    Part("command_line", ALWAYS, "the command line", ("python/*",)),
    Part("bindings", ALWAYS, "the Python package of a library", ("cmake/KernkitPackage.cmake",)),
)  # fmt: skip
CORE = "core"


def part_of(path: str) -> str:
    """The name of the part that has the file, or CORE."""
    for part in PARTS:
        if any(fnmatch.fnmatchcase(path, pattern) for pattern in part.patterns):
            return part.name
    return CORE


def sorted_into_parts(paths: Iterable[str]) -> Dict[str, List[str]]:
    """{part: its files among these}."""
    found: Dict[str, List[str]] = {}
    for path in paths:
        found.setdefault(part_of(path), []).append(path)
    return found


def problem(words: str, folder: str) -> str:
    """What is wrong with a list as in "plots,ptx", for the SDK in `folder`: a sentence, or ""."""
    there = sorted_into_parts(files_below(folder))
    known = [part.name for part in PARTS if part.taken == ASKED and part.name in there]
    for word in filter(None, words.split(",")):
        if word not in known:
            return f'there is no part "{word}"; type {", ".join(known) or "none"}'
    return ""


def leave(folder: str, words: str) -> None:
    """Removes from a copy of the SDK what a library with these parts, as in "plots,ptx", leaves."""
    taken = {part.name for part in PARTS if part.taken == ALWAYS} | set(words.split(",")) | {CORE}
    for name, files in sorted_into_parts(files_below(folder)).items():
        if name not in taken:
            for path in files:
                os.remove(os.path.join(folder, path))
    for place, _, _ in os.walk(folder, topdown=False):
        if not os.listdir(place):
            os.rmdir(place)
