# SPDX-License-Identifier: Apache-2.0
"""Draws programs of Indigo3, whose generator writes thousands of programs."""

import random
from typing import Dict, Iterable, List

from labels import KINDS_OF_INDIGO3, kinds_of_indigo3

CLEAN_PER_ROUND = 3  # number of clean programs in a round of draw()


def draw(names: Iterable[str], count: int, seed: int) -> List[str]:
    """Returns `count` of the names, or all names if there are fewer, without repetition. The names are drawn in rounds:
    CLEAN_PER_ROUND clean programs, then one program with each kind of bug. The result depends on the set of names and
    on the seed, not on the order of the names."""
    kinds_of = {name: kinds_of_indigo3(name.rsplit("/", 1)[-1].rsplit(".", 1)[0]) for name in sorted(names)}
    pools: Dict[str, List[str]] = {kind: [name for name, kinds in kinds_of.items() if kind in kinds] for kind in KINDS_OF_INDIGO3}
    pools["clean"] = [name for name, kinds in kinds_of.items() if not kinds]
    generator = random.Random(seed)
    for pool in pools.values():
        generator.shuffle(pool)
    drawn: Dict[str, None] = {}
    while len(drawn) < min(count, len(kinds_of)):
        for kind in ("clean", *KINDS_OF_INDIGO3):
            for _ in range(CLEAN_PER_ROUND if kind == "clean" else 1):
                while pools[kind] and pools[kind][-1] in drawn:
                    pools[kind].pop()
                if pools[kind]:
                    drawn[pools[kind].pop()] = None
    return list(drawn)[:count]
