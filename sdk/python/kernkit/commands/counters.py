# SPDX-License-Identifier: Apache-2.0
"""Count the memory traffic of a program's kernels, without a GPU: the same numbers in every run.

    kernkit counters [--lines] [--json FILE] [--html FILE] [--resources FILE] PROGRAM ARGUMENTS...
    kernkit counters --library LIB.so FOLDER

The program is one that `kernkit run` runs, or that links kernkit::simulator_ptx, as a library's tests do.
FOLDER is a recorded call, which a library wrote because KERNKIT_RECORD was set. The call is repeated with LIB.so, as by
`kernkit replay --on-cpu`. The exit code is the exit code of the program.
"""

import argparse
import json
import pathlib
import sys

from ..errors import UserError
from ..simulator import counters, program, resources


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lines", action="store_true", help="also print a row for each line of the source")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all counters to this file")
    parser.add_argument("--html", type=pathlib.Path, metavar="FILE", help="write a page with the source and the counters of each line to this file")
    parser.add_argument("--resources", type=pathlib.Path, metavar="FILE",
                        help="a library, program, object file or PTX file; adds registers, spills and occupancy, which ptxas reports for the PTX in FILE")  # fmt: skip
    parser.add_argument("--architecture", metavar="sm_80", help="architecture for which ptxas compiles (default: the architecture of the PTX)")
    parser.add_argument("--library", type=pathlib.Path, metavar="LIB.so", help="the library whose op is called, if PROGRAM is a recorded call")
    program.add_arguments(parser)


def _make_call(arguments: argparse.Namespace) -> None:
    """If the program is the folder of a recorded call, replaces it by the command that repeats the call."""
    if not pathlib.Path(arguments.program, "call.json").is_file():
        if arguments.library:
            raise UserError(f"--library: {arguments.program} is not a recorded call, which is a folder with call.json; leave out --library")
        return
    if not arguments.library:
        raise UserError(f"{arguments.program} is a recorded call; add --library LIB.so before the folder")
    arguments.arguments = ["-m", __package__.partition(".")[0], "replay", "--here", arguments.program, "--library", str(arguments.library)]
    arguments.program = sys.executable


def run(arguments: argparse.Namespace) -> int:
    _make_call(arguments)
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
