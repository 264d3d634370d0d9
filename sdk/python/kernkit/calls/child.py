# SPDX-License-Identifier: Apache-2.0
"""Runs a function in a child process that is a copy of this process."""

import faulthandler
import os
import resource
import signal
import sys
import time
import traceback
from typing import Callable, Optional

FAILED = 3  # exit code of a child process whose work raised an exception


def _silence() -> None:
    """Discards the output of this process, and disables the traceback and the core file that a crash would write."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _wait(child: int, seconds: float) -> int:
    """Waits until the child process ends; kills the child process after `seconds`. Returns the status that os.waitpid()
    reports; for a killed child process, the status of a process that SIGALRM ended."""
    deadline, pause = time.monotonic() + seconds, 0.0005
    while time.monotonic() <= deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return signal.SIGALRM


def run(work: Callable[[], Optional[int]], seconds: Optional[float] = None, is_silent: bool = False) -> int:
    """Calls `work` in a child process. Returns the exit code of the child process: the result of `work`, 0 for None, or 3
    after an exception, whose traceback is printed. Returns -N if signal N ended the child process, and -SIGALRM if the
    child process was killed after its time limit of `seconds`. `is_silent` discards what the child process prints."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            if is_silent:
                _silence()
            code = work() or 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    status = os.waitpid(child, 0)[1] if seconds is None else _wait(child, seconds)
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
