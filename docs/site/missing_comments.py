# SPDX-License-Identifier: Apache-2.0
"""Prints the public symbols without a comment, or with a comment that only repeats the name:

    python3 docs/site/missing_comments.py [kernkit/cpu kernkit/tensor.h ...]

Each argument is the beginning of a header's name. Exit code 1: a comment is missing.
"""

import collections
import pathlib
import sys
import tempfile
from typing import List

from comment_rules import fault_of
from doxygen import run_doxygen
from public_headers import source_of
from symbols import public_symbols


def main(beginnings: List[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        symbols = public_symbols(run_doxygen(pathlib.Path(folder)))
    chosen = [symbol for symbol in symbols if not beginnings or symbol.header.startswith(tuple(beginnings))]
    faults = [(symbol, fault) for symbol in chosen if (fault := fault_of(symbol))]
    lines = [f"{source_of(symbol.header)}:{symbol.line}: {symbol.kind} {symbol.declaration}: {fault}"
             for symbol, fault in faults]  # fmt: skip
    total = collections.Counter(symbol.kind for symbol in chosen)
    wrong = collections.Counter(symbol.kind for symbol, _ in faults)
    counts = ", ".join(f"{kind} {total[kind] - wrong[kind]}/{total[kind]}" for kind in sorted(total))
    lines.append(f"documented: {counts}; {len(faults)} without a good comment")
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
