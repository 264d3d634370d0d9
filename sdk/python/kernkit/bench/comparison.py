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
FEWEST_ROUNDS = 3  # smallest number of rounds for a comparison; the standard deviation of fewer samples is unreliable
CEILINGS = ("the best copy", "memcpy")
# Lower limit of the standard deviation of the logarithms of times. The addresses of code and memory differ between two
# runs, which changes all samples of a run by the same factor. The spread of a run's samples does not show this effect.
PLACEMENT = 0.005


@dataclasses.dataclass
class Change:
    """The change of one row's time between two runs, as a share: 0.2 means 20 % more time in the new run, and a
    negative change means less time."""

    name: str
    reference: str  # name of the ceiling or names of the peers, the same in both runs
    old: float  # old run: share of the ceiling's speed, or the row's time divided by the peers' time
    new: float
    change: float
    low: float
    high: float
    verdict: str


def references(run: Run, row: Row) -> Tuple[str, List[Row]]:
    """Returns (name, rows) of the rows with which `row` is compared in its own run: the ceiling or, without a ceiling,
    the peers. The list is empty if the run has no ceiling and no peers for `row`."""
    ceiling = run.ceiling(row)
    if ceiling:
        return run.ceiling_name(row), [ceiling]
    peers = sorted(run.peers(row), key=lambda peer: peer.implementation)
    return ", ".join(peer.implementation for peer in peers), peers


def _logarithms(row: Row, references: List[Row]) -> List[float]:
    """Returns the logarithm, for each sample, of the row's time divided by the geometric mean of the times of
    `references`. For rows that count bytes, the times are times per byte."""
    result = []
    for number, sample in enumerate(row.samples):
        logarithm = math.log(sample / (row.bytes or 1))
        by = [math.log((reference.samples[number] if len(reference.samples) == len(row.samples)
                        else reference.median) / (reference.bytes or 1)) for reference in references]
        result.append(logarithm - statistics.fmean(by))
    return result


@functools.lru_cache(maxsize=None)
def t_quantile(probability: float, freedom: int) -> float:
    """Returns the quantile of Student's t-distribution with `freedom` degrees of freedom at `probability`, which must
    exceed 0.5."""
    # With t = sqrt(freedom) * tan(angle), the density of the angle is constant * cos(angle) ** (freedom - 1).
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
    """Returns (difference of the means, half the width of its confidence interval), where the difference is new minus
    old. The interval is computed from all samples and, if both runs have at least 4 samples, also without the sample of
    each run that is farthest from the run's median; the narrower interval is returned. `rows`: number of rows that are
    compared."""
    candidates = [_of_normal(old, new, 2 * rows, 1.0)]
    fewest = min(len(old), len(new))
    if fewest >= 4:
        # Removing the farthest sample makes the standard deviation too small. The factor that corrects the standard
        # deviation was determined by simulation of normally distributed samples.
        candidates.append(_of_normal(_without_farthest(old), _without_farthest(new), 2 * rows, 1 + 3.6 / fewest))
    return min(candidates, key=lambda candidate: candidate[1])


def _of_normal(old: List[float], new: List[float], intervals: int, widened: float) -> Tuple[float, float]:
    """Returns (difference of the means, half the width of its confidence interval), for normally distributed samples,
    by Student's t-distribution. `intervals`: number of intervals that together have the confidence CONFIDENCE.
    `widened`: factor by which the standard deviation is multiplied."""
    freedom = len(old) + len(new) - 2
    squares = sum((x - statistics.fmean(side)) ** 2 for side in (old, new) for x in side)
    deviation = max(math.sqrt(squares / freedom) * widened, PLACEMENT) if freedom else math.inf
    margin = deviation * math.sqrt(1 / len(old) + 1 / len(new))
    if freedom:
        margin *= t_quantile(1 - (1 - CONFIDENCE) / intervals / 2, freedom)
    return statistics.fmean(new) - statistics.fmean(old), margin


def _without_farthest(samples: List[float]) -> List[float]:
    """Returns the samples, without the sample that is farthest from the median."""
    middle = statistics.median(samples)
    return sorted(samples, key=lambda sample: abs(sample - middle))[:-1]


def _identity(run: Run, row: Row) -> Tuple[str, ...]:
    """Returns the key by which a row of the library is found in the other run: program, subject, variant and keys. The
    key does not contain the library's name, which can differ between the runs."""
    return row.program, row.subject, run.variant(row.implementation) or "", row.keys


def compare(old: Run, new: Run, tolerance: float) -> Tuple[List[Change], List[str]]:
    """Returns (changes, messages): the change of each row of the library that is in both runs, and a message for each
    row that cannot be compared. `tolerance`: smallest change, as a share, for the verdict "slower" or "faster"."""
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
    """Returns a sentence, with advice, for each reason why the comparison is unreliable: too few rounds or, if
    `unclear` is true, a busy machine or rounds that differ too much."""
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
