# SPDX-License-Identifier: Apache-2.0
"""What `kernkit bindings` writes for frameworks, where it is asked to."""

import argparse
from typing import Dict, List

from ..cli import Refusal
from ..schema import Op, SchemaError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--torch", action="store_true", help="operators of PyTorch as well")
    parser.add_argument("--torch-namespace", metavar="NAME", help="of torch.ops; else the package's")


def files(arguments: argparse.Namespace, ops: List[Op]) -> Dict[str, str]:
    """The files by name. Refuses what is no namespace, and a line that no compiler took."""
    if not arguments.torch:
        return {}
    from . import torch_ops  # which builds on bindings, as this is built into it

    namespace = arguments.torch_namespace or arguments.package.replace(".", "_")
    if not namespace.isidentifier():
        raise Refusal(f'"{namespace}" is no namespace of torch.ops')
    try:
        text = torch_ops.source(arguments.package, arguments.library.name, namespace, ops)
    except SchemaError as error:
        raise Refusal(f"{arguments.library}: {error}") from error
    return {"_torch.py": text, "torch.py": "from ._torch import *\n"}
