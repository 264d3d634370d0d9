# SPDX-License-Identifier: Apache-2.0
"""A rule, and its result for one product."""

import dataclasses
import inspect
from typing import Any, Callable, List

MUST, SHOULD = "must", "should"  # levels of rules: required, or recommended, by the source
PASS, FAIL, ADVICE, NOT_APPLICABLE = "pass", "FAIL", "advice", "n/a"  # values of Result.status


class Broken(Exception):
    """Raised by a check if its rule does not hold; the text is the reason."""


class NotApplicable(Exception):
    """Raised by a check if its rule cannot be applied to the product; the text is the reason."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """A rule of one kind of product."""

    name: str  # name of the rule: lower-case words joined by hyphens
    level: str  # MUST or SHOULD
    sentence: str  # statement that is true for a product that keeps the rule
    source: str  # document and section that state the rule
    check: Callable[[Any], None]  # returns if the rule holds, otherwise raises Broken or NotApplicable


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of one rule for one product."""

    rule: str
    status: str  # PASS, FAIL (a MUST rule does not hold), ADVICE (a SHOULD rule does not hold) or NOT_APPLICABLE
    reason: str = ""  # empty for PASS


def broken(rule: Rule, reason: str) -> Result:
    """Returns the result for a rule that does not hold: FAIL or, for a SHOULD rule, ADVICE."""
    return Result(rule.name, FAIL if rule.level == MUST else ADVICE, reason)


def apply(rule: Rule, product: Any) -> Result:
    """Applies a rule to a product in this process and returns the result. The rule counts as broken if the product
    raises an unexpected exception."""
    try:
        rule.check(product)
    except NotApplicable as reason:
        return Result(rule.name, NOT_APPLICABLE, str(reason))
    except Broken as reason:
        return broken(rule, str(reason))
    except Exception as error:  # any exception that the product raises
        return broken(rule, f"raised {described(error)}")
    return Result(rule.name, PASS)


def described(error: BaseException) -> str:
    """Returns the type and the text of an exception as one line of at most 200 characters, as in "TypeError: no
    stream"."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else text[:199] + "…"


class Rules(List[Rule]):
    """The rules of one module, in the order of their definition."""

    def add(self, level: str, source: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
        """Returns a decorator that adds a function to the rules. The function's name becomes the name of the rule, and
        its docstring the sentence of the rule."""

        def added(check: Callable[[Any], None]) -> Callable[[Any], None]:
            sentence = " ".join((inspect.getdoc(check) or "").split())
            self.append(Rule(check.__name__.strip("_").replace("_", "-"), level, sentence, source, check))
            return check

        return added
