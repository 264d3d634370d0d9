# SPDX-License-Identifier: Apache-2.0
"""Functions that run commands; the error of a failed command contains the command's output."""

import fcntl
import os
import pathlib
import subprocess
import sys
import tempfile

# Environment variables as after the activation of this Python environment, so that CMake finds dlpack.h in the wheel
# apache-tvm-ffi.
ENVIRONMENT = {**os.environ, "VIRTUAL_ENV": sys.prefix}


def run(*command):
    result = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def build_target(root, target):
    """Builds a target that is not part of `all` in the folder of `./kk build`, one worker at a time; returns the
    folder."""
    folder = root / "build/release"
    with (folder / "lock-of-tests").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["cmake", "--build", folder, "--target", target], check=True)
    return folder


def path_without(folder, *names):
    """Returns a PATH without these programs. A new folder below `folder`, with links to all other programs, replaces
    each folder of PATH that contains one of these programs."""
    folders = []
    for number, entry in enumerate(os.environ["PATH"].split(os.pathsep)):
        programs = {path.name: path for path in pathlib.Path(entry).glob("*")} if entry else {}
        if not programs.keys() & set(names):
            folders.append(entry)
            continue
        links = pathlib.Path(folder) / str(number)
        links.mkdir(parents=True)
        for name in programs.keys() - set(names):
            (links / name).symlink_to(programs[name])
        folders.append(str(links))
    return os.pathsep.join(folders)


def timed(command, **options):
    """Runs a command and returns the processor time of the command and its child processes [s], the exit code and the
    output. Thread-safe."""
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT, **options)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        return usage.ru_utime + usage.ru_stime, process.returncode, printed.read()
