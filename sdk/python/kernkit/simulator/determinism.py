# SPDX-License-Identifier: Apache-2.0
"""Compares runs of a program with different seeds: finds the first launch whose output bits differ, and the accesses
that can explain the difference. The simulator's tool determinism writes the compared texts, see
sdk/simulator/tools/determinism.h."""

import contextlib
import ctypes
import os
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

FIXED_ADDRESSES = 0x0040000  # ADDR_NO_RANDOMIZE of personality(2)
CURRENT = 0xFFFFFFFF
HASH_SEED = "PYTHONHASHSEED"  # environment variable: seed of Python's string hashes
MOST_RACES = 8  # largest number of races that a finding lists
ONE_VALUE = "all stores write the same value"  # in the report of a race whose stores may run in any order

Key = Tuple[int, int]  # (number of the call that launched a kernel, number of the run of its graph)
Run = Tuple[int, List[str]]  # (seed, the launches that each process reported, as text that read_launches() reads)


class Launch(NamedTuple):
    digest: str  # digest of the memory that the launch changed
    kernel: str


class Difference(NamedTuple):
    process: int  # index of the process in the order of the reports
    key: Key
    kernel: str
    seeds: Tuple[int, int]
    digest: str  # digest of the launch with the first seed
    other: str  # kernel of the launch with the same number in the other run; "" if the other run has no such launch


@contextlib.contextmanager
def fixed_addresses() -> Iterator[None]:
    """Makes programs that start in the block use the same memory addresses in every run, where the system permits it,
    and the same seed of Python's string hashes. Otherwise runs could differ because kernels store pointers, or because
    a script launches kernels in the order of a set."""
    personality = ctypes.CDLL(None).personality
    personality.argtypes = [ctypes.c_ulong]
    before, hash_seed = personality(CURRENT), os.environ.get(HASH_SEED)
    if before >= 0:
        personality(before | FIXED_ADDRESSES)
    os.environ.setdefault(HASH_SEED, "0")
    try:
        yield
    finally:
        if before >= 0:
            personality(before)
        if hash_seed is None:
            del os.environ[HASH_SEED]


def read_launches(text: str) -> Dict[Key, Launch]:
    """Returns {number: launch} of a process, in the order in which the launches ended. `text`: lines "CALL RUN DIGEST
    KERNEL"; a later line for a launch replaces an earlier line."""
    launches: Dict[Key, Launch] = {}
    for line in text.splitlines():
        call, run, digest, kernel = line.split(" ", 3)
        launches[(int(call), int(run))] = Launch(digest, kernel)
    return launches


def first_difference(runs: List[Run]) -> Optional[Difference]:
    """Returns the first launch of the first run whose output or kernel differs in another run or, without such a
    launch, a launch that only another run has. Returns None if all runs have equal launches."""
    seed, texts = runs[0]
    for process, text in enumerate(texts):
        launches = read_launches(text)
        others = [(other, read_launches(all_texts[process] if process < len(all_texts) else "")) for other, all_texts in runs[1:]]
        for key, launch in launches.items():
            for other, of_other in others:
                there = of_other.get(key, Launch("", ""))
                if there != launch:
                    name = there.kernel if there.kernel != launch.kernel else launch.kernel
                    return Difference(process, key, launch.kernel, (seed, other), launch.digest, name)
        for other, of_other in others:
            more = next((key for key in of_other if key not in launches), None)
            if more is not None:
                return Difference(process, more, of_other[more].kernel, (other, seed), of_other[more].digest, "")
    return None


def compared_text(runs: List[Run]) -> str:
    count = sum(len(read_launches(text)) for text in runs[0][1])
    return f"determinism compared {count} launch{'es' * (count != 1)} of {len(runs)} runs"


class Chunk(NamedTuple):
    """A piece of memory that a launch accessed."""

    size: int  # [bytes]
    digest: str  # digest of the bytes before the launch
    before: bytes  # bytes before and after the launch; empty if the launch did not change them
    after: bytes
    writers: List[int]  # for each word of 4 bytes, the index in Outputs.sets of the operations that wrote the word


class Outputs:
    """A parsed description of a launch: the memory that the launch accessed, and the operations that accessed it."""

    def __init__(self, text: str) -> None:
        self.memories: List[str] = []
        self.operations: List[str] = []
        self.sets: List[List[int]] = []
        self.atomics: List[str] = []  # atomics of several warps on the same word; their order may change results
        self.chunks: Dict[Tuple[str, int], Chunk] = {}  # {(name of the memory, offset [bytes]): chunk}
        for line in text.splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "memory":
                self.memories.append(rest)
            elif kind == "operation":
                self.operations.append(rest)
            elif kind == "set":
                self.sets.append([int(word) for word in rest.split()])
            elif kind == "atomic":
                self.atomics.append(rest)
            elif kind == "chunk":
                memory, offset, size, digest, *words = rest.split(" ")
                before, after, writers = [*words, "", "", ""][:3]
                self.chunks[(self.memories[int(memory)], int(offset))] = Chunk(
                    int(size), digest, bytes.fromhex(before), bytes.fromhex(after),
                    [int(writers[at : at + 4], 16) for at in range(0, len(writers), 4)])  # fmt: skip

    def writers_of(self, chunk: Optional[Chunk], words: Set[int]) -> Set[str]:
        """Returns the texts of the operations that stored these words of a chunk. `words`: indices of words of 4
        bytes."""
        if chunk is None:
            return set()
        sets = {chunk.writers[word] for word in words if word < len(chunk.writers)}
        return {self.operations[operation] for number in sets for operation in self.sets[number]}


def place_of(memory: str, offset: int) -> str:
    return f"at byte {offset} of {memory}"


def compared(first: Outputs, second: Outputs) -> Tuple[str, List[str]]:
    """Returns (place and values of the first difference between two outputs of a launch, texts of the accesses and
    inputs that can explain the difference). The first text is "" if the outputs are equal."""
    where, count, writers, inputs = "", 0, set(), []
    for place in sorted({*first.chunks, *second.chunks}):
        memory, offset = place
        a, b = first.chunks.get(place), second.chunks.get(place)
        if a is not None and b is not None and a.digest != b.digest:
            inputs.append(f"the memory differed before the launch: in the {a.size} bytes {place_of(memory, offset)}")
        # In a run that did not change the chunk, the bytes after the launch equal the bytes before the launch.
        known = next((chunk.before for chunk in (a, b) if chunk is not None and chunk.before), b"")
        after_a, after_b = (chunk.after if chunk is not None and chunk.after else known for chunk in (a, b))
        different = [i for i in range(len(known)) if after_a[i] != after_b[i]]
        if different and not where:
            begin = different[0] // 4 * 4
            values = [f"0x{int.from_bytes(after[begin : begin + 4], 'little'):0{2 * len(after[begin : begin + 4])}x}" for after in (after_a, after_b)]
            where = f"{place_of(memory, offset + different[0])}: {' and '.join(values)}"
        count += len(different)
        words = {i // 4 for i in different}
        writers |= first.writers_of(a, words) | second.writers_of(b, words)
    causes = [f"written by: {text}" for text in sorted(writers)]
    causes += [f"order of several warps: {text}" for text in sorted({*first.atomics, *second.atomics} - writers)]
    return (f"{where}; {count} byte{'s differ' if count != 1 else ' differs'}" if where else ""), causes + inputs[:1]


def explained(difference: Difference, describe: Callable[[int, str], List[Any]]) -> Dict[str, Any]:
    """Returns the finding for a difference. describe(seed, "CALL:RUN") runs the program again and returns the reports
    of its processes."""
    (call, run), (first, second), process = difference.key, difference.seeds, difference.process
    name = f"{difference.kernel}: launch {call}" + (f", run {run} of the graph" if run > 1 else "")
    finding = {"tool": "determinism", "kernel": difference.kernel, "count": 1, "level": "error", "pair": "", "launch": call,
               "seeds": [first, second], "causes": []}  # fmt: skip
    if difference.other != difference.kernel:
        both = (f"runs {difference.other} with seed {second}, and {difference.kernel}" if difference.other else
                f"is missing with seed {second}, and present")  # fmt: skip
        return {**finding, "sentence": f"{name}: The launch {both} with seed {first}"}
    reports = [describe(seed, f"{call}:{run}") for seed in (first, second)]
    of_process = [all_reports[process] if process < len(all_reports) else {} for all_reports in reports]
    where, causes = compared(*(Outputs(report.get("outputs", "")) for report in of_process))
    races = {found["pair"]: found["sentence"] for report in of_process for found in report.get("findings", [])
             if found["tool"] == "racecheck" and difference.kernel in found["pair"] and ONE_VALUE not in found["sentence"]}  # fmt: skip
    causes += [f"race: {sentence}" for sentence in list(races.values())[:MOST_RACES]]
    again = read_launches(of_process[0].get("launches", "")).get(difference.key, Launch("", ""))
    if again.digest != difference.digest:
        causes.append(f"two runs with seed {first} differ, too: the program has an input that changes from run to run")
    elif not any(cause.startswith(("order", "race", "the memory")) or "Atomic" in cause for cause in causes):
        causes.append("no race and no order of atomics was found in the launch")
    sentence = f"{name}: Output differs between seed {first} and seed {second} {where}".rstrip()
    return {**finding, "sentence": sentence, "causes": causes}
