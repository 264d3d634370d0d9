# SPDX-License-Identifier: Apache-2.0
"""Runs ../start.py after the import of torch. Python imports this module at its start, because `kernkit run` puts its
folder on PYTHONPATH. Another sitecustomize of the environment is run as well."""

import importlib.machinery
import importlib.util
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


class AfterTorch:
    """A finder of the module torch, whose loader runs start.py after it has loaded torch."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(cls)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_start(module):
            place = os.path.join(os.path.dirname(FOLDER), "start.py")
            start = importlib.util.spec_from_file_location("_kernkit_torch_cuda", place)
            sys.modules[start.name] = importlib.util.module_from_spec(start)
            start.loader.exec_module(sys.modules[start.name])
            sys.modules[start.name].prepare(spec.origin)
            execute(module)
            sys.modules[start.name].start(module)

        spec.loader.exec_module = execute_and_start
        return spec


def run_next():
    """Runs the sitecustomize that Python would have found without this folder."""
    path = [entry for entry in sys.path if os.path.abspath(entry or ".") != FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, AfterTorch)
run_next()
