# SPDX-License-Identifier: Apache-2.0
"""Runs a program of another project with a time limit."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from typing import List, Mapping, NamedTuple, Optional


class LimitedRun(NamedTuple):
    code: Optional[int]  # exit code; negative for a signal, None for a program that was ended at the time limit
    output: str  # standard output
    errors: str  # standard error
    seconds: float  # time of the run [s]


def run_with_limit(words: List[str], limit: float, folder: Optional[os.PathLike] = None,
                   environment: Optional[Mapping[str, str]] = None, grace: float = 0) -> LimitedRun:  # fmt: skip
    """Runs a program in a folder with a time limit [s]. Ends all processes that the program started. If `grace` is
    positive, interrupts the processes at the limit and ends them `grace` seconds later. Raises OSError if the program
    cannot be started."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                   start_new_session=True)  # fmt: skip
        code: Optional[int]
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            if grace > 0:
                os.killpg(process.pid, signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(grace)
        try:  # ends programs that the program started and did not wait for
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return LimitedRun(code, *texts, time.monotonic() - start)
