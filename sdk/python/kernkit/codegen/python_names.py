# SPDX-License-Identifier: Apache-2.0
"""The names and defaults of a schema line in Python's notation."""

import ast
import keyword
from typing import Dict, List, Set

from ..schema import Value


def free_name(name: str, taken: Set[str]) -> str:
    """Returns the name, followed by as many underscores as make it neither a keyword of Python nor an element of
    `taken`."""
    while keyword.iskeyword(name) or name in taken:
        name += "_"
    return name


def python_names(names: List[str]) -> Dict[str, str]:
    """Returns {name: Python name}. The Python name is the name itself or, for a keyword of Python, the name with
    trailing underscores."""
    return {name: free_name(name, set(names) - {name}) for name in names}


def default_of(value: Value) -> str:
    """Returns the default of a parameter as Python source."""
    text = value.default or ""
    if text[0] in "'\"":
        return repr(text[1:-1])
    if value.type == "ScalarType" and text != "None":
        return repr(text)
    try:
        ast.literal_eval(text)
        return text
    except (SyntaxError, ValueError):  # inf, 007, 1e+5.
        return str(int(text)) if value.type == "int" else f'float("{text}")'
