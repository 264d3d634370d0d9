# SPDX-License-Identifier: Apache-2.0
"""Runs the rules of one product in child processes, and reports a crash as the result of the rule that was running."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence

from ..errors import UserError
from .catalogue import KINDS, rule_of
from .rule import Result, broken

PATIENCE = 60.0  # longest time between two messages of the child [s]; a slower child is killed
_PYTHON = pathlib.Path(__file__).resolve().parents[2]  # folder that contains the package kernkit


def _lines(process: "subprocess.Popen[bytes]", pipe: int, patience: float) -> Iterator[Optional[Dict[str, Any]]]:
    """Yields the messages of the child. If the child sends no message for `patience` seconds, ends the child, yields
    None and returns."""
    buffer = b""
    while True:
        if not select.select([pipe], [], [], patience)[0]:
            process.kill()
            yield None
            return
        content = os.read(pipe, 65536)
        if not content:
            return
        *lines, buffer = (buffer + content).split(b"\n")
        yield from map(json.loads, lines)


def _end_of(code: int) -> str:
    """Returns a description of how a process ended: the signal or the exit code."""
    return f"crashed ({signal.Signals(-code).name})" if code < 0 else f"ended its process with exit code {code}"


def _run_child(kind: str, product: str, names: Sequence[str], patience: float) -> List[Result]:
    """Applies rules in one child process. Returns the results of all rules or, if a rule ends the process, the results
    up to that rule."""
    readable, writable = os.pipe()
    path = os.pathsep.join(filter(None, [str(_PYTHON), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", f"{__package__}.child", str(writable), kind, product, *names]
    results: List[Result] = []
    running, step, stopped = "", "", False
    with subprocess.Popen(command, pass_fds=[writable], env={**os.environ, "PYTHONPATH": path},
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # fmt: skip
        os.close(writable)
        for line in _lines(process, readable, patience):
            if line is None:
                stopped = True
            elif "unusable" in line:
                raise UserError(line["unusable"])
            elif "result" in line:
                results.append(Result(*line["result"]))
                running = ""
            else:
                running, step = line.get("rule", running), line.get("step", "")
    os.close(readable)
    if len(results) < len(names):
        if not running:
            detail = f"did not load within {patience:g} s" if stopped else f"{_end_of(process.returncode)} while it was opened"
            raise UserError(f"{product}: the product {detail}; open it in Python to find the reason")
        detail = f"did not return within {patience:g} s" if stopped else _end_of(process.returncode)
        results.append(broken(rule_of(kind, running), detail + (f" in {step}" if step else "")))
    return results


def run(kind: str, product: str, names: Optional[Sequence[str]] = None, patience: float = PATIENCE) -> List[Result]:
    """Returns the results of the rules `names`, by default of all rules of the kind, in the order of the catalogue.
    Raises UserError if the product cannot be opened."""
    names = [rule.name for rule in KINDS[kind].rules] if names is None else list(names)
    results: List[Result] = []
    while len(results) < len(names):
        results += _run_child(kind, product, names[len(results) :], patience)
    return results
