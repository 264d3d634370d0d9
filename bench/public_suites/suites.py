# SPDX-License-Identifier: Apache-2.0
"""The suites: their programs, how a program is built, and the command lines that its suite documents."""

import abc
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from typing import Dict, List, NamedTuple, Tuple

BUILD_SECONDS = 900  # time limit of a build [s]
# A line of a Makefile that runs a program, optionally in a subfolder and with variables of the environment.
_COMMAND = re.compile(r"(?:cd (?P<folder>[\w./-]+)\s*&&\s*)?(?:\w+=\S+ )*(?P<command>\.\.?/.*)")


class Command(NamedTuple):
    """A program with its arguments, and the folder in which it runs."""

    words: List[str]
    folder: pathlib.Path


def run_build(words: List[str], log: List[str]) -> bool:
    """Runs a command of a build, and appends its output to the log. Returns whether the command succeeded."""
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=BUILD_SECONDS)
    except subprocess.TimeoutExpired:
        log.append(f"error: the build takes longer than {BUILD_SECONDS} s")
        return False
    log.append(done.stdout)
    return done.returncode == 0


def is_program(path: pathlib.Path) -> bool:
    """Returns whether a file is an executable or a script."""
    if not path.is_file() or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        return file.read(4).startswith((b"\x7fELF", b"#!"))


class Suite(abc.ABC):
    """A checkout of a suite: the names of its programs, their builds, and the commands that run them."""

    def __init__(self, checkout: pathlib.Path, work: pathlib.Path, capability: str) -> None:
        """`work`: folder for build products. `capability`: compute capability for Makefiles, such as "80"."""
        self.checkout, self.work, self.capability = checkout, work, capability

    @abc.abstractmethod
    def programs(self) -> List[str]:
        """Returns the names of the programs, sorted."""

    def prepare(self, programs: List[str]) -> None:
        """Prepares the build of these programs. Called once, before the first program is built."""

    @abc.abstractmethod
    def build(self, program: str, jobs: int) -> Tuple[bool, str]:
        """Builds a program with PTX. Returns whether the build succeeded, and its log."""

    @abc.abstractmethod
    def commands(self, program: str) -> List[Command]:
        """Returns the commands that run a built program, with the arguments that the suite documents; [] without an
        executable."""


    def missing_input(self, program: str, command: Command) -> str:
        """Returns the reason why a file that the program reads is missing, or ""."""
        paths = [word for word in command.words[1:] if "/" in word]
        return next((f"{path} does not exist" for path in paths if not (command.folder / path).exists()), "")


class CudaSamples(Suite):
    """NVIDIA/cuda-samples, whose samples are CMake projects. One project adds the selected samples, since CMake
    examines the compilers in each project. A sample with an error in CMake is configured alone."""

    def __init__(self, checkout: pathlib.Path, work: pathlib.Path, capability: str) -> None:
        super().__init__(checkout, work, capability)
        self.configured: Dict[str, str] = {}  # {sample of the common project: CMake's output about the sample}

    def programs(self) -> List[str]:
        files = self.checkout.glob("Samples/[0-6]_*/*/CMakeLists.txt")
        return sorted(file.parent.relative_to(self.checkout / "Samples").as_posix() for file in files)

    def _folder(self, program: str) -> pathlib.Path:
        return self.work / program

    def _configure(self, source: pathlib.Path, folder: pathlib.Path, log: List[str]) -> bool:
        compiler = shutil.which("nvcc") or "nvcc"
        return run_build(["cmake", "-G", "Unix Makefiles", "-S", str(source), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release",
                          f"-DCMAKE_CUDA_COMPILER={compiler}"], log)  # fmt: skip

    def prepare(self, programs: List[str]) -> None:
        source = self.work / "all"
        source.mkdir(parents=True, exist_ok=True)
        languages = "C CXX CUDA" if shutil.which("nvcc") else "NONE"
        added = list(programs)
        for _ in range(3):
            lines = ["cmake_minimum_required(VERSION 3.20)", f"project(public_suites LANGUAGES {languages})"]
            lines += [f'add_subdirectory("{self.checkout}/Samples/{program}" "{program}")' for program in added]
            (source / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
            log: List[str] = []
            if self._configure(source, self.work, log):
                self.configured = {program: self._lines_about(program, log[-1]) for program in added}
                return
            faulty = set(re.findall(r"CMake Error at .*?/Samples/([^/\s]+/[^/\s]+)/CMakeLists", log[-1]))
            added = [program for program in added if program not in faulty]

    @staticmethod
    def _lines_about(program: str, log: str) -> str:
        """Returns the lines of CMake's output that name a sample, such as "OpenGL not found - will not build sample
        'nbody'"."""
        name = program.rpartition("/")[2]
        return "\n".join(line for line in log.splitlines() if f"'{name}'" in line)

    def build(self, program: str, jobs: int) -> Tuple[bool, str]:
        folder = self._folder(program)
        log: List[str] = []
        if program in self.configured:
            log.append(self.configured[program])
            done = True
        else:
            done = self._configure(self.checkout / "Samples" / program, folder / "alone", log)
            folder = folder / "alone"
        done = done and run_build(["make", "-C", str(folder), "-j", str(jobs)], log)
        return done, "\n".join(log)

    def _arguments(self, name: str) -> List[List[str]]:
        file = self.checkout / "test_args.json"
        documented: Dict = json.loads(file.read_text()).get(name, {}) if file.is_file() else {}
        runs = [run["args"] for run in documented.get("runs", [])]
        return runs[:1] or [documented.get("args", [])]

    def commands(self, program: str) -> List[Command]:
        files = [path for path in sorted(self._folder(program).rglob("*")) if "CMakeFiles" not in path.parts and ".so" not in path.name]
        found = [path for path in files if is_program(path)]
        return [Command([str(path), *words], path.parent) for path in found for words in self._arguments(path.name)]


class HeCBench(Suite):
    """zjin-lcf/HeCBench, whose CUDA programs have a Makefile with a target `run`. Programs are built in the checkout,
    since Makefiles name files of neighbouring folders."""

    def programs(self) -> List[str]:
        return sorted(path.name for path in self.checkout.glob("src/*-cuda"))

    def _folder(self, program: str) -> pathlib.Path:
        return self.checkout / "src" / program

    def _make(self, program: str) -> List[str]:
        return ["make", "-C", str(self._folder(program)), f"ARCH=compute_{self.capability}", "EXTRA_CFLAGS=-lineinfo"]

    def build(self, program: str, jobs: int) -> Tuple[bool, str]:
        if not (self._folder(program) / "Makefile").is_file():
            return False, "error: no Makefile"
        log: List[str] = []
        return run_build([*self._make(program), "-j", str(jobs)], log), "\n".join(log)

    def missing_input(self, program: str, command: Command) -> str:
        """Overrides Suite.missing_input(). HeCBench stores some data elsewhere: a file "data.tar.gz.dvc" takes the
        place of "data.tar.gz"."""
        stored = sorted(self._folder(program).glob("*.dvc"))
        lacking = next((path.stem for path in stored if not path.with_suffix("").exists()), "")
        return super().missing_input(program, command) or (f"{lacking} does not exist" if lacking else "")

    def commands(self, program: str) -> List[Command]:
        """Returns the first command of the target `run`, which may run in a subfolder (`cd FOLDER && COMMAND`); [] without
        an executable."""
        shown = subprocess.run([*self._make(program), "-n", "run"], capture_output=True, text=True, errors="replace").stdout
        found = next(filter(None, (_COMMAND.match(line.strip()) for line in shown.splitlines())), None)
        if found is None:
            return []
        folder = self._folder(program) / (found["folder"] or "")
        words = shlex.split(re.split(r"[;&|>]", found["command"])[0])
        executable = pathlib.Path(os.path.normpath(folder / words[0]))
        return [Command([str(executable), *words[1:]], folder)] if executable.is_file() else []


def shortened(command: Command) -> List[Command]:
    """Returns commands with less work, in the order in which they are tried. In the first command the last number,
    which is a count of repetitions in most programs, is reduced to 2; in the second command other numbers of 64 and
    more are also divided by 16. A command that equals an earlier command is left out."""
    words = list(command.words)
    numbers = [i for i, word in enumerate(words) if i > 0 and word.isdigit()]
    if not numbers:
        return []
    words[numbers[-1]] = str(min(2, int(words[numbers[-1]])))
    once = list(words)
    for i in numbers[:-1]:
        if int(words[i]) >= 64:
            words[i] = str(int(words[i]) // 16)
    attempts = [once, words]
    return [Command(attempt, command.folder) for i, attempt in enumerate(attempts)
            if attempt != command.words and attempt not in attempts[:i]]  # fmt: skip


def open_suite(checkout: pathlib.Path, work: pathlib.Path, capability: str) -> Suite:
    """Returns the suite of a checkout. Raises ValueError if the folder is not a checkout of a supported suite."""
    if (checkout / "Samples").is_dir():
        return CudaSamples(checkout, work, capability)
    if (checkout / "src").is_dir() and any(checkout.glob("src/*-cuda")):
        return HeCBench(checkout, work, capability)
    raise ValueError(f"{checkout} is not a checkout of NVIDIA/cuda-samples or zjin-lcf/HeCBench: it has neither Samples/ nor src/*-cuda/")
