# SPDX-License-Identifier: Apache-2.0
"""The files that `kernkit add` writes, and its errors. template/test_builds.py builds such files."""

import itertools
import json
import re
import shutil
import subprocess

import pytest
from rendering import files_below

cli = pytest.importorskip("kernkit.cli")
names = pytest.importorskip("kernkit.project.names")

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
    """Creates the files of a library that `kernkit add` reads, and returns the library's folder."""
    for folder in ("kernels", "tests", "bench"):
        (tmp_path / folder).mkdir()
    (tmp_path / "kernels/CMakeLists.txt").write_text("kernkit_add_library(fast_ops)\n")
    answers = {"library_name": "fast_ops", "cuda": "auto", "licence": "MIT"}
    (tmp_path / ".kernkit.json").write_text(json.dumps({"version": "0.1.0", "answers": answers}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add(*arguments):
    return cli.main(["add", *arguments])


@pytest.mark.parametrize("kind", ["elementwise", "row", "row_reduction", "custom"])
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


@pytest.mark.parametrize("shape", ["", "[...]"])
def test_shapes_in_a_line_take_their_header(library, shape):
    assert add("swish", f"(Tensor(a!) y{shape}, Tensor x{shape}) -> ()") == 0
    text = (library / "kernels/swish/swish_export.cc").read_text()
    assert f'#include "kernkit/{"shapes/" if shape else ""}export.h"\n' in text


@pytest.mark.parametrize(
    "kind, schema, kept",
    [
        ("elementwise", "(Tensor(out!) y[n, d], Tensor x[n, d]) -> ()", True),
        ("row_reduction", "(Tensor(out!) y[n], Tensor x[n, d]) -> ()", True),
        ("custom", "(Tensor x[n, d], Tensor w[_, d], str m='[a]: b') -> Tensor", True),
        ("elementwise", "(Tensor(out!) y[n, n], Tensor x[n, n]) -> ()", False),
        ("custom", "(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()", False),
        ("row_reduction", "(Tensor(out!) y[...], Tensor x[...]) -> ()", False),
        ("custom", "(Tensor(out!) y[n, k], Tensor x[n, d], int k=2) -> ()", False),
        ("custom", "(Tensor(out!) y[n, d]: int32, Tensor x[n, d], str m='[a]: b') -> ()", False),
    ],
)
def test_a_line_that_the_first_code_does_not_fit_is_kept_in_a_comment(library, kind, schema, kept, capsys):
    assert add("swish", schema, "--kind", kind) == 0
    export = (library / "kernels/swish/swish_export.cc").read_text()
    plain = re.sub(r"(?<=[yxz])\[[^]]*\](: \w+)?", "", schema).replace("out!", "a!")
    assert f'"{schema if kept else plain}",' in export
    assert (f'// "{schema}"\n' in export) is not kept
    message = f"shapes, dtypes and (out!), which do not fit the generated code of kind {kind}. swish_export.cc keeps"
    assert (message in capsys.readouterr().err) is not kept


def test_a_library_without_shapes_begins_without(library, capsys):
    (library / "third_party/kernkit/include").mkdir(parents=True)
    assert add("swish", "(Tensor(out!) y[...], Tensor x[...]) -> ()") == 0
    export = (library / "kernels/swish/swish_export.cc").read_text()
    assert 'kernkit/export.h"' in export and '"(Tensor(a!) y, Tensor x) -> ()"' in export
    assert "lacks: kernkit update --with frameworks. swish_export.cc keeps" in capsys.readouterr().err


def test_written_files_are_formatted(library, root):
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
    message = capsys.readouterr().err
    assert path in message and message.endswith("choose another name\n")


@pytest.mark.parametrize("name", ["Swish", "../x", "a b", "x;y", "$(touch x)", "class", "lambda",
                                  "a__b", "kernkit", "fast_ops", "swish_cuda", "swish_export", "gtest", "errno",
                                  "assert", "wchar_t", ""])  # fmt: skip
def test_bad_names_are_rejected(library, name, capsys):
    before = files_below(library)
    assert add(name, SWISH) == 3
    assert files_below(library) == before
    assert re.match(r'kernkit: op ".*" .*; choose another name\n$', capsys.readouterr().err)


@pytest.mark.parametrize(
    "schema, sentence",
    [
        ("", 'the schema must begin with its parameters, for example: "(Tensor(a!) y, Tensor x) -> ()"'),
        ("Tensor x", "the schema must begin with its parameters"),
        ("(Tensor(a!) y, Tensor x)", "the schema does not parse"),
        ("(Tensor(a!) y, Half x) -> ()", "expected one of Tensor, int, float"),
        ("(Tensor(a!) y, Tensor x -> ()", '"swish(Tensor(a!) y, Tensor x -> ()": expected , or ) at character 29; see docs/adding-a-kernel.md'),
        ("(Tensor(a!) y, Tensor x, int[] n=) -> ()", "expected a default of int[] at character 38"),
        ("(Tensor(a!) y, Tensor x, str s='a) -> ()", "expected a default of str at character 36"),
        ("(Tensor x) -> (Tensor y, Tensor y)", "expected another name than y, which two results have"),
        ("(Tensor x) -> Tensor 2y", "expected a name at character 26"),
        ("(Tensor x) -> Tensor __y", "expected a name that does not begin with __, which is reserved"),
        ("() -> (" + ", ".join(["int"] * 9) + ")", "an op has at most 64 parameters and 8 results"),
        ("(Tensor(out!) y[n, k], Tensor x[n, d]) -> ()",
         """y[n, k], Tensor x[n, d]) -> ()": no input determines this name of an output's size at character 24; see docs/shapes.md"""),
        ("(Tensor(out!) y[n, d, Tensor x[n, d]) -> ()", "expected ',' or ']' after a size"),
        ('(Tensor(a!) y, Tensor x) -> ()", ""); evil(); //', "the schema contains an unsupported character"),
        ("(Tensor(a!) y, Tensor x) -> Tensor", "ends with -> (); use --kind custom for an op that returns a tensor"),
        ("(Tensor y, Tensor x) -> ()", "the schema has no output tensor"),
        ("(Tensor(a!) y, Tensor class) -> ()", "parameter class: the name is a keyword of C++"),
        ("(Tensor(a!) y, Tensor lambda) -> ()", "parameter lambda: the name is a keyword of Python"),
        ("(Tensor(a!) y, Tensor errno) -> ()", "parameter errno: the name is a macro of C, C++ or"),
        ("(Tensor(a!) y, Tensor NULL) -> ()", "parameter NULL: the name is in capitals, the form of macros"),
        ("(Tensor(a!) y, Tensor std) -> ()", "parameter std: the op's files use this name for something else"),
        ("(Tensor(a!) y, Tensor _x) -> ()", "parameter _x: the name must begin with a letter and contain only letters"),
        ("(Tensor(a!) y, Tensor Swish) -> ()", "parameter Swish: the op's files use this name for"),
        ("(Tensor(a!) y, Tensor swish_cuda) -> ()", "swish_cuda: the op's files use this name for"),
        ("(Tensor(a!) y, Tensor SetUp) -> ()", "parameter SetUp: GoogleTest uses this name"),
        ("(Tensor(a!) y, Tensor y) -> ()", "parameter y: the name is used twice"),
        ("(Tensor(a!) y, Tensor) -> ()", "parameter 2 has no name"),
        ("(Tensor(a!) y, Tensor x, float a=1, float c) -> ()", "c: has no default, but follows a parameter with a default"),
        ("(Tensor(a!) y, Tensor x, Callable f) -> ()", "parameter f: elementwise supports tensors, float, int and bool; use --kind custom"),
        ("(Tensor(a!) y, Tensor x, int n=1.5) -> ()",
         "parameter n: 1.5 is not a default of int; write a 64-bit integer"),
        ("(Tensor(a!) y, Tensor x, int n=9223372036854775808) -> ()", "write a 64-bit integer"),
        ("(Tensor(a!) y, Tensor x, float a=1e999) -> ()", "1e999 is not a default of float; write a number"),
        ("(Tensor(a!) y, Tensor x, bool b=true) -> ()", "true is not a default of bool; write True or False"),
        ("(Tensor(a!) y, Tensor x, str s=mean) -> ()", "mean is not a default of str; write a string in '...'"),
        ("(Tensor(a!) y, Tensor x=None) -> ()", "None is not a default of Tensor; write Tensor?"),
        ("(Tensor(a!) y, Tensor x, int[] n=1) -> ()", "1 is not a default of int[]; write None, after a"),
        ("(Tensor(a!) y, Tensor x, ScalarType t=half) -> ()", "write a dtype, such as float32"),
        ("(Tensor(a!) y, Tensor x, Scalar alpha=1) -> ()", "unsupported type Scalar in the schema; write float"),
        ("(Tensor(a!) y, Tensor x, int[2] stride) -> ()", "int[2]: a list of fixed length is unsupported; write int[]"),
        ("(Tensor?[] xs) -> ()", "Tensor?[]: a list of optional values is unsupported; write Tensor[]"),
        ("(int(a!) n) -> ()", "int(a!): an annotation is a letter after Tensor"),
        ("(Tensor x, Tensor(a!) out) -> Tensor(a!)", "unsupported result Tensor(a!): a result is a new tensor"),
        ("(Tensor x) -> Tensor?", "unsupported result Tensor?; several results are in parentheses"),
        ("(Tensor x) -> float[]", "unsupported result float[]; several results are in parentheses"),
        ("(" + ", ".join(f"Tensor(a!) y{i}" for i in range(65)) + ") -> ()", "at most 64 parameters"),
        ("(Tensor(a!) y" + "".join(f", Tensor x{i}" for i in range(8)) + ") -> ()", "at most 7 tensors"),
        ("(Tensor(a!) y, Tensor x, str mode) -> ()", "parameter mode: elementwise supports tensors, float, int and bool"),
        ("(Tensor(a!) y, Tensor? x) -> ()", "parameter x: elementwise supports tensors, float, int and bool"),
        ("(Tensor(a!) y, Tensor(b!) z, Tensor x) -> ()", "writes one tensor, Tensor(a!); use --kind"),
        ("(Tensor(a!) y, float c) -> ()", "reads one tensor or more and writes one"),
    ],
)
def test_bad_schemas_are_rejected(library, schema, sentence, capsys):
    before = files_below(library)
    assert add("swish", schema) == 3
    assert files_below(library) == before
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("compiler, message", [
    ("/missing/c++", "kernkit: program /missing/c++ not found\n"),
    ("false", "kernkit: the schema cannot be parsed, because false failed to compile the parser:\n"),
    ("c++ '", "kernkit: CXX is not a command: No closing quotation\n"),
])
def test_a_compiler_that_fails_is_reported(library, compiler, message, monkeypatch, capsys):
    line_parser = pytest.importorskip("kernkit.codegen.cpp.line_parser")
    monkeypatch.setenv("CXX", compiler)
    line_parser._program.cache_clear()
    try:
        assert add("swish", SWISH) == 3
    finally:
        line_parser._program.cache_clear()
    assert capsys.readouterr().err == message


def test_a_machine_without_a_compiler(library, monkeypatch, capsys):
    line_parser = pytest.importorskip("kernkit.codegen.cpp.line_parser")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(library))
    line_parser._program.cache_clear()
    assert add("swish", SWISH) == 3
    message = "kernkit: no C++ compiler found; kernkit compiles the parser of the schema: install one of c++, g++, clang++, or set CXX\n"
    assert capsys.readouterr().err == message


ATTEND = "(Tensor(a!) y, Tensor x, float factor) -> ()"


@pytest.mark.parametrize(
    "schema, left_out",
    [
        (f"attend{ATTEND}", "attend"),
        (f"aten::attend.out{ATTEND}", "aten::attend.out"),
        (f"func: scale{ATTEND}", "scale"),
        (ATTEND.replace(", float", ", *, float"), "*"),
        ("aten::attend" + ATTEND.replace("(Tensor(a!)", "(*, Tensor(a!)"), "aten::attend *"),
        (ATTEND.replace(", ", ",\n    "), ""),
    ],
)
def test_a_pasted_schema_is_understood(library, schema, left_out, capsys):
    assert add("attend", schema) == 0
    message = f"left out of the schema: {left_out}\n" if left_out else ""
    assert capsys.readouterr().err == message
    export = (library / "kernels/attend/attend_export.cc").read_text()
    assert f'KERNKIT_EXPORT(attend, "{ATTEND}",' in export


# Names that the generated files of an op use. The tests give these names to ops and parameters.
USUAL = "error, bytes, decode, load, compute, sizes, count, T, op, i, element, total, rows, state"
DEFAULTS = (
    "(Tensor(a!) y, Tensor x, int low=-9223372036854775808, float a=-1.5e-3, float b=inf, "
    "bool c=True, str d='x, *, y', ScalarType e=float8_e4m3fn, ScalarType f=float16x4, "
    "Tensor? g=None, int[]? h=None) -> ()"
)
ANYTHING = [
    ("(Tensor[] xs, Tensor(a!)[] ys, str[] names, Callable f, bytes b, Any a, int[] n, float[] w, "
     "Tensor(c!)? o, Tensor[]? zs, ScalarType t=float32) -> "
     "(Tensor, float, str, int[], Callable, Any, bytes, Device)"),
    ("(Tensor(a!)[]? xs, Device? d, Callable? c, Any? a, bytes? b, bool[] f, ScalarType[] s, "
     "Device[] e, Callable[] g, Any[] h, bytes[] i, int[]? k, str? l) -> Any"),
    "(Tensor q, Tensor(b!) lse, bool causal=False) -> (Tensor out, int n)",
    "(int n) -> Tensor",
    "() -> ()",
]  # fmt: skip


def usual_names(op):
    first, second, *more = [name for name in USUAL.split(", ") if name != op]
    numbers = ", ".join(f"{('int', 'float', 'bool')[i % 3]} {name}" for i, name in enumerate(more))
    return f"(Tensor(a!) {first}, Tensor {second}, {numbers}) -> ()"


def compiles(library, names, root, dlpack_include):
    """Compiles one file that includes all files of these ops; returns the compiler's output."""
    lines = ["#define KERNKIT_CONTRACT_IN_CUDA_TEST"]
    for path in sorted(FILES, key=lambda path: path.endswith(".cu")):
        if path.endswith(".cu"):
            lines.append('#include "kernkit_simulator/translation_unit.h"')
        paths = [path.replace("swish", name) for name in names]
        lines += [f'#include "{path}"' for path in paths if (library / path).exists()]
    (library / "all.cc").write_text("\n".join([*lines, ""]))
    folders = [library, library / "kernels", root / "sdk/simulator/shim", root / "sdk/simulator/include", root / "sdk/include", dlpack_include]
    macros = ["COMPILED", "CONTRACT_COMPILED", "ON_FIBERS", "WITH_CUDA"]
    command = ["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
               "-Wno-unknown-pragmas", *(f"-DKERNKIT_{macro}" for macro in macros),
               *(f"-I{folder}" for folder in folders), library / "all.cc"]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("schema", ["(Tensor[] xs) -> Tensor", "(float[] w, Callable f) -> ()"])
def test_each_file_includes_headers_of_its_names(library, schema):
    """Each generated file includes the headers that declare the names used in the file. Compilation in one program with
    other files would hide a missing include."""
    assert add("swish", schema, "--kind", "custom") == 0
    for path in FILES:
        text = (library / path).read_text() if (library / path).exists() else ""
        for code, header in [("TestList<", "testing/list.h"), ("make_function(", "make_function.h"),
                             ("ListView<", "list.h"), ("alloc_tensor(", "owning_tensor.h")]:  # fmt: skip
            own_header = (library / "kernels/swish/swish.h").read_text()
            assert code not in text or f'#include "kernkit/{header}"' in text + own_header, (path, code)


@pytest.mark.parametrize("schema, name", [("(Tensor x) -> Tensor", "x"), ("(Tensor[] xs) -> (Tensor, int)", "xs[0]")])
def test_an_op_that_returns_tensors_rejects_sizes_by_the_name_of_the_argument(library, schema, name):
    assert add("swish", schema, "--kind", "custom") == 0
    text = "".join((library / "kernels/swish/swish.cc").read_text().split())  # independent of clang-format's line breaks
    assert text.index(f"({name}.numel());") < text.index("//dispatch") < text.index("alloc_tensor(")


NUMBERS = itertools.count()


def add_all(library, ops):
    """Runs `kernkit add` for each (name, schema, kind), and returns the names of the accepted ops. Before each call,
    the library gets a new name in its record .kernkit.json, because ops of different libraries may have equal names."""
    record = library / ".kernkit.json"
    added = []
    for name, schema, kind in ops:
        record.write_text(re.sub('"fast_ops[^"]*"', f'"fast_ops_{next(NUMBERS)}"', record.read_text()))
        if add(name, schema, "--kind", kind) == 0:
            added.append(name)
    return added


def test_names_that_its_files_have_and_any_schema_compile(library, root, dlpack_include):
    """Generated files compile if an op or a parameter has a name that the files themselves use, and for parameters of
    every type. This fast test uses the most common names; the next test uses all names."""
    ops = [("compute", usual_names("compute"), "elementwise"),
           ("squares", usual_names("squares"), "row"),
           ("load", usual_names("load"), "row_reduction"),
           ("sizes", usual_names("sizes"), "custom"),
           ("defaults", DEFAULTS, "custom"),
           *((f"anything{i}", schema, "custom") for i, schema in enumerate(ANYTHING))]  # fmt: skip
    assert add_all(library, ops) == [name for name, *_ in ops]
    assert compiles(library, [name for name, *_ in ops], root, dlpack_include) == ""


IDENTIFIERS = """
    NULL QKV W_q abs any args assert begin blockDim ceil close data device dim dlpack double2 dtype end
    errno example exp fill_eighths first floor half host_tensor inner kName linux list major max memcpy
    min minor n names numel num_args object open out printf print random read remove result1 result_
    self shape shared signal size size_t stdin string swish_kernel test testing threadIdx tuple
    type type_of types uint unix value vector view x1 x_1 y0 zero
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["elementwise", "row", "row_reduction", "custom"])
def test_every_name_is_rejected_or_compiles(library, root, dlpack_include, kind, capsys):
    base = "(Tensor(a!) yy, Tensor xx, int nn, bool flag, float beta=1.0) -> ()"
    assert add("swish", base, "--kind", kind) == 0
    candidates = set(IDENTIFIERS.split())
    for path in FILES:
        text = re.sub(r'//.*|"[^"\n]*"', "", (library / path).read_text())
        candidates |= set(re.findall(r"[A-Za-z_]\w*", text))
    candidates = sorted(candidates - {"yy", "xx", "nn", "flag", "beta", "swish"})
    capsys.readouterr()
    as_ops = [(candidate, base, kind) for candidate in candidates if re.fullmatch("[a-z]\\w*", candidate)]
    added = add_all(library, as_ops)
    message = capsys.readouterr().err.splitlines()
    assert len(added) > 100 and len(added) + len(message) == len(as_ops)
    assert [line for line in message if not re.search("^kernkit: op .*; choose another", line)] == []
    usable = []
    for candidate in candidates:
        probe = f"(Tensor(a!) yy, Tensor xx, float {candidate}) -> ()"
        if add_all(library, [(f"probe{len(usable)}", probe, kind)]):
            usable.append(candidate)
    for shift in range(3):  # each name is used as a tensor, an int, a float and a bool
        for start in range(0, len(usable), 50):
            some = usable[start : start + 50]
            some = some[17 * shift :] + some[: 17 * shift]
            types = ["Tensor(a!)", "Tensor"] + ["int", "float", "bool"] * 16
            listed = ", ".join(f"{type} {name}" for type, name in zip(types, some))
            name = f"all{shift}_{start}"
            assert add_all(library, [(name, f"({listed}) -> ()", kind)])
            added.append(name)
    for start in range(0, len(added), 40):
        assert compiles(library, added[start : start + 40], root, dlpack_include) == ""


def test_macros_of_the_compilers_are_listed(root, dlpack_include):
    """Names that this machine's headers define as macros are on the list of names that `kernkit add` rejects."""
    headers = ["gtest/gtest.h", "benchmark/benchmark.h", "kernkit/cpu/elementwise.h", "kernkit/export.h",
               "kernkit/function.h", "kernkit/testing/contract.h", "kernkit/testing/benchmark.h",
               "kernkit/testing/list.h", "kernkit/testing/sweep.h", "kernkit/testing/test_device.h",
               "kernkit_simulator/translation_unit.h", "kernkit/cuda/elementwise.cuh"]  # fmt: skip
    folders = [root / "sdk/simulator/shim", root / "sdk/simulator/include", root / "sdk/include", dlpack_include]
    command = ["g++", "-std=c++17", "-dM", "-E", "-x", "c++", "-DKERNKIT_ON_FIBERS", "-DKERNKIT_WITH_CUDA",
               *(f"-I{folder}" for folder in folders), "-"]  # fmt: skip
    text = "".join(f'#include "{header}"\n' for header in headers)
    macros = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    macro_names = re.findall(r"^#define ([A-Za-z]\w*)", macros, re.MULTILINE)
    assert len(macro_names) > 1000
    assert [name for name in macro_names if not names.why_not_word(name)] == []


def test_a_folder_without_a_library_is_rejected(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert add("swish", SWISH) == 3
    assert ".kernkit.json" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
