# SPDX-License-Identifier: Apache-2.0
"""Runs other programs, which can be missing on a machine."""

import os
import shutil
import subprocess
from typing import Any, Sequence

from .errors import UserError


def run(arguments: Sequence[Any], **options: Any) -> "subprocess.CompletedProcess[str]":
    """Runs a program by subprocess.run() with `options`. Returns the result of the run, whose exit code the caller
    examines. Raises UserError if the program cannot be started, for example because it is not installed."""
    command = [str(argument) for argument in arguments]
    try:
        return subprocess.run(command, **options)
    except OSError as error:
        raise UserError(_problem(command[0], error, str(options.get("cwd") or ""))) from None


def _problem(program: str, error: OSError, folder: str) -> str:
    """Returns the message for a program that could not be started in a folder."""
    if folder and not os.path.isdir(folder):
        return f"{program} cannot be started in {folder}: folder not found"
    is_path = "/" in program
    if shutil.which(os.path.join(folder, program) if is_path else program) or not isinstance(error, FileNotFoundError):
        return f"{program} cannot be started: {error.strerror}"
    return f"program {program} not found" if is_path else f"{program} is not installed"
