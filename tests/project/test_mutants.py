# SPDX-License-Identifier: Apache-2.0
"""tests/mutants/run.py: the kinds of mutants, their selection, and resumed runs."""

import json
import shutil
import subprocess
import sys

import pytest

SOURCE = """\
// if (a < b) return c;
#if A < B
static_assert(sizeof(a) == 4, "a == b");
int f(int a, int b) {
  if (a < b) return 1;
  out << (a == b);
  print("a < b");
  if (a > b &&
      b != 0) {
    return a + b;
  }
  if constexpr (a == 2) return 0;
  for (int i = 0; i < a; ++i) g(i);
  return a;
}
"""
PYTHON = '''\
def f(a, b):
    """Returns if a < b."""
    # if a < b: no
    if a < b and b is not None:
        return a - b
    return [x for x in a if x == "a < b"]
'''


@pytest.fixture(scope="module")
def draw(root):
    sys.path.insert(0, str(root / "tests/mutants"))
    import draw

    yield draw
    sys.path.remove(str(root / "tests/mutants"))


@pytest.fixture
def mutants(draw, tmp_path):
    (tmp_path / "cc").mkdir()
    (tmp_path / "py").mkdir()
    (tmp_path / "cc/f.cc").write_text(SOURCE)
    (tmp_path / "py/f.py").write_text(PYTHON)
    return draw.candidates(tmp_path, ["cc/f.cc", "py/f.py"], ["cc/", "py/"])


def test_only_conditions_results_and_values_are_changed(mutants):
    changes = {(m.line, m.change()) for m in mutants if m.file == "cc/f.cc"}
    assert {line for line, _ in changes} == {5, 8, 9, 10, 12, 13}
    assert {(5, "a < b -> a <= b"), (5, "a < b -> false"), (5, "a < b -> !(a < b)"), (10, "a + b -> a - b"),
            (8, "a > b && b != 0 -> a > b || b != 0"), (9, "a > b && b != 0 -> a > b && b == 0"),
            (9, "a > b && b != 0 -> a > b && b != 1"), (13, "i < a -> i <= a")} <= changes  # fmt: skip
    assert {m.line for m in mutants if m.constant} == {12}


def test_python_is_changed_outside_of_comments_and_texts(mutants):
    changes = {(m.line, m.change()) for m in mutants if m.is_python}
    assert {line for line, _ in changes} == {4, 5, 6}
    expression = "a < b and b is not None"
    assert {(4, f"{expression} -> a < b or b is not None"), (4, f"{expression} -> a < b and b is None"), (5, "a - b -> a + b"),
            (6, 'x == "a < b" -> x != "a < b"'), (4, f"{expression} -> not ({expression})")} <= changes  # fmt: skip
    assert not any("not not" in change for _, change in changes)


def test_a_seed_draws_the_same_shares_and_one_change_of_an_expression(draw, mutants):
    drawn = draw.draw(mutants, ["cc/", "py/"], 5, 3)
    assert drawn == draw.draw(list(mutants), ["cc/", "py/"], 5, 3) != draw.draw(mutants, ["cc/", "py/"], 5, 4)
    assert [m.file for m in drawn] == ["cc/f.cc"] * 3 + ["py/f.py"] * 2
    assert len({(m.file, m.start) for m in drawn}) == 5


def test_planted_lines_keep_their_numbers(draw, mutants):
    two = {7: next(m for m in mutants if m.line == 8), 9: next(m for m in mutants if m.line == 10)}
    text = draw.planted(SOURCE, two)
    assert text.count("\n") == SOURCE.count("\n")
    assert f"kernkit_mutant(9) ? ({two[9].new}) : (a + b))" in text.splitlines()[9]
    assert "kernkit_mutant(7)" in text.splitlines()[7]
    for mutant in mutants:
        if not mutant.is_python:
            changed = draw.changed(SOURCE, mutant)
            assert changed != SOURCE and len(changed) == len(SOURCE) + len(mutant.new) - len(mutant.old)


def test_a_resumed_run_keeps_its_results(root, tmp_path):
    if not shutil.which("git") or not (root / ".git").exists():
        pytest.skip("no git repository, whose files the tool copies")
    tool = root / "tests/mutants/run.py"

    def listed(*arguments):
        command = [sys.executable, tool, "--list", "--folder", tmp_path, *arguments]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout.splitlines()

    def mutant(line):
        location, change = line[10:].split(": ", 1)
        return {"file": location.split(":")[0], "line": int(location.split(":")[1]), "change": change}

    fresh = listed("--count", "10", "--seed", "5")
    assert len(fresh) == 10 and len({line.rpartition("/")[0] for line in fresh}) >= 5
    sys.path.insert(0, str(root / "tests/mutants"))
    import draw

    files = [mutant(line)["file"] for line in fresh]
    rows = []
    for m in draw.candidates(root, files, files):
        expected = {"file": m.file, "line": m.line, "change": m.change()}
        if any(mutant(line) == expected for line in fresh) and expected not in [row["wanted"] for row in rows]:
            rows.append({"wanted": expected, "file": m.file, "line": m.line, "old": m.old, "new": m.new, "start": 0,
                         "constant": m.constant, "fate": "", "by": "", "seconds": 0})  # fmt: skip
    assert len(rows) == 10
    for row in rows:
        del row["wanted"]
    rows[0]["fate"], rows[1]["fate"] = "killed", "survived"
    rows.append({**rows[2], "old": "gone < gone", "fate": "killed"})
    rows.append({**rows[2], "old": "gone < gone", "fate": ""})
    table = {"seed": 5, "count": 10, "folders": ["sdk/"], "mutants": rows}
    (tmp_path / "results.json").write_text(json.dumps(table))
    fates = [line.split(" ")[0] for line in listed("--resume") if not line.startswith("the tree no longer has")]
    assert fates == ["killed", "survived", *[""] * 8, "killed"]
    again = [line.split(" ")[0] for line in listed("--resume", "--again", "survived")]
    assert again.count("survived") == 0 and again.count("killed") == 2
