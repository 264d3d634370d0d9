# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/conformance.md agree with the rules and with the recorded results.

Run as a program, this file writes the tables again: python tests/project/test_conformance_page.py"""

import json
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sdk/python"))
from kernkit.conformance import table  # noqa: E402
from kernkit.conformance.catalogue import KINDS  # noqa: E402
from kernkit.conformance.library.file_rules import RULES as FILE_RULES  # noqa: E402
from kernkit.conformance.rule import ADVICE, FAIL, Result  # noqa: E402

PAGE = ROOT / "docs/conformance.md"
RECORD = ROOT / "bench/results/conformance"  # folder of KIND.json, a file that `kernkit conformance --json` writes
BLOCK = re.compile(r"^(<!-- (rules|results) of (\w+) -->\n)(.*?)^(<!-- end -->)$", re.MULTILINE | re.DOTALL)


def recorded(kind):
    """Returns {product: its results}."""
    products = json.loads((RECORD / f"{kind}.json").read_text())["products"]
    assert all(product["kind"] == kind for product in products)
    return {product["product"]: [Result(**result) for result in product["results"]] for product in products}


def reasons(kind, results):
    """Returns a list item of the page for each rule that a product breaks. Rules about a file are excluded, because
    `kernkit doctor` explains them."""
    of_file = {rule.name for rule in FILE_RULES}
    return [f"- {result.status}, `{product}`, `{result.rule}`: `{result.reason.replace('`', '')}`" for product, outcomes in results.items()
            for result in outcomes if result.status in (FAIL, ADVICE) and result.rule not in of_file]  # fmt: skip


def block(what, kind):
    rules = KINDS[kind].rules
    if what == "rules":
        return table.rules_table(rules)
    results = recorded(kind)
    return [*table.results_table(rules, results), "", *reasons(kind, results)]


@pytest.mark.parametrize("what", ["rules", "results"])
@pytest.mark.parametrize("kind", KINDS)
def test_tables_are_those_of_the_rules_and_the_record(what, kind):
    blocks = {(block_match[1], block_match[2]): block_match[3] for block_match in BLOCK.findall(PAGE.read_text())}
    assert blocks[what, kind] == "\n" + "\n".join(block(what, kind)) + "\n\n", (
        f"{PAGE.name}: the {what} are outdated; run python tests/project/test_conformance_page.py"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_record_has_every_rule(kind):
    for product, outcomes in recorded(kind).items():
        assert [result.rule for result in outcomes] == [rule.name for rule in KINDS[kind].rules], product


if __name__ == "__main__":
    PAGE.write_text(BLOCK.sub(lambda match: match[1] + "\n" + "\n".join(block(match[2], match[3])) + "\n\n" + match[5], PAGE.read_text()))
