# SPDX-License-Identifier: Apache-2.0
"""The project template: what a rendering holds, what is refused, and that it builds and runs."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import pytest

NAME = "fast_ops"
DESCRIPTION = "Fast operations, for a test."
BUILD_OUTPUTS = {"build", ".venv", "__pycache__", ".pytest_cache"}
DLPACK = pathlib.Path("third_party/dlpack/include/dlpack/dlpack.h")

# C++ that Jinja would change without a word, or choke on.
HOSTILE_CPP = """\
// template_library
const int a[2][2] = {{1, 2}, {3, 4}};
std::vector<int> v{{1, 2}};  // {#n, n#}
asm("mov.b64 {%0,%1}, %2;");  // {% raw %} {{ cookiecutter }}
"""
# What a shell, Python or Jinja might run, or end a string with.
HOSTILE_TEXT = (
    """'"; import os; os.system('touch pwned') # \\' \\" \\\\ $(touch pwned) `touch pwned` """
    '""" \'\'\' ${HOME} %(x)s %} }} </script> é 😀 template_library'
)


@pytest.fixture(scope="session")
def template(root: pathlib.Path) -> pathlib.Path:
    return root / "template"


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Keeps the user's settings of cookiecutter out, and the tests' answers out of his folder."""
    folder = tmp_path_factory.mktemp("cookiecutter")
    config = folder / "config.yaml"
    config.write_text(f'cookiecutters_dir: "{folder}"\nreplay_dir: "{folder}"\n')
    kept = {k: v for k, v in os.environ.items() if k != "DLPACK_INCLUDE_DIR"}
    return {**kept, "COOKIECUTTER_CONFIG": str(config), "PYTHONUTF8": "1"}


def run(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=900,
        **options,
    )


def check(*command, **options) -> str:
    """Runs a command that must succeed; returns what it printed."""
    done = run(*command, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


def render(template, output, env, *options, python=sys.executable, **answers):
    words = [f"{key}={value}" for key, value in answers.items()]
    output.mkdir(exist_ok=True)
    options = ["--no-input", "--output-dir", output, *options]
    return run(python, "-m", "cookiecutter", *options, template, *words, env=env)


def files_below(folder: pathlib.Path) -> dict:
    """Relative path and content of every file, through links, but for build outputs."""
    found = {}
    for place, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if name not in BUILD_OUTPUTS]
        for name in files:
            path = pathlib.Path(place, name)
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def source_tree(template: pathlib.Path) -> pathlib.Path:
    return template / "{{cookiecutter.library_name}}"


@pytest.fixture(scope="module")
def library(template, environment, tmp_path_factory) -> pathlib.Path:
    """A rendering."""
    output = tmp_path_factory.mktemp("rendered")
    done = render(template, output, environment, library_name=NAME, description=DESCRIPTION)
    assert done.returncode == 0, done.stdout
    return output / NAME


@pytest.fixture
def copy(template: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of the template, for a test to change."""
    shutil.copytree(template, tmp_path / "template", ignore=lambda *_: BUILD_OUTPUTS)
    return tmp_path / "template"


def load_hook(template: pathlib.Path, name: str) -> types.ModuleType:
    """A hook as Python reads it before Jinja does; only main() needs Jinja."""
    path = template / "hooks" / f"{name}_gen_project.py"
    module = types.ModuleType(name)
    module.__file__ = str(path)
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


# What is there


def test_every_file_arrives_with_nothing_changed_but_the_names(template, library):
    expected = {
        path: content
        if path.startswith("third_party/")
        else content.replace(b"template library description", DESCRIPTION.encode())
        .replace(b"template_library", NAME.encode())
        .replace(b"TEMPLATE_LIBRARY", NAME.upper().encode())
        for path, content in files_below(source_tree(template)).items()
    }
    rendered = files_below(library)
    assert set(rendered) - {DLPACK.as_posix()} == set(expected) - {DLPACK.as_posix()}
    wrong = [path for path in expected if rendered[path] != expected[path]]
    assert not wrong


def test_the_sdk_and_what_is_shared_are_the_same_bytes(root, library):
    assert files_below(library / "third_party/kernkit") == files_below(root / "sdk")
    shared = {
        "kk": "kk",
        ".clang-format": ".clang-format",
        "CMakePresets.json": "CMakePresets.json",
        "tests/requirements.txt": "tests/requirements.txt",
        "tests/pytest.ini": "tests/pytest.ini",
        "third_party/LICENSE.kernkit": "LICENSE",
    }
    for here, there in shared.items():
        assert (library / here).read_bytes() == (root / there).read_bytes(), here
    assert os.access(library / "kk", os.X_OK)


def test_dlpack_is_the_wheels(library, dlpack_include):
    assert (library / DLPACK).read_bytes() == (dlpack_include / "dlpack/dlpack.h").read_bytes()


def test_no_links_are_left(library):
    assert [path for path in library.rglob("*") if path.is_symlink()] == []


def test_no_word_of_the_template_is_left(library):
    sentinel = re.compile(rb"template[_ ]library", re.IGNORECASE)
    for path, content in files_below(library).items():
        assert not sentinel.search(path.encode() + b"\n" + content), path
        assert path == "kk" or b"cookiecutter" not in content, path


# What is refused


@pytest.mark.parametrize(
    "name, reason, instead",
    [
        ("", "is not made of lower-case letters, digits and _, a letter first", "my_kernels"),
        ("My-Lib", "is not made of lower-case letters, digits and _, a letter first", "my_lib"),
        ("9lives", "is not made of lower-case letters, digits and _, a letter first", "lives"),
        ("_x", "is not made of lower-case letters, digits and _, a letter first", "x"),
        ("ядро", "is not made of lower-case letters, digits and _, a letter first", "my_kernels"),
        ("a\n", "is not made of lower-case letters, digits and _, a letter first", "a"),
        ("a__b", "has two _ in a row, which C++ reserves", "a_b"),
        ("a" * 61, "has more than 60 characters", "a" * 52),
        ("vec_t", "ends in _t, which POSIX reserves", "vec_t_kernels"),
        ("class", "is a word of C++", "class_kernels"),
        ("co_await", "is a word of C++", "co_await_kernels"),
        ("lambda", "is a word of Python", "lambda_kernels"),
        ("json", "is a standard module of Python", "json_kernels"),
        ("tests", "is taken already", "tests_kernels"),
        ("kernkit", "is taken already", "my_kernels"),
        ("template_library", "is taken already", "template_library_kernels"),
        ("exp", "is a global name of C, C++ or CUDA", "exp_kernels"),
        ("norm", "is a global name of C, C++ or CUDA", "norm_kernels"),
        ("float4", "is a global name of C, C++ or CUDA", "float4_kernels"),
    ],
)
def test_a_bad_name_has_a_reason_and_a_better_one(template, name, reason, instead):
    hook = load_hook(template, "pre")
    assert hook.why_not(name) == reason
    assert hook.suggestion(name) == instead
    assert hook.why_not(instead) == ""


@pytest.mark.parametrize("name", ["a", "my_kernels", "x2", "flash_attention", "silu_and_mul"])
def test_a_good_name_is_taken(template, name):
    assert load_hook(template, "pre").why_not(name) == ""


def test_standard_modules_are_known_to_an_old_python_too(template, monkeypatch):
    hook = load_hook(template, "pre")
    monkeypatch.delattr(sys, "stdlib_module_names", raising=False)
    assert {"sys", "json", "asyncio", "math"} <= hook.standard_modules()
    assert "numpy" not in hook.standard_modules()


@pytest.mark.parametrize(
    "name, instead", [("My-Lib", "my_lib"), ('";os.system("touch pwned");"', None)]
)
def test_a_refused_name_leaves_nothing(template, environment, tmp_path, name, instead):
    done = render(template, tmp_path / "out", environment, library_name=name)
    assert done.returncode != 0
    sentence = next(line for line in done.stdout.splitlines() if line.startswith("kernkit:"))
    assert "is not made of lower-case letters, digits and _, a letter first" in sentence
    assert instead is None or sentence.endswith(f"; type another one, for example {instead}")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("options", [[], ["--overwrite-if-exists"]])
def test_an_existing_folder_is_left_alone(template, environment, tmp_path, options):
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "mine.txt").write_text("template_library")
    done = render(template, tmp_path, environment, *options, library_name=NAME)
    assert done.returncode != 0
    assert f"{tmp_path / NAME}" in done.stdout
    assert files_below(tmp_path / NAME) == {"mine.txt": b"template_library"}


def test_lost_links_are_a_sentence(copy, environment, tmp_path):
    shutil.rmtree(source_tree(copy) / "third_party/kernkit")
    (source_tree(copy) / "third_party/kernkit").write_text("../../../sdk")
    done = render(copy, tmp_path / "out", environment)
    assert done.returncode != 0
    assert "kernkit: the template's symbolic links are lost" in done.stdout
    assert list((tmp_path / "out").iterdir()) == []


# Answers stay data, and sources what they are


def test_a_description_is_text_and_nothing_else(template, environment, tmp_path):
    text = HOSTILE_TEXT.replace("%} }}", "") + "\nsecond line"
    done = render(template, tmp_path / "out", environment, library_name=NAME, description=text)
    assert done.returncode == 0, done.stdout
    assert f"\n\n{text}\n\n" in (tmp_path / "out" / NAME / "README.md").read_text("utf-8")
    assert list(tmp_path.rglob("pwned")) == []


def test_a_typed_description_may_hold_jinja(template, environment, tmp_path):
    text = "{{ 7 * 7 }} {% for %} {# " + HOSTILE_TEXT
    command = [sys.executable, "-m", "cookiecutter", str(template), "-o", str(tmp_path)]
    check(*command, env=environment, input=f"{NAME}\n{text}\n", cwd=tmp_path)
    assert f"\n\n{text}\n\n" in (tmp_path / NAME / "README.md").read_text("utf-8")
    assert list(tmp_path.rglob("pwned")) == []


def test_substitution_is_one_pass_of_plain_text(template):
    substitute = load_hook(template, "post").substitute
    text = b"lib/libtemplate_library.so TEMPLATE_LIBRARY_X template library description \xff"
    described = substitute(text, "a1", r"\g<0> template_library \1")
    assert described == rb"lib/liba1.so A1_X \g<0> template_library \1 " + b"\xff"
    hostile = HOSTILE_CPP.encode()
    assert substitute(hostile, "a1", "") == hostile.replace(b"template_library", b"a1")


def test_hostile_sources_arrive_unchanged_and_names_are_renamed(copy, environment, tmp_path):
    tree = source_tree(copy)
    (tree / "kernels/template_library_extra").mkdir()
    (tree / "kernels/template_library_extra/template_library.cu").write_text(HOSTILE_CPP)
    for output in ("build/release/lib/x.so", ".venv/x", "tests/__pycache__/x.pyc"):
        (tree / output).parent.mkdir(parents=True)
        (tree / output).write_text("template_library")
    done = render(copy, tmp_path / "out", environment, library_name=NAME)
    assert done.returncode == 0, done.stdout
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
    done = render(template, tmp_path / "out", env, library_name=NAME)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "out" / NAME / DLPACK).read_text() == "#define DLPACK_MAJOR_VERSION 7\n"


def test_an_old_dlpack_is_refused_and_nothing_left(template, environment, tmp_path):
    env = {**environment, "DLPACK_INCLUDE_DIR": str(make_dlpack(tmp_path / "old", 0))}
    done = render(template, tmp_path / "out", env, library_name=NAME)
    assert done.returncode != 0
    assert f"kernkit: DLPACK_INCLUDE_DIR is {tmp_path / 'old'}, which holds no" in done.stdout
    assert list((tmp_path / "out").iterdir()) == []


def test_dlpack_is_found_in_the_venv_beside_the_template(template, tmp_path, monkeypatch):
    hook = load_hook(template, "post")
    monkeypatch.setattr(hook.importlib.util, "find_spec", lambda name: None)
    (tmp_path / "template").mkdir()
    (tmp_path / "template/cookiecutter.json").write_text("{}")
    include = make_dlpack(tmp_path / ".venv/lib/python3.12/site-packages/tvm_ffi/include", 1)
    monkeypatch.setenv("PWD", str(tmp_path))
    system = ["/usr/include", "/usr/local/include"]
    for given in (str(tmp_path / "template"), "template", "./template/"):
        assert hook.dlpack_candidates({"_template": given}) == [str(include)] + system
    assert hook.dlpack_candidates({"_template": "gh:someone/something"}) == system


def test_without_dlpack_there_is_a_sentence(template, tmp_path, monkeypatch):
    hook = load_hook(template, "post")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DLPACK_INCLUDE_DIR", raising=False)
    monkeypatch.setattr(hook, "dlpack_candidates", lambda answers: [str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        hook.copy_dlpack({})
    assert "-m pip install apache-tvm-ffi" in str(end.value)
    assert "DLPACK_INCLUDE_DIR" in str(end.value)
    assert list(tmp_path.iterdir()) == []


# It builds and runs


def test_the_template_itself_builds_as_it_stands(template, dlpack_include, tmp_path):
    options = {
        "CMAKE_BUILD_TYPE": "Debug",
        "DLPACK_INCLUDE_DIR": dlpack_include,
        "KERNKIT_BUILD_BENCHMARKS": "OFF",
        "KERNKIT_CUDA": "OFF",
        "KERNKIT_WERROR": "ON",
    }
    words = [f"-D{key}={value}" for key, value in options.items()]
    check("cmake", "-S", source_tree(template), "-B", tmp_path, "-G", "Ninja", *words)
    check("cmake", "--build", tmp_path, "-j", "2")
    check("ctest", "--test-dir", tmp_path, "--no-tests=error", "--output-on-failure")
    assert (tmp_path / "lib/libtemplate_library.so").exists()


CALL = f"""
import numpy, tvm_ffi
library = tvm_ffi.load_module("build/release/lib/lib{NAME}.so")
x = numpy.array([[1, -2, 3, 4]], "float32")
y = numpy.empty((1, 2), "float32")
library.silu_and_mul(y, x)
print(y.astype("float64").round(4).tolist())
"""


@pytest.mark.all
def test_a_library_builds_tests_benchmarks_and_is_called(template, environment, tmp_path):
    done = render(template, tmp_path, environment, library_name=NAME)
    assert done.returncode == 0, done.stdout
    at = {"cwd": tmp_path / NAME, "env": {**environment, "CMAKE_BUILD_PARALLEL_LEVEL": "2"}}
    at["env"].pop("LIBRARY", None)
    configured = check("cmake", "--preset", "release", "-DKERNKIT_CUDA=OFF", **at)
    assert "dlpack.h from " + str(tmp_path / NAME / "third_party") in configured
    check("cmake", "--build", "--preset", "release", **at)
    check("ctest", "--preset", "release", "--no-tests=error", **at)
    check(sys.executable, "-m", "pytest", "-q", "tests", **at)
    program = "build/release/bin/silu_and_mul_bench"
    rows = check(program, "--benchmark_min_time=0.001", **at)
    assert "ERROR" not in rows
    assert rows.count("silu_and_mul/") == 12 and rows.count("copy/") == 12
    assert check(sys.executable, "-c", CALL, **at) == "[[2.1932, -0.9536]]\n"


@pytest.mark.all
def test_cookiecutter_1_and_2_render_the_same_bytes(template, environment, library, tmp_path):
    check(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    installed = run(*install, "cookiecutter==1.7.3")
    if installed.returncode != 0:
        pytest.skip("pip could not install cookiecutter 1.7.3")
    env = {**environment, "DLPACK_INCLUDE_DIR": str(library / "third_party/dlpack/include")}
    answers = {"library_name": NAME, "description": DESCRIPTION}
    done = render(template, tmp_path / "out", env, python=python, **answers)
    assert done.returncode == 0, done.stdout
    assert files_below(tmp_path / "out" / NAME) == files_below(library)
    # The same questions, typed; and the same refusals.
    text = "{{ 7 * 7 }} {% for %} {# " + HOSTILE_TEXT
    command = [python, "-m", "cookiecutter", template, "-o", tmp_path]
    check(*command, env=env, input=f"typed\n{text}\n")
    assert f"\n\n{text}\n\n" in (tmp_path / "typed/README.md").read_text("utf-8")
    refused = render(template, tmp_path / "none", env, python=python, library_name="class")
    assert refused.returncode != 0 and "is a word of C++" in refused.stdout
    assert list((tmp_path / "none").iterdir()) == []
