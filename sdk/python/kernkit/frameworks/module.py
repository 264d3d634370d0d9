# SPDX-License-Identifier: Apache-2.0
"""What the modules of all frameworks share: a head, and behind it what is written of each op."""

from typing import Callable, Dict, List, Optional, Type, Union

from ..bindings import python_names
from ..schema import Op
from .backward import Backward, formulas
from .writer import ARITHMETIC, W, free_prefix, made, one_line

# An op's lines, or why there are none.
Written = Union[List[str], str]


def module(head: str, ops: List[Op], named: Dict[str, str], kind: Type[W],
           write: Callable[[W, Optional[Backward]], Written], *of_writers: str, **words: str) -> str:  # fmt: skip
    """The text of a module. `named` says the backward of an op. Raises SchemaError for a line that no library has."""
    kk = free_prefix(ops)
    functions = python_names([op.name for op in ops])
    writers = {op.name: made(kind, op, functions[op.name], kk, *of_writers) for op in ops}
    gradients = formulas(writers, named)
    listed, body = "", []
    for name, writer in writers.items():
        written = write(writer, gradients.get(name))
        body += ["", "", f"# {one_line(writer.op.line)}", *([f"# No {written}."] if isinstance(written, str) else written)]
        listed += "" if isinstance(written, str) else f'    "{functions[name]}",\n'
    return (head + ARITHMETIC).format(kk=kk, listed=listed, **words) + "\n".join(body) + "\n"
