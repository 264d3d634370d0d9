# SPDX-License-Identifier: Apache-2.0
"""Results of the programs on a GPU: checks, rows of benchmarks, and the file that contains both."""

import datetime
import json
import os
import pathlib
import re
import xml.etree.ElementTree as ET
from typing import Any, Dict, List, Sequence

from .. import programs
from ..junit import Results, read_junit
from . import devices

Row = Dict[str, Any]
SKIPPED = "skipped: "  # prefix of the error message of a row that cannot run on this machine


class Report(Results):
    """The counts of checks, and the notes that tests write into their JUnit files."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: List[str] = []

    def skip(self, name: str, reason: str) -> None:
        self.skipped.append((name, reason))

    def check(self, name: str, command: Sequence[Any], **environment: str) -> bool:
        """Runs a program as one check, which passes if the exit code is 0. Returns whether the check passed."""
        arguments = [str(argument) for argument in command]
        print(" ".join(arguments), flush=True)
        code = programs.run(arguments, env={**os.environ, **environment}).returncode
        if code == 0:
            self.passed += 1
        else:
            self.failed.append((name, f"exit code {code}"))
        return code == 0

    def run_tests(self, path: pathlib.Path, command: Sequence[Any], **environment: str) -> None:
        """Runs a program with many checks, which writes a JUnit file to `path`, and adds the results in the file to
        this report. The program itself counts as a failed check if no check ran, or if its exit code is not 0 although
        no check failed."""
        name = path.stem
        code = programs.run(command, env={**os.environ, **environment}).returncode
        results = read_junit(path)
        # The first line of GoogleTest's reason, FILE:LINE, is removed.
        results.skipped = [(test, re.sub(r"^\S+:\d+\n", "", why).strip()) for test, why in results.skipped]
        results.failed = [(f"{name}: {test}", "") for test, _ in results.failed]
        if code != 0 and not results.failed:
            results.failed.append((name, f"exit code {code}, log above"))
        elif code == 0 and results.passed + len(results.skipped) == 0:
            results.failed.append((name, "no test ran"))
        self.add(results)
        for note in ET.parse(path).iter("property") if path.exists() else ():
            self.seen += [note.get("value", "")] if note.get("name") == "seen" else []

    def add_rows(self, rows: List[Row]) -> None:
        """Adds each row without a measurement to the skipped or to the failed checks."""
        for row in rows:
            message = row.get("error_message", "")
            if message.startswith(SKIPPED):
                self.skip(row["name"], message[len(SKIPPED) :])
            elif row.get("error_occurred"):
                self.failed.append((row["name"], message))

    def lines(self) -> List[str]:
        skipped = [f"skipped: {name}: {why}" for name, why in self.skipped]
        return [*skipped, *(f"failed: {line}" for line in self.failures()), str(self)]

    def failures(self) -> List[str]:
        return [f"{name}: {why}" if why else name for name, why in self.failed]


def tidy(row: Row) -> Row:
    fields = ("real_time", "time_unit", "bytes_per_second", "of_copy", "error_message")
    name = re.sub(r"(/iterations:\d+|/manual_time)", "", row["name"])
    return {"name": name, **{key: row[key] for key in fields if key in row}}


def with_share_of_copy(rows: List[Row]) -> List[Row]:
    """Returns the rows, with of_copy added to each row that lacks it: the bytes per second of the row, divided by the
    bytes per second of the fastest copy with the same arguments and dtype or, without such a copy, of the fastest copy
    of bytes with the same arguments. A row is named <op>/<dtype>/<implementation>/<arguments>."""

    def key(row: Row) -> Any:
        _, dtype, _, *arguments = tidy(row)["name"].split("/")
        return dtype, tuple(arguments)

    copies: Dict[Any, float] = {}
    rated = [row for row in rows if "bytes_per_second" in row and row["name"].count("/") > 2]
    for row in rated:
        if row["name"].startswith("copy/"):
            copies[key(row)] = max(copies.get(key(row), 0), row["bytes_per_second"])
    for row in rated:
        dtype, arguments = key(row)
        copy = copies.get((dtype, arguments)) or copies.get(("bytes", arguments))
        if copy and "of_copy" not in row and not row["name"].startswith("copy/"):
            row["of_copy"] = row["bytes_per_second"] / copy
    return rows


def write(folder: pathlib.Path, build: pathlib.Path, gpus: devices.Devices, context: Dict[str, Any],
          rows: List[Row], report: Report) -> pathlib.Path:  # fmt: skip
    """Writes the results to a JSON file in `folder`, named after the device and the time (UTC). Returns the path of the
    file."""
    now = datetime.datetime.now(datetime.timezone.utc)
    note = build / "commit"
    name = re.sub(r"[^a-z0-9]+", "-", gpus[0]["name"].lower()).strip("-")
    path = folder / f"{name}-{now:%Y-%m-%d-%H%M}.json"
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "device": gpus[0]["name"],
        "devices": gpus,
        "driver": devices.driver_version(),
        "cuda_runtime": context.get("cuda_runtime", "unknown"),
        "cuda_of_driver": context.get("cuda_of_driver", "unknown"),
        "date": now.isoformat(timespec="seconds"),
        "commit": note.read_text().strip() if note.exists() else "unknown",
        "tests": {
            "passed": report.passed, "failed": report.failures(),
            "skipped": [f"{name}: {why}" for name, why in report.skipped], "seen": report.seen,
        },
        "benchmarks": [tidy(row) for row in rows],
    }  # fmt: skip
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path
