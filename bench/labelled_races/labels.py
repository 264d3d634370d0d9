# SPDX-License-Identifier: Apache-2.0
"""The labels of the suites' programs. The name of a program contains its label."""

import re
from typing import Callable, Dict, NamedTuple, Set


class Label(NamedTuple):
    """The faults in a program, according to its suite."""

    racy: bool  # a race
    invalid: bool  # an access out of bounds
    uninitialised: bool = False  # a use of uninitialised memory
    other: bool = False  # a fault that no tool of kernkit is designed to find

    def is_clean(self) -> bool:
        return not any(self)


def label_of_hirace(name: str) -> Label:
    """Returns the label of a HiRace-Indigo program from the bugs in its name, as in
    "pull_node_neighbors_cond_syncBug"."""
    return Label(bool(re.search(r"(atomic|guard|sync|race)Bug", name)), "boundsBug" in name)


def label_of_scor(name: str) -> Label:
    """Returns the label of a micro program of ScoR from its name: "race_interblock_blkatom" or
    "norace_interblock_atom"."""
    return Label(name.startswith("race_"), False)


def label_of_scor_application(name: str) -> Label:
    """Returns the label of an application of ScoR from the name of the compiled program: "1dconv.racy" with the macro
    RACEY, "1dconv.clean" without it."""
    return Label(name.endswith(".racy"), False)


# Indigo3's kinds of bugs. A kind that is in none of the sets RACES, OUT_OF_BOUNDS and UNINITIALISED causes wrong
# results, or a program that does not end.
KINDS_OF_INDIGO3 = ("RaceBug", "SyncBug", "BoundsBug", "NbrBoundsBug", "NborBoundsBug", "ExcessThreadsBug", "UninitializedBug", "FieldBug",
                    "PrecedenceBug", "OverflowBug", "LivelockBug")  # fmt: skip
RACES = {"RaceBug", "SyncBug"}
OUT_OF_BOUNDS = {"BoundsBug", "NbrBoundsBug", "NborBoundsBug", "ExcessThreadsBug"}
UNINITIALISED = {"UninitializedBug"}


# {kind of bug: the member of Row that is true if the tool for this kind has a finding}
MEMBER_OF_KIND = {**dict.fromkeys(RACES, "races"), **dict.fromkeys(OUT_OF_BOUNDS, "invalid"), **dict.fromkeys(UNINITIALISED, "uninitialised")}


def kinds_of_indigo3(name: str) -> Set[str]:
    """Returns the bugs in the name of an Indigo3 program, as in {"SyncBug"} for
    "PR_CUDA_Pull_FloatType_NoRaceBug_SyncBug"."""
    return {word for word in name.split("_") if word.endswith("Bug") and not word.startswith("No")}


def label_of_indigo3(name: str) -> Label:
    kinds = kinds_of_indigo3(name)
    return Label(bool(kinds & RACES), bool(kinds & OUT_OF_BOUNDS), bool(kinds & UNINITIALISED),
                 bool(kinds - RACES - OUT_OF_BOUNDS - UNINITIALISED))  # fmt: skip


SUITES: Dict[str, Callable[[str], Label]] = {"hirace": label_of_hirace, "scor": label_of_scor, "scor-applications": label_of_scor_application,
                                             "indigo3": label_of_indigo3}  # fmt: skip
# {suite: the tools that find the suite's kinds of faults}; the tools of other suites are DEFAULT_TOOLS.
TOOLS_OF = {"indigo3": "memcheck,racecheck,initcheck"}
DEFAULT_TOOLS = "memcheck,racecheck"
