# SPDX-License-Identifier: Apache-2.0
"""`kernkit add`: what it writes, and what it refuses. test_template_builds.py builds the result."""

import json
import re
import shutil
import subprocess

import pytest
from rendering import files_below

cli = pytest.importorskip("kernkit.cli")

SWISH = "(Tensor(a!) y, Tensor x, float beta=1.0) -> ()"
FILES = {
    "kernels/swish/swish.h",
    "kernels/swish/swish.cc",
    "kernels/swish/swish.cu",
    "kernels/swish/swish_export.cc",
    "tests/swish_test.cc",
    "bench/swish_bench.cc",
}


@pytest.fixture
def library(tmp_path, monkeypatch):
    """As much of a library as the command looks at."""
    for folder in ("kernels", "tests", "bench"):
        (tmp_path / folder).mkdir()
    (tmp_path / "kernels/CMakeLists.txt").write_text("kernkit_add_library(fast_ops)\n")
    answers = {"library_name": "fast_ops", "cuda": "auto", "licence": "MIT"}
    (tmp_path / ".kernkit.json").write_text(json.dumps({"version": "0.1.0", "answers": answers}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add(*words):
    return cli.main(["add", *words])


@pytest.mark.parametrize("kind", ["elementwise", "row_reduction", "custom"])
def test_six_new_files_and_one_line(library, kind, capsys):
    before = files_below(library)
    assert add("swish", SWISH, "--kind", kind) == 0
    after = files_below(library)
    assert set(after) - set(before) == FILES
    assert {path for path in before if before[path] != after[path]} == {"kernels/CMakeLists.txt"}
    line = b"kernkit_add_kernel(fast_ops swish)\n"
    assert after["kernels/CMakeLists.txt"] == before["kernels/CMakeLists.txt"] + line
    assert set(capsys.readouterr().out.split()) == FILES | {"kernels/CMakeLists.txt"}
    for path in FILES:
        assert after[path].startswith(b"// SPDX-License-Identifier: MIT\n"), path
        assert not re.search(rb"@\w+@|[ \t]\n|\n\n\n", after[path]), path
    marked = {path for path in FILES if b"Write it here" in after[path]}
    assert {"kernels/swish/swish_export.cc", "tests/swish_test.cc"} <= marked
    assert ("kernels/swish/swish.cu" in marked) == (kind == "custom")


def test_a_library_without_cuda_gets_no_cuda(library):
    record = library / ".kernkit.json"
    record.write_text(record.read_text().replace("auto", "none").replace("MIT", "none"))
    assert add("swish", SWISH) == 0
    assert not (library / "kernels/swish/swish.cu").exists()
    assert "(fast_ops swish CPU_ONLY)" in (library / "kernels/CMakeLists.txt").read_text()
    for path in FILES - {"kernels/swish/swish.cu"}:
        text = (library / path).read_text()
        assert "cuda" not in text.lower() and "SPDX" not in text, path


def test_what_it_writes_is_formatted(library, root):
    if not shutil.which("clang-format"):
        pytest.skip("clang-format is not installed")
    shutil.copy(root / ".clang-format", library)
    schema = "(Tensor(a!) y, Tensor x, Tensor z, int n, bool flag, float beta=1.0) -> ()"
    assert add("swish", schema) == 0
    paths = [path for path in library.rglob("*") if path.suffix in (".h", ".cc", ".cu")]
    assert len(paths) == 6
    subprocess.run(["clang-format", "--dry-run", "--Werror", *paths], check=True)


@pytest.mark.parametrize("path", [*sorted(FILES), "kernels/CMakeLists.txt"])
def test_nothing_is_overwritten(library, path, capsys):
    (library / path).parent.mkdir(exist_ok=True)
    (library / path).write_text("kernkit_add_kernel(fast_ops swish)\n")
    before = files_below(library)
    assert add("swish", SWISH) == 3
    assert files_below(library) == before
    said = capsys.readouterr().err
    assert path in said and said.endswith("choose another name\n")


@pytest.mark.parametrize("name", ["Swish", "../x", "a b", "x;y", "$(touch x)", "class", "lambda",
                                  "a__b", "kernkit", "fast_ops", "swish_cuda", ""])  # fmt: skip
def test_bad_names_are_refused(library, name, capsys):
    before = files_below(library)
    assert add(name, SWISH) == 3
    assert files_below(library) == before
    assert re.match(r'kernkit: op ".*" .*; choose another name\n$', capsys.readouterr().err)


@pytest.mark.parametrize(
    "schema, sentence",
    [
        ("", 'the schema begins with its parameters: "(Tensor(a!) y, Tensor x) -> ()"'),
        ("Tensor x", "the schema begins with its parameters"),
        ("(Tensor(a!) y, Tensor x)", "the schema does not parse"),
        ("(Tensor(a!) y, Half x) -> ()", "expected one of Tensor, int, float"),
        ('(Tensor(a!) y, Tensor x) -> ()", ""); evil(); //', "a character that no schema needs"),
        ("(Tensor(a!) y, Tensor x) -> Tensor", "end the schema with -> ()"),
        ("(Tensor y, Tensor x) -> ()", "the schema says no tensor that is written"),
        ("(Tensor(a!) y, Tensor class) -> ()", "parameter class: the name is taken"),
        ("(Tensor(a!) y, Tensor count) -> ()", "parameter count: the name is taken"),
        ("(Tensor(a!) y, Tensor y) -> ()", "parameter y: the name stands twice"),
        ("(Tensor(a!) y, Tensor) -> ()", "parameter 2 has no name"),
        ("(Tensor(a!) y, Tensor x, float a=1, float c) -> ()", "c: has no default and follows"),
        ("(Tensor(a!) y, Tensor x, Callable f) -> ()", "parameter f: for Callable the C++ code"),
        ("(Tensor(a!) y, Tensor x, str mode) -> ()", "mode: use --kind custom"),
        ("(Tensor(a!) y, Tensor? x) -> ()", "x: use --kind custom"),
        ("(Tensor(a!) y, Tensor(b!) z, Tensor x) -> ()", "writes one, Tensor(a!); use --kind"),
        ("(Tensor(a!) y, float c) -> ()", "reads one tensor or more and writes one"),
    ],
)
def test_bad_schemas_are_refused(library, schema, sentence, capsys):
    before = files_below(library)
    assert add("swish", schema) == 3
    assert files_below(library) == before
    assert sentence in capsys.readouterr().err


def test_a_folder_without_a_library_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert add("swish", SWISH) == 3
    assert ".kernkit.json" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
