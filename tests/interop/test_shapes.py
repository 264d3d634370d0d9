# SPDX-License-Identifier: Apache-2.0
"""The grammar of shapes has two readers, the compiler's and the command's: they agree on every line of the C++ tests."""

import re
import shutil
import subprocess

import pytest
from kernkit.frameworks.shapes import SENTENCES, Shapes
from kernkit.schema import SchemaError, parse


@pytest.fixture(scope="module")
def cases(root):
    """The text of the C++ tests, with its string literals joined."""
    text = (root / "tests/sdk/shapes/reader_test.cc").read_text()
    return re.sub(r'"\s*\n\s*"', "", text)


def test_what_the_compiler_reads_is_read(cases):
    lines = re.findall(r'\n\s*"(\([^"]* -> [^"]*)"[,)]', cases)
    assert len(lines) == 16
    for line in lines:
        Shapes(parse("op" + line))


def test_what_the_compiler_refuses_is_refused_for_the_same_reason(cases):
    bad = re.findall(r'Bad\{\s*"([^"]*)",\s*E::k(\w+)', cases)
    assert len(bad) > 30
    for line, error in bad:
        with pytest.raises(SchemaError) as caught:
            Shapes(parse("op" + line))
        # An empty dtype is refused where the line is read.
        assert str(caught.value) == SENTENCES[error] or ": )" in line, line


def test_the_sentences_are_the_compilers(root):
    text = (root / "sdk/include/kernkit/shapes/sentences.h").read_text()
    text = re.sub(r'"\s*\n\s*"', "", text)
    said = dict(re.findall(r'Error != E::k(\w+),\s*"kernkit schema: ([^"]*)"', text))
    said.pop("TooMany")
    assert said == SENTENCES


def test_metadata_and_docs_carry_the_line(root, tmp_path):
    import compiled
    import tvm_ffi
    from kernkit.schema import read_ops

    library = compiled.build(root / "tests/interop/frameworks/frameworks.cc", tmp_path / "libshaped.so", "-fvisibility=hidden")
    (op,) = [op for op in read_ops(library) if op.name == "silu_and_mul"]
    assert op.line == "silu_and_mul(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()"
    module = tvm_ffi.load_module(str(library))
    metadata = module.get_function_metadata("silu_and_mul")
    assert metadata["schema"] == op.line.removeprefix("silu_and_mul")


@pytest.mark.all
def test_nvcc_takes_a_line_with_shapes(root, dlpack_include, tmp_path):
    """For an op that is exported in its .cu file."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    done = subprocess.run(
        [nvcc, "-x", "cu", "-std=c++17", "-I", root / "sdk/include", "-isystem", dlpack_include, "-c",
         root / "tests/interop/frameworks/indices.cc", "-o", tmp_path / "indices.o"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
