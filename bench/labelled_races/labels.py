# SPDX-License-Identifier: Apache-2.0
"""The labels of the suites, which are in the names of their programs."""

import re
from typing import Callable, Dict, NamedTuple


class Label(NamedTuple):
    """The faults that a program has."""

    racy: bool  # a race
    invalid: bool  # an access out of bounds


def label_of_hirace(name: str) -> Label:
    """HiRace-Indigo: "pull_node_neighbors_cond_syncBug". A program without a bug is clean."""
    return Label(bool(re.search(r"(atomic|guard|sync|race)Bug", name)), "boundsBug" in name)


def label_of_scor(name: str) -> Label:
    """ScoR's micro programs: "race_interblock_blkatom", "norace_interblock_atom"."""
    return Label(name.startswith("race_"), False)


SUITES: Dict[str, Callable[[str], Label]] = {"hirace": label_of_hirace, "scor": label_of_scor}
