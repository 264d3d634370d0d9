# SPDX-License-Identifier: Apache-2.0
"""The grammar of shapes has two parsers, in C++ and in Python: both agree on every line of the C++ tests."""

import random
import re
import shutil
import subprocess

import compiled
import pytest
from kernkit.codegen.frameworks.shapes import DIAGNOSTICS, Shapes
from kernkit.schema import TYPES, SchemaError, parse


@pytest.fixture(scope="module")
def cases(root):
    """The text of the C++ tests, with its string literals joined."""
    text = (root / "tests/sdk/schema/shape_line_test.cc").read_text()
    return re.sub(r'"\s*\n\s*"', "", text)


def test_lines_that_the_compiler_accepts_are_accepted(cases):
    lines = re.findall(r'\n\s*"(\([^"]* -> [^"]*)"[,)]', cases.partition("struct BadShape")[0])
    assert len(lines) == 16
    for line in lines:
        Shapes(parse("op" + line))


def test_lines_that_the_compiler_rejects_are_rejected_for_the_same_reason(cases):
    bad = re.findall(r'BadShape\{\s*"([^"]*)",\s*S::k(\w+)', cases)
    assert len(bad) > 30
    for line, error in bad:
        with pytest.raises(SchemaError) as caught:
            Shapes(parse("op" + line))
        # An empty dtype is rejected by the parser of the line.
        assert str(caught.value) == DIAGNOSTICS[error] or ": )" in line, line


def test_the_diagnostics_are_the_compilers(root):
    text = (root / "sdk/include/kernkit/schema/diagnostics.h").read_text()
    text = re.sub(r'"\s*\n\s*"', "", text)
    messages = dict(re.findall(r'Error != E::k(\w+),\s*"kernkit schema: ([^"]*)"', text))
    assert messages == DIAGNOSTICS


# Lines that only one of the parsers accepted in the past.
DISAGREED = [
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
    """The line with one to three pieces inserted, removed or replaced."""
    for _ in range(source.choice([1, 1, 1, 2, 3])):
        begin = source.randint(0, len(line))
        end = min(len(line), begin + source.choice([0, 0, 1, 1, 2, 5]))
        line = line[:begin] + source.choice([*PIECES, ""]) + line[end:]
    return line


def as_printed(line):
    """The output of read_lines.cc for a line."""
    if not line.lstrip(" ").startswith("("):  # otherwise the text before would be a part of the name
        return "rejected"
    try:
        op = parse("op" + line)
        values = op.parameters + op.results
        has_shapes = any(v.shape is not None or v.dtype is not None for v in values)
        shapes = Shapes(op) if has_shapes else None
    except SchemaError:
        return "rejected"

    def shown(value):
        sizes = shapes and shapes.of(value)
        flags = [value.is_list, value.is_optional, value.is_written, value.is_only_written, value.is_alias]
        place = shapes.run_place(value) if shapes else -1
        return (f"|{TYPES.index(value.type) + 1}{''.join(str(int(f)) for f in flags)} {value.name}={value.default or ''} "
                f"{int(sizes is not None)} {len(sizes or [])} {place}")  # fmt: skip

    def place(value):
        return next((i for i, one in enumerate(values) if one is value), -1)

    text = "accepted" + "".join(map(shown, op.parameters)) + "|->" + "".join(map(shown, op.results))
    if shapes is None:
        return text
    text += f"|{place(shapes.run_of)} {place(shapes.like)}"
    names = dict.fromkeys(name for v in values for size in shapes.of(v) or [] for name in size.names)
    found = [(name, shapes.binders[name]) for name in names if name in shapes.binders]
    return text + "".join(f"|{name} {place(b.value)} {b.place} {b.factor} {int(b.always_bound)}" for name, b in found)


def test_both_readers_read_the_same_in_any_line(root, cases, tmp_path):
    """For lines on which the parsers once differed, and for random variations of the lines of the C++ tests."""
    program = tmp_path / "read_lines"
    flags = [*compiled.WARNINGS, "-I", root / "sdk/include", "-isystem", compiled.PACKAGE / "include"]
    subprocess.run(["c++", "-std=c++17", "-O0", *flags, root / "tests/interop/frameworks/read_lines.cc", "-o", program], check=True)
    source = random.Random(1)
    good = [line for line in re.findall(r'"(\([^"\n]* -> [^"\n]*)"', cases) if as_printed(line) != "rejected"]
    lines = [*DISAGREED, *good, *(mutated(source.choice(good), source) for _ in range(8000))]
    done = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True)
    printed = done.stdout.splitlines()
    assert len(printed) == len(lines)
    assert sum(one.startswith("accepted") for one in printed) > 300
    different = [f"{line}\n  C++    {cpp}\n  Python {as_printed(line)}" for line, cpp in zip(lines, printed) if as_printed(line) != cpp]
    assert not different, "\n".join(different[:20])


def test_metadata_and_docs_carry_the_line(root, tmp_path):
    import tvm_ffi
    from kernkit.binaries.ops import read_ops

    library = compiled.build(root / "tests/interop/frameworks/frameworks.cc", tmp_path / "libshaped.so", "-fvisibility=hidden")
    (op,) = [op for op in read_ops(library) if op.name == "silu_and_mul"]
    assert op.line == "silu_and_mul(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()"
    module = tvm_ffi.load_module(str(library))
    metadata = module.get_function_metadata("silu_and_mul")
    assert metadata["schema"] == op.line.removeprefix("silu_and_mul")


@pytest.mark.all
def test_nvcc_takes_a_line_with_shapes(root, dlpack_include, tmp_path):
    """The op is exported in its .cu file."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    done = subprocess.run(
        [nvcc, "-x", "cu", "-std=c++17", "-I", root / "sdk/include", "-isystem", dlpack_include, "-c",
         root / "tests/interop/frameworks/indices.cc", "-o", tmp_path / "indices.o"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
