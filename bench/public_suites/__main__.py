# SPDX-License-Identifier: Apache-2.0
"""Runs programs of a public CUDA suite in the simulator: NVIDIA/cuda-samples (with CMake) or zjin-lcf/HeCBench.

The programs are selected by a seed or by name, built by their own Makefile or CMake project with PTX, and run by
`kernkit run` with a limit of their processor time. Results are written to OUTPUT/results.json and OUTPUT/results.md
after each program; a program that has a result in results.json is not run again. kernkit contains no files of the
suites.

    python bench/public_suites ~/cuda-samples --seed 7 --count 40 --output /tmp/samples
"""

import argparse
import os
import pathlib
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
from typing import List, Optional, Tuple

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

from limited_run import run_with_limit  # noqa: E402
from nvcc import write_wrapper  # noqa: E402
from outcomes import Kind, Outcome, Run, classify, not_built, worst  # noqa: E402
from report import Context, Result, as_json, as_markdown, read_json  # noqa: E402
from rows import processor  # noqa: E402
from suites import Command, Suite, open_suite, shortened  # noqa: E402

WAITING = 60  # time limit of a run, in multiples of the limit of its processor time
KERNKIT = [sys.executable, "-B", "-m", "kernkit", "run"]


def processor_time() -> float:
    """Returns the processor time of all ended children of this process [s]."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def execute(launcher: List[str], command: Command, limit: int) -> Tuple[Run, float]:
    """Runs a command with a limit of its processor time [s]; a program that waits without using the processor is ended
    after 60 times the limit. Returns the result and the processor time [s]."""
    limited = ["prlimit", f"--cpu={limit}:{limit + 10}", *launcher, *command.words]
    start = processor_time()
    try:
        code, output, errors, _ = run_with_limit(limited, WAITING * limit, command.folder)
    except OSError as error:
        return Run(127, "", str(error)), 0.0
    ended_by_limit = code in (-signal.SIGXCPU, 128 + signal.SIGXCPU)
    return Run(None if ended_by_limit else code, output, errors), processor_time() - start


def run_program(suite: Suite, program: str, options: argparse.Namespace) -> Result:
    built, log = suite.build(program, options.jobs)
    keep(options.output, program, "build", log)
    commands = suite.commands(program) if built else []
    if not commands:
        return Result(program, not_built(log), [], 0.0)
    results = [run_command(suite, program, command, options) for command in commands]
    outcome = worst([result.outcome for result in results])
    return next(result for result in results if result.outcome == outcome)


def run_command(suite: Suite, program: str, command: Command, options: argparse.Namespace) -> Result:
    """Runs a command. If the command reaches the limit and --shorten permits, runs the program again with smaller
    arguments."""
    attempts = shortened(command) if options.shorten else []
    if options.shorten == "most":
        attempts = attempts[-1:]
    first = attempts.pop(0) if options.shorten in ("at once", "most") and attempts else command
    for attempt in (first, *attempts):
        run, seconds = execute(options.launcher, attempt, options.limit)
        keep(options.output, program, "run", f"{shlex.join(attempt.words)}\ncode {run.code}\n{run.output}\n{run.errors}")
        outcome = classify(run)
        missing = suite.missing_input(program, attempt)
        if missing and outcome.kind in (Kind.WRONG, Kind.CRASHED):
            outcome = Outcome(Kind.NO_INPUT, missing)
        if outcome.kind != Kind.SLOW:
            break
    return Result(program, outcome, attempt.words[1:], seconds)


def keep(output: pathlib.Path, program: str, what: str, text: str) -> None:
    """Writes the output of a step, "build" or "run", to a file in logs/."""
    file = output / "logs" / f"{program.replace('/', '.')}.{what}.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text[:1_000_000], errors="replace")


def select(programs: List[str], options: argparse.Namespace) -> Tuple[List[str], str]:
    """Returns the selected programs, and the description of the selection. Raises ValueError for an unknown program."""
    if options.programs:
        unknown = sorted(set(options.programs) - set(programs))
        if unknown:
            raise ValueError(f"unknown programs: {', '.join(unknown)}")
        return options.programs, "a list"
    left = sorted(set(programs) - set(options.without))
    if options.count is None or options.count >= len(left):
        return left, "all" if not options.without else f"all but {len(options.without)}"
    but = f" without {len(options.without)}" if options.without else ""
    return random.Random(options.seed).sample(left, options.count), f"seed {options.seed} of {len(programs)}{but}"


def revision(checkout: pathlib.Path) -> str:
    shown = subprocess.run(["git", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    return shown.stdout.strip()


def words_of(text: str) -> List[str]:
    """Returns the names in the value of an option: a list separated by commas or blanks, or @FILE with such a list."""
    if text.startswith("@"):
        text = pathlib.Path(text[1:]).read_text()
    return text.replace(",", " ").split()


def parse(arguments: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="public_suites", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path, metavar="CHECKOUT", help="folder of cuda-samples or HeCBench")
    parser.add_argument("--output", type=pathlib.Path, required=True, metavar="FOLDER", help="folder for results, logs and builds")
    parser.add_argument("--seed", type=int, default=0, help="seed of the selection (default: 0)")
    parser.add_argument("--count", type=int, metavar="N", help="number of programs (default: all)")
    parser.add_argument("--programs", type=words_of, default=[], metavar="NAMES", help="programs in place of a selection by seed, or @FILE")
    parser.add_argument("--without", type=words_of, default=[], metavar="NAMES", help="names of programs that are not selected, or @FILE")
    parser.add_argument("--limit", type=int, default=120, metavar="SECONDS", help="limit of a run's processor time (default: 120)")
    parser.add_argument("--shorten", choices=["after the limit", "at once", "most"], help="when to run a program with fewer "
                        "repetitions, and then also with smaller numbers in its arguments: after a run reached the limit; with fewer repetitions "
                        "from the first run on (at once); with both from the first run on (most); default: never")  # fmt: skip
    parser.add_argument("--capability", default="80", help="compute capability of the PTX (default: 80)")
    parser.add_argument("--runtime", type=pathlib.Path, metavar="FILE",
                        help="libcudart.so.13 of kernkit (default: the runtime that kernkit run compiles once)")  # fmt: skip
    parser.add_argument("--launcher", type=shlex.split, metavar="COMMAND", help="command that starts each program (default: kernkit run)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="number of processes of a build (default: number of processors)")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.launcher is None:
        options.launcher = [*KERNKIT, *(["--runtime", str(options.runtime.resolve())] if options.runtime else [])]
    return options


def prepare(options: argparse.Namespace) -> None:
    """Makes the output folder, and sets PATH and PYTHONPATH for builds and runs."""
    options.output = options.output.resolve()
    options.output.mkdir(parents=True, exist_ok=True)
    nvcc = shutil.which("nvcc")
    if nvcc:
        write_wrapper(options.output / "bin", nvcc, options.capability)
    os.environ["PATH"] = f"{options.output / 'bin'}{os.pathsep}{os.environ['PATH']}"
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT / "sdk/python") + (os.pathsep + path if path else "")


def main(arguments: Optional[List[str]] = None) -> int:
    options = parse(arguments)
    try:
        suite = open_suite(options.checkout.resolve(), options.output.resolve() / "build", options.capability)
        programs, selection = select(suite.programs(), options)
    except ValueError as error:
        print(f"public_suites: {error}", file=sys.stderr)
        return 2
    prepare(options)
    context = Context(options.checkout.resolve().name, revision(options.checkout), selection, processor(), options.limit)
    results = [result for result in read_json(options.output / "results.json") if result.program in programs]
    done = {result.program for result in results}
    programs = [program for program in programs if program not in done]
    if programs:
        suite.prepare(programs)
    for program in programs:
        try:
            result = run_program(suite, program, options)
        except (OSError, subprocess.SubprocessError) as error:
            result = Result(program, Outcome(Kind.NOT_BUILT, str(error)), [], 0.0)
        results.append(result)
        print(f"{program}: {result.outcome.kind.value} ({result.seconds:.1f} s) {result.outcome.reason}", flush=True)
        (options.output / "results.json").write_text(as_json(context, results))
        (options.output / "results.md").write_text(as_markdown(context, results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
