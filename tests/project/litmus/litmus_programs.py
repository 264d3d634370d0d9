# SPDX-License-Identifier: Apache-2.0
"""Litmus programs: the classical shapes with all kinds of orders, scopes, atomics and barriers.

x, y and z hold data; f, g and h are flags; m is a lock. `programs()` returns the programs whose verdict is the
same in each execution, with their verdicts."""

import itertools

import ptx_model
from litmus_program import Op, Program, Thread, add, bar, exch, fence, ld, lock, red, st

# (blocks of two threads, the narrowest scope that includes both threads).
TOGETHER, APART = ((0, 0), "cta"), ((0, 1), "gpu")


def program(name, *threads, blocks=None, **more):
    blocks = blocks or (0,) * len(threads)
    return Program(name, tuple(Thread(block, tuple(ops)) for block, ops in zip(blocks, threads)), **more)


def publications(scope):
    """Returns {name: operations that set flag f with this scope}."""
    return {
        "st": [st("f", 1)],
        "relaxed": [st("f", 1, "relaxed", scope)],
        "release": [st("f", 1, "release", scope)],
        "volatile": [st("f", 1, "volatile")],
        "exch": [exch("f", 1, "relaxed", scope)],
        "exchrelease": [exch("f", 1, "release", scope)],
        "redrelease": [red("f", 1, "release", scope)],
        "addacqrel": [add("f", 1, "acq_rel", scope)],
        "fencest": [fence("acq_rel", scope), st("f", 1)],
        "fencerelaxed": [fence("acq_rel", scope), st("f", 1, "relaxed", scope)],
        "fencevolatile": [fence("acq_rel", scope), st("f", 1, "volatile")],
        "fencered": [fence("acq_rel", scope), red("f", 1, "relaxed", scope)],
        "screlaxed": [fence("sc", scope), st("f", 1, "relaxed", scope)],
        "membarvolatile": [fence("membar", scope), st("f", 1, "volatile")],
        "releasefence": [fence("release", scope), st("f", 1, "relaxed", scope)],
        "acquirefence": [fence("acquire", scope), st("f", 1, "relaxed", scope)],
        "relaxedfence": [st("f", 1, "relaxed", scope), fence("acq_rel", scope)],
        "releaseother": [st("g", 5, "release", scope), st("f", 1, "relaxed", scope)],
        "fencetwo": [fence("acq_rel", scope), st("g", 5, "relaxed", scope), st("f", 1, "relaxed", scope)],
        "releaserelaxed": [st("f", 0, "release", scope), st("f", 1, "relaxed", scope)],
    }


def subscriptions(scope):
    """Returns {name: operations that wait for flag f with this scope}."""
    return {
        "ld": [ld("f", until=1)],
        "relaxed": [ld("f", "relaxed", scope, until=1)],
        "acquire": [ld("f", "acquire", scope, until=1)],
        "volatile": [ld("f", "volatile", until=1)],
        "add": [add("f", 0, "relaxed", scope, until=1)],
        "addacquire": [add("f", 0, "acquire", scope, until=1)],
        "ldfence": [ld("f", until=1), fence("acq_rel", scope)],
        "relaxedfence": [ld("f", "relaxed", scope, until=1), fence("acq_rel", scope)],
        "volatilefence": [ld("f", "volatile", until=1), fence("acq_rel", scope)],
        "relaxedsc": [ld("f", "relaxed", scope, until=1), fence("sc", scope)],
        "volatilemembar": [ld("f", "volatile", until=1), fence("membar", scope)],
        "acquirefence": [ld("f", "relaxed", scope, until=1), fence("acquire", scope)],
        "releasefence": [ld("f", "relaxed", scope, until=1), fence("release", scope)],
        "fencerelaxed": [fence("acq_rel", scope), ld("f", "relaxed", scope, until=1)],
        "relaxedacquire": [ld("f", "relaxed", scope, until=1), ld("f", "acquire", scope)],
        "acquireother": [ld("f", "relaxed", scope, until=1), ld("g", "acquire", scope)],
        "twofence": [ld("f", "relaxed", scope, until=1), ld("g", "relaxed", scope), fence("acq_rel", scope)],
        "addfence": [add("f", 0, "relaxed", scope, until=1), fence("acq_rel", scope)],
        "redfence": [red("f", 0, "relaxed", scope), fence("acq_rel", scope), ld("f", "relaxed", scope, until=1)],
    }


def message_passing():
    for (place, scope), word in ((TOGETHER, "together"), (APART, "apart")):
        for number, ((p, publish), (s, wait)) in enumerate(
            itertools.product(publications(scope).items(), subscriptions(scope).items())
        ):
            # Selects all pairs with one of the most common publications or subscriptions, and a third of the remaining
            # pairs.
            common = p in ("relaxed", "release", "fencerelaxed") or s in ("relaxed", "acquire", "relaxedfence")
            if not common and number % 3:
                continue
            access = st("x", 12) if number % 2 else ld("x")
            yield program(f"mp_{p}_{s}_{word}", [st("x", 11), *publish], [*wait, access], blocks=place)


def message_passing_in_shared_memory():
    for p, s in itertools.product(("st", "relaxed", "release", "fencerelaxed", "redrelease", "fencevolatile"),
                                  ("relaxed", "acquire", "relaxedfence", "volatile", "volatilefence")):  # fmt: skip
        publish, wait = publications("cta")[p], subscriptions("cta")[s]
        yield program(f"mp_shared_{p}_{s}", [st("x", 11), *publish], [*wait, ld("x")], shared=("f", "x"))
        if p == "release":
            yield program(f"mp_flag_shared_{s}", [st("x", 11), *publish], [*wait, st("x", 12)], shared=("f",))
            yield program(f"mp_data_shared_{s}", [st("x", 11), *publish], [*wait, st("x", 12)], shared=("x",))


def message_passing_scopes():
    """Yields programs of message passing with all scopes of publisher and subscriber, and of fence and flag."""
    places = {"together": ((0, 0), 1), "cluster": ((0, 1), 2), "clusters": ((0, 2), 2)}
    for (word, (place, cluster)), a, b in itertools.product(places.items(), ("cta", "cluster", "gpu"), ("cta", "cluster", "sys")):
        yield program(f"mp_scopes_{word}_{a}_{b}", [st("x", 11), st("f", 1, "release", a)],
                      [ld("f", "acquire", b, until=1), ld("x")], blocks=place, cluster=cluster)  # fmt: skip
        if (a, b) in (("cta", "sys"), ("cluster", "cluster"), ("gpu", "cta"), ("gpu", "sys"), ("cta", "cta")):
            yield program(f"mp_fence_scopes_{word}_{a}_{b}", [st("x", 11), fence("acq_rel", a), st("f", 1, "relaxed", "gpu")],
                          [ld("f", "relaxed", "gpu", until=1), fence("acq_rel", b), ld("x")], blocks=place, cluster=cluster)  # fmt: skip
    for a, b in itertools.product(("cta", "gpu"), repeat=2):
        for c, d in itertools.product(("cta", "gpu"), repeat=2):
            yield program(f"mp_four_scopes_{a}_{b}_{c}_{d}", [st("x", 11), fence("acq_rel", a), st("f", 1, "relaxed", b)],
                          [ld("f", "relaxed", c, until=1), fence("acq_rel", d), ld("x")], blocks=(0, 1))  # fmt: skip


def single_location():
    """Yields programs with two unordered operations on one location."""
    ways = {
        "ld": lambda v: ld("x"),
        "ldrelaxedcta": lambda v: ld("x", "relaxed", "cta"),
        "ldacquire": lambda v: ld("x", "acquire", "gpu"),
        "ldvolatile": lambda v: ld("x", "volatile"),
        "st": lambda v: st("x", v),
        "strelaxedcta": lambda v: st("x", v, "relaxed", "cta"),
        "stvolatile": lambda v: st("x", v, "volatile"),
        "redcta": lambda v: red("x", v, "relaxed", "cta"),
        "addgpu": lambda v: add("x", v, "relaxed", "gpu"),
        "strelaxedwide": lambda v: st("x", v, "relaxed", "gpu", size=8),
        "stbyte": lambda v: st("x", v, at=5, size=1),
        "strelaxedshort": lambda v: st("x", v, "relaxed", "gpu", at=2, size=2),
    }
    for ((p, first), (q, second)), (place, _) in itertools.product(itertools.combinations_with_replacement(ways.items(), 2), (TOGETHER, APART)):
        if p.startswith("ld") and q.startswith("ld"):
            continue
        word = "together" if place == (0, 0) else "apart"
        yield program(f"one_{p}_{q}_{word}", [first(11)], [second(12)], blocks=place)
    yield program("one_neighbours", [st("x", 11, at=1, size=1), st("x", 12, at=4)], [st("x", 13, size=1), ld("x", at=2, size=2)])
    yield program("one_shared_ld_st", [ld("x")], [st("x", 11)], shared=("x",))
    yield program("one_shared_relaxed", [ld("x", "relaxed", "cta")], [st("x", 11, "relaxed", "cta")], shared=("x",))
    yield program("one_shared_red_add", [red("x", 1, "relaxed", "cta")], [add("x", 2, "relaxed", "cta")], shared=("x",))
    yield program("one_shared_red_st", [red("x", 1, "relaxed", "cta")], [st("x", 12)], shared=("x",))


def buffering():
    """Yields programs of the shapes store buffering, load buffering, R, S and 2+2W."""
    orders = {"weak": ("weak", "weak"), "relaxed": ("relaxed", "relaxed"), "half": ("relaxed", "weak"), "strong": ("release", "acquire")}
    for ((word, (w, r)), fenced, (place, scope)) in itertools.product(orders.items(), (None, "acq_rel", "sc"), (TOGETHER, APART)):
        if fenced == "acq_rel" and place == (0, 0):
            continue
        between = [fence(fenced, scope)] if fenced else []
        name = f"{word}_{(fenced or 'none').replace('_', '')}_{'together' if place == (0, 0) else 'apart'}"
        yield program(f"sb_{name}", [st("x", 11, w, scope), *between, ld("y", r, scope)],
                      [st("y", 12, w, scope), *between, ld("x", r, scope)], blocks=place)  # fmt: skip
        yield program(f"lb_{name}", [ld("x", r, scope), *between, st("y", 11, w, scope)],
                      [ld("y", r, scope), *between, st("x", 12, w, scope)], blocks=place)  # fmt: skip
        if fenced != "acq_rel":
            yield program(f"r_{name}", [st("x", 11, w, scope), *between, st("y", 12, w, scope)],
                          [st("y", 13, w, scope), *between, ld("x", r, scope)], blocks=place)  # fmt: skip
            yield program(f"w_{name}", [st("x", 11, w, scope), *between, st("y", 12, w, scope)],
                          [st("y", 13, w, scope), *between, st("x", 14, w, scope)], blocks=place)  # fmt: skip
    for scope in ("cta", "gpu"):
        yield program(f"sb_scope_{scope}", [st("x", 11, "relaxed", scope), ld("y", "relaxed", scope)],
                      [st("y", 12, "relaxed", scope), ld("x", "relaxed", scope)], blocks=(0, 1))  # fmt: skip


def independent_reads():
    for w, r, fenced, scope in (("relaxed", "relaxed", None, "gpu"), ("weak", "relaxed", None, "gpu"), ("relaxed", "weak", None, "gpu"),
                                ("release", "acquire", None, "gpu"), ("relaxed", "relaxed", "sc", "gpu"), ("relaxed", "relaxed", None, "cta"),
                                ("volatile", "volatile", None, "sys")):  # fmt: skip
        between = [fence(fenced, scope)] if fenced else []
        yield program(f"iriw_{w}_{r}_{fenced or 'none'}_{scope}", [st("x", 11, w, scope)], [st("y", 12, w, scope)],
                      [ld("x", r, scope), *between, ld("y", r, scope)], [ld("y", r, scope), *between, ld("x", r, scope)],
                      blocks=(0, 1, 0, 1))  # fmt: skip


def chains():
    """Yields programs of the shapes ISA2 and WRC, in which a thread passes on a value that it has read."""
    middle = {
        "strong": lambda a, b: [ld("f", "acquire", a, until=1), st("g", 1, "release", b)],
        "relaxed": lambda a, b: [ld("f", "relaxed", a, until=1), st("g", 1, "relaxed", b)],
        "norelease": lambda a, b: [ld("f", "acquire", a, until=1), st("g", 1, "relaxed", b)],
        "noacquire": lambda a, b: [ld("f", "relaxed", a, until=1), st("g", 1, "release", b)],
        "fence": lambda a, b: [ld("f", "relaxed", a, until=1), fence("acq_rel", "gpu"), st("g", 1, "relaxed", b)],
        "add": lambda a, b: [add("f", 0, "acquire", a, until=1), add("g", 1, "release", b)],
    }
    places = {"together": ((0, 0, 0), "cta", "cta"), "last": ((0, 0, 1), "cta", "gpu"), "first": ((0, 1, 1), "gpu", "cta"), "narrow": ((0, 0, 1), "cta", "cta")}
    for (m, pass_on), (word, (place, a, b)) in itertools.product(middle.items(), places.items()):
        yield program(f"isa_{m}_{word}", [st("x", 11), st("f", 1, "release", a)], pass_on(a, b),
                      [ld("g", "acquire", b, until=1), ld("x")], blocks=place)  # fmt: skip
        if m in ("strong", "norelease", "noacquire", "fence"):
            # A thread observes the first thread's strong store, and another thread then reads the same location by a
            # weak load.
            yield program(f"wrc_{m}_{word}", [st("f", 1, "relaxed", a)], pass_on(a, b),
                          [ld("g", "acquire", b, until=1), ld("f")], blocks=place)  # fmt: skip
    for order, scope in (("relaxed", "gpu"), ("acquire", "gpu"), ("relaxed", "cta"), ("weak", "gpu")):
        wait = ld("f", order, scope, until=1)
        yield program(f"observed_ld_{order}_{scope}", [st("f", 1, "relaxed", "gpu")], [wait, ld("f")], blocks=(0, 1))
        yield program(f"observed_st_{order}_{scope}", [st("f", 1, "relaxed", "gpu")], [wait, st("f", 2)], blocks=(0, 1))
    for scope, more in itertools.product(("cta", "gpu"), ([ld("f")], [st("f", 2)], [bar()])):
        word = f"{scope}_{more[0].kind.replace('.', '')}"
        after = [[bar(), ld("f")]] if more[0].barrier else []
        yield program(f"observed_add_{word}", [st("f", 1, "relaxed", "gpu")], [add("f", 0, "relaxed", scope, until=1), *more], *after,
                      blocks=(0, 1, 1)[: 2 + len(after)])  # fmt: skip
    yield program("observed_by_a_barrier", [st("f", 1, "relaxed", "gpu")], [ld("f", "relaxed", "gpu", until=1), bar()], [bar(), ld("f")],
                  blocks=(0, 1, 1))  # fmt: skip
    yield program("observed_other_location", [st("x", 11), st("f", 1, "relaxed", "gpu")],
                  [ld("f", "relaxed", "gpu", until=1), bar()], [bar(), ld("x")], blocks=(0, 1, 1))  # fmt: skip


def release_sequences():
    """Yields programs with atomics between a release and an acquire."""
    for first, second, scope in itertools.product(("relaxed", "release", "acq_rel"), ("relaxed", "release", "acquire"), ("cta", "gpu")):
        adds = [(add if order.startswith("acq") else red)("f", 1, order, s) for order, s in ((first, "gpu"), (second, scope))]
        wait = ld("f", "acquire", "gpu", until=2)
        word = f"{first.replace('_', '')}_{second}_{scope}"
        yield program(f"sequence_{word}", [st("x", 11), adds[0]], [adds[1]], [wait, ld("x")], blocks=(0, 1, 2))
        if scope == "gpu":
            yield program(f"sequence_both_{word}", [st("x", 11), adds[0]], [st("y", 12), adds[1]],
                          [wait, ld("x"), st("y", 13)], blocks=(0, 1, 0))  # fmt: skip
    yield program("sequence_same_thread", [st("x", 11), st("f", 0, "release", "gpu"), st("y", 12), st("f", 1, "relaxed", "gpu")],
                  [ld("f", "acquire", "gpu", until=1), ld("x")], blocks=(0, 1))  # fmt: skip
    yield program("sequence_after_release", [st("f", 0, "release", "gpu"), st("x", 11), st("f", 1, "relaxed", "gpu")],
                  [ld("f", "acquire", "gpu", until=1), ld("x")], blocks=(0, 1))  # fmt: skip
    yield program("sequence_other_location", [st("x", 11), st("g", 5, "release", "gpu"), st("f", 1, "relaxed", "gpu")],
                  [ld("f", "acquire", "gpu", until=1), ld("x")], blocks=(0, 1))  # fmt: skip
    yield program("sequence_broken_by_a_store", [st("x", 11), st("f", 1, "release", "gpu")],
                  [ld("f", "relaxed", "gpu", until=1), st("f", 2, "relaxed", "gpu")],
                  [ld("f", "acquire", "gpu", until=2), ld("x")], blocks=(0, 1, 2))  # fmt: skip
    yield program("sequence_kept_by_an_exchange", [st("x", 11), st("f", 1, "release", "gpu")],
                  [ld("f", "relaxed", "gpu", until=1), exch("f", 2, "relaxed", "gpu")],
                  [ld("f", "acquire", "gpu", until=2), ld("x")], blocks=(0, 1, 2))  # fmt: skip


def locks():
    """Yields programs with critical sections, with correct and with incorrect locks."""
    ways = {
        "strong": ("acquire", [], "release", []),
        "exch": ("acquire", [], "exch", []),
        "relaxed": ("relaxed", [], "relaxed", []),
        "noacquire": ("relaxed", [], "release", []),
        "norelease": ("acquire", [], "relaxed", []),
        "fences": ("relaxed", [fence("acq_rel", "gpu")], "relaxed", [fence("acq_rel", "gpu")]),
        "volatile": ("relaxed", [fence("membar", "gpu")], "volatile", [fence("membar", "gpu")]),
        "weak": ("acquire", [], "weak", [fence("acq_rel", "gpu")]),
        "narrowfence": ("relaxed", [fence("acq_rel", "gpu")], "relaxed", [fence("acq_rel", "cta")]),
    }
    for (word, (take, after, give, before)), (place, _), scope in itertools.product(ways.items(), (TOGETHER, APART), ("cta", "gpu")):
        def unlock(scope=scope, give=give):
            return exch("m", 0, "release", scope) if give == "exch" else st("m", 0, give, scope)

        threads = [[lock("m", 1, take, scope), *after, ld("x"), st("x", 11 + i), *before, unlock()] for i in range(2)]
        where = "together" if place == (0, 0) else "apart"
        yield program(f"lock_{word}_{where}_{scope}", *threads, blocks=place)
    yield program("lock_outside", [lock("m", 1), st("x", 11), st("m", 0, "release", "gpu")], [st("x", 12)], blocks=(0, 1))
    yield program("lock_two", [lock("m", 1), st("x", 11), st("m", 0, "release", "gpu")], [lock("n", 1), st("x", 12), st("n", 0, "release", "gpu")],
                  blocks=(0, 1))  # fmt: skip


def barriers():
    kinds = ("bar.sync", "bar.red", "barrier.sync")
    for a, b, space in itertools.product(kinds, kinds, ((), ("x",))):
        if (a == "bar.red") != (b == "bar.red"):
            continue  # PTX does not define bar.red and bar.sync on one barrier.
        word = f"{a}_{b}_{'shared' if space else 'global'}".replace(".", "")
        yield program(f"barrier_{word}", [st("x", 11), bar(a)], [bar(b), ld("x")], shared=space)
    for space in ((), ("x",)):
        word = "shared" if space else "global"
        yield program(f"barrier_arrive_{word}", [st("x", 11), bar("bar.arrive")], [bar("bar.sync"), ld("x")], shared=space)
        yield program(f"barrier_arrive_back_{word}", [bar("bar.arrive"), st("x", 11)], [ld("x"), bar("bar.sync")], shared=space)
        yield program(f"barrier_after_{word}", [st("x", 11), bar(), st("x", 12)], [bar(), ld("x")], shared=space)
        yield program(f"barrier_before_{word}", [bar(), st("x", 11)], [ld("x"), bar()], shared=space)
        yield program(f"barrier_missing_{word}", [st("x", 11), bar(participants=3)], [bar(participants=3), ld("x")], [bar(participants=3), ld("x")], shared=space)
        yield program(f"barrier_late_{word}", [st("x", 11), bar(participants=3)], [bar(participants=3), ld("x")], [ld("x"), bar(participants=3)], shared=space)
        yield program(f"barrier_others_{word}", [st("x", 11), bar()], [bar()], [ld("x")], shared=space)
        yield program(f"barrier_chain_{word}", [st("x", 11), bar(barrier=1)], [bar(barrier=1), bar(barrier=2)], [bar(barrier=2), ld("x")], shared=space)
        yield program(f"barrier_chain_back_{word}", [st("x", 11), bar(barrier=1)], [bar(barrier=2), bar(barrier=1)], [bar(barrier=2), ld("x")], shared=space)
        yield program(f"barrier_arrive_chain_{word}", [st("x", 11), bar("bar.arrive", 1)], [bar("bar.sync", 1), bar("bar.arrive", 2)],
                      [bar("bar.sync", 2), ld("x")], shared=space)  # fmt: skip
        yield program(f"barrier_phases_{word}", [st("x", 11), bar(), bar(), st("x", 12)], [bar(), ld("x"), bar()], shared=space)
        yield program(f"barrier_one_phase_{word}", [st("x", 11), bar(), st("x", 12), bar()], [bar(), ld("x"), bar()], shared=space)
        yield program(f"barrier_atomics_{word}", [red("x", 1, "relaxed", "cta"), bar()], [add("x", 2, "relaxed", "cta"), bar(), ld("x")], shared=space)
    for order, scope in itertools.product(("relaxed", "release"), ("cta", "gpu")):
        yield program(f"barrier_flag_{order}_{scope}", [st("x", 11), bar()], [bar(), st("f", 1, order, scope)],
                      [ld("f", "acquire", scope, until=1), ld("x")])  # fmt: skip
    yield program("barrier_flag_barrier", [st("x", 11), bar()], [bar(), st("f", 1, "release", "gpu")],
                  [ld("f", "acquire", "gpu", until=1), bar()], [bar(), st("x", 12)], blocks=(0, 0, 1, 1))  # fmt: skip
    yield program("barrier_flag_barrier_relaxed", [st("x", 11), bar()], [bar(), st("f", 1, "release", "gpu")],
                  [ld("f", "relaxed", "gpu", until=1), bar()], [bar(), st("x", 12)], blocks=(0, 0, 1, 1))  # fmt: skip
    for arrive, wait, (word, place) in itertools.product(("", "release", "relaxed"), ("", "acquire"), (("block", (0, 0)), ("blocks", (0, 1)))):
        meet = [Op("cluster.arrive", order=arrive, barrier=16), Op("cluster.wait", order=wait, barrier=16)]
        yield program(f"cluster_{arrive or 'plain'}_{wait or 'plain'}_{word}", [st("x", 11), *meet], [*meet, ld("x")], blocks=place, cluster=2)
        if wait == "":
            yield program(f"cluster_split_{arrive or 'plain'}_{word}", [meet[0], st("x", 11), meet[1]], [*meet, ld("x")], blocks=place, cluster=2)
            yield program(f"cluster_before_wait_{arrive or 'plain'}_{word}", [st("x", 11), *meet], [meet[0], ld("x"), meet[1]],
                          blocks=place, cluster=2)  # fmt: skip
    # Each block has its own barriers. A barrier also orders the writes of other blocks that its threads have observed.
    yield program("barrier_blocks", [st("x", 11), bar()], [bar()], [bar(), ld("x")], [bar()], blocks=(0, 0, 1, 1))
    yield program("barrier_then_flag", [st("x", 11), bar()], [bar(), st("f", 1, "release", "gpu")], [ld("f", "acquire", "gpu", until=1), ld("x")],
                  blocks=(0, 0, 1))  # fmt: skip
    yield program("barrier_then_relaxed_flag", [st("x", 11), bar()], [bar(), st("f", 1, "relaxed", "gpu")],
                  [ld("f", "acquire", "gpu", until=1), ld("x")], blocks=(0, 0, 1))  # fmt: skip
    yield program("barrier_then_fence", [st("x", 11), bar()], [bar(), fence("acq_rel", "gpu"), st("f", 1, "relaxed", "gpu")],
                  [ld("f", "acquire", "gpu", until=1), ld("x")], blocks=(0, 0, 1))  # fmt: skip
    yield program("barrier_after_fence", [st("x", 11), fence("acq_rel", "gpu"), bar()], [bar(), st("f", 1, "relaxed", "gpu")],
                  [ld("f", "acquire", "gpu", until=1), ld("x")], blocks=(0, 0, 1))  # fmt: skip
    yield program("flag_then_barrier", [st("x", 11), st("f", 1, "release", "gpu")], [ld("f", "acquire", "gpu", until=1), bar()], [bar(), ld("x")],
                  blocks=(0, 1, 1))  # fmt: skip
    yield program("flag_then_barrier_shared", [st("x", 11), st("f", 1, "release", "cta")], [ld("f", "acquire", "cta", until=1), bar()], [bar(), st("x", 12)],
                  shared=("x", "f"))  # fmt: skip


def conditions():
    """Yields programs with threads that end unless they read a value, and with mutual exclusion by fence.sc."""
    for (place, scope), word in ((TOGETHER, "together"), (APART, "apart")):
        yield program(f"if_acquire_{word}", [st("x", 11), st("f", 1, "release", scope)], [ld("f", "acquire", scope, unless=1), ld("x")], blocks=place)
        yield program(f"if_fence_{word}", [st("x", 11), fence("acq_rel", scope), st("f", 1, "relaxed", scope)],
                      [ld("f", "relaxed", scope, unless=1), fence("acq_rel", scope), ld("x")], blocks=place)  # fmt: skip
        yield program(f"if_weak_flag_{word}", [st("x", 11), st("f", 1)], [ld("f", "acquire", scope, unless=1), ld("x")], blocks=place)
        for order in ("sc", "acq_rel"):
            yield program(f"dekker_{order}_{word}", [st("f", 1, "relaxed", scope), fence(order, scope), ld("g", "relaxed", scope, below=1), st("x", 11)],
                          [st("g", 1, "relaxed", scope), fence(order, scope), ld("f", "relaxed", scope, below=1), st("x", 12)], blocks=place)  # fmt: skip
        for order, scopes in itertools.product(("acq_rel", "release", "acquire", "relaxed"), dict.fromkeys(("cta", scope))):
            # The thread that increments f second reads the location to which the other thread has stored.
            yield program(f"last_{order}_{scopes}_{word}", [st("x", 11), add("f", 1, order, scopes, unless=1), ld("y")],
                          [st("y", 12), add("f", 1, order, scopes, unless=1), ld("x")], blocks=place)  # fmt: skip
    for before, after in itertools.product((None, "cta", "gpu"), repeat=2):
        fences = [[fence("acq_rel", scope)] if scope else [] for scope in (before, after)]
        yield program(f"last_fences_{before}_{after}", [st("x", 11), *fences[0], add("f", 1, unless=1), *fences[1], ld("y")],
                      [st("y", 12), *fences[0], add("f", 1, unless=1), *fences[1], ld("x")], blocks=(0, 1))  # fmt: skip


def sizes():
    """Yields programs of message passing with accesses of several sizes."""
    for at, size in ((0, 4), (4, 4), (0, 1), (7, 1), (2, 2)):
        yield program(f"wide_ordered_{at}_{size}", [st("x", 11, size=8), st("f", 1, "release", "gpu")],
                      [ld("f", "acquire", "gpu", until=1), ld("x", at=at, size=size)], blocks=(0, 1))  # fmt: skip
        yield program(f"wide_unordered_{at}_{size}", [st("x", 11, size=8), st("f", 1, "relaxed", "gpu")],
                      [ld("f", "acquire", "gpu", until=1), ld("x", at=at, size=size)], blocks=(0, 1))  # fmt: skip
    for at in (0, 1, 2, 3, 4):
        yield program(f"bytes_{at}", [st("x", 11, at=at, size=1)], [st("x", 12, at=2, size=2)])
        yield program(f"bytes_shared_{at}", [st("x", 11, at=at, size=1)], [ld("x", at=2, size=2)], shared=("x",))


GROUPS = (message_passing, message_passing_in_shared_memory, message_passing_scopes, single_location, buffering,
          independent_reads, chains, release_sequences, locks, barriers, conditions, sizes)  # fmt: skip


def programs():
    """Returns {program: verdict}, without the programs that have a data race in some of their executions only."""
    drawn = [each for group in GROUPS for each in group()]
    assert len({each.name for each in drawn}) == len(drawn)
    verdicts = {each: ptx_model.verdict(each) for each in drawn}
    return {each: found for each, found in verdicts.items() if found.level is not None}
