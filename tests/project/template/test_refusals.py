# SPDX-License-Identifier: Apache-2.0
"""For answers that the template's hook and `kernkit new` reject, an error message is printed and no file is written."""

import re
import shutil
import sys

import pytest
from rendering import CHOICES, NAME, files_below, render, run, source_tree

# Texts that a shell, Python, TOML or Jinja might execute, or that end a string.
HOSTILE_TEXTS = [
    '"; import os; os.system("touch pwned") #',
    "$(touch pwned)",
    "`touch pwned`",
    "${HOME}",
    "a\\",
    "two\nlines",
    "\x1b[31mred",
    " ",
    "a" * 201,
]
JINJA = "{{ cookiecutter.__init__.__globals__ }}"


@pytest.mark.parametrize(
    "name, reason, instead",
    [
        ("", "must begin with a lower-case letter and contain only lower-case letters, digits and _", "my_kernels"),
        ("My-Lib", "must begin with a lower-case letter and contain only lower-case letters, digits and _", "my_lib"),
        ("9lives", "must begin with a lower-case letter and contain only lower-case letters, digits and _", "lives"),
        ("_x", "must begin with a lower-case letter and contain only lower-case letters, digits and _", "x"),
        ("ядро", "must begin with a lower-case letter and contain only lower-case letters, digits and _", "my_kernels"),
        ("a\n", "must begin with a lower-case letter and contain only lower-case letters, digits and _", "a"),
        ("a__b", "has two _ in a row, which C++ reserves", "a_b"),
        ("a" * 61, "has more than 60 characters", "a" * 52),
        ("vec_t", "ends in _t, which POSIX reserves", "vec_t_kernels"),
        ("class", "is a keyword of C++", "class_kernels"),
        ("co_await", "is a keyword of C++", "co_await_kernels"),
        ("lambda", "is a keyword of Python", "lambda_kernels"),
        ("json", "is a standard module of Python", "json_kernels"),
        ("tests", "is reserved", "tests_kernels"),
        ("kernkit", "is reserved", "my_kernels"),
        ("template_library", "is reserved", "template_library_kernels"),
        ("exp", "is a global name of C, C++ or CUDA", "exp_kernels"),
        ("norm", "is a global name of C, C++ or CUDA", "norm_kernels"),
        ("float4", "is a global name of C, C++ or CUDA", "float4_kernels"),
    ],
)
def test_a_bad_name_has_a_reason_and_a_better_one(load_hook, name, reason, instead):
    hook = load_hook("pre")
    assert hook.why_not(name) == reason
    assert hook.suggestion(name) == instead
    assert hook.why_not(instead) == ""


@pytest.mark.parametrize("name", ["a", "my_kernels", "x2", "flash_attention", "silu_and_mul"])
def test_a_good_name_is_taken(load_hook, name):
    assert load_hook("pre").why_not(name) == ""


def test_standard_modules_are_listed_for_an_old_python(load_hook, monkeypatch):
    hook = load_hook("pre")
    monkeypatch.delattr(sys, "stdlib_module_names", raising=False)
    assert {"sys", "json", "asyncio", "math"} <= hook.standard_modules()
    assert "numpy" not in hook.standard_modules()


@pytest.mark.parametrize(
    "name, instead", [("My-Lib", "my_lib"), ('";os.system("touch pwned");"', None)]
)
def test_a_rejected_name_leaves_no_files(template, environment, tmp_path, name, instead):
    result = render(template, tmp_path / "out", environment, library_name=name)
    assert result.returncode != 0
    sentence = next(line for line in result.stdout.splitlines() if line.startswith("kernkit:"))
    assert "must begin with a lower-case letter and contain only lower-case letters, digits and _" in sentence
    assert instead is None or sentence.endswith(f"; enter another name, for example {instead}")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("text", [*HOSTILE_TEXTS, "Name <no-mail>", "<a@b.c>"])
def test_hostile_texts_are_rejected(load_hook, text):
    """The template's hook, which `kernkit new` also calls, rejects hostile texts."""
    hook = load_hook("pre")
    good = {"library_name": NAME, "description": "x", "author": "x", "licence": "MIT"}
    good.update(cuda="auto", sdk="vendored", dev="copied", ci="none", parts="")
    assert hook.problem(good) == ""
    sentence = hook.problem({**good, "author": text})
    assert re.match(r'author ".*; enter (one line of plain text|a name, or Name <)', sentence)


@pytest.mark.parametrize("answer", CHOICES)
@pytest.mark.parametrize("value", ["", "AUTO", "both"])
def test_an_unknown_choice_is_rejected_and_leaves_no_files(kernkit_new, tmp_path, answer, value):
    result = kernkit_new(NAME, f"--{answer}", value)
    assert result.returncode == 3
    assert result.stdout.startswith(f'kernkit: {answer} "{value}" is unsupported; enter ')
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "value, text",
    [("rugs", 'unsupported component "rugs"; supported components: '), ("rows;touch pwned", 'parts "rows;touch pwned" is not a comma-separated list of components; for example: plots,ptx')],
)
def test_unknown_components_are_rejected(kernkit_new, template, environment, tmp_path, value, text):
    """`kernkit new` and the template's hooks reject an unknown component."""
    result = kernkit_new(NAME, "--with", value)
    assert result.returncode == 3 and result.stdout.startswith(f"kernkit: {text}")
    assert list(tmp_path.iterdir()) == []
    result = render(template, tmp_path, environment, library_name=NAME, parts=value)
    assert result.returncode != 0 and "kernkit: " in result.stdout and text in result.stdout
    assert not (tmp_path / NAME).exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "a;touch pwned", "$(touch pwned)", JINJA, "class"])
def test_new_rejects_names_and_writes_nothing(kernkit_new, tmp_path, name):
    result = kernkit_new(name)
    assert result.returncode == 3
    assert re.match(r"kernkit: library_name .*; enter another name, for example \w+\n$", result.stdout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [JINJA, *HOSTILE_TEXTS])
def test_new_rejects_texts_and_writes_nothing(kernkit_new, tmp_path, text):
    result = kernkit_new(NAME, "--description", text)
    assert result.returncode == 3 and result.stdout.startswith("kernkit: description ")
    assert list(tmp_path.iterdir()) == []


def test_new_rejects_an_existing_library_and_a_missing_folder(kernkit_new, tmp_path):
    (tmp_path / NAME).write_text("mine")
    result = kernkit_new(NAME)
    assert result.returncode == 3 and f"{tmp_path / NAME} exists; choose another" in result.stdout
    assert (tmp_path / NAME).read_text() == "mine"
    result = kernkit_new(NAME, "--output", str(tmp_path / "none"))
    assert result.returncode == 3 and f"--output: folder {tmp_path / 'none'} not found" in result.stdout


@pytest.mark.parametrize("options", [[], ["--overwrite-if-exists"]])
def test_an_existing_folder_is_left_alone(template, environment, tmp_path, options):
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "mine.txt").write_text("template_library")
    result = render(template, tmp_path, environment, *options, library_name=NAME)
    assert result.returncode != 0
    assert f"{tmp_path / NAME}" in result.stdout
    assert files_below(tmp_path / NAME) == {"mine.txt": b"template_library"}


def test_lost_links_are_a_sentence(copy, environment, tmp_path):
    shutil.rmtree(source_tree(copy) / "third_party/kernkit")
    (source_tree(copy) / "third_party/kernkit").write_text("../../../sdk")
    result = render(copy, tmp_path / "out", environment)
    assert result.returncode != 0
    assert "kernkit: the template's symbolic links are lost" in result.stdout
    assert list((tmp_path / "out").iterdir()) == []


def test_a_typed_answer_with_jinja_is_rejected(template, environment, tmp_path):
    text = "{{ 7 * 7 }} {% for %} {# "
    command = [sys.executable, "-m", "cookiecutter", str(template), "-o", str(tmp_path)]
    result = run(*command, env=environment, input=f"{NAME}\n{text}\n" + 7 * "\n", cwd=tmp_path)
    assert result.returncode != 0
    assert f'kernkit: description "{text.strip()}' in result.stdout
    assert "enter one line of plain text" in result.stdout
    assert list(tmp_path.iterdir()) == []
