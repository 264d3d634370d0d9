# SPDX-License-Identifier: Apache-2.0
"""Runs other programs, which can be missing on a machine."""

import contextlib
import os
import shutil
import signal
import subprocess
from typing import Any, Iterator, List, Mapping, Sequence

from .errors import UserError


END_LIMIT = 2.0  # the longest time that an interrupted program may take to end [s]


def run(arguments: Sequence[Any], **options: Any) -> "subprocess.CompletedProcess[str]":
    """Runs a program by subprocess.run() with `options`. Returns the result of the run; the caller must check the exit
    code. Raises UserError if the program cannot be started, for example because it is not installed."""
    command = [str(argument) for argument in arguments]
    with _errors_of_start(command[0], options):
        return subprocess.run(command, **options)


def run_until_interrupted(arguments: Sequence[Any], **options: Any) -> int:
    """Runs a program by subprocess.Popen() with `options`. Returns the exit code, -N after signal N. If this process
    gets SIGINT or SIGTERM, the program also ends, and the function returns 128 + the number of the signal. Raises
    UserError if the program cannot be started."""
    command = [str(argument) for argument in arguments]
    received: List[int] = []

    def end(number: int, _: Any) -> None:
        received.append(number)
        raise KeyboardInterrupt

    earlier = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with _errors_of_start(command[0], options):
            process = subprocess.Popen(command, **options)
        try:
            return process.wait()
        except KeyboardInterrupt:
            if received[0] == signal.SIGTERM:
                process.terminate()
            try:
                process.wait(END_LIMIT)  # a terminal also sends SIGINT to the program
            except (KeyboardInterrupt, subprocess.TimeoutExpired):
                process.kill()
                process.wait()
            return 128 + received[0]
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _errors_of_start(program: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Raises UserError in place of an OSError of the block, which starts a program with the `options` of subprocess."""
    try:
        yield
    except OSError as error:
        raise UserError(_problem(program, error, str(options.get("cwd") or ""))) from None


def _problem(program: str, error: OSError, folder: str) -> str:
    """Returns the message for a program that could not be started in a folder."""
    if folder and not os.path.isdir(folder):
        return f"{program} cannot be started in {folder}: folder not found"
    is_path = "/" in program
    if shutil.which(os.path.join(folder, program) if is_path else program) or not isinstance(error, FileNotFoundError):
        return f"{program} cannot be started: {error.strerror}"
    return f"program {program} not found" if is_path else f"{program} is not installed"
