# SPDX-License-Identifier: Apache-2.0
"""A copy of the repository with its own build, into which mutants are planted."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import Dict, List, Optional, Set, Union

# The programs with which mutants are tested. Excludes programs for a GPU, ucontext_test, and programs that are not
# tests.
PROGRAMS = re.compile(
    r"^programs/|^bin/(?!gpu_test|gpu_row_traffic_test|ptx_forms_gpu_test|ucontext_test)\w+_test$"
)


running: Set[subprocess.Popen] = set()


def stop(*_: object) -> None:
    """Kills the processes of all running commands, and exits with code 1. A handler for SIGINT and SIGTERM."""
    for process in list(running):
        os.killpg(process.pid, signal.SIGKILL)
    os._exit(1)


class OutOfTime(Exception):
    """The exception for a command that exceeded its time limit."""


def call(
    *arguments: Union[str, os.PathLike],
    limit: Optional[float] = None,
    cwd: Optional[pathlib.Path] = None,
    **environment: str,
) -> subprocess.CompletedProcess:
    """Runs a command. Raises OutOfTime after the limit [s], when all processes of the command have ended."""
    with subprocess.Popen(
        [str(argument) for argument in arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        cwd=cwd,
        env={**os.environ, **environment},
        start_new_session=True,
    ) as process:
        running.add(process)
        try:
            output, _ = process.communicate(timeout=limit)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                raise OutOfTime(str(arguments[0])) from error
            raise
        finally:
            running.discard(process)
        return subprocess.CompletedProcess(arguments, process.returncode, output)


def files_of(root: pathlib.Path) -> List[str]:
    """Returns the paths of the repository's files, including files that are not committed."""
    listed = call(
        "git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"
    ).stdout
    return [name for name in listed.splitlines() if (root / name).is_file()]


class Tree:
    """A copy of the repository with its own build. Files equal the files of the root, except for planted mutants."""

    def __init__(self, root: pathlib.Path, folder: pathlib.Path, jobs: int):
        self.root, self.folder, self.jobs = root, folder, jobs
        self.build_folder = folder / "build/release"
        self.took: Dict[str, Optional[float]] = {}  # see time_of()
        self._files_of: Dict[str, Set[str]] = {}

    def update(self, texts: Dict[str, str]) -> None:
        """Updates the copy; `texts` has the contents of files with mutants. Writes only files that differ, so that
        ninja builds nothing else."""
        if not (self.folder / ".git").exists():
            call("git", "clone", "--quiet", "--shared", "--no-checkout", self.root, self.folder)
        for name in files_of(self.root):
            source, target = self.root / name, self.folder / name
            expected = texts[name].encode() if name in texts else source.read_bytes()
            if not target.exists() or target.read_bytes() != expected:
                target.parent.mkdir(parents=True, exist_ok=True)
                if not target.exists():
                    shutil.copy(source, target, follow_symlinks=False)
                if not target.is_symlink():
                    target.write_bytes(expected)

    def configure(self) -> None:
        launchers = {}
        if shutil.which("ccache"):
            launchers = {
                f"CMAKE_{kind}_COMPILER_LAUNCHER": "ccache" for kind in ("C", "CXX", "CUDA")
            }
        result = call(
            "cmake",
            "--preset",
            "release",
            "-DKERNKIT_WERROR=OFF",
            "-DKERNKIT_BUILD_BENCHMARKS=OFF",
            cwd=self.folder,
            **launchers,
        )
        if result.returncode != 0:
            sys.exit(result.stdout)

    def build(
        self, targets: List[str], limit: Optional[float] = None
    ) -> subprocess.CompletedProcess:
        """Builds targets. With a limit, stops at the first error."""
        keep_going = ["-k", "0"] if limit is None else []
        return call(
            "ninja",
            "-C",
            self.build_folder,
            "-j",
            str(self.jobs),
            *keep_going,
            *targets,
            limit=limit,
        )

    def targets(self) -> List[str]:
        """Returns the GoogleTest programs, and the programs that `kernkit run` runs."""
        listed = call("ninja", "-C", self.build_folder, "-t", "targets", "all").stdout
        programs = re.findall(
            r"^(bin/\w+|programs/\w+): (?:CXX|CUDA)_EXECUTABLE", listed, re.MULTILINE
        )
        return [name for name in sorted(set(programs)) if PROGRAMS.match(name)]

    def read_dependencies(self) -> None:
        """Reads the source files of each object from ninja's log of a finished build."""
        objects: Dict[str, Set[str]] = {}
        current: Set[str] = set()
        for line in call("ninja", "-C", self.build_folder, "-t", "deps").stdout.splitlines():
            if not line.startswith(" "):
                current = objects.setdefault(line.split(":")[0], set())
                continue
            path = os.path.normpath(self.build_folder / line.strip())
            if path.startswith(f"{self.folder}/"):
                current.add(os.path.relpath(path, self.folder))
        for target in self.targets():
            inputs = call("ninja", "-C", self.build_folder, "-t", "inputs", target).stdout.split()
            # The inputs include shared libraries that the program loads, and their objects.
            self._files_of[target] = set().union(*(objects.get(name, set()) for name in inputs))

    def programs_of(self, file: str) -> List[str]:
        """Returns the programs that are compiled from the file, starting with programs that contain a test file of the
        same name."""
        stem = pathlib.Path(file).stem
        folder = pathlib.Path(file).parent.name.replace(
            "impl", pathlib.Path(file).parent.parent.name
        )

        def rank(target: str) -> tuple:
            files = self._files_of[target]
            tests = [name for name in files if name.startswith("tests/")]
            of_its_name = any(f"/{folder}/{stem}_test." in name for name in tests)
            of_its_folder = any(f"/{folder}/" in name for name in tests)
            return not of_its_name, not of_its_folder, len(tests), target

        return sorted(
            (target for target, files in self._files_of.items() if file in files), key=rank
        )

    def run(self, target: str, limit: float, **environment: str) -> Union[int, str]:
        """Returns the exit code of a program or of pytest on a file, or "did not end" after the time limit."""
        if target.endswith(".py"):
            # Excludes tests that take a minute or more.
            arguments = [
                sys.executable,
                "-m",
                "pytest",
                "-x",
                "-q",
                "-p",
                "no:cacheprovider",
                "-m",
                "not all and not slow",
                target,
            ]
        elif target.startswith("programs/"):
            arguments = [
                "ctest",
                "--test-dir",
                self.build_folder,
                "-R",
                f"^programs[.]{pathlib.Path(target).name}$",
                "--no-tests=error",
            ]
        else:
            arguments = [self.build_folder / target, "--gtest_brief=1", "--gtest_fail_fast"]
        try:
            return call(*arguments, limit=limit, cwd=self.folder, **environment).returncode
        except OutOfTime:
            return "did not end"

    def fails(self, target: str, took: float, **environment: str) -> str:
        """Runs a program up to twice, since timing tests fail on a busy machine. Returns "" if a run passes, otherwise
        the program's name and how it failed."""
        name, ends = pathlib.Path(target).name, set()
        for _ in range(2):
            end = self.run(target, 30 + 5 * took, **environment)
            if end in (0, 5):  # pytest's exit code 5: no test was selected
                return ""
            ends.add(end)
        return f"{name} (exceeded the time limit)" if "did not end" in ends else name

    def time_of(self, target: str, **environment: str) -> Optional[float]:
        """Builds a program without a mutant and returns its run time [s], or None if the program fails three times."""
        if target not in self.took:
            self.took[target] = None
            if not target.endswith(".py") and self.build([target]).returncode != 0:
                return None
            for _ in range(3):
                started = time.monotonic()
                if self.run(target, 900, **environment) in (0, 5):
                    self.took[target] = time.monotonic() - started
                    break
            else:
                print(f"{target} fails without a mutant, and is left out", flush=True)
        return self.took[target]
