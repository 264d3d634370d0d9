# SPDX-License-Identifier: Apache-2.0
"""Count the memory traffic of a program's kernels, without a GPU: the same numbers in every run.

    kernkit counters [--lines] [--json FILE] [--html FILE] [--resources FILE] PROGRAM ARGUMENTS...

The program is one that `kernkit run` runs, or that links kernkit::simulator_ptx, as a library's tests do.
The exit code is the program's.
"""

import argparse
import json
import pathlib
import sys

from ..simulator import counters, program, resources


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lines", action="store_true", help="also print a row for each line of the source")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all counters to this file")
    parser.add_argument("--html", type=pathlib.Path, metavar="FILE", help="write the source with its counters to this file")
    parser.add_argument("--resources", type=pathlib.Path, metavar="FILE",
                        help="a library, program, object file or PTX file; adds registers, spills and occupancy, which ptxas reports for its PTX")  # fmt: skip
    parser.add_argument("--architecture", metavar="sm_80", help="architecture for which ptxas compiles (default: the architecture of the PTX)")
    program.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    usage = resources.resource_usage(arguments.resources, arguments.architecture) if arguments.resources else {}
    code, results = program.run_with_tools(arguments, ["counters"])
    kernels = counters.summed([kernel for result in results for kernel in result["kernels"]])
    for kernel in kernels:
        if kernel["kernel"] in usage:
            kernel["counters"]["ptxas"] = resources.with_occupancy(usage[kernel["kernel"]], kernel["shapes"])
    if arguments.json:
        arguments.json.write_text(json.dumps(counters.as_json(kernels), indent=1) + "\n")
    if arguments.html:
        arguments.html.write_text(counters.html_page(kernels))
    print(counters.table(kernels, arguments.lines) if kernels else "no kernel ran", file=sys.stderr)
    return code
