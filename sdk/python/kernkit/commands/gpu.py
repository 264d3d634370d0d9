# SPDX-License-Identifier: Apache-2.0
"""Run the programs of ./kk gpu --build on a GPU: tests, compute-sanitizer, frameworks, benchmarks.

The command needs Python and a GPU, but no compiler, CMake or network. A part that cannot run is skipped, with the
reason; without a GPU all parts are skipped, and the exit code is 0. Programs are build/gpu/bin/*gpu_test and
*gpu_bench. The results are one JSON file with device, driver, date and commit.

parts: tests, memcheck, racecheck, frameworks, benchmarks; all by default
"""

import argparse
import importlib.util
import json
import os
import pathlib
import sys
from typing import Any, Dict, List, Tuple

from ..errors import UserError
from ..on_gpu import devices, results
from ..on_gpu.results import Report, Row

PARTS = ("tests", "memcheck", "racecheck", "frameworks", "benchmarks")
OWN_TESTS = pathlib.Path(__file__).resolve().parents[1] / "on_gpu/test_ops.py"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    folder = {"type": pathlib.Path, "metavar": "DIR"}
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"a part to run: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--build", default="build/gpu", help="folder of the build (default: %(default)s)", **folder)
    parser.add_argument("--results", default="bench/results", help="folder for the results (default: %(default)s)", **folder)
    parser.add_argument("--library", default="", metavar="NAME", help="the library that frameworks call: lib/libNAME.so of the build")
    parser.add_argument("--reduced", default="-*Large*", metavar="FILTER",
                        help="GoogleTest filter of the tests that run under compute-sanitizer, which slows kernels down a hundredfold (default: %(default)s)")
    parser.add_argument("--first", action="append", default=[], metavar="FILTER",
                        help="GoogleTest filter of tests that also run in a process of their own (default: Contract/*.Capture); repeatable")
    parser.add_argument("--tests", type=pathlib.Path, default=OWN_TESTS, metavar="PATH",
                        help="pytest's tests of frameworks (default: tests that call each op with its example from PyTorch, CuPy and JAX)")
    parser.add_argument("--also", action="append", default=[], metavar="FILE.py",
                        help="a benchmark in Python, which writes rows to its first argument and takes --filter")
    parser.add_argument("--option", action="append", default=[], metavar="WORD", help="an option for the benchmarks; repeatable")  # fmt: skip


def programs(build: pathlib.Path, kind: str) -> List[pathlib.Path]:
    return sorted((build / "bin").glob(f"*gpu_{kind}"))


def run_tests(options: argparse.Namespace, out: pathlib.Path, report: Report) -> None:
    for program in programs(options.build, "test"):
        path = out / f"{program.name}.xml"
        report.run_tests(path, [program, f"--gtest_output=xml:{path}", "--gtest_brief=1"])
        # Runs the tests of each filter again in a new process, in which no test has launched a kernel before them.
        for which in options.first or ["Contract/*.Capture"]:
            report.check(f"{program.name}, {which} alone", [program, f"--gtest_filter={which}", "--gtest_brief=1"])


def run_sanitizer(tool: str, options: argparse.Namespace, report: Report) -> None:
    sanitizer = devices.find_sanitizer()
    if sanitizer is None:
        return report.skip(tool, "compute-sanitizer not found; run pip install nvidia-cuda-sanitizer-api")
    for program in programs(options.build, "test"):
        command = [sanitizer, "--tool", tool, "--error-exitcode", "9", program]
        report.check(f"{tool} of {program.name}", [*command, f"--gtest_filter={options.reduced}", "--gtest_brief=1"])


def run_frameworks(options: argparse.Namespace, out: pathlib.Path, report: Report) -> None:
    missing = [name for name in ("pytest", "numpy", "tvm_ffi") if not importlib.util.find_spec(name)]
    if missing:
        return report.skip("frameworks", f"{', '.join(missing)} not installed for {sys.executable}")
    examples, path = out / "examples.jsonl", out / "pytest.xml"
    examples.touch()
    if options.tests == OWN_TESTS:
        for program in programs(options.build, "test"):  # these tests write the examples that the tests of frameworks read
            report.check(f"{program.name}, examples", [program, "--gtest_filter=Contract/*.Note", "--gtest_brief=1"],
                         KERNKIT_EXAMPLES=str(examples))  # fmt: skip
    command = [sys.executable, "-m", "pytest", options.tests, "-q", "-rfEsx", "-p", "no:cacheprovider"]
    report.run_tests(path, [*command, f"--junitxml={path}"], KERNKIT_EXAMPLES=str(examples),
                     LIBRARY=str(options.build / f"lib/lib{options.library}.so"))  # fmt: skip


def rows_of(path: pathlib.Path) -> Tuple[Dict[str, Any], List[Row]]:
    content = json.loads(path.read_text())
    return content["context"], content["benchmarks"]


def run_benchmarks(options: argparse.Namespace, out: pathlib.Path, report: Report) -> Tuple[Dict[str, Any], List[Row]]:
    """Runs the benchmark programs. Returns (context of the last program, rows of all programs)."""
    context: Dict[str, Any] = {}
    rows: List[Row] = []
    for program in programs(options.build, "bench"):
        path = out / f"{program.name}.json"
        command = [program, f"--benchmark_out={path}", "--benchmark_counters_tabular=true"]
        if report.check(program.name, [*command, *options.option]) and path.exists():
            context, measured = rows_of(path)
            rows += measured
    filters = [option.split("=", 1)[1] for option in options.option if option.startswith("--benchmark_filter=")]
    for script in options.also:
        path = out / f"{pathlib.Path(script).stem}.json"
        command = [sys.executable, script, path]
        if report.check(pathlib.Path(script).stem, command + (["--filter", filters[0]] if filters else [])):
            of_script, measured = rows_of(path)
            rows += measured
            if of_script.get("skipped"):
                report.skip(f"rows of {pathlib.Path(script).stem}", of_script["skipped"])
    report.add_rows(rows)
    return context, results.with_share_of_copy(rows)


def run_on(gpus: devices.Devices, options: argparse.Namespace, parts: List[str], report: Report) -> None:
    for device in gpus:
        print(f"==> {device['name']}, compute capability {device['compute_capability']}", flush=True)
    out = options.build / "out"
    out.mkdir(exist_ok=True)
    for stale in filter(pathlib.Path.is_file, out.iterdir()):
        stale.unlink()
    context: Dict[str, Any] = {}
    rows: List[Row] = []
    for part in parts:
        print(f"==> {part}", flush=True)
        if part == "tests":
            run_tests(options, out, report)
        elif part in ("memcheck", "racecheck"):
            run_sanitizer(part, options, report)
        elif part == "frameworks":
            run_frameworks(options, out, report)
        else:
            context, rows = run_benchmarks(options, out, report)
    print(f"==> results: {results.write(options.results, options.build, gpus, context, rows, report)}")


def run(options: argparse.Namespace) -> int:
    for part in options.parts:
        if part not in PARTS:
            raise UserError(f"unsupported part {part}; supported parts: {', '.join(PARTS)}")
    options.build = pathlib.Path(os.path.abspath(options.build))
    parts, report = options.parts or list(PARTS), Report()
    gpus = devices.find()
    if isinstance(gpus, str):
        for part in parts:
            report.skip(part, gpus)
    elif not programs(options.build, "test"):
        raise UserError(f"{options.build}/bin has no program for a GPU; ./kk gpu --build makes them")
    else:
        run_on(gpus, options, parts, report)
    print("\n".join(report.lines()))
    return 1 if report.failed else 0
