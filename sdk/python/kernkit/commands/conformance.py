# SPDX-License-Identifier: Apache-2.0
"""Test libraries and array packages of any project against the rules of the TVM-FFI ABI and of DLPack.

    kernkit conformance LIB.so...
    kernkit conformance --dlpack numpy --dlpack torch

Each library is loaded and its functions are called with wrong arguments, each in a process of its own, so that a crash
is reported as the result of a rule. The host is libtvm_ffi.so of the installed package apache-tvm-ffi. A package is
numpy, torch, jax, tvm_ffi, or module:function, where function(shape, dtype) returns a CPU array with the elements 0, 1,
2, ... in row-major order; dtype is a text such as "float32". The output is a table of rules by products. Exit code 1: a
product breaks a rule of level "must" or, with --strict, a rule of level "should".
"""

import argparse
import dataclasses
import json
import pathlib
from typing import Dict, List

from ..conformance import table
from ..conformance.catalogue import KINDS
from ..conformance.dlpack.producers import BUILT_IN, version_of
from ..conformance.rule import ADVICE, FAIL, NOT_APPLICABLE, Result
from ..conformance.runner import run as run_rules
from ..errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("libraries", nargs="*", type=pathlib.Path, metavar="LIB.so", help="a shared library with functions of the TVM-FFI ABI")
    parser.add_argument("--dlpack", action="append", default=[], metavar="PRODUCER",
                        help=f"a package whose arrays have __dlpack__(): {', '.join(BUILT_IN)}, or module:function; repeatable")  # fmt: skip
    parser.add_argument("--rule", action="append", default=[], metavar="NAME", help="a rule to apply instead of all rules; repeatable")
    parser.add_argument("--strict", action="store_true", help='exit code 1 also if a product breaks a rule of level "should"')
    parser.add_argument("--rules", action="store_true", help="print all rules with their sources, and apply none")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write the results to this file")


def _names(products: Dict[str, List[str]], chosen: List[str]) -> Dict[str, List[str]]:
    """Returns {kind: names of the rules to apply}. Raises UserError if no kind of the products has a rule of a
    requested name."""
    names = {kind: [rule.name for rule in KINDS[kind].rules if not chosen or rule.name in chosen] for kind in products}
    for name in chosen:
        if not any(name in rule_names for rule_names in names.values()):
            raise UserError(f'--rule "{name}" is not a rule for these products; kernkit conformance --rules lists the names')
    return names


def run(arguments: argparse.Namespace) -> int:
    if arguments.rules:
        print("\n\n".join("\n".join([f"## {kind.title}", "", *table.rules_table(kind.rules)]) for kind in KINDS.values()))
        return 0
    products = {kind: named for kind, named in (("library", list(map(str, arguments.libraries))), ("dlpack", arguments.dlpack)) if named}
    if not products:
        raise UserError("no product was named; enter the path of a library, or --dlpack with a package such as numpy")
    names = _names(products, arguments.rule)
    recorded, statuses = [], set()
    for kind, named in products.items():
        rules = [rule for rule in KINDS[kind].rules if rule.name in names[kind]]
        results: Dict[str, List[Result]] = {}
        for product in dict.fromkeys(named):
            results[product] = run_rules(kind, product, names[kind])
            recorded.append({"kind": kind, "product": product, "version": version_of(product) if kind == "dlpack" else "",
                             "results": list(map(dataclasses.asdict, results[product]))})  # fmt: skip
            statuses |= {result.status for result in results[product]}
        shown = {pathlib.Path(product).name if kind == "library" else product: result for product, result in results.items()}
        shown = shown if len(shown) == len(results) else results  # whole paths if two libraries have the same file name
        print("\n".join([f"## {KINDS[kind].title}", "", *table.results_table(rules, shown), "",
                         *table.reasons(rules, shown, (FAIL, ADVICE, NOT_APPLICABLE)), ""]))  # fmt: skip
    failed = FAIL in statuses or (arguments.strict and ADVICE in statuses)
    if arguments.json:
        arguments.json.write_text(json.dumps({"ok": not failed, "products": recorded}, indent=1) + "\n", encoding="utf-8")
    return 1 if failed else 0
