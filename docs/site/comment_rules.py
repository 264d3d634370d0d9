# SPDX-License-Identifier: Apache-2.0
"""Finds faults in the comments of public symbols."""

import re
from typing import Set

from symbols import Symbol

# Words that carry no information. A comment that consists of these words and words of the symbol's name is a fault.
_EMPTY = (
    "a an the of this that its it is are be to for in on as by with and or return returns get gets give gives set sets "
    "whether class struct type function method macro field value constant object member enum here one"
)


def words_of(text: str) -> Set[str]:
    """Returns the words of a text or of a name, in lower case and without a plural s."""
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text.replace("'s ", " "))
    return {word.lower().rstrip("s") or word for word in re.findall(r"[A-Za-z0-9]+", split)}


_EMPTY_WORDS = words_of(_EMPTY)


def fault_of(symbol: Symbol) -> str:
    """Returns the fault of a symbol's comment: "no comment", "only repeats the name", or "" for a good comment."""
    if not symbol.needs_comment or (symbol.group_comment and not symbol.comment):
        return ""
    if not symbol.comment:
        return "no comment"
    # The name of a member includes the class: "The tensor's dtype." only repeats Tensor::dtype.
    name = words_of(" ".join(symbol.name.split("::")[-2:]))
    if words_of(symbol.comment) - _EMPTY_WORDS <= name:
        return "only repeats the name"
    return ""
