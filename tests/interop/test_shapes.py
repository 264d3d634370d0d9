# SPDX-License-Identifier: Apache-2.0
"""Tests the parsed form of schema lines, which the C++ compiler computes, the library contains and Python reads."""

import dataclasses
import random
import re
import shutil
import subprocess

import compiled
import pytest
from kernkit.binaries.ops import read_ops, read_parsed
from kernkit.codegen import python_ops
from kernkit.codegen.frameworks import jax_ops, torch_ops
from kernkit.errors import UserError
from kernkit.parsed_line import TYPES
from lines import line_of, parse_all


@pytest.fixture(scope="module")
def cases(root):
    """Returns the source text of the C++ tests, with adjacent string literals joined."""
    text = (root / "tests/sdk/schema/shape_line_test.cc").read_text()
    return re.sub(r'"\s*\n\s*"', "", text)


# Schema lines at the limits of the notation.
LIMITS = [
    "(Tensor x[(n)]) -> ()", "(Tensor x[2*(n)]) -> ()", "(Tensor(out!) y[((n))], Tensor x[(3)*n]) -> ()",
    "(Tensor x[02*n]) -> Tensor y[n]", "(Tensor x[n*9223372036854775808]) -> ()", "(Tensor x: float8_e8m0fnu) -> ()",
    "(Tensor x: int4) -> ()", "(Tensor x: float32x4) -> ()", "(Tensor x: complex32) -> ()", "(Tensor x: float8_e4m3fnx) -> ()",
    "(Tensor x: int300) -> ()", "(Tensor\u00e4 x) -> ()", "(Tensor \u00e4) -> ()", "(Tensor x[\u00e4]) -> ()", "(int(a) n) -> ()",
    "(Tensor 2x) -> ()", "(int n, int n) -> ()", "(int n=1, int k) -> ()", "(int n=True) -> ()", "(str s=a) -> ()", "(int) -> ()",
    "() -> Tensor 2y", "() -> (Tensor y, Tensor y)", "(Tensor x[n]) -> Tensor [n]", "(Tensor x[n]) -> Tensor: x",
    "(Tensor x, ScalarType? float32=None) -> Tensor y: float32 or x", "(float f=1e999) -> ()", "(int n=9223372036854775808) -> ()",
    "(int[] n=3) -> ()", "(int n=None) -> ()", "(Tensor __x) -> ()", "(Tensor x[__n]) -> ()", "() -> Tensor __y",
    "(Tensor x[" + "+".join(["n", *map(str, range(140))]) + "]) -> ()", "(Tensor x[" + ",".join("_" * 129) + "]) -> ()",
    "(Tensor x[" + ",".join(f"n{i}" for i in range(33)) + "]) -> ()", "() -> (" + ",".join(["int"] * 9) + ")",
    "(" + ",".join(f"int n{i}" for i in range(65)) + ") -> ()", "(float f=" + "1" * 801 + "e-700) -> ()",
]  # fmt: skip
PIECES = [
    *TYPES, *"( ) [ ] ? ! : = , -> + - * / . ... each... _ n k x y w 2 0 03 (n) 2*n n*2 n/k n-k a! out! or '".split(), " ", "  ",
    "Tensor x[n, d]", "Tensor(out!) y[", "Tensor(a!)", "Tensor? w[n]=None", "Tensor[] xs[...]", "ScalarType? t=None", "int k=3", ": t or x",
    ": float32", ": ?", "ceil_div(n, 8)", "round_up(k, n)", "numel(...)", "k?", "='a b'", "=None", "=1e-3", "=inf", "=True", "=-7", "each",
]  # fmt: skip


def mutated(line, source):
    """Returns the schema line after one to three random insertions, removals or replacements of tokens."""
    for _ in range(source.choice([1, 1, 1, 2, 3])):
        begin = source.randint(0, len(line))
        end = min(len(line), begin + source.choice([0, 0, 1, 1, 2, 5]))
        line = line[:begin] + source.choice([*PIECES, ""]) + line[end:]
    return line


def without_line(op):
    return dataclasses.replace(op, line="")


def test_python_reads_all_of_a_line(cases):
    """The schema line that line_of() writes from a parsed form has the same parsed form. The test uses the schema lines
    of the C++ tests and random variations of these schema lines."""
    source = random.Random(1)
    some = re.findall(r'"(\([^"\n]* -> [^"\n]*)"', cases)
    good = [line for line, op in zip(some, parse_all(some)) if op is not None]
    assert len(good) > 16
    lines = [*LIMITS, *good, *(mutated(source.choice(good), source) for _ in range(8000))]
    lines = ["op" + line for line in lines if line.startswith("(")]
    ops = [op for op in parse_all(lines) if op is not None]
    assert len(ops) > 300
    again = parse_all([line_of(op) for op in ops])
    different = [op.line for op, parsed in zip(ops, again) if parsed is None or without_line(op) != without_line(parsed)]
    assert different == []


def test_which_lines_at_the_limits_are_rejected():
    accepted = [line for line, op in zip(LIMITS, parse_all(LIMITS)) if op is not None]
    assert accepted == [line for line in LIMITS if line in (
        "(Tensor x[(n)]) -> ()", "(Tensor x[2*(n)]) -> ()", "(Tensor(out!) y[((n))], Tensor x[(3)*n]) -> ()",
        "(Tensor x[02*n]) -> Tensor y[n]", "(Tensor x: float8_e8m0fnu) -> ()", "(Tensor x: int4) -> ()",
        "(Tensor x: float32x4) -> ()", "(Tensor x: complex32) -> ()")]  # fmt: skip


@pytest.fixture(scope="module")
def library(root, tmp_path_factory):
    """Returns the path of the library compiled from frameworks/frameworks.cc."""
    path = tmp_path_factory.mktemp("parsed") / "libshaped.so"
    return compiled.build(root / "tests/interop/frameworks/frameworks.cc", path, "-fvisibility=hidden")


def test_metadata_and_sections_have_the_parsed_line(library):
    import tvm_ffi

    ops, parsed = read_ops(library), read_parsed(library)
    module = tvm_ffi.load_module(str(library))
    for op, parsed_again in zip(ops, parse_all([op.line for op in ops])):
        metadata = module.get_function_metadata(op.name)
        assert metadata["schema"] == op.line.removeprefix(op.name)
        assert metadata["parsed"] == parsed[op.name]
        assert dataclasses.replace(op, doc="") == parsed_again
    assert len(ops) > 20
    assert "silu_and_mul(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()" in [op.line for op in ops]


def test_generated_files_need_only_the_parsed_line(library):
    """The generated files depend on the parsed form only: the text of the schema line appears only in docstrings and
    comments."""
    ops = [op for op in read_ops(library) if not re.search("['\"\\\\]", op.line)]
    marked = [dataclasses.replace(op, line=f"<<{i}>>") for i, op in enumerate(ops)]

    def files(ops):
        return [python_ops.source("package", "lib.so", ops), torch_ops.source("package", "lib.so", "space", ops, {}),
                jax_ops.source("package", library, ops, {})]  # fmt: skip

    for text, expected in zip(files(marked), files(ops)):
        for op, mark in zip(ops, marked):
            assert mark.line in text
            text = text.replace(mark.line, op.line)
        assert text == expected


def test_only_kernkit_add_parses_a_line(root):
    """Only `kernkit add` uses the parser of schema lines. All other commands read the parsed form from a library."""
    folder = root / "sdk/python/kernkit"
    users = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if re.search("line_parser|parse_lines", path.read_text())}
    assert users == {"codegen/cpp/line_parser.py", "codegen/cpp/typed_schema.py"}
    users = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if "typed_schema" in path.read_text()}
    assert users == {"commands/add.py"}


def test_a_library_of_an_earlier_kernkit(library, tmp_path):
    old = tmp_path / "libold.so"
    subprocess.run(["objcopy", "--remove-section", "kernkit_parsed", library, old], check=True)
    with pytest.raises(UserError) as caught:
        read_ops(old)
    assert str(caught.value) == (f"{old}: add: no parsed schema line in the file, which an earlier kernkit built; build the library again "
                                 "with this kernkit, and keep section kernkit_parsed when stripping")  # fmt: skip


@pytest.mark.all
def test_nvcc_takes_a_line_with_shapes(root, dlpack_include, tmp_path):
    """nvcc compiles a file that exports ops with shapes in their schema lines."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    result = subprocess.run(
        [nvcc, "-x", "cu", "-std=c++17", "-I", root / "sdk/include", "-isystem", dlpack_include, "-c",
         root / "tests/interop/frameworks/indices.cc", "-o", tmp_path / "indices.o"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
