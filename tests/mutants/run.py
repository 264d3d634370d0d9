#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants small faults into a copy of the SDK and the kernels, and says which of them no test sees.

    tests/mutants/run.py                      240 of them, the same each time; about 20 minutes
    tests/mutants/run.py --output new.json --compare old.json
                                              and fails where one that was killed now survives

Before and after a change of the tests, with the same mutants, also where their files moved:

    tests/mutants/run.py --tree AFTER --output after.json
    tests/mutants/run.py --tree BEFORE --mutants after.json --output before.json
    tests/mutants/run.py --tree AFTER --mutants after.json --output again.json --compare before.json

A mutant is a condition or a result with an operator exchanged, a constant off by one, or a check that
is left out. All are compiled in, each behind its number in KERNKIT_MUTANT, so that each program is
built once. A program is tried with the mutants that it reaches. --folder keeps the build for a run with
more tests.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("sdk/include/kernkit/", "sdk/cuda_on_cpu/", "sdk/src/host/", "kernels/")
# Read by C as well, or by tests alone.
LEFT_OUT = re.compile(r"kernkit/(abi|testing|base|host_api/any_tensor)|/include/kernkit_cuda_on_cpu/|/main/")
PROGRAMS = r"sdk_.*|(scale|add|contract|cuda_calls|cuda_on_cpu|gpu_on_cpu|by_kernkit|lifetime)_test"
EXCHANGED = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "),
             (" != ", " == "), (" && ", " || "), (" || ", " && "), (" + ", " - "), (" - ", " + "),
             (" * ", " + "), (" / ", " * "), (" % ", " / ")]  # fmt: skip


def whole(text, start):
    """From this parenthesis to the one that closes it, or None where that is on another line."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[start + 1 : place]
    return None


def expression(line):
    """What a mutant may replace: the condition of an if or while, or what is returned."""
    if re.search(r'^\s*(//|#|/\*|static_assert)|["\\\']|constexpr|<<|\bauto\b', line):
        return None
    found = re.search(r"\b(?:if|while) (\()", line)
    if found:
        inner = whole(line, found.start(1))
        return None if inner is None or re.search(r"[;{]|[^=!<>]=[^=]", inner) else inner
    found = re.search(r"\breturn ([^;{}]+);", line)
    return found and found[1]


def candidates(root, files):
    """Each as (file, number of the line, expression, what it becomes)."""
    for name in files:
        if not name.startswith(FOLDERS) or LEFT_OUT.search(name) or not re.search(r"\.(h|cc|cu|cuh)$", name):
            continue
        for number, line in enumerate((root / name).read_text().splitlines()):
            old = expression(line.split("  //")[0])
            if not old:
                continue
            for ours, theirs in EXCHANGED:
                at = old.find(ours)
                if at >= 0:
                    yield name, number, old, old[:at] + theirs + old[at + len(ours) :]
            for digit in re.finditer(r"(?<=[=<>+-] )[01]\b", old):  # which begins no longer number
                yield name, number, old, f"{old[:digit.start()]}{int(digit[0]) + 1}{old[digit.end():]}"
            if re.search(r"\b(if|while) \(", line):
                yield name, number, old, "false"
                yield name, number, old, f"!({old})"


def choose(root, files, count, seed):
    """At most one of a line: their texts would overlap."""
    found = sorted(candidates(root, files))
    random.Random(seed).shuffle(found)
    lines = {}
    for mutant in found:
        lines.setdefault(mutant[:2], mutant)
    return dict(enumerate(list(lines.values())[:count]))


def sources(root, files):
    return [name for name in files if re.search(r"^(sdk|kernels)/.*\.(h|cc|cu|cuh)$", name)]


def find(root, files, other):
    """The mutants of another run, by their text: in its file, or in one that has its name or alone has it."""
    places = {}
    for name in sources(root, files):
        for number, line in enumerate((root / name).read_text().splitlines()):
            old = expression(line.split("  //")[0])
            if old:
                places.setdefault(old, []).append((name, number))
    found, taken = {}, set()
    for text in other:
        file, line, change = text.split(":", 2)
        old, new = change[1:].split(" -> ")
        there = [at for at in places.get(old, []) if at not in taken]
        its_name = [at for at in there if pathlib.Path(at[0]).name == pathlib.Path(file).name]
        kin = [at for at in there if at[0] == file] or its_name
        if not kin and len({name for name, _ in there}) == 1:
            kin = there
        if kin:
            taken.add(nearest := min(kin, key=lambda at: abs(at[1] + 1 - int(line))))
            found[text] = (*nearest, old, new)
    return found


def copy(root, folder, files, mutants):
    """A clone with the files as they are now; those with mutants are written by plant()."""
    if not (folder / ".git").exists():
        call("git", "clone", "--quiet", root, folder)
    planted = {name for name, *_ in mutants.values()}
    for name in files:
        if name in planted or (root / name).is_symlink() or not (root / name).is_file():
            continue
        if not (folder / name).exists() or (folder / name).read_bytes() != (root / name).read_bytes():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, folder / name)


def plant(root, folder, mutants):
    files = {name for name, *_ in mutants.values()}
    for name in files:
        lines = (root / name).read_text().split("\n")
        for number, (file, line, old, new) in mutants.items():
            if file == name:
                text = (f"(__builtin_is_constant_evaluated() ? ({old}) : "
                        f"kernkit_mutant({number}) ? ({new}) : ({old}))")  # fmt: skip
                lines[line] = lines[line].replace(old, text, 1)
        if (folder / name).read_text() != "\n".join(lines):
            (folder / name).write_text("\n".join(lines))


def call(*words, **options):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", **options)  # fmt: skip


def build(root, folder, mutants, wanted, jobs):
    """Builds; takes out what does not compile, which the compiler names by file and line."""
    flags = f"-include {ROOT}/tests/mutants/mutant.h"
    done = call("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                "-DKERNKIT_CUDA=OFF", "-DKERNKIT_BUILD_BENCHMARKS=OFF", f"-DCMAKE_CXX_FLAGS={flags}")  # fmt: skip
    assert done.returncode == 0, done.stdout
    listed = call("ninja", "-C", folder / "build", "-t", "targets", "all").stdout
    programs = sorted(set(re.findall(rf"^bin/({wanted}): CXX_EXEC", listed, re.MULTILINE)), key=str)
    programs = [program if isinstance(program, str) else program[0] for program in programs]
    broken = {}
    while True:
        plant(root, folder, mutants)
        done = call("ninja", "-C", folder / "build", "-k", "0", "-j", jobs, *programs)
        if done.returncode == 0:
            return programs, broken
        at = set(re.findall(r"([\w./]+):(\d+):\d+: +(?:error|required)", done.stdout))
        named = {n for n, (file, line, *_) in mutants.items()
                 if any(path.endswith(file) and int(number) == line + 1 for path, number in at)}  # fmt: skip
        assert named, done.stdout[-5000:]
        print(f"{len(named)} do not compile", flush=True)
        broken.update({n: mutants.pop(n) for n in named})


def run(program, limit, **environment):
    """Its exit code, or that it did not end."""
    try:
        return call(program, "--gtest_brief=1", "--gtest_fail_fast", timeout=limit,
                    env={**os.environ, **environment}).returncode  # fmt: skip
    except subprocess.TimeoutExpired:
        return "did not end"


def reach(bin, program, folder):
    """How long it takes, and the mutants that it reaches; none where it fails without one."""
    seen = folder / f"{program}.seen"
    for _ in range(3):  # a busy machine fails what measures time
        seen.unlink(missing_ok=True)
        started = time.monotonic()
        if run(bin / program, 600, KERNKIT_MUTANTS_SEEN=str(seen)) == 0:
            return time.monotonic() - started, set(map(int, seen.read_text().split())) if seen.exists() else set()
    print(f"{program} fails without a mutant, and is left out", flush=True)
    return 0, set()


def kills(program, number, limit):
    """Whether it fails with the mutant, twice: as above."""
    return all(run(program, limit, KERNKIT_MUTANT=str(number)) != 0 for _ in range(2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--programs", default=PROGRAMS, help="a regular expression (default: %(default)s)")
    parser.add_argument("--tree", type=pathlib.Path, default=ROOT, help="the repository (default: this)")
    parser.add_argument("--mutants", type=pathlib.Path, help="the output of a run, whose mutants to plant")
    parser.add_argument("--folder", type=pathlib.Path, help="where to build (default: a new one)")
    parser.add_argument("--output", type=pathlib.Path, help="for the results, as JSON")
    parser.add_argument("--compare", type=pathlib.Path, help="the output of another run")
    words = parser.parse_args()
    files = call("git", "-C", words.tree, "ls-files").stdout.split("\n")
    if words.mutants:
        other = list(json.loads(words.mutants.read_text()))
        found = find(words.tree, files, other)
        texts, mutants = list(found), dict(enumerate(found.values()))
    else:
        other, mutants = [], choose(words.tree, files, words.count, words.seed)
        texts = [f"{file}:{line + 1}: {old} -> {new}" for file, line, old, new in mutants.values()]
    folder = words.folder or pathlib.Path(tempfile.mkdtemp(prefix="mutants"))
    copy(words.tree, folder, files, mutants)
    programs, broken = build(words.tree, folder, mutants, words.programs, words.jobs)
    bin = folder / "build/bin"
    with concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
        reached = dict(zip(programs, pool.map(lambda name: reach(bin, name, folder), programs)))

        def fate(number):
            for program in sorted(programs, key=lambda name: reached[name][0]):
                took, numbers = reached[program]
                if number in numbers and kills(bin / program, number, 20 + 5 * took):
                    return f"killed by {program}"
            return "survives" if any(number in numbers for _, numbers in reached.values()) else "not reached"

        fates = dict(zip(mutants, pool.map(fate, mutants)))
    fates.update(dict.fromkeys(broken, "does not compile"))
    result = {text: fates[n] for n, text in enumerate(texts)}
    result.update({text: "not there" for text in other if text not in result})
    if words.output:
        words.output.write_text(json.dumps(result, indent=1))
    for text, end in result.items():
        if not end.startswith("killed"):
            print(f"{end}: {text}")
    kinds = [end.split(" by ")[0] for end in result.values()]
    print(", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds))))
    old = json.loads(words.compare.read_text()) if words.compare else {}
    lost = [text for text, end in old.items() if end.startswith("killed") and not result.get(text, "").startswith("killed")]
    for text in lost:
        print(f"was killed, and is no longer: {text}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
