# SPDX-License-Identifier: Apache-2.0
"""A rule, and its result for one product."""

import dataclasses
import inspect
from typing import Any, Callable, List

MUST, SHOULD = "must", "should"  # levels: required by the source, recommended by the source
PASS, FAIL, ADVICE, NOT_APPLICABLE = "pass", "FAIL", "advice", "n/a"  # statuses of a result


class Broken(Exception):
    """Raised by a rule that does not hold; the text is the reason."""


class NotApplicable(Exception):
    """Raised by a rule that cannot be applied to the product; the text is the reason."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule."""

    name: str  # lower-case words joined by hyphens
    level: str  # MUST or SHOULD
    sentence: str  # statement that holds for a product that keeps the rule
    source: str  # document, and section of the document, that states the rule
    check: Callable[[Any], None]  # returns if the rule holds; raises Broken or NotApplicable otherwise


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of one rule for one product."""

    rule: str
    status: str  # PASS, FAIL (a MUST rule does not hold), ADVICE (a SHOULD rule does not hold) or NOT_APPLICABLE
    reason: str = ""  # empty for PASS


def broken(rule: Rule, reason: str) -> Result:
    """The result of a rule that does not hold."""
    return Result(rule.name, FAIL if rule.level == MUST else ADVICE, reason)


def apply(rule: Rule, product: Any) -> Result:
    """Applies a rule to a product in this process. An unexpected exception breaks the rule."""
    try:
        rule.check(product)
    except NotApplicable as reason:
        return Result(rule.name, NOT_APPLICABLE, str(reason))
    except Broken as reason:
        return broken(rule, str(reason))
    except Exception as error:  # raised by the product
        return broken(rule, f"raised {described(error)}")
    return Result(rule.name, PASS)


def described(error: BaseException) -> str:
    """An exception in one line of at most 200 characters, as in "TypeError: no stream"."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else text[:199] + "…"


class Rules(List[Rule]):
    """The rules of one module, in the order of their definition."""

    def add(self, level: str, source: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
        """A decorator that adds a function to the rules. The rule has the name of the function, and
        the function's docstring as its sentence."""

        def added(check: Callable[[Any], None]) -> Callable[[Any], None]:
            sentence = " ".join((inspect.getdoc(check) or "").split())
            self.append(Rule(check.__name__.strip("_").replace("_", "-"), level, sentence, source, check))
            return check

        return added
