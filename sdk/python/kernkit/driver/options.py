# SPDX-License-Identifier: Apache-2.0
"""The words of ./kk: its commands, their options, and what it says where they are wrong."""

import dataclasses
import os
import pathlib
import re
from typing import Callable, Dict, List, Optional, Tuple


class Wrong(Exception):
    """A sentence that says what is wrong and what to type instead."""


class Done(Exception):
    """A command ended so: ./kk ends with its exit code."""

    def __init__(self, code: int) -> None:
        self.code = code


@dataclasses.dataclass
class Options:
    """What was typed."""

    command: str
    words: List[str] = dataclasses.field(default_factory=list)  # what no option took
    tier: str = "quick"  # or "all", "slow"
    cuda: str = ""  # or "ON", "OFF"; "": as KERNKIT_CUDA says
    compare: str = ""
    rounds: str = "5"
    frameworks: str = ""
    step: str = ""  # of gpu: "build", "run"
    architectures: str = ""  # of a GPU, or the one processor to compile the tests for
    is_without_ptx: bool = False  # of test: CUDA tests run on what g++ compiled only
    google: List[str] = dataclasses.field(default_factory=list)  # --benchmark_...


@dataclasses.dataclass(frozen=True)
class Command:
    """What ./kk NAME does, and which words may follow it."""

    function: Callable[[Options], None]
    prepares: str = "all"  # or "python", "nothing"; "template" in kernkit's repository
    is_passed_on: bool = False  # its words are another program's
    options: Tuple[str, ...] = ()  # besides those of every command
    most: int = 0  # words that are no options
    known: Tuple[str, ...] = ()  # these words, where any is not meant

    def prepared(self, options: "Options") -> str:
        return "nothing" if self.is_passed_on and {"-h", "--help"} & set(options.words) else self.prepares


EVERYWHERE = ("--cuda", "--no-cuda")
LISTS = "; ./kk --help lists them"


def _take(options: Options, word: str, rest: List[str], commands: Dict[str, Command]) -> None:
    """Takes one option, with its value out of the rest."""
    command = commands[options.command]
    name, equals, value = word.partition("=")
    if name.startswith("--benchmark_"):
        name = "--benchmark_"
    belongs = {"--compare": "bench", "--rounds": "bench", "--benchmark_": "bench",
               "--build": "gpu", "--run": "gpu"}  # fmt: skip
    example = {"--compare": "--compare OLD.json", "--rounds": "--rounds=15", "--benchmark_": word}.get(name, name)
    if name not in (*EVERYWHERE, *command.options):
        if name in belongs and belongs[name] in commands:
            raise Wrong(f"{name.rstrip('_')} belongs to {belongs[name]}: ./kk {belongs[name]} {example}")
        raise Wrong(f"unknown option {word}{LISTS}")
    if name == "--benchmark_":
        options.google.append(word)
    elif name == "--rounds":
        options.rounds = value
    elif name in ("--cuda", "--no-cuda"):
        options.cuda = "ON" if name == "--cuda" else "OFF"
    elif name == "--no-ptx":
        options.is_without_ptx = True
    elif name in ("--all", "--slow"):
        options.tier = name[2:]
        if "--with" in command.options:
            options.frameworks = options.frameworks or "torch,jax"
    elif name == "--compare":
        if not rest:
            raise Wrong("--compare needs a file: the run.json of an earlier run")
        options.compare = rest.pop(0)
        if not pathlib.Path(os.environ.get("KK_ROOT", "."), options.compare).exists():
            raise Wrong(f"--compare: there is no file {options.compare}")
    elif name == "--with":
        if not rest:
            raise Wrong("--with needs a list: torch,jax")
        options.frameworks = rest.pop(0)
        for framework in options.frameworks.replace(",", " ").split():
            if framework not in ("torch", "jax"):
                raise Wrong(f"--with {framework}: known frameworks are torch and jax")
    elif name in ("--build", "--run"):
        if options.step:
            raise Wrong("gpu --build and gpu --run together are ./kk gpu")
        options.step = name[2:]
    elif name == "--arch":
        numbers = value if equals else rest.pop(0) if rest else ""
        of_gpu = options.command == "gpu"
        if not re.fullmatch(r"\d+a?(,\d+a?)*" if of_gpu else "aarch64", numbers):
            raise Wrong("--arch needs a list: 90 or 90,120" if of_gpu else "--arch is aarch64, or left out")
        options.architectures = numbers.replace(",", ";")


def parse(words: List[str], commands: Dict[str, Command]) -> Optional[Options]:
    """None where help is wanted. Raises Wrong."""
    name, rest = (words[0] if words else "help"), list(words[1:])
    if name in ("help", "-h", "--help"):
        return None
    if name not in commands:
        raise Wrong(f'unknown command "{name}"{LISTS}')
    command, options = commands[name], Options(name)
    if command.is_passed_on:
        options.words = rest
        return options
    while rest:
        word = rest.pop(0)
        if word in ("-h", "--help"):
            return None
        if word.startswith("-"):
            _take(options, word, rest, commands)
        elif len(options.words) < command.most and (not command.known or word in command.known):
            options.words.append(word)
        else:
            raise Wrong(f'unexpected "{word}"; ./kk --help says what goes where')
    return options
