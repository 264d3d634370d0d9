# SPDX-License-Identifier: Apache-2.0
"""The project template: the contents of a rendering, and the files that must not change."""

import ast
import json
import os
import pathlib
import re
import sys

import pytest
from kernkit.project import copies, manifest
from kernkit.scaffold import components
from rendering import BUILD_OUTPUTS, CHOICES, NAME, check, files_below, render, run, source_tree

DESCRIPTION = "Fast operations: 100 % of them, for O'Neil & sons; <é 😀> template_library"
DLPACK = pathlib.Path("third_party/dlpack/include/dlpack/dlpack.h")
CONDITION = re.compile(rb"@ (if|else|end)\b")

# C++ code that Jinja would change without an error, or reject.
HOSTILE_CPP = """\
// template_library
const int a[2][2] = {{1, 2}, {3, 4}};
std::vector<int> v{{1, 2}};  // {#n, n#}
asm("mov.b64 {%0,%1}, %2;");  // {% raw %} {{ cookiecutter }}
"""


@pytest.fixture(scope="module")
def library(template, environment, tmp_path_factory) -> pathlib.Path:
    """Returns the folder of a rendered library."""
    output = tmp_path_factory.mktemp("rendered")
    result = render(template, output, environment, library_name=NAME, description=DESCRIPTION)
    assert result.returncode == 0, result.stdout
    return output / NAME


TORCH_TESTS = "tests/test_torch_cuda.py"  # file of --with torch-tests


def is_taken(path):
    """Returns whether a library without optional components has this file of the template."""
    taken = {part.name for part in components.COMPONENTS if part.copied == components.ALWAYS} | {components.CORE}
    inside = path.startswith(f"{copies.SDK}/")
    return not inside or components.component_of(path[len(copies.SDK) + 1 :]) in taken


def place_of(path):
    """Returns the path that a file of the template has in a library."""
    inside = path[len(copies.SDK) + 1 :] if path.startswith(f"{copies.SDK}/") else ""
    return f"{copies.DEVELOPMENT}/{inside}" if inside and components.is_for_development(inside) else path


# Tests of the contents of a rendering.


def test_every_file_arrives_with_nothing_changed_but_the_names(template, library):
    expected = {
        path: content
        if path.startswith("third_party/")
        else content.replace(b"template_library", NAME.encode())
        .replace(b"TEMPLATE_LIBRARY", NAME.upper().encode())
        .replace(b"template library description", DESCRIPTION.encode())
        for path, content in files_below(source_tree(template)).items()
        if not path.startswith("licences/") and path != TORCH_TESTS and is_taken(path)
    }
    expected = {place_of(path).replace("template_library", NAME): text for path, text in expected.items()}
    rendered = files_below(library)
    generated = {DLPACK.as_posix(), "LICENSE", ".kernkit.json", "third_party/kernkit/RENDERED"}
    generated |= {f"{folder}/MANIFEST" for folder in copies.FOLDERS}
    assert set(rendered) - generated == set(expected) - generated
    plain = [path for path in expected if not CONDITION.search(expected[path])]
    assert [path for path in plain if rendered[path] != expected[path]] == []
    assert len(plain) > 0.8 * len(expected)


def test_the_sdk_and_shared_files_have_equal_bytes(root, library):
    sdk, development = (files_below(library / folder) for folder in copies.FOLDERS)
    del sdk["MANIFEST"], sdk["RENDERED"], development["MANIFEST"]
    expected = files_below(root / "sdk")
    assert {*sdk, *development} == {path for path in expected if is_taken(f"{copies.SDK}/{path}")}
    assert {**sdk, **development}.items() <= expected.items() and not sdk.keys() & development.keys()
    # Files of optional components, fewer than half of the SDK's files, are not copied into the library.
    assert 0 < len(expected) - len(sdk) - len(development) < 0.5 * len(expected)
    assert not any(any(manifest.changes(str(library / folder))) for folder in copies.FOLDERS)
    shared = {
        ".clang-format": ".clang-format",
        "LICENSE": "LICENSE",
        "third_party/LICENSE.kernkit": "LICENSE",
    }
    for copy, source in shared.items():
        assert (library / copy).read_bytes() == (root / source).read_bytes(), copy
    assert os.access(library / "kk", os.X_OK)


def test_dlpack_is_the_wheels(library, dlpack_include):
    assert (library / DLPACK).read_bytes() == (dlpack_include / "dlpack/dlpack.h").read_bytes()


def test_no_links_are_left(library):
    assert [path for path in library.rglob("*") if path.is_symlink()] == []


def test_no_word_of_the_template_is_left(library):
    sentinel = re.compile(rb"template[_ ]library|licences/", re.IGNORECASE)
    for path, content in files_below(library).items():
        # kernkit's command line names the template's placeholders, because its commands render the template.
        if path.startswith(tuple(f"{folder}/python/" for folder in copies.FOLDERS)):
            continue
        text = content.replace(DESCRIPTION.encode(), b"")
        assert not sentinel.search(path.encode() + b"\n" + text), path
        assert b"cookiecutter." not in text, path
        assert path.startswith(tuple(f"{folder}/" for folder in copies.FOLDERS)) or not CONDITION.search(text), path


def test_the_answers_are_on_record(library):
    record = json.loads((library / ".kernkit.json").read_text(encoding="utf-8"))
    assert record["answers"] == {
        "author": "The authors",
        "ci": "GitHub",
        "cuda": "auto",
        "description": DESCRIPTION,
        "dev": "copied",
        "library_name": NAME,
        "licence": "Apache-2.0",
        "parts": "",
        "sdk": "vendored",
    }


def test_every_python_file_is_valid_in_python_3_9(library):
    files = [*library.glob("python/**/*.py"), *library.glob("tests/*.py")]
    for folder in copies.FOLDERS:
        files += library.glob(f"{folder}/python/**/*.py")
    assert len(files) > 40
    for path in files:
        ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 9))


def test_new_renders_like_cookiecutter(kernkit_new, library, tmp_path, environment):
    temporary = pathlib.Path(environment["TMPDIR"])
    before = sorted(temporary.iterdir())
    result = kernkit_new(NAME, "--description", DESCRIPTION, "--without", "ptx")
    assert sorted(temporary.iterdir()) == before  # cookiecutter leaves rendered hooks in this folder; `kernkit new` must delete the hooks
    assert result.returncode == 0, result.stdout
    git, ready = result.stdout.splitlines()
    assert git.startswith("made a git repository with the rendering as its first commit, by ")
    assert ready == f"{tmp_path / NAME} is ready: cd there and run ./kk all"
    assert files_below(tmp_path / NAME) == files_below(library)
    assert (tmp_path / NAME / ".git").is_dir()


def test_new_creates_no_repository_with_no_git(kernkit_new, library, tmp_path):
    result = kernkit_new(NAME, "--description", DESCRIPTION, "--no-git", "--without", "ptx")
    assert result.stdout == f"{tmp_path / NAME} is ready: cd there and run ./kk all\n"
    assert files_below(tmp_path / NAME) == files_below(library)
    assert not (tmp_path / NAME / ".git").exists()


# Tests that answers remain data and that sources are unchanged.


def test_substitution_is_one_pass_of_plain_text(load_hook):
    substitute = load_hook("post").substitute
    answers = {"library_name": "a1", "description": r"\g<0> template_library \1", "author": "A"}
    text = b"lib/libtemplate_library.so TEMPLATE_LIBRARY_X template library description \xff"
    assert substitute(text, answers) == rb"lib/liba1.so A1_X \g<0> template_library \1 " + b"\xff"
    hostile = HOSTILE_CPP.encode()
    assert substitute(hostile, answers) == hostile.replace(b"template_library", b"a1")


def test_conditions_keep_the_lines_of_these_answers(load_hook):
    choose = load_hook("post").choose
    text = b"""one
  //@ if cuda
  two {{1, 2}}
  //@ else
  //: three
  //: \xff//: four
  //@ end
#@ if required
#: five
#@ end
<!--@ if auto -->
six
<!--@ end -->
#: seven //@ if cuda
"""
    last = b"#: seven //@ if cuda\n"
    assert choose(text, {"cuda", "auto"}) == b"one\n  two {{1, 2}}\nsix\n" + last
    assert choose(text, {"required"}) == b"one\n  three\n  \xff//: four\nfive\n" + last


def test_hostile_sources_arrive_unchanged_and_names_are_renamed(copy, environment, tmp_path):
    tree = source_tree(copy)
    (tree / "kernels/template_library_extra").mkdir()
    (tree / "kernels/template_library_extra/template_library.cu").write_text(HOSTILE_CPP)
    for output in ("build/release/lib/x.so", ".venv/x", "tests/__pycache__/x.pyc"):
        (tree / output).parent.mkdir(parents=True)
        (tree / output).write_text("template_library")
    result = render(copy, tmp_path / "out", environment, library_name=NAME)
    assert result.returncode == 0, result.stdout
    library = tmp_path / "out" / NAME
    text = (library / f"kernels/{NAME}_extra/{NAME}.cu").read_text()
    assert text == HOSTILE_CPP.replace("template_library", NAME)
    assert [path for path in library.rglob("*") if path.name in BUILD_OUTPUTS] == []


# dlpack.h


def make_dlpack(include: pathlib.Path, major: int) -> pathlib.Path:
    (include / "dlpack").mkdir(parents=True)
    (include / "dlpack/dlpack.h").write_text(f"#define DLPACK_MAJOR_VERSION {major}\n")
    return include


def test_dlpack_include_dir_comes_first(template, environment, tmp_path):
    env = {**environment, "DLPACK_INCLUDE_DIR": str(make_dlpack(tmp_path / "new", 7))}
    result = render(template, tmp_path / "out", env, library_name=NAME)
    assert result.returncode == 0, result.stdout
    assert (tmp_path / "out" / NAME / DLPACK).read_text() == "#define DLPACK_MAJOR_VERSION 7\n"


def test_an_old_dlpack_is_rejected_without_leaks(template, environment, tmp_path):
    env = {**environment, "DLPACK_INCLUDE_DIR": str(make_dlpack(tmp_path / "old", 0))}
    result = render(template, tmp_path / "out", env, library_name=NAME)
    assert result.returncode != 0
    assert f"kernkit: DLPACK_INCLUDE_DIR is {tmp_path / 'old'}, which has no" in result.stdout
    assert list((tmp_path / "out").iterdir()) == []


def test_dlpack_is_found_in_the_venv_beside_the_template(load_hook, tmp_path, monkeypatch):
    hook = load_hook("post")
    monkeypatch.setattr(hook.importlib.util, "find_spec", lambda name: None)
    (tmp_path / "template").mkdir()
    (tmp_path / "template/cookiecutter.json").write_text("{}")
    include = make_dlpack(tmp_path / ".venv/lib/python3.12/site-packages/tvm_ffi/include", 1)
    monkeypatch.setenv("PWD", str(tmp_path))
    system = ["/usr/include", "/usr/local/include"]
    for source in (str(tmp_path / "template"), "template", "./template/"):
        assert hook.dlpack_candidates({"_template": source}) == [str(include)] + system
    assert hook.dlpack_candidates({"_template": "gh:someone/something"}) == system


def test_without_dlpack_there_is_a_message(load_hook, tmp_path, monkeypatch):
    hook = load_hook("post")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DLPACK_INCLUDE_DIR", raising=False)
    monkeypatch.setattr(hook, "dlpack_candidates", lambda answers: [str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        hook.copy_dlpack({})
    assert "-m pip install apache-tvm-ffi" in str(end.value)
    assert "DLPACK_INCLUDE_DIR" in str(end.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_cookiecutter_1_and_2_render_the_same_bytes(template, environment, library, tmp_path):
    check(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    installed = run(*install, "cookiecutter==1.7.3")
    if installed.returncode != 0:
        pytest.skip("pip could not install cookiecutter 1.7.3")
    env = {**environment, "DLPACK_INCLUDE_DIR": str(library / "third_party/dlpack/include")}
    answers = {"library_name": NAME, "description": DESCRIPTION}
    result = render(template, tmp_path / "out", env, python=python, **answers)
    assert result.returncode == 0, result.stdout
    assert files_below(tmp_path / "out" / NAME) == files_below(library)
    # Answers at cookiecutter's prompts are accepted and rejected like answers in options.
    command = [python, "-m", "cookiecutter", template, "-o", tmp_path]
    check(*command, env=env, input="typed\n" + 8 * "\n")
    assert (tmp_path / "typed/LICENSE").is_file()
    rejected = run(*command, env=env, input="other\n{{ 7 }}\n" + 7 * "\n")
    assert rejected.returncode != 0 and "enter one line of plain text" in rejected.stdout
    for answer in (*CHOICES, "dev"):
        rejected = render(template, tmp_path / "none", env, python=python, **{answer: "first"})
        assert rejected.returncode != 0 and f'{answer} "first" is unsupported' in rejected.stdout
        assert list((tmp_path / "none").iterdir()) == []
