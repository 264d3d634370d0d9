# SPDX-License-Identifier: Apache-2.0
"""Running a command of which a test wants the output, or its failure's text."""

import os
import pathlib
import subprocess
import sys
import tempfile

# As if this Python's environment were active, whose wheel carries dlpack.h.
ENVIRONMENT = {**os.environ, "VIRTUAL_ENV": sys.prefix}


def run(*command):
    result = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def path_without(folder, *names):
    """A value of PATH: a folder of links to all programs on PATH but these, which is made."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for tool in pathlib.Path(place).glob("*"):
            if tool.name not in names and not (folder / tool.name).is_symlink():
                (folder / tool.name).symlink_to(tool)
    return str(folder)


def timed(command, **options):
    """Processor seconds of a command and of all that it started, its exit code, and what it printed. May run in threads."""
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT, **options)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        return usage.ru_utime + usage.ru_stime, process.returncode, printed.read()
