# SPDX-License-Identifier: Apache-2.0
"""The rules and the products of each kind."""

from typing import Any, Callable, Dict, List, NamedTuple

from .dlpack import copy_rules, device_rules, dtype_rules, exchange_rules, layout_rules, lifetime_rules, producers, protocol_rules
from .library import argument_rules, error_rules, file_rules, loading_rules, metadata_rules, subject
from .rule import Rule


class Kind(NamedTuple):
    """A kind of product, with its rules and the function that opens a product."""

    title: str
    rules: List[Rule]
    # open(name, report) returns the product `name`, which calls report(text) before each step that can crash.
    open: Callable[[str, Callable[[str], None]], Any]


KINDS: Dict[str, Kind] = {
    "library": Kind(
        "TVM-FFI ABI",
        # The rules about the file, which do not load the library, come first: the first of the loading rules compares
        # the state of the process before and after the library is loaded.
        [*file_rules.RULES, *loading_rules.RULES, *metadata_rules.RULES, *argument_rules.RULES, *error_rules.RULES],
        subject.Subject,
    ),
    "dlpack": Kind(
        "DLPack",
        [*protocol_rules.RULES, *device_rules.RULES, *layout_rules.RULES, *dtype_rules.RULES, *copy_rules.RULES,
         *lifetime_rules.RULES, *exchange_rules.RULES],
        producers.find,
    ),
}  # fmt: skip


def rule_of(kind: str, name: str) -> Rule:
    """Returns the rule `name` of the kind `kind`. Raises StopIteration if the kind has no rule of this name."""
    return next(rule for rule in KINDS[kind].rules if rule.name == name)
