# SPDX-License-Identifier: Apache-2.0
"""The change of each row between two runs of benchmarks, with its confidence interval."""

import dataclasses
import functools
import math
import operator
import statistics
from typing import List, Optional, Tuple

from .measurements import BUSY, Row, Run

CONFIDENCE = 0.95
HIDDEN = 0.20
FEWEST_ROUNDS = 3  # smallest number of rounds for a comparison; fewer samples give no useful deviation
CEILINGS = ("the best copy", "memcpy")
# Lower limit of the deviation of the logarithms of times: the placement of code and memory differs
# between two runs, even if no sample shows the difference.
PLACEMENT = 0.005


@dataclasses.dataclass
class Change:
    """The change of one row between two runs. A positive change is slower: 0.2 is 20 % more
    time."""

    name: str
    reference: str  # name of the ceiling, or names of the peers, with which the row is compared in both runs
    old: float  # share of the ceiling, or ratio to the peers, in the old run
    new: float
    change: float
    low: float
    high: float
    verdict: str


def references(run: Run, row: Row) -> Tuple[str, List[Row]]:
    """Returns the name and the rows with which a row is compared in its own run: the ceiling or,
    without a ceiling, the peers. The list is empty if the run has neither."""
    ceiling = run.ceiling(row)
    if ceiling:
        return run.ceiling_name(row), [ceiling]
    peers = sorted(run.peers(row), key=lambda peer: peer.implementation)
    return ", ".join(peer.implementation for peer in peers), peers


def _logarithms(row: Row, references: List[Row]) -> List[float]:
    """For each sample, the logarithm of the ratio of the row's time to the geometric mean of the
    times of `references`. A row that counts bytes has its time divided by its number of bytes."""
    result = []
    for number, sample in enumerate(row.samples):
        logarithm = math.log(sample / (row.bytes or 1))
        by = [math.log((reference.samples[number] if len(reference.samples) == len(row.samples)
                        else reference.median) / (reference.bytes or 1)) for reference in references]
        result.append(logarithm - statistics.fmean(by))
    return result


@functools.lru_cache(maxsize=None)
def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t-distribution with `freedom` degrees of freedom, for a probability
    above one half."""
    # The substitution t = sqrt(freedom) * tan(angle) turns the density into a power of the cosine.
    constant = math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(math.pi)

    def above_half(angle: float, steps: int = 200) -> float:  # Simpson's rule
        weights = [1, *[4 if i % 2 else 2 for i in range(1, steps)], 1]
        powers = (math.cos(angle * i / steps) ** (freedom - 1) for i in range(steps + 1))
        return constant * angle / steps / 3 * sum(map(operator.mul, weights, powers))

    low, high = 0.0, math.pi / 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if above_half(middle) < probability - 0.5 else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def _interval(old: List[float], new: List[float], rows: int) -> Tuple[float, float]:
    """Returns (difference of the means, half the width of its confidence interval). Computes one
    interval from all samples and one without the farthest sample of each run, and returns the
    narrower interval. `rows`: number of rows that are compared."""
    candidates = [_of_normal(old, new, 2 * rows, 1.0)]
    fewest = min(len(old), len(new))
    if fewest >= 4:
        # A normal sample without its farthest value has a smaller deviation. The factor that
        # corrects the deviation was found by simulation.
        candidates.append(_of_normal(_without_farthest(old), _without_farthest(new), 2 * rows, 1 + 3.6 / fewest))
    return min(candidates, key=lambda candidate: candidate[1])


def _of_normal(old: List[float], new: List[float], intervals: int, widened: float) -> Tuple[float, float]:
    """Returns (difference of the means, half the width of its confidence interval) by Student's
    t-distribution. `intervals`: number of intervals that together have the confidence
    CONFIDENCE. `widened`: a factor for the standard deviation."""
    freedom = len(old) + len(new) - 2
    squares = sum((x - statistics.fmean(side)) ** 2 for side in (old, new) for x in side)
    deviation = max(math.sqrt(squares / freedom) * widened, PLACEMENT) if freedom else math.inf
    margin = deviation * math.sqrt(1 / len(old) + 1 / len(new))
    if freedom:
        margin *= t_quantile(1 - (1 - CONFIDENCE) / intervals / 2, freedom)
    return statistics.fmean(new) - statistics.fmean(old), margin


def _without_farthest(samples: List[float]) -> List[float]:
    """The samples without the sample that is farthest from the median."""
    middle = statistics.median(samples)
    return sorted(samples, key=lambda sample: abs(sample - middle))[:-1]


def _identity(run: Run, row: Row) -> Tuple[str, ...]:
    """The key that identifies a row of the library in both runs. The key contains the variant, but
    not the name of the library, which can differ between the runs."""
    return row.program, row.subject, run.variant(row.implementation) or "", row.keys


def compare(old: Run, new: Run, tolerance: float) -> Tuple[List[Change], List[str]]:
    """The changes of all rows that both runs have, and messages about rows that cannot be compared."""
    before = {_identity(old, row): row for row in old.measured if old.is_ours(row)}
    pairs, missing = [], []
    for row in new.measured:
        if not new.is_ours(row):
            continue
        old_row: Optional[Row] = before.pop(_identity(new, row), None)
        (by, others), (old_by, old_others) = references(new, row), (
            references(old, old_row) if old_row else ("", []))
        if old_row is None:
            missing.append(f"{row.name}: only in the new run")
        elif not others or by != old_by:
            missing.append(f"{row.name}: the ceiling or the peers of the row differ between the two runs")
        else:
            pairs.append((row.name, by, _logarithms(old_row, old_others), _logarithms(row, others)))
    missing += [f"{row.name}: only in the old run" for row in before.values()]
    changes = []
    for name, by, was, now in pairs:
        difference, margin = _interval(was, now, len(pairs))
        change, low, high = (math.expm1(min(x, 50.0))
                             for x in (difference, difference - margin, difference + margin))
        verdict = "same"
        if difference - margin > 0 and change >= tolerance:
            verdict = "slower"
        elif difference + margin < 0 and -change >= tolerance:
            verdict = "faster"
        elif abs(difference) + margin > math.log1p(HIDDEN):
            verdict = "unclear"
        sign = -1 if by in CEILINGS else 1
        changes.append(Change(name, by, math.exp(sign * statistics.fmean(was)),
                              math.exp(sign * statistics.fmean(now)), change, low, high, verdict))
    return changes, missing


def advice(old: Run, new: Run, unclear: bool) -> List[str]:
    """Advice about rows that are unclear: one sentence for each cause."""
    sentences = []
    for which, measured in (("old", old), ("new", new)):
        rounds = max(len(row.samples) for row in measured.measured)
        if rounds < FEWEST_ROUNDS:
            sentences.append(f"the {which} run has {rounds} round{'s' if rounds > 1 else ''}, and a reliable comparison "
                             f"needs {FEWEST_ROUNDS} or more: measure again with ./kk bench, which runs 5")
        busy = measured.context.get("busy_with_others", 0)
        if unclear and busy > BUSY:
            sentences.append(f"other programs used {busy:.0%} of the processors during the {which} run: measure again when the machine is idle")
    if unclear and not sentences:
        sentences.append("the rounds differ too much for a verdict: measure both runs with more rounds, for example ./kk bench --rounds=15")
    return sentences
