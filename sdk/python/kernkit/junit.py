# SPDX-License-Identifier: Apache-2.0
"""Results of tests in JUnit's XML files, which ctest, GoogleTest and pytest write."""

import dataclasses
import pathlib
import re
import xml.etree.ElementTree as ET
from typing import List, Tuple


@dataclasses.dataclass
class Results:
    """The results of tests, added up over JUnit files."""

    passed: int = 0
    failed: List[Tuple[str, str]] = dataclasses.field(default_factory=list)  # (test, its output)
    skipped: List[Tuple[str, str]] = dataclasses.field(default_factory=list)  # (test, reason)

    def __str__(self) -> str:
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"

    def add(self, other: "Results") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def _reason(skipped: ET.Element) -> str:
    """Returns the reason of a skipped test. pytest's message for a skipped module is "collection skipped"; its text then
    contains the reason."""
    message = skipped.get("message", "")
    reason = re.search(r"'Skipped: (.+)'\)$", skipped.text or "")
    return reason[1] if message == "collection skipped" and reason else message


def read_junit(path: pathlib.Path) -> Results:
    """Returns the results in a JUnit file; empty results if the file does not exist."""
    results = Results()
    for case in ET.parse(path).iter("testcase") if path.exists() else ():
        name, suite = case.get("name", ""), case.get("classname", "")
        name = name if suite in ("", name) else f"{suite}.{name}"
        printed, reason = case.findtext("system-out") or "", case.find("skipped")
        if reason is not None or case.get("status") in ("notrun", "disabled"):
            # ctest's file has no reason for a skipped test. The output of the test, which GoogleTest printed, contains
            # the reason.
            reported = re.search(r": Skipped\n(.+)", printed)
            default = _reason(reason) if reason is not None else "not run"
            results.skipped.append((name, reported[1] if reported else default))
        elif case.find("failure") is not None or case.find("error") is not None:
            results.failed.append((name, printed))
        else:
            results.passed += 1
    return results
