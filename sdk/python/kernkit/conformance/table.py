# SPDX-License-Identifier: Apache-2.0
"""Tables of rules and results, in Markdown with aligned columns."""

from typing import Dict, List, Sequence

from .rule import ADVICE, FAIL, NOT_APPLICABLE, PASS, Result, Rule


def aligned(rows: Sequence[Sequence[str]]) -> List[str]:
    """Returns the lines of a Markdown table with aligned columns. The first row is the header."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    cells.insert(1, ["-" * width for width in widths])
    return ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]


def results_table(rules: Sequence[Rule], results: Dict[str, List[Result]]) -> List[str]:
    """Returns the lines of a table with the status of each rule (row) for each product (column)."""
    statuses = {product: {result.rule: result.status for result in product_results} for product, product_results in results.items()}
    rows = [["rule", "level", *statuses]]
    rows += [[rule.name, rule.level, *(by_rule[rule.name] for by_rule in statuses.values())] for rule in rules]
    rows.append(["pass / FAIL / advice / n/a", "", *(counts(product_results) for product_results in results.values())])
    return aligned(rows)


def counts(results: Sequence[Result]) -> str:
    """Returns the number of results of each status, in the order PASS, FAIL, ADVICE, NOT_APPLICABLE, as in "20 / 1 / 0
    / 2"."""
    return " / ".join(str(sum(result.status == status for result in results)) for status in (PASS, FAIL, ADVICE, NOT_APPLICABLE))


def reasons(rules: Sequence[Rule], results: Dict[str, List[Result]], statuses: Sequence[str]) -> List[str]:
    """Returns a line for each result that has one of the statuses, with product, rule, reason and, for FAIL and ADVICE,
    the rule's source."""
    sources = {rule.name: f" [{rule.source}]" for rule in rules}
    return [f"{'not applicable' if result.status == NOT_APPLICABLE else result.status}: {product}: {result.rule}: {result.reason}"
            + (sources[result.rule] if result.status in (FAIL, ADVICE) else "")
            for product, found in results.items() for result in found if result.status in statuses]  # fmt: skip


def rules_table(rules: Sequence[Rule]) -> List[str]:
    """Returns the lines of a table with the name, level, sentence and source of each rule."""
    return aligned([["rule", "level", "holds when", "source"], *([rule.name, rule.level, rule.sentence, rule.source] for rule in rules)])
