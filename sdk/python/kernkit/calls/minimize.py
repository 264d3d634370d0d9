# SPDX-License-Identifier: Apache-2.0
"""Makes the tensors of a recorded call smaller while the call fails in the same way.

A failure is the signal that ends the process, a finding of a tool, an error, or a result that differs from the recorded
result. Numbers in the text of an error or a finding may change; the op, the kind of failure and the source line may
not. If the recorded call has several findings, a smaller call must have at least one of them.

The results of a smaller call were not recorded. If the failure is a difference, a size becomes smaller only if the
smaller call computes, for its elements, the same values as the replayed whole call. The recorded values of these
elements are then the expected result.
"""

import re
import signal
from typing import Callable, List, NamedTuple, Optional, Tuple

from ..errors import UserError
from ..schema import Op
from . import differences
from .recording import Recording, Results, Value, tensors_of
from .replay import Outcome
from .sizes import Interval, Sizes, State
from .slices import Contents, part_of
from .trial import Runner, Trial

_PLACE = re.compile(r"(\([^()\s]+:\d+\))")  # file and line of the source in a message, as in (kernel.cu:12)
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


class Failure(NamedTuple):
    key: Tuple[str, ...]  # kind of the failure and its text without numbers, so that the key does not depend on sizes
    text: str


class Smaller(NamedTuple):
    """The smaller call that minimize() found."""

    recording: Recording
    failure: Failure
    shapes: List[Tuple[Value, Value]]  # (recorded tensor, smaller tensor) for each tensor that became smaller
    num_calls: int  # number of calls that the search made


def _without_numbers(text: str) -> str:
    parts = _PLACE.split(text)
    return "".join(part if i % 2 else _NUMBER.sub("#", part) for i, part in enumerate(parts))


def failures_of(recording: Recording, trial: Trial) -> List[Failure]:
    """Returns the failures of a call: first findings of tools, then a signal, an exit or an error. Differences between
    the results and the recorded results are not included."""
    failures = [Failure(("finding", finding["tool"], _without_numbers(finding.get("pair") or finding["sentence"])),
                        f"{finding['tool']}: {finding['sentence']}") for finding in trial.findings]  # fmt: skip
    if trial.signal is not None:
        name = "the time limit" if trial.signal == signal.SIGALRM else signal.Signals(trial.signal).name
        failures.append(Failure(("signal", name), f"{name} ended the process"))
    elif trial.outcome is None:
        failures.append(Failure(("exit",), "the process ended during the call"))
    elif trial.outcome.error is not None:
        failures.append(Failure(("error", _without_numbers(trial.outcome.error)), trial.outcome.error))
    return failures


class _Search:
    def __init__(self, recording: Recording, runner: Runner, op: Optional[Op], tolerance: float) -> None:
        self.recording, self.runner, self.op, self.tolerance = recording, runner, op, tolerance
        whole = runner.run(recording)
        self.outcome = whole.outcome
        failures = failures_of(recording, whole)
        self.failure = failures[0] if failures else self._difference_of_the_whole(whole)
        # One fault may cause findings on several source lines. A smaller call may have only some of these findings, so
        # any finding of the whole call is accepted.
        self.keys = {failure.key for failure in failures if failure.key[0] == "finding"} or {self.failure.key}
        self.best = recording

    def _difference_of_the_whole(self, whole: Trial) -> Failure:
        results = self.recording.results
        if results is None:
            raise UserError(f"{self.recording.op}: the replayed call succeeds, so there is no failure to keep; the recorded call did not return")
        assert whole.outcome is not None
        if results.error is not None:
            raise UserError(f"{self.recording.op}: the replayed call succeeds, so there is no failure to keep; the recorded call failed: {results.error}")
        different, _ = differences.compare(self.recording, whole.outcome, self.tolerance)
        if not different:
            found, advice = "the results are equal", ""
            if self.runner.command[:1] == ["sanitize"]:
                found = "the results are equal, and the tools report nothing"
            elif any(storage.device[0] == 2 for storage in self.recording.storages):
                advice = "; add --tool racecheck,initcheck: a finding of a tool is a failure as well"
            raise UserError(f"{self.recording.op}: {found}, so there is no failure to keep{advice}")
        return Failure(("difference",), different[0])

    def fails(self, sizes: Sizes, state: State) -> bool:
        """Returns whether the call, reduced to the sizes in `state`, fails in the same way as the recorded call. If so,
        stores the reduced call in `best`."""
        selection = sizes.select(state)
        if selection is None:
            return False
        results = self.recording.results
        is_difference = self.failure.key == ("difference",)
        contents: List[Contents] = []
        if is_difference:
            assert results is not None and self.outcome is not None
            contents = [results.written, self.outcome.storages]
        part = part_of(self.recording, selection, contents)
        if part is None:
            return False
        call, new_contents = part
        trial = self.runner.run(call)
        failures = failures_of(call, trial)
        if is_difference:
            call = call._replace(results=self._results(new_contents[0]))
            failures = [] if failures else self._differences(call, new_contents[1], trial.outcome)
        found = next((failure for failure in failures if failure.key in self.keys), None)
        if found is None:
            return False
        if self.failure.key[0] == "error" and results is not None and results.error is not None:
            call = call._replace(results=Results(found.text, None, {}, results.nanoseconds))
        self.best, self.failure = call, found
        return True

    def _results(self, written: Contents) -> Results:
        results = self.recording.results
        assert results is not None
        return results._replace(written=written)

    def _differences(self, call: Recording, whole: Contents, outcome: Optional[Outcome]) -> List[Failure]:
        assert outcome is not None and self.outcome is not None
        written = {i: content for i, content in whole.items() if i in (call.results.written if call.results else {})}
        value = Value("result", "float", self.outcome.value) if isinstance(self.outcome.value, (int, float)) else None
        as_whole = call._replace(results=Results(None, value, written, 0))
        if differences.compare(as_whole, outcome, self.tolerance)[0]:
            return []
        different, _ = differences.compare(call, outcome, self.tolerance)
        return [Failure(("difference",), different[0])] if different else []

    def search(self, sizes: Sizes) -> None:
        state = sizes.whole()
        tried = set()

        def attempt(name: str, interval: Interval) -> bool:
            nonlocal state
            candidate = {**state, name: interval}
            key = tuple(sorted(candidate.items()))
            if interval[1] < 1 or key in tried:
                return False
            tried.add(key)
            if not self.fails(sizes, candidate):
                return False
            state = candidate
            return True

        changes = True
        while changes:
            changes = False
            for name in sorted(state, key=lambda name: -state[name][1]):
                changes = reduce_size(lambda: state[name], lambda interval: attempt(name, interval)) or changes  # noqa: B023


def reduce_size(now: Callable[[], Interval], attempt: Callable[[Interval], bool]) -> bool:
    """Reduces an interval of indices while `attempt` returns true: halves the interval, then cuts off powers of two at
    both ends. Cutting off a power of two keeps the length modulo each smaller power of two, on which a fault in the
    last, partial tile depends. `now` returns the present interval. Returns whether the interval became smaller."""
    changed = True
    is_smaller = False
    while changed:
        start, length = now()
        half = (length + 1) // 2
        changed = length > 1 and (attempt((start, half)) or attempt((start + length - half, half)))
        is_smaller = is_smaller or changed
    cut = 1 << now()[1].bit_length() - 1
    while cut >= 1:
        start, length = now()
        if length > cut and (attempt((start, length - cut)) or attempt((start + cut, length - cut))):
            is_smaller = True
        else:
            cut //= 2
    return is_smaller


def minimize(recording: Recording, runner: Runner, op: Optional[Op], tolerance: float) -> Smaller:
    """Returns the smallest call found that fails in the same way as the recorded call. Raises UserError if the recorded
    call does not fail."""
    search = _Search(recording, runner, op, tolerance)
    followers = Sizes(recording.arguments, op, follow=True)
    if followers.can_follow:
        search.search(followers)
    if search.best is recording:
        search.search(Sizes(recording.arguments, op))
    pairs = zip(tensors_of(recording.arguments), tensors_of(search.best.arguments))
    shapes = [(old, new) for old, new in pairs if old.shape != new.shape]
    return Smaller(search.best, search.failure, shapes, runner.count)
