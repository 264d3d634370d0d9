# SPDX-License-Identifier: Apache-2.0
"""The modules for PyTorch and JAX that `kernkit bindings` writes with --torch, --jax or
--frameworks."""

import argparse
from typing import Dict, List

from ...errors import UserError
from ...schema import Op, SchemaError
from . import jax_ops, torch_ops
from .backward import read_backwards

_MODULE = '''"""The ops of {package} for {who}."""

try:
    import {needs}  # noqa: F401
except ImportError as error:
    raise ImportError("{package}.{module} needs {who}, which cannot be imported: {{}}; run: pip install {pip}".format(error)) from error

from ._{module} import *  # noqa: E402, F403
from ._{module} import __all__  # noqa: E402, F401
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--torch", action="store_true", help="also write operators of PyTorch")
    parser.add_argument("--torch-namespace", metavar="NAME", help="namespace of torch.ops (default: the package's name)")
    parser.add_argument("--jax", action="store_true", help="also write functions for JAX")


def files(arguments: argparse.Namespace, ops: List[Op]) -> Dict[str, str]:
    """Returns {name of a module's file: text}. Raises UserError if the namespace is invalid, or if an op cannot be the
    backward of another op."""
    package, library = arguments.package, arguments.library
    namespace = arguments.torch_namespace or package.replace(".", "_")
    if not namespace.isidentifier():
        raise UserError(f'--torch-namespace: "{namespace}" is not a Python identifier; enter letters, digits and _')
    named = read_backwards(library)
    written = {}
    try:
        if arguments.torch or arguments.frameworks:
            written["_torch.py"] = torch_ops.source(package, library.name, namespace, ops, named)
            written["torch.py"] = _MODULE.format(package=package, who="PyTorch", needs="torch", module="torch", pip="torch")
        if arguments.jax or arguments.frameworks:
            written["_jax.py"] = jax_ops.source(package, library, ops, named)
            written["jax.py"] = _MODULE.format(package=package, who="JAX", needs="jax", module="jax", pip="jax")
    except SchemaError as error:
        raise UserError(f"{library}: {error}") from error
    return written
