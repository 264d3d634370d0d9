# SPDX-License-Identifier: Apache-2.0
"""Checks the answers to the template's questions before anything is copied. Exits with an error message of one
sentence if an answer is wrong.

Jinja renders this file before Python runs it as a hook. Jinja replaces one expression, in main(), by a string literal
that contains the answers as JSON, so that no answer becomes code. In kernkit's Python package this file is the module
`names`, so that all commands have the same rules for names."""

import os
import sys

# A hook runs from the folder for temporary files, whose other files must not be imported.
sys.path = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]

import ctypes  # noqa: E402
import json  # noqa: E402
import keyword  # noqa: E402
import re  # noqa: E402

MAX_LENGTH = 60

CHOICES = {
    "licence": ["Apache-2.0", "MIT", "BSD-3-Clause", "none"],
    "cuda": ["auto", "required", "none"],
    "sdk": ["vendored", "find_package"],
    "dev": ["copied", "installed"],
    "ci": ["GitHub", "none"],
}

# Characters that could end a string in pyproject.toml or start code in a shell or in Jinja.
FORBIDDEN = '"\\`${}'
MAX_TEXT = 200
AUTHOR = r"[^<>]*[^<> ](?: <[^<>@\s]+@[^<>@\s]+>)?"

CPP_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default
    delete do double dynamic_cast else enum explicit export extern false final float for friend goto if import inline
    int long main module mutable namespace new noexcept not not_eq nullptr operator or or_eq override private
    protected public register reinterpret_cast requires return short signed sizeof static static_assert static_cast
    struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void
    volatile wchar_t while xor xor_eq
""".split()

# Macros that the included headers of the C library, the compilers and CUDA define. The list contains names in capitals
# of at most three characters only, because all longer names in capitals are rejected.
CPP_MACROS = """
    EIO EOF NAN alloca assert assert_perror errno isascii issubnormal linux major makedev math_errhandling minor
    offsetof sigmask stderr stdin stdout strdupa strndupa toascii unix va_arg va_copy va_end va_start
""".split()
MACRO_FAMILIES = (
    "(be|le)[0-9]+toh|hto(be|le)[0-9]+|(is|to)[a-z]+_l|st_[acm]time|"
    "sa_(handler|sigaction)|sched_priority|(si|sigev)_[a-z_]+|bit_[A-Z0-9x]\\w*|signature_[A-Z]\\w*|"
    "pthread_cleanup_\\w+|M_[A-Z0-9]\\w*|[LP]_[a-z]+|(GTEST|SHT|La)_\\w+|ElfW|"
    "cuda[A-Z]\\w*|KERNKIT_\\w*"
)

# Global names and macros in the included headers, except C functions, which is_c_function() finds.
CPP_GLOBALS = """
    clock64 dim3 erfcinv erfcx erfinv lconv linux llmax llmin max min norm norm3d norm4d normcdf normcdfinv option
    rcbrt rhypot rnorm rnorm3d rnorm4d rsqrt sad saturate sinpi sincospi cospi timespec timeval tm ullmax ullmin umax
    umin unix usad
""".split()
VECTOR_TYPES = "(u?(char|short|int|long|longlong)|float|double)[1-4]"

# Names that no library can have, because kernkit, the library's own folders and programs, CMake's
# targets, linked libraries, or packages that are used together with the library have these names.
RESERVED = """
    all bench benchmark build c clean cpu cub cublas cuda cudart cupy cutlass depend dl dlpack docs edit_cache gmock
    gtest help install jax kernels kernkit kk lib m ml_dtypes numpy nvtx package package_source preinstall pthread
    pytest python rebuild_cache rt sdk setuptools silu_and_mul_bench silu_and_mul_cuda_test silu_and_mul_gpu_bench
    silu_and_mul_gpu_test silu_and_mul_test src std stdc template_library test testing tests third_party thrust torch
    tvm_ffi uninstall
""".split()


def standard_modules() -> set:
    """Returns the names of the modules of Python's standard library."""
    if hasattr(sys, "stdlib_module_names"):  # Python 3.10
        return set(sys.stdlib_module_names)
    names = set(sys.builtin_module_names)
    folder = os.path.dirname(os.__file__)
    for parent in (folder, os.path.join(folder, "lib-dynload")):
        if os.path.isdir(parent):
            names.update(entry.split(".")[0] for entry in os.listdir(parent))
    return names


def is_c_function(name: str) -> bool:
    """Returns whether the C library has a function of this name. A namespace cannot have the same name."""
    try:
        return hasattr(ctypes.CDLL(None), name)
    except (OSError, TypeError):
        return False


def why_not_word(name: str) -> str:
    """Returns the reason why a variable cannot have this name in C++ and Python, as the end of a sentence; "" for a
    valid name."""
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
        return "must begin with a letter and contain only letters, digits and _"
    if "__" in name:
        return "has two _ in a row, which C++ reserves"
    if len(name) > MAX_LENGTH:
        return "has more than %d characters" % MAX_LENGTH
    if name in CPP_WORDS:
        return "is a keyword of C++"
    if keyword.iskeyword(name):
        return "is a keyword of Python"
    if name in CPP_MACROS or re.fullmatch(MACRO_FAMILIES, name):
        return "is a macro of C, C++ or CUDA"
    if re.fullmatch("[A-Z][A-Z0-9_]{3,}", name):
        return "is in capitals, the form of macros"
    return ""


def why_not_identifier(name: str) -> str:
    """Returns the reason why a function or a file cannot have this name, as the end of a sentence; "" for a valid
    name."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        return "must begin with a lower-case letter and contain only lower-case letters, digits and _"
    return why_not_word(name)


def why_not(name: str) -> str:
    """Returns the reason why a library cannot have this name, as the end of a sentence; "" for a valid name."""
    if why_not_identifier(name):
        return why_not_identifier(name)
    if name.endswith("_t"):
        return "ends in _t, which POSIX reserves"
    if name in standard_modules():
        return "is a standard module of Python"
    if name in RESERVED or name.startswith("kernkit_"):
        return "is reserved"
    if name in CPP_GLOBALS or re.fullmatch(VECTOR_TYPES, name) or is_c_function(name):
        return "is a global name of C, C++ or CUDA"
    return ""


def suggestion(name: str) -> str:
    """Returns a valid name that is similar to `name`, or "my_kernels" if no similar name is valid."""
    parts = re.findall("[a-z0-9]+", name.lower())
    similar = "_".join(parts)[: MAX_LENGTH - len("_kernels")].strip("_")
    similar = similar.lstrip("0123456789_")
    for candidate in (similar, similar + "_kernels"):
        if not why_not(candidate):
            return candidate
    return "my_kernels"


def why_not_text(text: str) -> str:
    """Returns the reason why a line of text is invalid, as the end of a sentence; "" for a valid text."""
    if not text.strip() or len(text) > MAX_TEXT:
        return "is not a text of 1 to %d characters" % MAX_TEXT
    if not text.isprintable():
        return "contains an unprintable character, for example a line break"
    if set(text) & set(FORBIDDEN):
        return "contains one of " + " ".join(FORBIDDEN)
    return ""


def problem(answers: dict) -> str:
    """Returns a sentence about the first wrong answer; "" if all answers are valid."""

    def message(answer: str, reason: str, advice: str) -> str:
        value = answers[answer]
        value = json.dumps(value if len(value) < 100 else value[:97] + "...")
        return f"{answer} {value} {reason}; {advice}"

    for answer in ("library_name", "description", "author", *CHOICES, "parts"):
        if not isinstance(answers.get(answer), str):
            return f"{answer} must be a string; put the value in quotes"
    name = answers["library_name"]
    if why_not(name):
        better = suggestion(name)
        return message("library_name", why_not(name), f"enter another name, for example {better}")
    for answer in ("description", "author"):
        if why_not_text(answers[answer]):
            return message(answer, why_not_text(answers[answer]), "enter one line of plain text")
    if not re.fullmatch(AUTHOR, answers["author"]):
        return message("author", "is not a name", "enter a name, or Name <mail@address>")
    if not re.fullmatch("[a-z0-9_,]*", answers["parts"]):  # components.problem() of the SDK checks the names
        return message("parts", "is not a comma-separated list of components", "for example: plots,ptx")
    for answer, choices in CHOICES.items():
        if answers[answer] not in choices:
            options = ", ".join(choices[:-1]) + " or " + choices[-1]
            return message(answer, "is unsupported", f"enter {options}")
    return ""


def main() -> None:
    answers = json.loads({{ cookiecutter | tojson | tojson }})
    sentence = problem(answers)
    if not sentence and os.listdir():
        sentence = f"the folder {os.getcwd()} is not empty; choose another name or move it away"
    if sentence:
        sys.exit(f"kernkit: {sentence}")


if __name__ == "__main__":
    main()
