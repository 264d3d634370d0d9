# SPDX-License-Identifier: Apache-2.0
"""The command line of ./kk: its commands and their options, parsed by argparse, and the messages for wrong options."""

import argparse
import dataclasses
import os
import pathlib
import re
from typing import Any, Callable, Dict, List, NoReturn, Optional, Tuple

from ..errors import UserError


class CommandFailed(Exception):
    """Raised if a program fails. The program has printed the reason, and ./kk ends with the exit
    code of the program."""

    def __init__(self, code: int) -> None:
        self.code = code


@dataclasses.dataclass
class Options:
    """A parsed command line."""

    command: str
    positional: List[str] = dataclasses.field(default_factory=list)  # arguments after the command, without options
    is_help: bool = False
    tier: str = "quick"  # "quick", "all" or "slow"
    cuda: str = ""  # "ON", "OFF", or "" for the value of KERNKIT_CUDA
    compare: str = ""
    rounds: str = "5"
    frameworks: str = ""
    step: str = ""  # step of ./kk gpu: "build", "run" or "" for both
    architectures: str = ""  # GPU architectures, for example "90;120", or the target processor
    is_check: bool = False  # whether ./kk release checks the commit without making archives
    is_simulator: bool = False  # whether ./kk dist also makes the wheel kernkit-simulator
    without_ptx: bool = False  # whether CUDA tests run kernels that the C++ compiler compiled, not PTX
    benchmark_options: List[str] = dataclasses.field(default_factory=list)  # --benchmark_...


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of ./kk: the function that runs it, and the arguments that it accepts."""

    function: Callable[[Options], None]
    prepares: str = "all"  # "all", "python", "nothing"; in kernkit's repository also "template", "docs"
    is_passed_on: bool = False  # whether all arguments go to another program unparsed
    options: Tuple[str, ...] = ()  # options of this command, besides the options of every command
    max_positional: int = 0  # largest number of positional arguments
    allowed_positional: Tuple[str, ...] = ()  # permitted positional arguments; empty: all are permitted

    def prepared(self, options: Options) -> str:
        return "nothing" if self.is_passed_on and {"-h", "--help"} & set(options.positional) else self.prepares


BENCHMARK = "--benchmark_"  # prefix of Google Benchmark's options
_OF_EVERY_COMMAND = ("--cuda", "--no-cuda")
_LISTS = "; ./kk --help lists them"
# {option: (the only command that has the option, an example of the option)}.
_BELONGS = {"--compare": ("bench", "--compare OLD.json"), "--rounds": ("bench", "--rounds=15"), BENCHMARK: ("bench", ""),
            "--check": ("release", "--check"), "--simulator": ("dist", "--simulator"), "--build": ("gpu", "--build"),
            "--run": ("gpu", "--run")}  # fmt: skip


def _existing_file(text: str) -> str:
    if not text:
        raise UserError("--compare needs a file: the run.json of an earlier run")
    if not pathlib.Path(os.environ.get("KK_ROOT", "."), text).exists():
        raise UserError(f"--compare: file {text} not found; name the run.json of an earlier run")
    return text


def _frameworks(text: str) -> str:
    if not text:
        raise UserError("--with needs a list: torch,jax,clients")
    for framework in text.replace(",", " ").split():
        if framework not in ("torch", "jax", "clients"):
            raise UserError(f"--with {framework}: supported frameworks are torch, jax and clients (Triton, Numba, cuda.core and CuPy)")
    return text


def _gpu_architectures(text: str) -> str:
    if not re.fullmatch(r"\d+a?(,\d+a?)*", text):
        raise UserError(f'--arch "{text}" is not a list of GPU architectures; for example: --arch 90,120')
    return text.replace(",", ";")


def _processor(text: str) -> str:
    if text != "aarch64":
        raise UserError(f"--arch {text}: unsupported architecture; use --arch aarch64, or leave out the option")
    return text


def _rounds(text: str) -> str:
    if not text:
        raise UserError("--rounds needs a number: --rounds=15")
    return text


class _Step(argparse.Action):
    """The argparse action of the options --build and --run of ./kk gpu, which exclude each other."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Optional[str] = None) -> None:
        if namespace.step:
            raise UserError("gpu: --build and --run exclude each other; run ./kk gpu for both")
        namespace.step = self.const


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(message + _LISTS)


def _parser(name: str, command: Command) -> _Parser:
    # An option without a value gets the value "", which the function in "type" rejects.
    value: Dict[str, Any] = {"nargs": "?", "const": ""}
    known: Dict[str, Dict[str, Any]] = {
        "--cuda": {"action": "store_const", "const": "ON", "dest": "cuda"},
        "--no-cuda": {"action": "store_const", "const": "OFF", "dest": "cuda"},
        "--no-ptx": {"action": "store_true", "dest": "without_ptx"},
        "--check": {"action": "store_true", "dest": "is_check"},
        "--simulator": {"action": "store_true", "dest": "is_simulator"},
        "--all": {"action": "store_const", "const": "all", "dest": "tier"},
        "--slow": {"action": "store_const", "const": "slow", "dest": "tier"},
        "--compare": {**value, "type": _existing_file},
        "--rounds": {**value, "type": _rounds},
        "--with": {**value, "type": _frameworks, "dest": "frameworks"},
        "--build": {"action": _Step, "nargs": 0, "const": "build", "dest": "step"},
        "--run": {"action": _Step, "nargs": 0, "const": "run", "dest": "step"},
        "--arch": {**value, "type": _gpu_architectures if name == "gpu" else _processor, "dest": "architectures"},
    }
    parser = _Parser(prog=f"./kk {name}", add_help=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="store_true", dest="is_help")
    for option in (*_OF_EVERY_COMMAND, *command.options):
        if option != BENCHMARK:
            parser.add_argument(option, **known[option])
    return parser


def _unknown(argument: str, commands: Dict[str, Command]) -> UserError:
    option = BENCHMARK if argument.startswith(BENCHMARK) else argument.partition("=")[0]
    command, example = _BELONGS.get(option, ("", ""))
    if command in commands:
        return UserError(f"{option.rstrip('_')} belongs to {command}: ./kk {command} {example or argument}")
    return UserError(f"unknown option {argument}{_LISTS}")


def parse(arguments: List[str], commands: Dict[str, Command]) -> Optional[Options]:
    """Returns the parsed command line; None for --help. Raises UserError if the command, an option or an argument is
    invalid."""
    name, remaining = (arguments[0] if arguments else "help"), list(arguments[1:])
    if name in ("help", "-h", "--help"):
        return None
    if name not in commands:
        raise UserError(f'unknown command "{name}"{_LISTS}')
    command, options = commands[name], Options(name)
    if command.is_passed_on:
        options.positional = remaining
        return options
    _, unparsed = _parser(name, command).parse_known_args(remaining, namespace=options)
    if options.is_help:
        return None
    for argument in unparsed:
        if argument.startswith(BENCHMARK) and BENCHMARK in command.options:
            options.benchmark_options.append(argument)
        elif argument.startswith("-"):
            raise _unknown(argument, commands)
        elif len(options.positional) < command.max_positional and (not command.allowed_positional or argument in command.allowed_positional):
            options.positional.append(argument)
        else:
            raise UserError(f'unexpected "{argument}"; ./kk --help lists commands and options')
    if options.tier != "quick" and "--with" in command.options:
        options.frameworks = options.frameworks or "torch,jax,clients"
    return options
