# SPDX-License-Identifier: Apache-2.0
"""The JSON of parsed schema lines: other versions are rejected, and text of a damaged or hostile JSON never becomes
Python code."""

import ast
import copy
import json
import random
import re
import subprocess

import pytest
from kernkit import cli
from kernkit.codegen import python_ops
from kernkit.codegen.cpp import line_parser
from kernkit.parsed_line import VERSION, read_op
from kernkit.schema import SchemaError

torch_ops = pytest.importorskip("kernkit.codegen.frameworks.torch_ops")

LINES = {
    "add": "(Tensor(out!) y[each..., 2*d], Tensor x[each..., d], float? f=1.5e-3, str s='a', bool b=True) -> ()",
    "made": "(Tensor x[..., n], Tensor[] ws[n], ScalarType? t=None, int k=-7) -> Tensor y[..., ceil_div(n + 1, 8)]: t or x",
    "sized": "(Tensor(out!) y[k?, (n + 1) / 2]: ?, Tensor x[n]: int8, Tensor? w[m]=None, ScalarType u=int8) -> ()",
}


@pytest.fixture(scope="module")
def good():
    """Returns {op: its parsed schema line}."""
    return dict(zip(LINES, map(json.loads, line_parser.parse_texts(list(LINES.values())))))


def op_of(name, parsed):
    return read_op(name, name + LINES.get(name, "()"), parsed)


def test_another_version(good):
    for version in (2, 0, None, "1", True, [1]):
        with pytest.raises(SchemaError, match=r"^add: the parsed schema line has version .*; this kernkit reads version 1$"):
            op_of("add", {**good["add"], "version": version})
    for parsed in (None, [], 1, "text"):
        with pytest.raises(SchemaError, match="^add: the parsed schema line has version None; this kernkit reads version 1$"):
            op_of("add", parsed)


def test_the_versions_are_equal(root):
    text = (root / "sdk/include/kernkit/schema/line_json.h").read_text()
    assert re.findall(r'kJsonVersion\[\] = "(\d+)"', text) == [str(VERSION)]


@pytest.mark.parametrize("name", ["", "2x", "a b", "__add", "a\n", "\u00e4", 'a"); evil(); ("'])
def test_names_of_ops(good, name):
    with pytest.raises(SchemaError, match=" is not a valid name of an op; in KERNKIT_EXPORT choose a name of letters, digits and _ that does not begin with __"):
        op_of(name, good["add"])


def test_the_example_of_the_page(root):
    text = (root / "docs/calling-convention.md").read_text()
    line, example = re.search(r"For the line\n`silu_and_mul(.*)` the JSON is, without line breaks:\n\n```\n(.*?)\n```\n", text, re.DOTALL).groups()
    assert line_parser.parse_texts([line]) == [re.sub(r"\n *", "", example)]


Y, X = ("parameters", 0), ("parameters", 1)
DAMAGE = [
    ("add", (*Y, "name"), "y): evil(", "expected a name, found 'y): evil('"),
    ("add", (*Y, "name"), "__y", "expected a name"),
    ("add", (*Y, "name"), "x", "expected different names"),
    ("add", (*Y, "name"), 3, "expected a name, found 3"),
    ("made", ("results", 0, "name"), [], "expected a name, found"),
    ("add", (*Y, "type"), "Matrix", "expected a type, found 'Matrix'"),
    ("add", (*Y, "type"), "int", "a value of type int has a shape, a dtype or an alias"),
    ("add", (*Y, "alias"), "b", "expected an alias"),
    ("add", (*Y, "optional"), 1, "expected true or false for optional"),
    ("add", (*Y, "shape"), "each...", "expected a list"),
    ("add", (*Y, "shape", 0), "n)", "expected a name"),
    ("add", (*Y, "shape", 0), {"name": "n"}, "key 'expression' is missing"),
    ("add", (*Y, "shape", 1, "name"), "e", "expected a name of the expression, found 'e'"),
    ("add", (*Y, "shape", 1, "factor"), 0, "expected an index from 1"),
    ("add", (*Y, "shape", 1, "factor"), 2.5, "expected an index from 1"),
    ("add", (*Y, "shape", 1, "expression"), ["*", "2", "d", "d"], "expected an operation with its operands"),
    ("add", (*Y, "shape", 1, "expression"), ["**", "2", "d"], "expected an operation with its operands"),
    ("add", (*Y, "shape", 1, "expression"), ["*", "2", "d-evil()"], "expected a name"),
    ("add", (*Y, "shape", 1, "expression"), [], "expected an operation with its operands"),
    ("add", (*Y, "shape", 1, "expression"), ["*", "2" * 5000, "d"], "expected a name"),
    ("add", ("parameters", 2, "default"), "evil()", "expected a default of float"),
    ("add", ("parameters", 2, "default"), "1, z=evil()", "expected a default of float"),
    ("add", ("parameters", 2, "default"), 1.5, "expected string"),
    ("add", ("parameters", 3, "default"), "'a' + evil() + 'b'", "expected a default of str"),
    ("add", ("parameters", 4, "default"), "true", "expected a default of bool"),
    ("add", ("parameters", 4, "default"), "None", "expected a default of bool"),
    ("made", ("parameters", 3, "default"), "1" * 5000, "expected a default of int"),
    ("made", ("parameters", 1, "default"), "3", "expected a default of Tensor"),
    ("made", ("results", 0, "default"), "3", "a result has a default"),
    ("made", ("results", 0, "dtype"), [9], "expected an index from 0 to 3"),
    ("made", ("results", 0, "dtype"), [3], "expected the index of a parameter with a dtype"),
    ("made", ("results", 0, "dtype"), ["int8)"], "expected a dtype, or the index of a parameter"),
    ("made", ("results", 0, "dtype"), ["?", "int8"], '"?" alone'),
    ("made", ("names", 0, "name"), "other", "expected the size of name other"),
    ("made", ("names", 0, "value"), -1, "expected an index from 0"),
    ("made", ("names", 0, "value"), True, "expected an index from 0"),
    ("made", ("names", 0, "place"), 0, "expected the size of name n"),
    ("made", ("names", 0, "place"), 2, "expected an index from -2"),
    ("made", ("names", 0, "factor"), 3, "expected the size of name n"),
    ("made", ("run_of",), 3, "expected the index of a tensor for run_of"),
    ("sized", ("run_of",), 1, "expected the index of a tensor for run_of"),
    ("made", ("like",), 3, "expected the index of a tensor for like"),
    ("add", (*X, "default"), "None", "expected a default of Tensor"),
    ("sized", (*X, "optional"), "x", "expected true or false for optional"),
    ("add", ("parameters", 3), {"type": "int", "name": "k"}, "a parameter without a default follows a parameter with a default"),
    ("made", ("parameters",), {}, "expected a list"),
    ("made", ("parameters", 0), 3, "'int' object is not subscriptable"),
]  # fmt: skip


def changed(parsed, path, value):
    altered = copy.deepcopy(parsed)
    *folders, last = path
    node = altered
    for key in folders:
        node = node[key]
    node[last] = value
    return altered


@pytest.mark.parametrize("name, path, value, problem", DAMAGE)
def test_damage_is_reported(good, name, path, value, problem):
    with pytest.raises(SchemaError, match=f"^{name}: the parsed schema line is damaged: .*{re.escape(problem)}"):
        op_of(name, changed(good[name], path, value))


@pytest.mark.parametrize("key", ["parameters", "results"])
def test_a_missing_key_is_reported(good, key):
    parsed = {name_kept: value for name_kept, value in good["add"].items() if name_kept != key}
    with pytest.raises(SchemaError, match=f"^add: the parsed schema line is damaged: key '{key}' is missing$"):
        op_of("add", parsed)


def test_an_expression_with_many_levels(good):
    for depth, is_read in ((150, True), (151, False)):
        expression = "n"
        for _ in range(depth):
            expression = ["()", expression]
        parsed = changed(good["sized"], (*Y, "shape", 1), {"expression": expression})
        if is_read:
            text = torch_ops.source("package", "lib.so", "space", [op_of("sized", parsed)], {})
            assert "(" * depth + "n" + ")" * depth in text
            ast.parse(text)
        else:
            with pytest.raises(SchemaError, match="an expression has more than 150 levels"):
                op_of("sized", parsed)


def paths(value, path=()):
    """Yields the path of each value in a parsed schema line, as a tuple of keys and indices."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(inner, (*path, key))


VALUES = [None, True, False, 0, 1, 2, -1, 2**63, 1.5, "", "n", "d", "y", "2", "_", "...", "each...", "evil()", "x\n", "'", "None", "inf", "?", "int8",
          "Tensor", "int", "Any", "a!", "out!", [], {}, ["numel"], ["()", "n"], [0], {"expression": "n"}]  # fmt: skip


def names_called(text):
    """Returns the names of the functions that a module calls."""
    return {node.func.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def test_random_damage_gives_an_error_or_a_module(good):
    """A randomly changed parsed schema line is rejected, or yields a module that is valid Python and does not call a
    function that the change names."""
    source, num_read = random.Random(1), 0
    for _ in range(1000):
        name = source.choice(list(good))
        parsed = good[name]
        for _ in range(source.choice([1, 1, 2])):
            path = source.choice(list(paths(parsed))[1:])
            parsed = changed(parsed, path, source.choice(VALUES))
        try:
            op = op_of(name, parsed)
        except SchemaError:
            continue
        num_read += 1
        texts = [python_ops.source("package", "lib.so", [op]), torch_ops.source("package", "lib.so", "space", [op], {})]
        assert not any("evil" in names_called(text) for text in texts)
    assert 50 < num_read < 900


def built(path, parsed):
    """Compiles a library with LINES in its section of schema lines and {op: JSON} in its section of parsed schema
    lines."""
    sections = "".join(
        f'__attribute__((used, section("kernkit_{section}"))) static const char {section}_{name}[] = {json.dumps(text)};\n'
        for name in LINES
        for section, text in (("schema", name + LINES[name]), ("parsed", f"{name}: {parsed[name]}"))
    )
    subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "c", "-", "-o", path], input=sections, text=True, check=True)
    return path


@pytest.fixture(scope="module")
def library(good, tmp_path_factory):
    return built(tmp_path_factory.mktemp("library") / "libgood.so", {name: json.dumps(parsed) for name, parsed in good.items()})


def bindings(library, folder):
    return cli.main(["bindings", str(library), "--package", "package", "--output", str(folder), "--frameworks"])


def test_bindings_of_mutated_sections(library, tmp_path, capsys):
    """`kernkit bindings` reports an error or writes valid Python if one to three bytes in the sections of schema lines
    and of parsed schema lines are changed."""
    content, source = library.read_bytes(), random.Random(2)
    begin, end = content.index(b"add: {") - 400, content.rindex(b'"like": 1}') + 10
    codes = []
    for _ in range(150):
        mutated = bytearray(content)
        for _ in range(source.choice([1, 1, 2, 3])):
            mutated[source.randrange(begin, end)] = source.choice(b'\0"(){}[],:_ax\n\\9\xff' + bytes([source.randrange(256)]))
        path = tmp_path / "libmutated.so"
        path.write_bytes(mutated)
        codes.append(bindings(path, tmp_path / "package"))
        if codes[-1] == 0:
            for text in (tmp_path / "package").glob("*.py"):
                ast.parse(text.read_text())
    printed = capsys.readouterr()
    assert set(codes) == {0, 3} and "Traceback" not in printed.err + printed.out
    assert "the parsed schema line is damaged" in printed.err
    assert bindings(library, tmp_path / "package") == 0


def test_json_that_is_nested_deeply(tmp_path, capsys):
    library = built(tmp_path / "libdeep.so", dict.fromkeys(LINES, "[" * 100_000))
    for arguments in (["bindings", str(library), "--package", "package", "--output", str(tmp_path)], ["doctor", str(library)]):
        assert cli.main(arguments) == (3 if arguments[0] == "bindings" else 1)
        assert "add: the parsed schema line is damaged: " in "".join(capsys.readouterr())
