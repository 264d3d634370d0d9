# SPDX-License-Identifier: Apache-2.0
"""Runs ../start.py after the import of torch, and ../../simulator/cuda_bindings.py after the import of the runtime
modules of cuda-bindings. Python imports this module at its start, because `kernkit run` puts the folder of the module
on PYTHONPATH. The module also runs the sitecustomize of the environment."""

import importlib.machinery
import importlib.util
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(os.path.dirname(FOLDER))
BINDINGS = ("_kernkit_cuda_bindings", "simulator/cuda_bindings.py")
# {imported module: (name, file) of its hook module}. Before the import, prepare() of the hook module, if defined, is
# called with the file of the imported module. After the import, start() of the hook module is called with the imported
# module.
AFTER = {
    "torch": ("_kernkit_torch_cuda", "torch_cuda/start.py"),
    "cuda.bindings._internal.runtime": BINDINGS,
    "cuda.bindings._internal.runtime_ptds": BINDINGS,
}


def loaded(name, file):
    """Returns the module `name`, which the first call loads from `file`. The module is loaded by path because kernkit
    need not be installed in the environment of the program."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, os.path.join(PACKAGE, file))
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


class AfterImport:
    """Finds the modules of AFTER as Python's own finders do. The loader of such a module calls prepare() before and
    start() after the import."""

    searched = set()  # names of the modules for which find_spec() is running

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name not in AFTER or name in cls.searched:
            return None
        cls.searched.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            cls.searched.remove(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_start(module):
            hook = loaded(*AFTER[name])
            if hasattr(hook, "prepare"):
                hook.prepare(spec.origin)
            execute(module)
            hook.start(module)

        spec.loader.exec_module = execute_and_start
        return spec


def run_next():
    """Runs the sitecustomize that Python would have found without this folder."""
    path = [entry for entry in sys.path if os.path.abspath(entry or ".") != FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, AfterImport)
run_next()
