# SPDX-License-Identifier: Apache-2.0
"""Applies rules to one product, in a process of its own: python -m kernkit.conformance.child PIPE KIND PRODUCT RULE...

PIPE is the number of an open file, into which this process writes one line of JSON for each step: {"rule": NAME} at the start of a rule,
{"step": TEXT} before an action that can crash, {"result": [...]} at the end of a rule, {"unusable": TEXT} if the product cannot be opened.
"""

import dataclasses
import json
import os
import sys
from typing import Any, List

from ..errors import UserError
from .catalogue import KINDS, rule_of
from .rule import apply


def main(arguments: List[str]) -> None:
    pipe, kind, product, names = int(arguments[0]), arguments[1], arguments[2], arguments[3:]

    def send(**values: Any) -> None:
        os.write(pipe, json.dumps(values).encode() + b"\n")

    try:
        opened = KINDS[kind].open(product, lambda text: send(step=text))
    except UserError as error:
        send(unusable=str(error))
        return
    for name in names:
        send(rule=name)
        send(result=dataclasses.astuple(apply(rule_of(kind, name), opened)))
    sys.stdout.flush()
    os._exit(0)  # skips the shutdown of the interpreter, since a crash there would not belong to a rule


if __name__ == "__main__":
    main(sys.argv[1:])
