# SPDX-License-Identifier: Apache-2.0
"""Generates the Python module with the functions of a framework for the ops of a library."""

import re
from typing import Callable, Dict, List, Optional, Type, Union

from ...schema import Op
from ..python_names import python_names
from .backward import Backward, formulas
from .op_codegen import ARITHMETIC, BUILTINS, PREFIX, W, one_line

# Source lines of an op, or the reason why the module has no function for the op.
Written = Union[List[str], str]


def module(head: str, ops: List[Op], named: Dict[str, str], kind: Type[W],
           write: Callable[[W, Optional[Backward]], Written], *more_arguments: str, **words: str) -> str:  # fmt: skip
    """Returns the text of a module. `named`: {op: name of its backward}. Raises SchemaError if an op cannot be the
    backward of another op."""
    functions = python_names([op.name for op in ops])
    codegens = {op.name: kind(op, functions[op.name], *more_arguments) for op in ops}
    gradients = formulas(codegens, named)
    listed, body = "", []
    for name, codegen in codegens.items():
        written = write(codegen, gradients.get(name))
        body += ["", "", f"# {one_line(codegen.op.line)}", *([f"# No {written}."] if isinstance(written, str) else written)]
        listed += "" if isinstance(written, str) else f'    "{functions[name]}",\n'
    text = (head + ARITHMETIC).format(kk=PREFIX, listed=listed, builtins="{builtins}", **words) + "\n".join(body) + "\n"
    used = set(re.findall(rf"\b{PREFIX}(\w+)", text))
    imports = "\n".join(f"from builtins import {word} as {PREFIX}{word}" for word in BUILTINS if word in used)
    return text.replace("{builtins}", imports, 1)
