# SPDX-License-Identifier: Apache-2.0
"""The command lines of benchmark programs, and the rows that a program measures in several rounds."""

import os
import pathlib
import re
import shlex
import sys
from typing import Any, Dict, List, Tuple

from ..errors import UserError
from .measurements import Row

# Keys that Google Benchmark writes into the "context" of its output. Other keys come from the benchmark program.
OF_GOOGLE = {"date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled",
             "aslr_enabled", "caches", "load_avg", "library_build_type", "library_version",
             "json_schema_version"}


def command_of(program: str) -> Tuple[List[str], Dict[str, str]]:
    command, environment = shlex.split(program), dict(os.environ)
    while command and re.match(r"\w+=", command[0]):
        key, _, environment[key] = command.pop(0).partition("=")
    if not command or not pathlib.Path(command[0]).exists():
        raise UserError(f"program {program} not found; build the program first, or correct the path")
    return ([sys.executable] if command[0].endswith(".py") else []) + command, environment


class Collector:
    """Collects the rows of a run over all rounds. add() merges the rows that one program measured in one round, and
    appends one sample to each measured row."""

    def __init__(self) -> None:
        self.rows: Dict[Tuple[str, str], Row] = {}
        self.added: Dict[str, Any] = {}

    def add(self, program: str, content: Dict[str, Any]) -> None:
        for key, value in content["context"].items():
            if key not in OF_GOOGLE:
                values = self.added.setdefault(key, [])
                values += [value] if value not in values else []
        for measured in content["rows"]:
            measured_row = Row(**{"program": program, **measured})
            row = self.rows.setdefault((program, measured_row.name), Row(program, measured_row.name, measured_row.unit))
            row.unit, row.bytes = measured_row.unit, measured_row.bytes or row.bytes
            row.reason = row.reason or measured_row.reason
            if measured_row.samples:
                # The fastest repetition is the sample of the round, because other programs on the machine can only
                # make a repetition slower.
                row.samples.append(min(measured_row.samples))
