# SPDX-License-Identifier: Apache-2.0
"""Enumerates the executions of a litmus program that the memory consistency model of the PTX ISA allows, and their
data races. Section numbers refer to PTX ISA 9.0.

An execution is a choice of the write that each read reads (and of the Fence-SC order), for which a coherence order
exists that satisfies the axioms of section 8.10. A relation is a list of bit masks: bit j of relation[i] is set if
operation i is related to operation j."""

import dataclasses
import itertools

from litmus_program import Op

RMW = ("add", "red", "exch", "cas")
BARRIERS = ("bar.sync", "bar.red", "bar.arrive", "barrier.sync")
ARRIVE, WAIT = "cluster.arrive", "cluster.wait"


@dataclasses.dataclass(frozen=True)
class Event:
    """An operation of an execution. `place` is (thread, index in the thread's list) of the operation in the program,
    `outcome` the condition on the value that is read; `reads` is true if the operation reads memory, and `writes` if it
    writes memory."""

    place: tuple
    op: Op
    block: int
    reads: bool
    writes: bool
    outcome: object = None
    phase: int = 0

    @property
    def thread(self):
        return self.place[0]

    @property
    def memory(self):
        return self.reads or self.writes

    @property
    def atomic(self):
        return self.reads and self.writes

    @property
    def scope(self):
        return "sys" if self.op.order == "volatile" else self.op.scope  # 8.4.2

    @property
    def strong(self):
        """Returns whether the operation is a fence, or a memory operation with another order than weak (8.4)."""
        return self.op.kind == "fence" or self.memory and self.op.order != "weak"

    @property
    def acquires(self):
        return self.reads and self.op.kind != "red" and self.op.order in ("acquire", "acq_rel")

    @property
    def releases(self):
        return self.writes and self.op.order in ("release", "acq_rel")

    @property
    def acquire_fence(self):
        return self.op.kind == "fence" and self.op.order != "release"

    @property
    def release_fence(self):
        return self.op.kind == "fence" and self.op.order != "acquire"

    @property
    def sc_fence(self):
        return self.op.kind == "fence" and self.op.order in ("sc", "membar")


def overlap(a, b):
    """Returns whether two memory operations overlap (8.2.1)."""
    if not (a.memory and b.memory) or a.op.location != b.op.location:
        return False
    return a.op.at < b.op.at + b.op.size and b.op.at < a.op.at + a.op.size


def same_location(a, b):
    return overlap(a, b) and (a.op.at, a.op.size) == (b.op.at, b.op.size)


def closure(relation):
    relation = list(relation)
    for k in range(len(relation)):
        through, bit = relation[k], 1 << k
        for i, row in enumerate(relation):
            if row & bit:
                relation[i] = row | through
    return relation


def acyclic(relation):
    return not any(row >> i & 1 for i, row in enumerate(closure(relation)))


def paths(thread, block, ops):
    """Returns the lists of events that a thread may execute: for an operation that is repeated, with and without an
    iteration that fails; for a condition, with both results."""
    lists = [([], False)]
    phases = {}
    for index, op in enumerate(ops):
        place = (thread, index)
        key = op.kind if op.kind in (ARRIVE, WAIT) else op.barrier
        phases[key] = phases.get(key, -1) + (op.kind in (*BARRIERS, ARRIVE, WAIT))
        reads, writes = op.kind == "ld" or op.kind in RMW, op.kind == "st" or op.kind in RMW

        def event(outcome=None, writes=writes, place=place, op=op, reads=reads, phase=phases[key]):
            return Event(place, op, block, reads, writes, outcome, phase)

        if op.kind == "cas":
            taken, failed = event(lambda value: value == 0), event(lambda value: value != 0, writes=False)
            choices = [([taken], False), ([failed, taken], False)]
        elif op.until is not None:
            done, again = event(lambda v, op=op: v >= op.until), event(lambda v, op=op: v < op.until)
            choices = [([done], False), ([again, done], False)]
        elif op.unless is not None:
            stays, ends = event(lambda v, op=op: v >= op.unless), event(lambda v, op=op: v < op.unless)
            choices = [([stays], False), ([ends], True)]
        elif op.below is not None:
            stays, ends = event(lambda v, op=op: v < op.below), event(lambda v, op=op: v >= op.below)
            choices = [([stays], False), ([ends], True)]
        else:
            choices = [([event()], False)]
        lists = [
            (events + more, ended or ends) if not ended else (events, True)
            for events, ended in lists
            for more, ends in (choices if not ended else choices[:1])
        ]
    return [events for events, _ in lists]


class Candidate:
    """The events of one path of each thread, and the relations that do not depend on what is read."""

    def __init__(self, program, events, assume_acquire):
        self.program, self.events = program, events
        n = self.n = len(events)
        every = range(n)
        self.po = [sum(1 << j for j in every if j > i and events[j].thread == events[i].thread) for i in every]
        self.overlaps = [sum(1 << j for j in every if j != i and overlap(events[i], events[j])) for i in every]
        self.moral = [sum(1 << j for j in every if j != i and self.morally_strong(i, j)) for i in every]
        self.reads = [i for i in every if events[i].reads]
        self.writes = {
            name: [i for i in every if events[i].writes and events[i].op.location == name]
            for name in program.locations
        }
        self.barriers = self.barrier_edges()
        self.released, self.acquired = self.patterns(assume_acquire)
        self.assume_acquire = assume_acquire

    def includes(self, scope, a, b):
        """Returns whether the scope of an operation of block a includes the threads of block b (8.5)."""
        cluster = self.program.cluster
        return a == b if scope == "cta" else a // cluster == b // cluster if scope == "cluster" else True

    def morally_strong(self, i, j):
        """Returns whether two operations are morally strong relative to each other (8.7)."""
        a, b = self.events[i], self.events[j]
        if a.thread != b.thread:
            if not (a.strong and b.strong):
                return False
            if not self.includes(a.scope, a.block, b.block) or not self.includes(b.scope, b.block, a.block):
                return False
        return same_location(a, b) if a.memory and b.memory else True

    def barrier_edges(self):
        """Returns the pairs of an arrival at a barrier and a wait in the same phase (8.9.4, items 2 and 3). An arrival
        at a cluster's barrier with .relaxed orders no memory operations."""
        edges = [0] * self.n
        for i, a in enumerate(self.events):
            for j, b in enumerate(self.events):
                if i == j or a.phase != b.phase or a.op.barrier != b.op.barrier:
                    continue
                if a.op.kind in BARRIERS and b.op.kind in BARRIERS and b.op.kind != "bar.arrive":
                    if a.block == b.block:
                        edges[i] |= 1 << j
                if (a.op.kind, b.op.kind) == (ARRIVE, WAIT) and a.op.order != "relaxed":
                    if self.includes("cluster", a.block, b.block):
                        edges[i] |= 1 << j
        return edges

    def patterns(self, assume_acquire):
        """Returns the release patterns as (first operation, write) and the acquire patterns as (read, last operation)
        (PTX ISA 8.8). With assume_acquire, each strong read is followed by a fence of scope sys in an acquire pattern,
        and a fence before a barrier begins release patterns of all threads of the barrier."""
        released, acquired = [], []
        for i, a in enumerate(self.events):
            if a.releases:
                released.append((i, i))
            if a.acquires:
                acquired.append((i, i))
            if assume_acquire and a.reads and a.strong and a.op.kind != "red":
                acquired.append((i, None))
            for j, b in enumerate(self.events):
                if not self.po[i] >> j & 1:
                    continue
                if b.writes and b.strong and (a.release_fence or a.releases and same_location(a, b)):
                    released.append((i, j))
                if assume_acquire and a.release_fence and self.barriers[j]:
                    released += [(i, k) for k in self.after_barrier(j)]
                if a.reads and a.strong and a.op.kind != "red":
                    if b.acquire_fence or b.acquires and same_location(a, b):
                        acquired.append((i, j))
        return released, acquired

    def after_barrier(self, j):
        """Returns the strong writes that follow, in program order, the barrier operations that synchronise with barrier
        operation j."""
        after = 0
        for k in range(self.n):
            if self.barriers[j] >> k & 1:
                after |= self.po[k]
        return [k for k in range(self.n) if after >> k & 1 and self.events[k].writes and self.events[k].strong]

    def sources(self, i):
        """Returns the writes whose value read i may return; -1 is the initial write of the location."""
        event = self.events[i]
        found = []
        if event.outcome is None or event.outcome(0):
            found.append(-1)
        for j in self.writes[event.op.location]:
            if j == i or not self.overlaps[i] >> j & 1 or self.po[i] >> j & 1:
                continue
            other = self.events[j].op
            if other.kind in ("st", "exch", "cas") and event.outcome and not event.outcome(other.value):
                continue
            found.append(j)
        return found

    def values(self, source):
        """Returns the values that the reads return, or None if a condition fails or a value depends on itself."""
        found, pending = {}, list(self.reads)

        def written(j):
            op = self.events[j].op
            if op.kind in ("add", "red"):
                return None if j not in found else found[j] + op.value
            return op.value

        while pending:
            known = [i for i in pending if source[i] < 0 or written(source[i]) is not None]
            if not known:
                return None
            for i in known:
                found[i] = 0 if source[i] < 0 else written(source[i])
                if self.events[i].outcome and not self.events[i].outcome(found[i]):
                    return None
            pending = [i for i in pending if i not in found]
        return found

    def thin_air(self, source):
        """Returns whether values appear out of thin air (8.10.4). Operations after a condition depend on the read whose
        value is tested."""
        edges = [0] * self.n
        for i in self.reads:
            if source[i] >= 0:
                edges[source[i]] |= 1 << i
            if self.events[i].outcome:
                edges[i] |= self.po[i]
        return not acyclic(edges)

    def observation(self, source):
        """Returns the observation order (8.9.2)."""
        order = [0] * self.n
        for i in self.reads:
            if source[i] >= 0 and self.moral[i] >> source[i] & 1:
                order[source[i]] |= 1 << i
        for k in self.reads:
            if self.events[k].atomic:
                for i in range(self.n):
                    if order[i] >> k & 1:
                        order[i] |= order[k]
        return order

    def fence_orders(self):
        """Yields the orders of the pairs of morally strong fence.sc operations of different threads (8.9.3)."""
        fences = [i for i in range(self.n) if self.events[i].sc_fence]
        fixed, open_pairs = [0] * self.n, []
        for i, j in itertools.combinations(fences, 2):
            if self.po[i] >> j & 1:
                fixed[i] |= 1 << j
            elif self.moral[i] >> j & 1:
                open_pairs.append((i, j))
        for turns in itertools.product((False, True), repeat=len(open_pairs)):
            order = list(fixed)
            for (i, j), turn in zip(open_pairs, turns):
                order[j if turn else i] |= 1 << (i if turn else j)
            if acyclic(order):
                yield order

    def base_causality(self, observation, fences):
        """Returns the base causality order (8.9.4 and 8.9.5)."""
        edges = [self.po[i] | fences[i] | self.barriers[i] for i in range(self.n)]
        for first, write in self.released:
            for read, last in self.acquired:
                if not observation[write] >> read & 1:
                    continue
                if last is None:  # patterns() assumed a fence of scope sys directly after the read
                    a, b = self.events[first], self.events[read]
                    if a.thread == b.thread or self.includes(a.scope, a.block, b.block):
                        edges[first] |= self.po[read]
                elif self.moral[first] >> last & 1:
                    edges[first] |= 1 << last
        return closure(edges)

    def causality(self, base, observation):
        """Returns the causality order (8.9.5): base causality between operations on the same memory, also after an
        observation."""
        same = [base[i] & self.overlaps[i] for i in range(self.n)]
        order = list(same)
        for i in range(self.n):
            for k in self.reads:
                if observation[i] >> k & 1:
                    order[i] |= same[k]
        return order

    def consistent(self, source, base, cause, fences):
        """Returns whether the axioms of 8.10 hold for some coherence order."""
        # Operations of a barrier synchronise with one another, so only their order may have a cycle.
        if any(base[i] >> i & 1 for i in range(self.n) if self.events[i].op.kind not in BARRIERS):
            return False
        for i in range(self.n):  # 8.10.2
            for j in range(self.n):
                if fences[i] >> j & 1 and base[j] >> i & 1:
                    return False
        return all(
            any(self.coherent(source, cause, order) for order in itertools.permutations(writes))
            for writes in self.writes.values()
        )

    def coherent(self, source, cause, writes):
        """Returns whether the axioms hold at one location for this order of its writes."""
        n = self.n
        coherence = [0] * n
        for position, i in enumerate(writes):
            for j in writes[position + 1 :]:
                if cause[j] >> i & 1:
                    return False  # 8.10.1
                if self.overlaps[i] >> j & 1 and (self.moral[i] >> j & 1 or cause[i] >> j & 1):
                    coherence[i] |= 1 << j  # 8.9.6
        coherence = closure(coherence)
        location = self.events[writes[0]].op.location if writes else None
        edges = [self.po[i] & self.overlaps[i] for i in range(n)]
        for i in writes:
            edges[i] |= coherence[i] & self.moral[i]
        for r in self.reads:
            if self.events[r].op.location != location:
                continue
            w = source[r]
            later = coherence[w] if w >= 0 else sum(1 << j for j in writes)
            later &= self.overlaps[r] & ~(1 << r)
            if self.events[r].atomic and any(
                later >> j & 1 and self.moral[r] >> j & 1 and coherence[j] >> r & 1 for j in writes
            ):
                return False  # 8.10.3
            if w >= 0 and cause[r] >> w & 1:
                return False  # 8.10.6
            if any(later >> j & 1 and cause[j] >> r & 1 for j in writes):
                return False  # 8.10.6
            if w >= 0 and self.moral[r] >> w & 1:
                edges[w] |= 1 << r
            edges[r] |= later & self.moral[r]
        return acyclic(edges)  # 8.10.5

    def races(self, cause):
        """Returns the data races (8.7.1) as a set of pairs of places."""
        found = set()
        for i in range(self.n):
            for j in range(i + 1, self.n):
                a, b = self.events[i], self.events[j]
                if not self.overlaps[i] >> j & 1 or not (a.writes or b.writes) or a.thread == b.thread:
                    continue
                if not (self.moral[i] >> j & 1 or cause[i] >> j & 1 or cause[j] >> i & 1):
                    found.add(tuple(sorted((a.place, b.place))))
        return frozenset(found)


@dataclasses.dataclass(frozen=True)
class Execution:
    """An execution. values: {place of a read: the value that its last iteration returned}. races: pairs of places."""

    values: dict
    races: frozenset


def executions(program, assume_acquire=False):
    """Yields the executions of a program."""
    choices = [paths(number, thread.block, thread.ops) for number, thread in enumerate(program.threads)]
    for lists in itertools.product(*choices):
        candidate = Candidate(program, [event for events in lists for event in events], assume_acquire)
        orders = list(candidate.fence_orders())
        for picked in itertools.product(*(candidate.sources(i) for i in candidate.reads)):
            source = dict(zip(candidate.reads, picked))
            values = candidate.values(source)
            if values is None or candidate.thin_air(source):
                continue
            observation = candidate.observation(source)
            for fences in orders:
                base = candidate.base_causality(observation, fences)
                cause = candidate.causality(base, observation)
                if candidate.consistent(source, base, cause, fences):
                    places = {candidate.events[i].place: value for i, value in sorted(values.items())}
                    yield Execution(places, candidate.races(cause))


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The expected result of racecheck. level: error, warn or none; either, if a report at error or at warn is right;
    None if the program has a data race in some executions only. pairs: the data races that occur in any execution.
    always: the data races that occur in every execution."""

    level: object
    executions: int
    pairs: frozenset
    always: frozenset


def verdict(program):
    """Returns the verdict of a program. A program whose races disappear if each strong read is followed by an acquire
    fence, and each fence before a barrier counts for all threads of the barrier, is reported as a warning: only the
    acquire fence, or the fence of the thread that publishes, is missing. If the program has a strong operation whose
    scope does not include all threads of the program, the verdict error is also correct."""
    found = [execution.races for execution in executions(program)]
    if not found:
        raise ValueError(f"{program.name}: no execution satisfies the axioms")
    pairs, always = frozenset().union(*found), frozenset.intersection(*found)
    if any(found) and not all(found):
        return Verdict(None, len(found), pairs, always)
    level = "error" if pairs else "none"
    if pairs and not any(execution.races for execution in executions(program, assume_acquire=True)):
        blocks = {thread.block for thread in program.threads}
        clusters = {block // program.cluster for block in blocks}
        narrow = {"cta"} if len(blocks) > 1 else set()
        narrow |= {"cluster"} if len(clusters) > 1 else set()
        strong = {"relaxed", "acquire", "release", "acq_rel", "sc", "membar"}
        ops = [op for thread in program.threads for op in thread.ops]
        level = "either" if any(op.order in strong and op.scope in narrow for op in ops) else "warn"
    return Verdict(level, len(found), pairs, always)
