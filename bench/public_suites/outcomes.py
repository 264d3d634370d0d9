# SPDX-License-Identifier: Apache-2.0
"""The outcome of a program of a public suite in the simulator, from its exit code and its output."""

import enum
import re
import signal
from typing import List, NamedTuple, Optional


class Kind(enum.Enum):
    """The kinds of outcomes, in the order of the table's columns."""

    RIGHT = "right"  # the program's own verification passed
    RAN = "ran without a check"  # the program ended with exit code 0 and does not verify its results
    WAIVED = "waived by itself"  # the program requires a property that the device does not have
    NO_INPUT = "input missing"  # the checkout lacks a file that the program reads
    REJECTED = "rejected"  # the simulator does not support a function or an instruction
    FAULT = "fault reported"  # the simulator reported a fault of the program
    WRONG = "wrong"  # the program's own verification failed, or the program ended with an error
    CRASHED = "crashed"  # a signal ended the program
    SLOW = "too slow"
    NOT_BUILT = "not built"


class Outcome(NamedTuple):
    kind: Kind
    reason: str = ""
    beyond: str = ""  # key of BEYOND for a feature that the program needs and that the simulator lacks by design; otherwise ""


class Run(NamedTuple):
    """An executed program."""

    code: Optional[int]  # exit code, negative for a signal; None: ended at the time limit
    output: str  # standard output
    errors: str  # standard error


# {feature that the simulator lacks by design: regular expression that finds the feature in the reason of an outcome}
BEYOND = {
    "closed library": r"\blib(cublas|cudla|cudnn|cufft|curand|cusolver|cusparse|npp|nvjpeg|nvJitLink|nvrtc|nvvm|FreeImage)\w*"
    r"|\b(NPP|FreeImage|NvSci\w*|cuDLA|NVVM|libNVVM|cuDNN|NCCL|MPI)\b|needs? (boost|gsl|gdal)",
    "graphics": r"OpenGL|OPENGL|GLUT|GLEW|GLFW|GLES|EGL|Vulkan|Direct3D|D3D\d|X11|\bGL/\w+\.h|freeglut",
    "textures": r"\b(tex|tld4|txq|suld|sust|sured|suq)\.|[Tt]exture|[Ss]urface|CUDA array|cudaMallocArray|cudaMalloc3DArray"
    r"|MipmappedArray|ArrayCreate|Array\(\)",
}

_PASSED = re.compile(
    r"\bpass(?:ed|es)?\b|\bsuccess(?:ful|fully|es)?\b|\bsucceed(?:ed)?\b|\bverified\b|\bcorrect(?:ly|ness)?\b|\bok\b|\bvalid\b|\bmatch(?:es)?\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\bfail(?:ed|s|ure)?\b|\bmismatch\w*\b|\bincorrect\b|\bwrong\b|\binvalid\b|\bnot (?:ok|correct|match\w*|equal|pass\w*)\b|\berror!|\berrors? found",
    re.IGNORECASE,
)
# Counts and phrases that contain a word for a failure but report none: "0 failed", "failures: 0", "no mismatch".
_NO_FAILURE = re.compile(
    r"\b(?:0|no|zero|without)\s+(?:\w+\s+)?(?:fail\w*|mismatch\w*|errors?|incorrect\w*|wrong|invalid)"
    r"|\b(?:fail\w*|mismatch\w*|errors?|incorrect\w*|wrong|invalid)\s*[:=]\s*0+(?:\.0+)?\b|\bfailed as expected\b",
    re.IGNORECASE,
)
_WAIVED = re.compile(r"waiv|not supported on (?:this|the) device|requires? (?:\w+ )*(?:SM|compute capability|at least two|two or more|GPUs)"
                     r"|two or more GPUs|does not support|not support\w* by|no P2P", re.IGNORECASE)  # fmt: skip
_NO_INPUT = re.compile(r"(?:cannot|can't|can not|could not|couldn't|unable to|failed to|error) \w*\s*(?:open|find|read|load)\w*|no such file"
                       r"|\bfile\b.* does not exist"
                       r"|file not found|error (?:opening|reading) (?:file|input)", re.IGNORECASE)  # fmt: skip
# Patterns of messages that the simulator and `kernkit run` print.
_REJECTED = re.compile(r"cannot run|is not supported|are not supported|not supported|cannot run without a GPU|unsupported")
_ADVICE_ONLY = re.compile(r"the CUDA runtime is linked into the library statically|has machine code only .*its kernels do not run")
_FAULT = re.compile(r"block \[\d+, \d+, \d+\]|does not end|end \d+ bytes? past its end|of freed memory")
_ASSERTION = re.compile(r"assert\(.*\) failed")  # a failed assertion of the program, which a GPU reports as well
_UNSUPPORTED_ERROR = re.compile(r"cudaErrorNotSupported|CUDA_ERROR_NOT_SUPPORTED|operation not supported|NoKernelImageForDevice|no kernel image")
_CODE_OF_WAIVED = 2


def _lines(text: str) -> List[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _lines_of_kernkit(errors: str) -> List[str]:
    return [line[len("kernkit: "):] for line in _lines(errors) if line.startswith("kernkit: ")]


def _beyond(text: str) -> str:
    return next((name for name, pattern in BEYOND.items() if re.search(pattern, text)), "")


def failure_line(text: str) -> str:
    """Returns the first line that reports a failed verification, or ""."""
    return next((line for line in _lines(text) if _FAILED.search(_NO_FAILURE.sub("", line))), "")


def missing_input(text: str) -> str:
    """Returns the first line that reports a missing file, or ""."""
    return next((line for line in _lines(text) if _NO_INPUT.search(line)), "")


def passes(text: str) -> bool:
    """Returns whether a line reports a passed verification."""
    return any(_PASSED.search(line) or _NO_FAILURE.search(line) for line in _lines(text))


def rejection(message: str) -> Outcome:
    """Returns the outcome of a rejected program. The outcome's reason is the message without the program's names and
    source lines."""
    shown = re.sub(r" \([\w./+-]+:\d+(?: \(inlined at [^)]*\))?\)", "", message)
    shown = re.sub(r"^\S.* cannot run: (?=\S)", "", shown)
    shown = re.sub(r"^\S+/(\S+) (cannot run without a GPU|needs)", r"\2", shown)
    shown = re.split(r"(?<=is not supported)\b.*?[:;]|; call |: compile it|: add the folder", shown)[0]
    return Outcome(Kind.REJECTED, shown.strip(), _beyond(message))


def classify(run: Run) -> Outcome:
    """Returns the outcome of a run. Messages of the simulator take precedence over those of the program: a program
    that fails after a rejected call counts as rejected."""
    said = _lines_of_kernkit(run.errors)
    libraries = [line for line in said if _ADVICE_ONLY.search(line)]
    rejected = [line for line in said if line not in libraries and _REJECTED.search(line)]
    faults = [line for line in said if line not in rejected and _FAULT.search(line)]
    if run.code == 0:
        faults = [line for line in faults if not _ASSERTION.search(line)]
    text = "\n".join([run.output, *(line for line in _lines(run.errors) if not line.startswith("kernkit: "))])
    failure = failure_line(text)
    if run.code is None:
        return rejection(rejected[0]) if rejected else Outcome(Kind.SLOW)
    if run.code == 0 and not failure and passes(text) and not faults:
        return Outcome(Kind.RIGHT, rejected[0] if rejected else "")
    if run.code == _CODE_OF_WAIVED and _WAIVED.search(text) and not rejected:
        return Outcome(Kind.WAIVED, next(line for line in _lines(text) if _WAIVED.search(line)))
    if rejected:
        return rejection(rejected[0])
    if faults:
        return Outcome(Kind.FAULT, faults[0])
    if libraries:  # also for a program that ignored the errors of the library
        return Outcome(Kind.REJECTED, libraries[0].split(":")[0], "closed library")
    if run.code != 0 or failure:
        return _failed(run.code, text, failure)
    missing = missing_input(text)
    return Outcome(Kind.NO_INPUT, missing) if missing else Outcome(Kind.RAN)


def _failed(code: int, text: str, failure: str) -> Outcome:
    """Returns the outcome of a program that reports an error while the simulator reports none."""
    unsupported = next((line for line in _lines(text) if _UNSUPPORTED_ERROR.search(line)), "")
    if unsupported:
        return rejection(unsupported)
    number = -code if code < 0 else code - 128
    if code < 0 or number in list(signal.Signals):
        name = signal.Signals(number).name if number in list(signal.Signals) else f"signal {number}"
        return Outcome(Kind.CRASHED, name)
    missing = missing_input(text)
    if missing and code != 0:
        return Outcome(Kind.NO_INPUT, missing)
    last = _lines(text)[-1] if _lines(text) else "no output"
    return Outcome(Kind.WRONG, failure or f"exit code {code}: {last}")


def not_built(log: str) -> Outcome:
    """Returns the outcome of a program that was not built, from the output of the build."""
    lines = _lines(log)
    patterns = (r"will not build|NOT FOUND|not found - ", r"fatal error|\berror\b.*:|: error", r"Error \d+|[Ee]rror|\*\*\* ", r".")
    reason = next((line for pattern in patterns for line in lines if re.search(pattern, line)), "no program")
    return Outcome(Kind.NOT_BUILT, reason, _beyond(reason))


def worst(outcomes: List[Outcome]) -> Outcome:
    """Returns the outcome of a folder with several programs: the outcome whose kind is last in the order of Kind."""
    order = list(Kind)
    return max(outcomes, key=lambda outcome: order.index(outcome.kind))
