# SPDX-License-Identifier: Apache-2.0
"""Benchmark programs: their command lines, and the rows of several rounds."""

import os
import pathlib
import re
import shlex
import sys
from typing import Any, Dict, List, Tuple

from ..errors import UserError
from .measurements import Row

# Keys of Google Benchmark's own context. A program adds other keys.
OF_GOOGLE = {"date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled",
             "aslr_enabled", "caches", "load_avg", "library_build_type", "library_version",
             "json_schema_version"}


def command_of(program: str) -> Tuple[List[str], Dict[str, str]]:
    words, environment = shlex.split(program), dict(os.environ)
    while words and re.match(r"\w+=", words[0]):
        key, _, environment[key] = words.pop(0).partition("=")
    if not words or not pathlib.Path(words[0]).exists():
        raise UserError(f"program {program} not found; build the program first, or correct the path")
    return ([sys.executable] if words[0].endswith(".py") else []) + words, environment


class Collector:
    """Collects the rows of all rounds."""

    def __init__(self) -> None:
        self.rows: Dict[Tuple[str, str], Row] = {}
        self.added: Dict[str, Any] = {}

    def add(self, program: str, content: Dict[str, Any]) -> None:
        for key, value in content["context"].items():
            if key not in OF_GOOGLE:
                known = self.added.setdefault(key, [])
                known += [value] if value not in known else []
        for measured in content["rows"]:
            found = Row(**{"program": program, **measured})
            row = self.rows.setdefault((program, found.name), Row(program, found.name, found.unit))
            row.unit, row.bytes = found.unit, found.bytes or row.bytes
            row.reason = row.reason or found.reason
            if found.samples:
                # Other programs on the machine only add time, so the minimum counts.
                row.samples.append(min(found.samples))
