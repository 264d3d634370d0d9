# SPDX-License-Identifier: Apache-2.0
"""Determines from pytest's output how a test of another package ends in the simulator, and makes the table of endings."""

import collections
import re
from typing import Any, Dict, List, NamedTuple, Optional

PASSED, SKIPPED, UNSUPPORTED, FAILED, CRASHED, TIMED_OUT = "passed", "skipped", "unsupported", "failed", "crashed", "timed out"
# The kind of a test that inspects machine code, or that requires a library that contains only machine code.
MACHINE_CODE = "machine code"
KINDS = (PASSED, SKIPPED, MACHINE_CODE, UNSUPPORTED, FAILED, CRASHED, TIMED_OUT)
# The kind of a test that a run leaves out, or that the package skips because a module is not compiled or memory is
# missing.
NOT_REACHED = "not reached"

_COUNT = re.compile(r"\b(\d+) (passed|failed|skipped|xfailed|xpassed|errors?)\b")
# The first pattern finds the simulator's report, which names the unsupported function or instruction; the second finds
# the error of the call. NVML is a part of NVIDIA's driver. The third finds an operator that PyTorch's CPU build lacks.
_UNSUPPORTED = (
    re.compile(r"kernkit: .*(?:not supported|unsupported)"),
    re.compile(r"CUDA_ERROR_NOT_SUPPORTED|cudaErrorNotSupported|\"nvml\" is an NVIDIA driver library"),
    re.compile(r"NotImplementedError: Could not run 'aten::\w+' with arguments from the 'CPU' backend"),
)
_MACHINE_CODE = re.compile(r"machine code|cubin|nvdisasm|cuobjdump|\bSASS\b|\bsass\b")
_CLOSED_LIBRARY = re.compile(r"^E .*((?:CURAND|CUBLAS|CUSOLVER|CUSPARSE|CuFFT|cuTENSOR|NCCL)\w*Error: .*)", re.MULTILINE)


_NOT_REACHED = re.compile(r"missing JIT cache for module: \S+|Skipping due to OOM")


class Ending(NamedTuple):
    kind: str  # one of KINDS
    reason: str = ""


def _reason(text: str) -> str:
    """Returns the last line of pytest's output that describes an exception, without pytest's prefix and without the advice
    that PyTorch's test cases append; "" if there is none."""
    text = text.partition("To execute this test, run the following from the base repo dir:")[0]
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return next((line for line in reversed(lines) if line), "")[:200]


def skipped(reason: str) -> Ending:
    """Returns the ending of a skipped test. `reason` is the package's reason for the skip."""
    return Ending(NOT_REACHED if _NOT_REACHED.search(reason) else SKIPPED, reason)


def classify(code: Optional[int], out: str, errors: str) -> Ending:
    """Returns the ending of a process of pytest that ran one test. `code` is the exit code (None at the time limit,
    negative for a signal). Tests that pytest skips, or whose failure the package expects, do not count as
    failures."""
    if code is None:
        return Ending(TIMED_OUT)
    counts = collections.Counter({kind: int(count) for count, kind in _COUNT.findall(out.splitlines()[-1] if out.strip() else "")})
    if code == 0 and counts["passed"] + counts["xfailed"] + counts["xpassed"] > 0:
        return Ending(PASSED)
    if code == 0 and counts["skipped"] > 0:
        return skipped(next((line for line in out.splitlines() if line.startswith("SKIPPED")), ""))
    both = errors + "\n" + out
    unsupported = next((line.strip() for pattern in _UNSUPPORTED for line in both.splitlines() if pattern.search(line)), "")
    reason = _reason(out)
    closed_library = _CLOSED_LIBRARY.search(out)
    if closed_library:
        return Ending(MACHINE_CODE, closed_library[1])
    if _MACHINE_CODE.search(unsupported) or (code == 1 and _MACHINE_CODE.search(reason)):
        return Ending(MACHINE_CODE, unsupported or reason)
    if unsupported:
        return Ending(UNSUPPORTED, unsupported)
    if code < 0 or code > 128:
        return Ending(CRASHED, f"exit code {code}")
    return Ending(FAILED, reason or f"exit code {code}")


def row(context: Dict[str, Any], endings: Dict[str, Ending]) -> str:
    """Returns the row of a Markdown table: the package, and the number of tests of each kind."""
    counts = collections.Counter(ending.kind for ending in endings.values())
    return f"| {context['client']} {context['version']} | " + " | ".join(str(counts[kind]) for kind in KINDS) + " |"


def file_rows(context: Dict[str, Any], endings: Dict[str, Ending]) -> List[str]:
    """Returns the lines of a Markdown table with a row for each file of --file: the number of tests in the file, the
    number of tests that --match selects, and the number of drawn tests of each kind."""
    kinds = (*KINDS, NOT_REACHED)
    lines = ["| file | tests | selected | " + " | ".join(kinds) + " |", "|" + "---|" * (3 + len(kinds))]
    for file, settings in sorted(context["files"].items()):
        counts = collections.Counter(ending.kind for name, ending in endings.items() if name.startswith(f"{file}::"))
        lines.append(f"| {file} | {settings['tests']:,} | {settings['selected']:,} | " + " | ".join(str(counts[kind]) for kind in kinds) + " |")
    return lines


def read_record(record: Dict[str, Any]) -> Dict[str, Ending]:
    """Returns the ending of each test in a JSON record of bench/client_suites."""
    return {name: Ending(result["ending"], result["reason"]) for name, result in record["results"].items()}


def table(context: Dict[str, Any], endings: Dict[str, Ending]) -> str:
    """Returns a Markdown table of the counts, followed by the reasons and the tests that did not pass."""
    counts = collections.Counter(ending.kind for ending in endings.values())
    considered = len(endings) - counts[SKIPPED] - counts[MACHINE_CODE] - counts[NOT_REACHED]
    limit = f"{context['limit_s']:g} s each, " if "limit_s" in context else ""
    lines = [
        f"{context['client']} {context['version']}: {len(endings)} of {context['collected']} tests, drawn by seed {context['seed']}, "
        f"{limit}{context['processor']}.", "",
        "| package | " + " | ".join(KINDS) + " |", "|" + "---|" * (1 + len(KINDS)), row(context, endings), "",
        *([*file_rows(context, endings), ""] if "files" in context else []),
        f"Passed: {counts[PASSED]} of {considered} tests that run, that the package does not skip and that need no machine code.", "",
    ]  # fmt: skip
    by_reason = collections.defaultdict(list)
    for name, ending in endings.items():
        if ending.kind not in (PASSED, SKIPPED):
            by_reason[ending].append(name)
    for ending, names in sorted(by_reason.items(), key=lambda item: ((*KINDS, NOT_REACHED).index(item[0].kind), -len(item[1]))):
        lines.append(f"- {ending.kind}, {len(names)}: {ending.reason}\n  " + "\n  ".join(sorted(names)))
    return "\n".join(lines)
