# SPDX-License-Identifier: Apache-2.0
"""The sum of JUnit files: skipped and failed tests by name, then "N passed, M failed, K skipped".
Fails when a test failed, or none ran."""

import re
import sys
import xml.etree.ElementTree as ET


def main(paths) -> int:
    passed = 0
    skipped, failed = [], []
    for path in paths:
        for case in ET.parse(path).iter("testcase"):
            name = case.get("name", "")
            if case.get("classname", name) != name:
                name = case.get("classname") + "." + name
            reason = case.find("skipped")
            if reason is not None or case.get("status") in ("notrun", "disabled"):
                # ctest knows only that a test was skipped; GoogleTest printed why.
                printed = re.search(r": Skipped\n(.+)", case.findtext("system-out", ""))
                said = reason.get("message", "") if reason is not None else "not run"
                skipped.append((name, printed[1] if printed else said))
            elif case.find("failure") is not None or case.find("error") is not None:
                failed.append(name)
            else:
                passed += 1
    for name, reason in skipped:
        print(f"skipped: {name}: {reason}")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
