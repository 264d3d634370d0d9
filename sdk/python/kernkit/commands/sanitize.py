# SPDX-License-Identifier: Apache-2.0
"""Find errors of a program's kernels, without a GPU, as compute-sanitizer does on a GPU.

    kernkit sanitize [--tool TOOLS] [--seeds N] [--json FILE] PROGRAM ARGUMENTS...

The program is one that `kernkit run` runs, or that links kernkit::simulator_ptx, as a library's tests do.
If the program succeeds and a tool has findings, the exit code is the value of --error-exitcode.
"""

import argparse
import contextlib
import fnmatch
import json
import os
import pathlib
import re
import sys
from typing import Any, Dict, List, Tuple

from ..errors import UserError
from ..simulator import determinism, program

DEFAULT_TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
TOOLS = (*DEFAULT_TOOLS, "determinism")
LEVELS = ("info", "warn", "error")  # levels of findings, in increasing severity
Finding = Dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tool", default=",".join(DEFAULT_TOOLS), metavar="TOOLS",
                        help=f"comma-separated list of tools: {', '.join(TOOLS)} (default: %(default)s)")  # fmt: skip
    parser.add_argument("--racecheck-detect-level", choices=("info", "warn", "error"), default="error",
                        help="warn also reports races between lanes of a warp without __syncwarp() and races of accesses that lack only an "
                        "acquire fence; info also reports stores of the same value and unordered strong accesses (default: %(default)s)")  # fmt: skip
    parser.add_argument("--seeds", type=int, metavar="N",
                        help="run the program N times, with the N seeds that begin at --seed, and merge the findings (default: 1, or 4 "
                        "with the tool determinism)")  # fmt: skip
    parser.add_argument("--synccheck-detect-level", choices=("warn", "error"), default="error",
                        help="warn also reports barriers that open after threads of the block have ended (default: %(default)s)")  # fmt: skip
    parser.add_argument("--error-exitcode", type=int, default=1, metavar="N", help="exit code if a tool has findings (default: %(default)s)")
    parser.add_argument("--print-limit", type=int, default=100, metavar="N", help="largest number of printed findings (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all findings to this file")
    parser.add_argument("--suppressions", type=pathlib.Path, metavar="FILE",
                        help="file with patterns of findings to suppress; the line above a pattern is a comment (#) with the reason")  # fmt: skip
    program.add_arguments(parser)


def tools_of(text: str) -> List[str]:
    tools = [name for name in text.split(",") if name]
    for tool in tools:
        if tool not in TOOLS:
            raise UserError(f'--tool: unsupported tool "{tool}"; supported tools: {", ".join(TOOLS)}')
    if not tools:
        raise UserError(f'--tool: expected one or more of {", ".join(TOOLS)}')
    return tools


def level_of(finding: Finding) -> int:
    return LEVELS.index(finding.get("level", "error"))


def without_numbers(sentence: str) -> str:
    """Returns the sentence with "N" in place of the numbers of threads and bytes, which differ between seeds. Line
    numbers are kept."""
    return re.sub(r"\d+(?![^(]*\))", "N", sentence)


def merged(findings: List[Finding]) -> List[Finding]:
    """Returns the findings of several processes and runs, without duplicates. Findings with the same sentence are
    duplicates, as are races between the same two source lines. Among duplicates, the first finding with the most severe
    level is kept. With several seeds, findings whose sentences differ only in numbers of threads and bytes are
    duplicates too."""
    by_key: Dict[str, Finding] = {}
    for finding in findings:
        sentence = without_numbers(finding["sentence"]) if "seed" in finding else finding["sentence"]
        key = finding["tool"] + (finding.get("pair") or sentence)
        entry = by_key.setdefault(key, {**finding, "count": 0})
        count = entry["count"] + finding["count"]
        if level_of(finding) > level_of(entry):
            entry.update(finding)
        entry["count"] = count
    return list(by_key.values())


def read_suppressions(path: pathlib.Path) -> List[str]:
    """Returns the patterns in a file, which has one pattern per line; a * matches any text. Raises UserError if the
    file does not exist, or if the line before a pattern is not a comment (#) with the reason."""
    if not path.is_file():
        raise UserError(f"--suppressions: file {path} not found; correct the path")
    patterns, reason = [], False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            if not reason:
                raise UserError(f"{path}:{number}: a suppression needs its reason, in a line above it that begins with #")
            patterns.append(line.strip())
        reason = line.startswith("#") and len(line.strip("# ")) > 0
    return patterns


def suppressed(findings: List[Finding], patterns: List[str]) -> Tuple[List[Finding], List[str]]:
    """Returns (findings that match no pattern, patterns that match no finding)."""

    def names(pattern: str, finding: Finding) -> bool:
        # In a pattern, [ is an ordinary character, as in the index of a block or thread, and does not begin a set of
        # characters.
        return fnmatch.fnmatchcase(finding["sentence"], pattern.replace("[", "[[]"))

    unmatched = [finding for finding in findings if not any(names(pattern, finding) for pattern in patterns)]
    unused = [pattern for pattern in patterns if not any(names(pattern, finding) for finding in findings)]
    return unmatched, unused


def summary(findings: List[Finding], tools: List[str]) -> str:
    counts = ", ".join(f"{tool}: {sum(finding['tool'] == tool for finding in findings)}" for tool in tools)
    return f"kernkit sanitize: {len(findings)} finding{'s' * (len(findings) != 1)} ({counts})"


def incomplete(code: int, results: List[Any], findings: List[Finding], tools: List[str]) -> List[str]:
    """Returns messages about kernels that did not run, or whose findings are incomplete. If there is such a message,
    the command's exit code is not 0."""
    sentences = {without_numbers(finding["sentence"]) for finding in findings}

    def rest_of(sentence: str) -> str:
        skips = "racecheck" in tools and ": Invalid __" in sentence  # racecheck omits an invalid access and continues
        return "a kernel failed: its invalid accesses were skipped, and the kernel continued" if skips else "a kernel stopped, and the rest of the kernel did not run"

    stopped = [sentence for result in results for sentence in result["stopped"]]
    failed = sum(result["not_run"] for result in results)
    lines = [f"{rest_of(sentence)}: {sentence}" for sentence in stopped if without_numbers(sentence) not in sentences]
    lines += dict.fromkeys(rest_of(sentence) for sentence in stopped if without_numbers(sentence) in sentences)
    if failed:
        lines.append(f"{failed} {'launch' if failed == 1 else 'launches'} after a stopped kernel did not run")
    cut_off = sum(not result["ended"] for result in results)
    if cut_off or code > 128:
        cause = f"by signal {code - 128}" if code > 128 else "before the tools wrote their last findings"
        lines.append(f"the program crashed or was ended {cause}: later kernels did not run")
    return lines


def without_seed(sentence: str) -> str:
    return re.sub(r" \(seed \d+\)$", "", sentence)


def run_with_seeds(arguments: argparse.Namespace, tools: List[str], settings: Dict[str, str]) -> Tuple[int, List[Any]]:
    """Runs the program once per seed. Returns (the first exit code that is not 0, or 0; the reports of all runs). With
    several seeds each finding names its seed. With the tool determinism, the first launch whose output differs between
    runs becomes a finding of the last report."""
    compares = "determinism" in tools
    seeds = (4 if compares else 1) if arguments.seeds is None else arguments.seeds
    if seeds < 1 + compares:
        raise UserError(f"--seeds: expected {1 + compares} or more{' with determinism' * compares}, found {seeds}")
    if seeds == 1:
        return program.run_with_tools(arguments, tools, settings)
    first = arguments.seed or os.environ.get("KERNKIT_SEED") or "0"
    if not first.isdecimal():
        raise UserError(f'--seed: expected a number, found "{first}"')
    code, results, runs = 0, [], []
    with determinism.fixed_addresses() if compares else contextlib.nullcontext():
        for seed in range(int(first), int(first) + seeds):
            arguments.seed = str(seed)
            code_of_run, reports = program.run_with_tools(arguments, tools, settings)
            code = code or code_of_run
            for report in reports:
                report["stopped"] = [without_seed(sentence) for sentence in report["stopped"]]
                for finding in report["findings"]:
                    finding.update(seed=seed, sentence=without_seed(finding["sentence"]))
            results += reports
            if code_of_run in program.INTERRUPTED:
                return code_of_run, results
            runs.append((seed, [report.get("launches", "") for report in reports]))
        if compares:
            print(f"kernkit sanitize: {determinism.compared_text(runs)}", file=sys.stderr)
        difference = determinism.first_difference(runs) if compares else None
        if difference is not None:
            finding = determinism.explained(difference, lambda seed, launch: described(arguments, seed, launch))
            results[-1]["findings"].append(finding)
    return code, results


def described(arguments: argparse.Namespace, seed: int, launch: str) -> List[Any]:
    """Runs the program again with `seed`, and returns the reports: determinism describes the launch `launch`, and
    racecheck reports races of every level."""
    arguments.seed = str(seed)
    settings = {"KERNKIT_DESCRIBED_LAUNCH": launch, "KERNKIT_RACECHECK_DETECT_LEVEL": LEVELS[0]}
    return program.run_with_tools(arguments, ["determinism", "racecheck"], settings, is_silent=True)[1]


def text_of(finding: Finding) -> str:
    """Returns the line for a finding, with its level, seed and count: "racecheck (warn): scan: ... (seed 3) (2
    times)"."""
    level = "" if level_of(finding) == LEVELS.index("error") else f" ({finding['level']})"
    seed = f" (seed {finding['seed']})" if "seed" in finding else ""
    times = f" ({finding['count']} times)" if finding["count"] > 1 else ""
    return f"{finding['tool']}{level}: {finding['sentence']}{seed}{times}"


def run(arguments: argparse.Namespace) -> int:
    tools = tools_of(arguments.tool)
    patterns = read_suppressions(arguments.suppressions) if arguments.suppressions else []
    levels = {"KERNKIT_RACECHECK_DETECT_LEVEL": arguments.racecheck_detect_level,
              "KERNKIT_SYNCCHECK_DETECT_LEVEL": arguments.synccheck_detect_level}  # fmt: skip
    code, results = run_with_seeds(arguments, tools, levels)
    all_findings = merged([finding for result in results for finding in result["findings"]])
    findings, unused = suppressed([finding for finding in all_findings if finding["tool"] in tools], patterns)
    for pattern in unused:
        print(f"kernkit sanitize: this suppression matches no finding: {pattern}", file=sys.stderr)
    missing = incomplete(code, results, findings, tools)
    warnings = ["ended without synchronising"] if any(not result["synchronised"] for result in results) else []
    if arguments.json:
        arguments.json.write_text(json.dumps({"tools": tools, "program_exitcode": code, "incomplete": missing,
                                              "warnings": warnings, "findings": findings}, indent=1) + "\n")  # fmt: skip
    for finding in findings[: arguments.print_limit]:
        print(text_of(finding), file=sys.stderr)
        for cause in finding.get("causes", []):
            print(f"{finding['tool']}:   {cause}", file=sys.stderr)
    if len(findings) > arguments.print_limit:
        print(f"{len(findings) - arguments.print_limit} more findings are not printed, see --print-limit", file=sys.stderr)
    for line in missing:
        print(f"kernkit sanitize: incomplete: {line}", file=sys.stderr)
    for warning in warnings:
        print(f"kernkit sanitize: warning: {warning}", file=sys.stderr)
    print(summary(findings, tools), file=sys.stderr)
    return code or (arguments.error_exitcode if findings or missing else 0)
