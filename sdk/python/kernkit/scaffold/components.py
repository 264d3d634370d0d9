# SPDX-License-Identifier: Apache-2.0
"""The components of kernkit: the files of each component, and the components that a library's copy has.

A file of no component belongs to the core: ABI, calls, export, loops over elements, and CMake. No header of the core
includes a header of a component. A pattern is a path below sdk/, where * matches any characters, including /. A file
belongs to the first component with a matching pattern. The template's hook loads this module after manifest.py.

A library's copy has two folders. A build of the library needs third_party/kernkit only. Files for tests and benchmarks,
and the command line, are in third_party/kernkit_dev. A library without third_party/kernkit_dev uses an installed
kernkit."""

import fnmatch
import os
from typing import Dict, Iterable, List, NamedTuple, Sequence, Tuple

try:
    from ..project.manifest import files_below
except ImportError:  # the template's hook loads this file without its package
    from manifest import files_below  # type: ignore

ALWAYS, OPTIONAL, NEVER = "always", "optional", "never"


class Component(NamedTuple):
    name: str
    copied: str  # whether a library's copy contains the component: ALWAYS, OPTIONAL (by --with) or NEVER
    content: str
    patterns: Tuple[str, ...]


COMPONENTS: Tuple[Component, ...] = (
    Component("rows", ALWAYS, "vector math and loops over rows, which the template's kernel uses; AVX512_BF16",
              ("include/kernkit/math*", "include/kernkit/cpu/avx512_bf16.h", "include/kernkit/cpu/exp_log.h",
               "include/kernkit/cpu/reduction.h", "include/kernkit/c*/row*", "include/kernkit/cuda/block_reduce.cuh",
               "include/kernkit/testing/contract/row_rules.h", "python/kernkit/codegen/cpp/skeletons/row/*")),
    Component("ptx", OPTIONAL, "the simulator's executor for PTX, and its tools",
              ("simulator/ptx/*", "simulator/tools/*", "simulator/libcuda/*", "simulator/libcudart/*", "simulator/libnvjitlink/*",
               "cmake/KernkitSimulatorPtx.cmake",
               "simulator/include/kernkit/simulator/counters.h", "simulator/include/kernkit/simulator/*check.h",
               "python/kernkit/simulator/*", "python/kernkit/torch_cuda/*", "python/kernkit/commands/run.py", "python/kernkit/commands/counters.py",
               "python/kernkit/commands/sanitize.py")),
    Component("gpu", OPTIONAL, "./kk gpu: tests and benchmarks on a GPU",
              ("cmake/KernkitGpu.cmake", "include/kernkit/testing/backends/gpu*", "include/kernkit/testing/hold.h",
               "include/kernkit/testing/contract/gpu_rules.h", "include/kernkit/testing/contract/example_json.h",
               "python/kernkit/commands/gpu.py", "python/kernkit/on_gpu/*", "python/kernkit/driver/gpu.py")),
    Component("tvm_ffi_compat", OPTIONAL, "headers with the file names of tvm-ffi's headers, and headers that only those headers include",
              ("tvm_ffi_compat/*", "include/kernkit/call/array.h", "include/kernkit/call/export_typed.h",
               "include/kernkit/call/tuple_argument.h", "include/kernkit/call/typed_line.h",
               "include/kernkit/errors/streamable.h")),
    Component("frameworks", OPTIONAL, "shapes in schema lines, and the PyTorch operators and JAX functions that use the shapes",
              ("include/kernkit/shapes/*", "include/kernkit/cuda/impl/xla_results.h", "include/kernkit/abi/xla.h",
               "include/kernkit/testing/line.h", "python/kernkit/codegen/frameworks/*")),
    Component("c_callers", OPTIONAL, "tensors as arguments and results, for callers in C",
              ("include/kernkit/abi/any_tensor.h",)),
    Component("scratch", OPTIONAL, "scratch memory of a call, allocated by the caller or by the caller's framework",
              ("include/kernkit/call/scratch.h",)),
    Component("torch_tests", OPTIONAL, 'tests on device="cuda" through PyTorch, with a GPU and without',
              ("python/kernkit/pytest_plugin.py",)),
    Component("aarch64", OPTIONAL, "./kk test --arch aarch64, by a cross compiler and under qemu", ("cmake/aarch64*",)),
    Component("plots", OPTIONAL, "plots of benchmarks, for `kernkit report`", ("python/kernkit/bench/plots.py",)),
    Component("simulator", ALWAYS, "the simulator, for tests",
              ("simulator/*", "cmake/KernkitSimulator.cmake", "cmake/compile_on_cpu.sh")),
    Component("testing", ALWAYS, "test tensors, references, contract tests, benchmarks",
              ("include/kernkit/testing/*", "src/testing/*", "cmake/KernkitTests.cmake",
               "cmake/link_program.sh")),
    Component("host", ALWAYS, "a host in C++", ("include/kernkit/host/*", "src/host/*")),
    Component("starting", NEVER, "rendering of libraries, and files of an installed kernkit and its repository",
              ("python/kernkit/scaffold/*", "python/kernkit/commands/new.py", "python/kernkit/commands/update.py",
               "python/kernkit/commands/cmakedir.py", "python/kernkit/commands/env.py", "python/kernkit/commands/conformance.py",
               "python/kernkit/conformance/*",
               "python/kernkit/driver/repository.py", "python/kernkit/driver/release.py", "python/kernkit/driver/simulator_wheel.py",
               "python/kernkit/release/*",
               "python/kernkit/bench/summary.py", "cmake/wheel/*",
               "cmake/KernkitInstall.cmake", "cmake/kernkitConfig.cmake")),
    Component("bindings", ALWAYS, "the Python package of a library, and `kernkit bindings`, which writes its modules",
              ("cmake/KernkitPackage.cmake", "python/kernkit/__*__.py", "python/kernkit/cli.py", "python/kernkit/errors.py",
               "python/kernkit/parsed_line.py", "python/kernkit/schema.py", "python/kernkit/sdk.py", "python/kernkit/commands/__init__.py",
               "python/kernkit/commands/bindings.py", "python/kernkit/codegen/__init__.py",
               "python/kernkit/codegen/python_*.py", "python/kernkit/binaries/__init__.py",
               "python/kernkit/binaries/elf.py", "python/kernkit/binaries/ops.py")),
    Component("command_line", ALWAYS, "the command line", ("python/*",)),
)  # fmt: skip
CORE = "core"
DEVELOPMENT = "dev"  # the name of third_party/kernkit_dev among components; the answer `dev` is "copied" or "installed"
# Components whose files are in third_party/kernkit_dev, and further folders in third_party/kernkit_dev: folders of
# other components with files for tests or for `kernkit add`.
_FOR_DEVELOPMENT = ("ptx", "gpu", "torch_tests", "plots", "simulator", "testing", "starting", "command_line")
_ALSO_FOR_DEVELOPMENT = ("include/kernkit/testing/", "python/kernkit/codegen/cpp/")


def component_of(path: str) -> str:
    """Returns the name of the component to which a file belongs; CORE for a file of no component."""
    for component in COMPONENTS:
        if any(fnmatch.fnmatchcase(path, pattern) for pattern in component.patterns):
            return component.name
    return CORE


def is_for_development(path: str) -> bool:
    """Returns whether a file belongs to third_party/kernkit_dev instead of third_party/kernkit."""
    return component_of(path) in _FOR_DEVELOPMENT or path.startswith(_ALSO_FOR_DEVELOPMENT)


def by_component(paths: Iterable[str]) -> Dict[str, List[str]]:
    """Returns {component: its files in `paths`}."""
    groups: Dict[str, List[str]] = {}
    for path in paths:
        groups.setdefault(component_of(path), []).append(path)
    return groups


def with_underscores(text: str) -> str:
    """Returns a list of components in the form of .kernkit.json, such as "plots,torch_tests" for
    "plots,torch-tests"."""
    return text.replace("-", "_")


def listed(text: str) -> List[str]:
    """Returns the names of the components in the value of an option, such as "plots,torch-tests"."""
    return [name for name in with_underscores(text).split(",") if name]


def problem(names: str, paths: Iterable[str]) -> str:
    """Checks a list of components, such as "plots,ptx", for the SDK with the files `paths`. Returns a message about the
    first name that is not an optional component of this SDK; "" for a valid list."""
    present = by_component(paths)
    optional = [component.name for component in COMPONENTS if component.copied == OPTIONAL and component.name in present]
    for name in filter(None, names.split(",")):
        if name not in optional:
            return f'unsupported component "{name}"; supported components: {", ".join(optional) or "none"}'
    return ""


def as_answers(names: Sequence[str]) -> Dict[str, str]:
    """Returns the template's answers for a library with these optional components."""
    parts = [name for name in names if name != DEVELOPMENT]
    return {"parts": ",".join(parts), "dev": "copied" if DEVELOPMENT in names else "installed"}


def remove_others(sdk: str, names: str) -> None:
    """Deletes files from a copy of the SDK: the files of optional components that `names`, such as "plots,ptx", does
    not list, and the files of components that no library has."""
    selected = {component.name for component in COMPONENTS if component.copied == ALWAYS} | set(names.split(",")) | {CORE}
    for name, files in by_component(files_below(sdk)).items():
        if name not in selected:
            for path in files:
                os.remove(os.path.join(sdk, path))
    _remove_empty_folders(sdk)


def move_development(sdk: str, development: str) -> None:
    """Moves the files for tests and benchmarks, and the command line, from a copy of the SDK to the folder
    `development`."""
    for path in filter(is_for_development, files_below(sdk)):
        os.makedirs(os.path.dirname(os.path.join(development, path)), exist_ok=True)
        os.rename(os.path.join(sdk, path), os.path.join(development, path))
    _remove_empty_folders(sdk)


def _remove_empty_folders(folder: str) -> None:
    for parent, _, _ in os.walk(folder, topdown=False):
        if not os.listdir(parent):
            os.rmdir(parent)
