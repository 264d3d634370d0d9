#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants small faults into a copy of the sources, and lists the faults that no test detects.

    tests/mutants/run.py                      tests 100 mutants of the folders below, drawn by a seed
    tests/mutants/run.py --resume             continues an interrupted run
    tests/mutants/run.py --resume --again survived
                                              tests the survivors again with the present tests
    tests/mutants/run.py --folders sdk/include/kernkit/cpu/ --count 30 --seed 7
    tests/mutants/run.py --folder NEW --mutants OLD/results.json --compare OLD/results.json
                                              tests the same mutants; fails if a mutant killed before is not killed

A mutant changes a condition, a result or an initial value: another operator, a constant that is one
larger, or a condition that is false or negated. Comments, lines with text, static_assert and << have
no mutants.

All mutants of C++ are compiled in one build, in which a number selects a mutant, and each program
is run with the mutants that it reaches. A mutant that no program reaches at run time (a constant, or
code of nvcc) is planted alone. The programs that include its file are then built and run, starting
with the program that has a test of the file's name, until a program fails. Mutants of Python are
planted alone and tested by the pytest files that use the package.

The sources are never changed. FOLDER/results.json and FOLDER/results.txt are written after each
mutant: killed, survived, not built (the mutant is not valid C++) or timed out.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import signal
import sys
import threading
import time
from typing import Dict, List, Optional, Set

from draw import Mutant, candidates, changed, draw, find, planted
from trees import OutOfTime, Tree, files_of, stop

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = [
    "sdk/include/kernkit/schema/",
    "sdk/include/kernkit/shapes/",
    "sdk/include/kernkit/cpu/",
    "sdk/include/kernkit/cuda/",
    "sdk/python/kernkit/codegen/frameworks/",
    "sdk/simulator/ptx/",
]
# The value of Mutant.by for a mutant that must be planted without other mutants.
NOT_REACHED = "not reached at run time"
# Regular expressions for pytest files that build a library with generated modules, and for pytest files that use
# sdk/python/kernkit/codegen/frameworks by an import, an option or a fixture.
BUILDS_A_LIBRARY = r"import (packages|compiled)|[(, ](shaped|plain|torch_\w+)[,)]"
USES_FRAMEWORKS = (
    r"kernkit\.codegen\.frameworks|--frameworks|--torch|--jax|torch_cases|[(, ](shaped|torch_\w+)[,)]"
)


class Results:
    """Writes the mutants and their outcomes to results.json and results.txt in the folder."""

    def __init__(self, folder: pathlib.Path, options: argparse.Namespace, mutants: List[Mutant]):
        self.folder, self.mutants = folder, mutants
        self.head = {"seed": options.seed, "count": options.count, "folders": options.folders}
        self.lock = threading.Lock()

    def set(self, mutant: Mutant, fate: str, by: str = "", started: Optional[float] = None) -> None:
        with self.lock:
            mutant.fate, mutant.by = fate, by
            if started is not None:
                mutant.seconds = round(time.monotonic() - started, 1)
            print(
                f"{fate:9} {mutant.file}:{mutant.line}: {mutant.change()} {by and f'[{by}]'}",
                flush=True,
            )
            self.write()

    def write(self) -> None:
        table = {**self.head, "mutants": [dataclasses.asdict(mutant) for mutant in self.mutants]}
        self._replace("results.json", json.dumps(table, indent=1) + "\n")
        lines = [
            f"{m.fate or 'to do':9}  {m.by or '-':28}  {m.seconds:6.1f} s  {m.file}:{m.line}\n"
            f"           {m.change()}\n"
            for m in self.mutants
        ]
        self._replace("results.txt", "".join(lines) + self.summary() + "\n")

    def _replace(self, name: str, text: str) -> None:
        (self.folder / f"{name}.new").write_text(text)
        os.replace(self.folder / f"{name}.new", self.folder / name)

    def summary(self) -> str:
        fates = [mutant.fate or "to do" for mutant in self.mutants]
        tried = sum(fate in ("killed", "survived", "timed out") for fate in fates)
        share = (
            f"; {100 * fates.count('killed') / tried:.0f} % of those tried are killed"
            if tried
            else ""
        )
        return ", ".join(f"{fates.count(fate)} {fate}" for fate in sorted(set(fates))) + share


class Run:
    def __init__(self, options: argparse.Namespace, results: Results):
        self.options, self.results = options, results
        self.all = dict(enumerate(results.mutants))

    def to_do(self) -> Dict[int, Mutant]:
        return {number: mutant for number, mutant in self.all.items() if not mutant.fate}

    @staticmethod
    def is_chosen(mutant: Mutant) -> bool:
        """Returns whether a mutant can be selected at run time."""
        return not mutant.is_python and not mutant.constant

    def texts(self, mutants: Dict[int, Mutant]) -> Dict[str, str]:
        """Returns {file: its text with all these mutants, which are selected by number}."""
        header = self.options.folder / "together/tests/mutants/mutant.h"
        texts = {}
        for name in sorted({mutant.file for mutant in mutants.values()}):
            planted_mutants = {number: mutant for number, mutant in mutants.items() if mutant.file == name}
            text = planted((self.options.tree / name).read_text(), planted_mutants)
            texts[name] = f'#include "{header}"  // ' + text.removeprefix("//").lstrip()
        return texts

    def together(self) -> None:
        """Tests all mutants of C++ that are selected at run time, in one build."""
        if not any(self.is_chosen(m) and m.by != NOT_REACHED for m in self.to_do().values()):
            return
        tree = Tree(self.options.tree, self.options.folder / "together", self.options.jobs)
        # Mutants that already have an outcome stay in the build, so that a resumed run compiles nothing again.
        planted_mutants = {
            number: m
            for number, m in self.all.items()
            if self.is_chosen(m) and m.start >= 0 and m.fate != "not built"
        }
        while True:
            tree.update(self.texts(planted_mutants))
            tree.configure()
            result = tree.build(tree.targets())
            if result.returncode == 0:
                break
            at = set(re.findall(r"([\w./]+):(\d+):\d+: +(?:error|required)", result.stdout))
            at |= set(re.findall(r"([\w./]+)\((\d+)\): error", result.stdout))  # nvcc
            broken = [
                number
                for number, m in planted_mutants.items()
                if any(
                    path.endswith(m.file)
                    and 0 <= int(line) - m.line + m.old.count("\n") <= 2 * m.old.count("\n")
                    for path, line in at
                )
            ]
            if not broken:
                sys.exit("the planted sources do not compile:\n" + result.stdout[-5000:])
            for number in broken:
                self.results.set(planted_mutants.pop(number), "not built")
        tree.read_dependencies()
        remaining = {number: m for number, m in planted_mutants.items() if not m.fate}
        concerned = sorted({target for m in remaining.values() for target in tree.programs_of(m.file)})
        took: Dict[str, float] = {}
        reached: Dict[str, Set[int]] = {}

        def reach(target: str) -> None:
            reached_file = tree.build_folder / f"{target}.seen"
            reached_file.unlink(missing_ok=True)
            seconds = tree.time_of(target, KERNKIT_MUTANTS_SEEN=str(reached_file))
            if seconds is not None:
                took[target] = seconds
                reached[target] = (
                    set(map(int, reached_file.read_text().split())) if reached_file.exists() else set()
                )

        def try_one(number: int) -> None:
            mutant, started = remaining[number], time.monotonic()
            targets = [t for t in tree.programs_of(mutant.file) if number in reached.get(t, ())]
            by_name = tree.programs_of(mutant.file)[:1]
            for target in sorted(targets, key=lambda t: (t not in by_name, took[t])):
                if time.monotonic() - started > self.options.limit:
                    return self.results.set(mutant, "timed out", "", started)
                if ending := tree.fails(target, took[target], KERNKIT_MUTANT=str(number)):
                    return self.results.set(mutant, "killed", ending, started)
            if targets:
                self.results.set(mutant, "survived", f"{len(targets)} programs", started)
            elif re.search(r"\.(cc|cu)$", mutant.file):
                self.results.set(mutant, "survived", "no program reaches it")
            else:
                mutant.by = NOT_REACHED
            return None

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(reach, concerned))
            print(
                f"{len(reached)} programs reach {len(set().union(*reached.values()))} mutants",
                flush=True,
            )
            list(pool.map(try_one, remaining))
        self.results.write()

    def alone(self) -> None:
        """Tests the mutants of Python, and the mutants of C++ that take effect at compile time, each in a separate
        build."""
        remaining = list(self.to_do().values())
        if not remaining:
            return
        tree = Tree(self.options.tree, self.options.folder / "alone", self.options.jobs)
        tree.update({})
        tree.configure()
        result = tree.build([*tree.targets(), "all"])
        if result.returncode != 0:
            sys.exit(result.stdout[-5000:])
        tree.read_dependencies()
        # All mutants of Python are first tested by the fast pytest files, because a slow file takes minutes for each
        # mutant.
        for most in (10, 60, float("inf")):
            for mutant in sorted(remaining, key=lambda m: not m.is_python):
                if mutant.fate or (not mutant.is_python and most < float("inf")):
                    continue
                started = time.monotonic()
                if mutant.is_python:
                    targets = self.pytest_files(tree, mutant, most)
                else:
                    targets = tree.programs_of(mutant.file)
                fate, by = self.fate_alone(tree, mutant, targets)
                if fate != "survived" or most == float("inf"):
                    self.results.set(mutant, fate, by, started)

    def pytest_files(self, tree: Tree, mutant: Mutant, most: float) -> List[str]:
        """Returns the pytest files that take at most `most` seconds. Files whose name contains the name of the mutant's
        file come first."""
        stem = pathlib.Path(mutant.file).stem.removesuffix("_head")
        order = []
        for name in files_of(self.options.tree):
            if not re.search(r"tests/interop/test_\w+\.py$", name):
                continue
            text = (self.options.tree / name).read_text()
            if re.search(USES_FRAMEWORKS, text):
                guess = 30 if re.search(BUILDS_A_LIBRARY, text) else 1
                took = tree.took.get(name, guess) or 0
                if took <= most:
                    order.append((f"/test_{stem}" not in name, took, name))
        return [name for *_, name in sorted(order)]

    def fate_alone(self, tree: Tree, mutant: Mutant, targets: List[str]) -> tuple:
        """Returns the outcome of a mutant that is planted alone, and what determined the outcome. The time limit
        excludes the building of the programs' other inputs."""
        time_left = self.options.limit
        file = tree.folder / mutant.file
        text = file.read_text()
        tried = 0
        for target in targets:
            took = tree.time_of(target)
            if took is None:
                continue
            tried += 1
            started = time.monotonic()
            try:
                file.write_text(changed(text, mutant))
                if not mutant.is_python and tree.build([target], time_left).returncode != 0:
                    # The build fails if the mutant violates a static_assert, or selects another branch of an if
                    # constexpr.
                    return "killed", "the compiler"
                if ending := tree.fails(target, took):
                    return "killed", ending
            except OutOfTime:
                return "timed out", f"at {pathlib.Path(target).name}"
            finally:
                file.write_text(text)
            time_left -= time.monotonic() - started
            if time_left <= 0:
                return "timed out", f"after {tried} of {len(targets)} programs"
        return "survived", f"{tried} programs"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20261125)
    parser.add_argument(
        "--folders", nargs="+", default=FOLDERS, help="prefixes of paths (default: %(default)s)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--limit", type=float, default=600, help="time limit of a mutant [s] (default: %(default)s)"
    )
    parser.add_argument(
        "--tree", type=pathlib.Path, default=ROOT, help="the repository to test (default: this one)"
    )
    parser.add_argument(
        "--folder",
        type=pathlib.Path,
        default=ROOT / "build/mutants",
        help="folder for copies, builds and results (default: %(default)s)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue the run whose results are in the folder"
    )
    parser.add_argument(
        "--again", nargs="+", default=[], metavar="FATE", help="with --resume: outcomes whose mutants are tested again"
    )
    parser.add_argument(
        "--mutants", type=pathlib.Path, help="results.json of a run; plants the mutants of this run"
    )
    parser.add_argument(
        "--compare", type=pathlib.Path, help="results.json of an earlier run; fails if a mutant killed there is not killed"
    )
    parser.add_argument("--list", action="store_true", help="list the mutants without testing them")
    options = parser.parse_args()
    options.folder, options.tree = options.folder.resolve(), options.tree.resolve()
    old = options.mutants or (options.folder / "results.json" if options.resume else None)
    recorded: List[Mutant] = []
    if old:
        table = json.loads(old.read_text())
        options.seed, options.count, options.folders = table["seed"], table["count"], table["folders"]
        recorded = [Mutant(**row) for row in table["mutants"]]
    all_mutants = candidates(options.tree, files_of(options.tree), options.folders)
    mutants = [] if recorded else draw(all_mutants, options.folders, options.count, options.seed)
    for mutant in recorded:
        current = find(mutant, all_mutants)
        if current is None and options.resume and mutant.fate:
            current = dataclasses.replace(
                mutant, start=-1
            )  # the mutant keeps its outcome, but is not planted
        if current is None:
            print(
                f"the tree no longer has the expression of a mutant: {mutant.file}:{mutant.line}: "
                f"{mutant.change()}",
                flush=True,
            )
            continue
        if options.resume and mutant.fate not in options.again:
            current = dataclasses.replace(
                current, fate=mutant.fate, by=mutant.by, seconds=mutant.seconds
            )
        mutants.append(current)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.fate:9} {mutant.file}:{mutant.line}: {mutant.change()}")
        return 0
    os.nice(10)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    options.folder.mkdir(parents=True, exist_ok=True)
    results = Results(options.folder, options, mutants)
    results.write()
    run = Run(options, results)
    run.together()
    run.alone()
    print(results.summary())
    before = json.loads(options.compare.read_text())["mutants"] if options.compare else []
    killed = {(m["file"], m["old"], m["new"]) for m in before if m["fate"] == "killed"}
    lost = [m for m in mutants if m.fate != "killed" and (m.file, m.old, m.new) in killed]
    for mutant in lost:
        print(f"killed in the earlier run, but not in this run: {mutant.file}:{mutant.line}: {mutant.change()}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
