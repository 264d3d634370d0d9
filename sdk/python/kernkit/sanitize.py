# SPDX-License-Identifier: Apache-2.0
"""Look for what the kernels of a program do wrong, without a GPU, as compute-sanitizer does with one.

    kernkit sanitize [--tool TOOLS] [--json FILE] PROGRAM ARGUMENTS...

The program is one that `kernkit run` runs, or that links kernkit::cuda_on_ptx, as a library's tests do.
Where the program itself succeeds and a tool found something, the exit code is that of --error-exitcode.
"""

import argparse
import json
import pathlib
import sys
from typing import Any, Dict, List

from . import run as running
from .cli import Refusal

TOOLS = ("memcheck", "synccheck")
Finding = Dict[str, Any]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tool", default=",".join(TOOLS), metavar="TOOLS", help="as in memcheck,synccheck (default: all: %(default)s)")
    parser.add_argument("--error-exitcode", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--print-limit", type=int, default=100, metavar="N", help="so many findings are printed (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all findings there")
    running.configure(parser)


def tools_of(words: str) -> List[str]:
    tools = [word for word in words.split(",") if word]
    for tool in tools:
        if tool not in TOOLS:
            raise Refusal(f'--tool: there is no tool "{tool}"; type {", ".join(TOOLS)}')
    if not tools:
        raise Refusal(f'--tool: expected one or more of {", ".join(TOOLS)}')
    return tools


def merged(findings: List[Finding]) -> List[Finding]:
    """Those of several processes, each sentence once."""
    found: Dict[str, Finding] = {}
    for finding in findings:
        one = found.setdefault(finding["tool"] + finding["sentence"], {**finding, "count": 0})
        one["count"] += finding["count"]
    return list(found.values())


def summary(findings: List[Finding], tools: List[str]) -> str:
    counts = ", ".join(f"{tool} {sum(finding['tool'] == tool for finding in findings)}" for tool in tools)
    return f"kernkit sanitize: {len(findings)} found: {counts}"


def run(arguments: argparse.Namespace) -> int:
    tools = tools_of(arguments.tool)
    code, results = running.run_with_tools(arguments, tools)
    findings = merged([finding for result in results for finding in result["findings"] if finding["tool"] in tools])
    if arguments.json:
        arguments.json.write_text(json.dumps({"tools": tools, "program_exitcode": code, "findings": findings}, indent=1) + "\n")
    for finding in findings[: arguments.print_limit]:
        times = f" ({finding['count']} times)" if finding["count"] > 1 else ""
        print(f"{finding['tool']}: {finding['sentence']}{times}", file=sys.stderr)
    if len(findings) > arguments.print_limit:
        print(f"{len(findings) - arguments.print_limit} more are not printed, see --print-limit", file=sys.stderr)
    print(summary(findings, tools), file=sys.stderr)
    return code or (arguments.error_exitcode if findings else 0)
