# SPDX-License-Identifier: Apache-2.0
"""Tests of ./kk and `kernkit test`: the help and the errors, which prepare and change nothing, and runs with
replacements for CMake and other tools."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from commands import path_without, run
from kernkit.junit import read_junit

ROOT = pathlib.Path(__file__).resolve().parents[2]


def kk(root, *args, **kwargs):
    return subprocess.run([root / "kk", *args], capture_output=True, text=True, **kwargs)


@pytest.mark.parametrize("args", [(), ("--help",), ("test", "--help"), ("bench", "-h")])
def test_help(root, args):
    result = kk(root, *args)
    assert result.returncode == 0
    assert result.stdout.startswith("usage: ./kk COMMAND")
    for command in ("build", "test", "bench", "bench --compare OLD.json", "report", "run PROGRAM ARGUMENTS...", "new NAME", "demo", "matrix [AXIS | CELL...]", "dist", "release", "gpu [PART...]"):
        assert f"\n  {command} " in result.stdout


@pytest.mark.parametrize(
    "args, text",
    [
        (("buidl",), 'unknown command "buidl"; ./kk --help lists them'),
        (("test", "--al"), "unknown option --al; ./kk --help lists them"),
        (("build", "scale"), 'unexpected "scale"'),
        (("gpu", "--arch"), '--arch "" is not a list of GPU architectures; for example: --arch 90,120'),
        (("gpu", "--arch", "sm_90"), '--arch "sm_90" is not a list of GPU architectures; for example: --arch 90,120'),
        (("test", "--arch", "arm64"), "--arch arm64: unsupported architecture; use --arch aarch64, or leave out the option"),
        (("gpu", "scale"), 'unexpected "scale"'),
        (("gpu", "--build", "--run"), "gpu: --build and --run exclude each other; run ./kk gpu for both"),
        (("build", "--run"), "--run belongs to gpu: ./kk gpu --run"),
        (("bench", "--compare"), "--compare needs a file: the run.json of an earlier run"),
        (("test", "--compare", "x"), "--compare belongs to bench: ./kk bench --compare OLD.json"),
        (("test", "--with"), "--with needs a list: torch,jax,clients"),
        (("test", "--with", "torch,tvm"), "--with tvm: supported frameworks are torch, jax and clients (Triton, Numba, cuda.core and CuPy)"),
    ],
)
def test_rejections(root, args, text):
    result = kk(root, *args)
    assert result.returncode == 1
    assert result.stderr.startswith("kk: ") and text in result.stderr


@pytest.mark.parametrize("framework", ["torch", "jax", "clients"])
def test_the_packages_of_a_framework_are_pinned(root, framework):
    """All requirements that ./kk selects for a framework name an exact version."""
    lines = (root / "tests/requirements-frameworks.txt").read_text().splitlines()
    requirements = [line for line in lines if re.search(f"^{framework}|# of {framework}", line)]
    assert requirements and all(re.match(r"[\w-]+(\[\w+\])?==[\d.]+", line) for line in requirements)


@pytest.mark.parametrize("name", ["../x", "Fast", "$(touch b)", ""])
def test_new_is_the_command_line_s(root, tmp_path, name):
    result = kk(root, "new", name, "--output", str(tmp_path))
    assert result.returncode == 3
    assert result.stderr.startswith('kernkit: library_name "')
    assert not list(tmp_path.iterdir())


def test_passes_shellcheck(root):
    try:
        scripts = ["kk", ".ci/run"]
        scripts.append("template/{{cookiecutter.library_name}}/kk")
        result = subprocess.run(["shellcheck", "-x", *scripts], cwd=root, capture_output=True)
    except FileNotFoundError:
        pytest.skip("shellcheck is not installed")
    assert result.returncode == 0, result.stdout.decode()


@pytest.mark.parametrize(
    "installed, variables, used",
    [(True, None, "ccache"), (False, None, "none"), (True, "", ""), (True, "other", "other")],
)
def test_a_compiler_cache_that_is_installed_is_used(root, tmp_path, installed, variables, used):
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    driver = f'case "$*" in *kernkit.driver*) exec {sys.executable} "$@" ;; esac'
    python.write_text(f'#!/bin/sh\n{driver}\necho "$* with ${{CMAKE_CXX_COMPILER_LAUNCHER-none}}"\n')
    python.chmod(0o755)
    tools = tmp_path / "bin"
    tools.mkdir()
    if installed:
        (tools / "ccache").symlink_to("/bin/true")
    path = f"{tools}:{path_without(tmp_path / 'links', 'ccache')}"
    env = {**os.environ, "KK_VENV": str(tmp_path / "venv"), "PATH": path}
    env.pop("CMAKE_CXX_COMPILER_LAUNCHER", None)
    if variables is not None:
        env["CMAKE_CXX_COMPILER_LAUNCHER"] = variables
    result = kk(root, "test", "--no-cuda", env=env)
    assert result.returncode == 0, result.stderr
    assert "-m kernkit test --preset=release" in result.stdout
    assert result.stdout.endswith(f" with {used}\n")


# Tests of ./kk in a library, with replacements for tools that print their arguments and fail as FAILING specifies.

TOOL = """#!/bin/sh
case "$*" in
  *kernkit.driver*) exec {python} "$@" ;;
  --version) echo "cmake version 3.25.1" ;;
  *" -m "* | "-m "* | --*) echo "$(basename "$0") $* KERNKIT_CUDA=$KERNKIT_CUDA" ;;
esac
case " $FAILING " in *" $(basename "$0") "*) exit 8 ;; esac
"""


@pytest.fixture
def library_kk(template, tmp_path):
    """Returns kk(*arguments), which runs the template's ./kk with these replacements for the tools."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("cmake", "ctest", "python", "ninja"):
        (tools / name).write_text(TOOL.replace("{python}", sys.executable))
        (tools / name).chmod(0o755)

    def kk(*arguments, **environment):
        inherited = {key: value for key, value in os.environ.items() if key != "KERNKIT_CUDA"}
        environment = {**inherited, "KK_VENV": str(tmp_path), "CMAKE_PREFIX_PATH": "x", **environment}
        return subprocess.run(
            [template / "{{cookiecutter.library_name}}/kk", *arguments],
            capture_output=True, text=True, env=environment,
        )  # fmt: skip

    return kk


def test_a_library_s_tests_are_run_by_kernkit(library_kk):
    for arguments, presets in ((["test"], "--preset=release"), (["test", "--all"], "--preset=release --preset=asan")):
        result = library_kk(*arguments)
        assert re.search(rf"^python -B -m kernkit test {presets} --jobs \d+ -- tests ", result.stdout, re.MULTILINE)
        assert result.returncode == 0 and library_kk(*arguments, FAILING="python").returncode == 8


@pytest.mark.parametrize(
    "options, variables, used",
    [
        ([], {}, ""),
        ([], {"KERNKIT_CUDA": "OFF"}, "OFF"),
        (["--cuda"], {"KERNKIT_CUDA": "OFF"}, "ON"),
        (["--no-cuda"], {"KERNKIT_CUDA": "AUTO"}, "OFF"),
    ],
)
def test_kernkit_cuda_is_the_callers_unless_an_option_sets_it(library_kk, options, variables, used):
    result = library_kk("build", *options, **variables)
    assert f"cmake --preset release KERNKIT_CUDA={used}\n" in result.stdout


ONE_TEST = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
file(GLOB found CONFIGURE_DEPENDS tests/*_test.cc)
foreach(path IN LISTS found)
  get_filename_component(name ${path} NAME_WE)
  add_custom_target(${name} COMMAND cmake -E copy_if_different /bin/true bin/${name})
endforeach()
"""
ONE_PRESET = """{"version": 3, "configurePresets": [{"name": "release", "generator": "Ninja",
"binaryDir": "build/release"}],
"buildPresets": [{"name": "release", "configurePreset": "release"}]}"""


def test_the_tests_of_an_op_that_was_just_added_are_built(root, tmp_path):
    """./kk test OP builds the tests of an op that was added after CMake had configured the build folder."""
    (tmp_path / "CMakeLists.txt").write_text(ONE_TEST)
    (tmp_path / "CMakePresets.json").write_text(ONE_PRESET)
    (tmp_path / "tests").mkdir()
    settings = {"KK_ROOT": str(tmp_path), "KK_LIBRARY": "small", "PYTHONPATH": str(root / "sdk/python")}
    not_passed = ("KK_DRIVER", "KERNKIT_CUDA")
    inherited = {key: os.environ[key] for key in os.environ if key not in not_passed}
    options = {"cwd": tmp_path, "env": {**inherited, **settings}}

    def test(op):
        command = [sys.executable, "-B", "-m", "kernkit.driver", "test", op]
        return subprocess.run(command, capture_output=True, text=True, **options)

    for op in ("first", "swish"):
        assert test(op).stderr == f"kk: op {op}: tests/{op}_test.cc not found; name an op that has a test\n"
        (tmp_path / f"tests/{op}_test.cc").touch()
        cache = tmp_path / "build/release/CMakeCache.txt"
        cache.write_text(cache.read_text() + "KERNKIT_CUDA:STRING=AUTO\n")
        result = test(op)
        assert result.returncode == 0, result.stdout + result.stderr


def test_a_new_library_needs_only_the_packages_for_rendering(root, tmp_path):
    """`./kk new` makes pip install only the packages that rendering a library needs. Later commands install further
    packages."""
    (tmp_path / "bin").mkdir()
    fake = '#!/bin/sh\ncase "$*" in -c*import*) exit 1 ;; *pip*) cat "$VIRTUAL_ENV/requirements.txt" ;; esac\n'
    (tmp_path / "bin/python").write_text(fake)
    (tmp_path / "bin/python").chmod(0o755)
    script = f"source ./kk; venv={tmp_path}; prepare_template"
    environment = {key: value for key, value in os.environ.items() if key != "KK_VENV"}
    result = subprocess.run(["bash", "-c", script], cwd=root, env=environment, capture_output=True, text=True)
    installed = re.findall(r"(?m)^([\w-]+)==", result.stdout)
    assert set(installed) - {"ninja"} == {"cookiecutter", "apache-tvm-ffi"}, result.stdout + result.stderr


# Tests of `kernkit test`, with replacements for tools that fail as FAILING specifies.

CTEST = """#!{python}
import os, sys
preset, out = sys.argv[2], sys.argv[sys.argv.index("--output-junit") + 1]
print("the log of ctest", *sys.argv[1:])
skipped = "[ RUN ] s.T&#10;a_test.cc:3: Skipped&#10;%s&#10;"
cases = ['<testcase name="a_test.s.Good" classname="a_test.s.Good" status="run"><system-out>fine</system-out></testcase>']
cases += ['<testcase name="a_test.s.T%d" classname="a_test.s.T%d" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
          "<system-out>%s</system-out></testcase>" % (n, n, skipped % "no GPU") for n in range(5)]
if preset in os.environ["FAILING"].split():
    cases.append('<testcase name="a_test.s.Bad" classname="a_test.s.Bad" status="fail"><failure message=""/>'
                 "<system-out>a_test.cc:7: Failure&#10;1 is not 2</system-out></testcase>")
if "crash" not in os.environ["FAILING"]:
    open(out, "w").write("<testsuite>" + "".join(cases) + "</testsuite>")
sys.exit(8 if preset in os.environ["FAILING"].split() or "crash" in os.environ["FAILING"] else 0)
"""
CMAKE = """#!/bin/sh
echo "cmake $*"
case "$*" in "--build --preset $BROKEN") exit 1 ;; esac
"""
PYTEST = """
import os, pytest
def test_right(): pass
def test_left(): assert "left" not in os.environ["FAILING"], "left is wrong"
@pytest.mark.parametrize("n", range(2))
def test_gpu(n): pytest.skip("no GPU")
def test_net(): pytest.skip("no network")
"""


@pytest.fixture
def kernkit_test(root, tmp_path):
    """Returns a function that runs `kernkit test` in a project with one program and one pytest file."""
    for name, text in (("ctest", CTEST.format(python=sys.executable)), ("cmake", CMAKE)):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_all.py").write_text(PYTEST)

    def test(*arguments, failing="", broken=""):
        environment = {
            **os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "FAILING": failing, "BROKEN": broken,
            "PYTHONPATH": str(root / "sdk/python"),
        }  # fmt: skip
        command = [sys.executable, "-B", "-m", "kernkit", "test", *arguments, "--", "tests"]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)

    return test


def test_skips_of_one_reason_are_one_line_and_all_are_counted_and_named(kernkit_test, tmp_path):
    result = kernkit_test("--preset", "release", "--preset", "asan")
    assert result.stderr == "" and result.returncode == 0, result.stdout
    assert result.stdout.endswith(
        "skipped, 12: no GPU (a_test 10, test_all 2)\n"
        "skipped, 1: no network (tests.test_all.test_net)\n"
        "4 passed, 0 failed, 13 skipped\n"
    )
    assert "the log of ctest" not in result.stdout and "cmake" not in result.stdout and "Skipped" not in result.stdout
    assert len(result.stdout.splitlines()) < 16, result.stdout
    named = (tmp_path / "build/junit/skipped.txt").read_text().splitlines()
    assert len(named) == 13 and "a_test.s.T4: no GPU" in named


def test_failures_are_printed_in_full_and_do_not_stop_other_tests(kernkit_test):
    result = kernkit_test("--preset", "release", "--preset", "asan", failing="release left")
    assert result.returncode == 1
    assert "failed: a_test.s.Bad\na_test.cc:7: Failure\n1 is not 2\n" in result.stdout
    assert "left is wrong" in result.stdout
    assert result.stdout.endswith(
        "failed: a_test.s.Bad\nfailed: tests.test_all.test_left\n3 passed, 2 failed, 13 skipped\n"
    )


def test_a_failed_build_is_a_failure_and_not_tested(kernkit_test):
    result = kernkit_test("--preset", "release", "--preset", "asan", broken="release")
    assert result.returncode == 1 and "\ncmake --build --preset release\n" in result.stdout
    assert "ctest, preset release" not in result.stdout and "ctest, preset asan" in result.stdout
    assert "==> pytest" not in result.stdout, "whose errors would hide the compiler's"
    assert result.stdout.endswith("failed: build, preset release\n1 passed, 1 failed, 5 skipped\n")
    result = kernkit_test("--preset", "release", broken="release")
    assert "\ncmake --build --preset release\n\033[1m==> sum" in result.stdout and result.returncode == 1
    result = kernkit_test("--preset", "release", "--preset", "asan", broken="asan")
    assert "==> pytest" in result.stdout and result.stdout.endswith("3 passed, 1 failed, 8 skipped\n")


def test_a_ctest_that_leaves_no_results_has_failed(kernkit_test):
    result = kernkit_test("--preset", "release", failing="crash")
    assert result.returncode == 1 and "\nthe log of ctest --preset release " in result.stdout
    assert result.stdout.endswith("failed: ctest, preset release\n2 passed, 1 failed, 3 skipped\n")


def test_a_library_without_a_python_test_has_not_failed(kernkit_test, tmp_path):
    """`kernkit test` succeeds if pytest finds no test, as after `./kk remove` of the template's op. pytest then has a
    special exit code."""
    (tmp_path / "tests/test_all.py").unlink()
    result = kernkit_test("--preset", "release")
    assert result.returncode == 0 and "\npytest found no test\n" in result.stdout, result.stdout
    assert result.stdout.endswith("\n1 passed, 0 failed, 5 skipped\n")


def test_a_pytest_that_cannot_run_has_failed(kernkit_test, tmp_path):
    (tmp_path / "tests/test_all.py").unlink()
    (tmp_path / "tests").rmdir()
    result = kernkit_test("--preset", "release")
    assert result.returncode == 1 and "\nfailed: pytest, exit code 4\n" in result.stdout, result.stdout


def test_cmake_runs_before_the_programs_of_an_op_are_listed(library_kk, tmp_path):
    """CMake runs before the programs of an op are listed, so that programs of an op or a component added after the last
    build are found."""
    (tmp_path / "configured").unlink(missing_ok=True)
    for name, text in (("cmake", f'case "$*" in "--preset release") /bin/touch {tmp_path}/configured ;; --version) echo "cmake version 3.25.1" ;; '
                                 f'*) echo "cmake $*" ;; esac'),
                       ("ninja", f"test ! -e {tmp_path}/configured || printf 'one_test: phony\\none_ptx_test: phony\\n'")):  # fmt: skip
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
    root = tmp_path / "library"
    (root / "build/release/bin").mkdir(parents=True)
    (root / "build/release/CMakeCache.txt").write_text("KERNKIT_CUDA:STRING=AUTO\n")  # a file of an earlier build
    for name in ("one_test", "one_ptx_test"):
        (root / "build/release/bin" / name).write_text(f"#!/bin/sh\necho {name} ran\n")
        (root / "build/release/bin" / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "KK_ROOT": str(root), "KK_LIBRARY": "fast_ops",
                   "PYTHONPATH": str(ROOT / "sdk/python")}  # fmt: skip
    environment.pop("KERNKIT_CUDA", None)
    arguments = [sys.executable, "-B", "-m", "kernkit.driver", "test", "one"]
    result = subprocess.run(arguments, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines() == ["cmake --build --preset release --target one_test one_ptx_test", "one_test ran", "one_ptx_test ran"]


def test_ctest_leaves_out_tests_by_their_label(kernkit_test, tmp_path):
    log = tmp_path / "build/junit/ctest-release.log"
    assert kernkit_test("--preset", "release").returncode == 0 and " -LE" not in log.read_text()
    assert kernkit_test("--preset", "release", "--exclude-label", "all").returncode == 0
    assert " -LE all " in log.read_text()


@pytest.mark.parametrize("folder", [".", "template/{{cookiecutter.library_name}}"])
def test_a_checkout_with_autocrlf_keeps_line_ends(root, tmp_path, folder):
    source = tmp_path / "a"
    source.mkdir()
    for name in (".gitattributes", "kk"):
        shutil.copy(root / folder / name, source / name)
    user = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "a"]):
        run("git", "-C", source, *user, *arguments)
    run("git", "clone", "-q", "-c", "core.autocrlf=true", source, tmp_path / "b")
    assert (tmp_path / "b/kk").read_bytes() == (root / folder / "kk").read_bytes()


def test_the_reason_of_a_skipped_module(tmp_path):
    (tmp_path / "test_a.py").write_text("import pytest\npytest.skip('no network', allow_module_level=True)\n")
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "-p", "no:cacheprovider", "--junitxml=a.xml", "test_a.py"]
    subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert [reason for _, reason in read_junit(tmp_path / "a.xml").skipped] == ["no network"]
