# SPDX-License-Identifier: Apache-2.0
"""What the modules of all frameworks share: a head, and behind it what is written of each op."""

import re
from typing import Callable, Dict, List, Optional, Type, Union

from ..python_names import python_names
from ...schema import Op
from .backward import Backward, formulas
from .op_codegen import ARITHMETIC, BUILTINS, PREFIX, W, made, one_line

# An op's lines, or why there are none.
Written = Union[List[str], str]


def module(head: str, ops: List[Op], named: Dict[str, str], kind: Type[W],
           write: Callable[[W, Optional[Backward]], Written], *of_writers: str, **words: str) -> str:  # fmt: skip
    """The text of a module. `named` says the backward of an op. Raises SchemaError for a line that no library has."""
    functions = python_names([op.name for op in ops])
    writers = {op.name: made(kind, op, functions[op.name], *of_writers) for op in ops}
    gradients = formulas(writers, named)
    listed, body = "", []
    for name, writer in writers.items():
        written = write(writer, gradients.get(name))
        body += ["", "", f"# {one_line(writer.op.line)}", *([f"# No {written}."] if isinstance(written, str) else written)]
        listed += "" if isinstance(written, str) else f'    "{functions[name]}",\n'
    text = (head + ARITHMETIC).format(kk=PREFIX, listed=listed, builtins="{builtins}", **words) + "\n".join(body) + "\n"
    used = set(re.findall(rf"\b{PREFIX}(\w+)", text))
    imports = "\n".join(f"from builtins import {word} as {PREFIX}{word}" for word in BUILTINS if word in used)
    return text.replace("{builtins}", imports, 1)
