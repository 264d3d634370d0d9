# SPDX-License-Identifier: Apache-2.0
"""Descriptions of litmus programs: threads in blocks, each with a list of operations on a few locations.

A location is a name, such as x, and refers to eight bytes that are zero at the start of the program. An operation
accesses `size` bytes from byte `at` on. No two stores of a program store the same value to a location."""

import dataclasses
from typing import Optional

SCOPES = ("cta", "cluster", "gpu", "sys")


@dataclasses.dataclass(frozen=True)
class Op:
    """An operation of a thread.

    kind: ld, st, add (an atomic), red (an add without a result), exch, cas (of 0 for `value`), fence, one of the block's
    barrier operations bar.sync, bar.red, bar.arrive and barrier.sync, or cluster.arrive and cluster.wait.
    order: weak, relaxed, acquire, release, acq_rel, volatile; of a fence: acq_rel, acquire, release, sc, membar.
    cluster.arrive and cluster.wait may have no order.
    until: the operation is repeated until the value that it reads is `until` or more (cas: until 0 was read).
    unless: the thread ends if the value that the operation reads is less than `unless`.
    below: the thread ends if the value that the operation reads is `below` or more."""

    kind: str
    location: str = ""
    order: str = "weak"
    scope: str = "sys"
    value: int = 0
    until: Optional[int] = None
    unless: Optional[int] = None
    below: Optional[int] = None
    at: int = 0
    size: int = 4
    barrier: int = 0  # index of the barrier; 16 is the cluster's barrier, which all threads execute
    participants: int = 0  # how many of the program's threads take part in the barrier


@dataclasses.dataclass(frozen=True)
class Thread:
    block: int
    ops: tuple


@dataclasses.dataclass(frozen=True)
class Program:
    """A litmus program. name: a C identifier. shared: the locations that are in shared memory; all threads of a program
    with shared locations are in one block. cluster: the number of blocks in a cluster."""

    name: str
    threads: tuple
    shared: tuple = ()
    cluster: int = 1

    @property
    def locations(self):
        return sorted({op.location for thread in self.threads for op in thread.ops if op.location})

    @property
    def blocks(self):
        """The number of blocks, a multiple of the size of a cluster."""
        used = 1 + max(thread.block for thread in self.threads)
        return -(-used // self.cluster) * self.cluster


def ld(location, order="weak", scope="sys", **more):
    return Op("ld", location, order, scope, **more)


def st(location, value, order="weak", scope="sys", **more):
    return Op("st", location, order, scope, value, **more)


def add(location, value, order="relaxed", scope="gpu", **more):
    return Op("add", location, order, scope, value, **more)


def red(location, value, order="relaxed", scope="gpu", **more):
    return Op("red", location, order, scope, value, **more)


def exch(location, value, order="relaxed", scope="gpu", **more):
    return Op("exch", location, order, scope, value, **more)


def lock(location, value, order="acquire", scope="gpu"):
    return Op("cas", location, order, scope, value, until=0)


def fence(order="acq_rel", scope="gpu"):
    return Op("fence", "", order, scope)


def bar(kind="bar.sync", barrier=1, participants=2):
    return Op(kind, barrier=barrier, participants=participants)
