# SPDX-License-Identifier: Apache-2.0
"""Repeats a call in a process of its own, also under `kernkit run` or `kernkit sanitize`, and reports how the call ended."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..errors import UserError
from . import child, recording, replay, safetensors, writing


class Trial(NamedTuple):
    """The end of a repeated call: signal, outcome and findings."""

    signal: Optional[int]  # signal that ended the process, or None; SIGALRM if the process exceeded its time limit
    outcome: Optional[replay.Outcome]  # outcome of the call, or None if the call did not return
    findings: Tuple[Dict[str, Any], ...]  # findings of the tools of `kernkit sanitize`
    seconds: float


def _write(folder: pathlib.Path, outcome: replay.Outcome) -> None:
    safetensors.write(folder / "memory.safetensors", {str(i): ("U8", [len(data)], data) for i, data in outcome.storages.items()})
    value = outcome.value.hex() if isinstance(outcome.value, float) else outcome.value if isinstance(outcome.value, int) else None
    (folder / "outcome.json").write_text(json.dumps({"error": outcome.error, "value": value, "has_value": outcome.has_value and not isinstance(outcome.value, str)}))


def _read(folder: pathlib.Path) -> Optional[replay.Outcome]:
    if not (folder / "outcome.json").is_file():
        return None
    node = json.loads((folder / "outcome.json").read_text())
    if "problem" in node:
        raise UserError(node["problem"])
    memory = safetensors.read(folder / "memory.safetensors")
    value = float.fromhex(node["value"]) if isinstance(node["value"], str) else node["value"]
    return replay.Outcome(node["error"], value, node["has_value"], {int(i): data for i, data in memory.items()})


def _call(call: recording.Recording, library: pathlib.Path, results: pathlib.Path) -> None:
    """Makes the call in this process, and writes its outcome into the folder `results`."""
    try:
        _write(results, replay.call(call, library))
    except UserError as problem:
        (results / "outcome.json").write_text(json.dumps({"problem": str(problem)}))


class Runner:
    """Repeats calls of an op, each in a process of its own. `command`: the command of kernkit that runs the process,
    with its options, as in ["sanitize", "--tool", "memcheck"]; an empty list repeats the call without the simulator.
    `folder`: an empty folder for files."""

    def __init__(self, library: pathlib.Path, command: List[str], folder: pathlib.Path) -> None:
        self.library, self.command, self.folder = library, command, folder
        self.seconds: Optional[float] = None  # time limit of a call [s]; None before the first call
        self.count = 0

    def run(self, call: recording.Recording) -> Trial:
        self.count += 1
        results = self.folder / "results"
        results.mkdir()
        begin = time.monotonic()
        number, findings = (self._run_program if self.command else self._run_fork)(call, results)
        trial = Trial(number, _read(results), findings, time.monotonic() - begin)
        shutil.rmtree(results)
        if self.seconds is None:
            self.seconds = 10 + 10 * trial.seconds
        return trial

    def _run_fork(self, call: recording.Recording, results: pathlib.Path) -> Tuple[Optional[int], Tuple[Dict[str, Any], ...]]:
        code = child.run(lambda: _call(call, self.library, results), self.seconds, is_silent=True)
        return (-code if code < 0 else None), ()

    def _run_program(self, call: recording.Recording, results: pathlib.Path) -> Tuple[Optional[int], Tuple[Dict[str, Any], ...]]:
        package = __package__.partition(".")[0]
        candidate = self.folder / "candidate"
        writing.write(call, candidate)
        report = results / "report.json"
        options = ["--json", str(report)] if self.command[0] == "sanitize" else []
        command = [sys.executable, "-m", package, *self.command, *options, sys.executable, "-m", __name__, str(candidate), str(self.library), str(results)]
        path = os.pathsep.join([str(pathlib.Path(__file__).resolve().parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
        with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              start_new_session=True) as process:  # fmt: skip
            try:
                text = process.communicate(timeout=self.seconds)[1].decode(errors="replace")
                number = -process.returncode if process.returncode < 0 else None
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                text, number = "", signal.SIGALRM
        shutil.rmtree(candidate)
        findings: Tuple[Dict[str, Any], ...] = ()
        if report.is_file():
            node = json.loads(report.read_text())
            findings = tuple(node["findings"])
            if node["program_exitcode"] > 128:
                number = node["program_exitcode"] - 128
        if process.returncode == 3 and not findings and not (results / "outcome.json").is_file():
            raise UserError(text.strip().rpartition("kernkit: ")[2] or "kernkit cannot repeat the call")
        return number, findings


if __name__ == "__main__":
    _call(recording.read(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
