# SPDX-License-Identifier: Apache-2.0
"""./kk: its help and its refusals, which prepare and change nothing."""

import os
import subprocess

import pytest


def kk(root, *args, **kwargs):
    return subprocess.run([root / "kk", *args], capture_output=True, text=True, **kwargs)


@pytest.mark.parametrize("args", [(), ("--help",), ("test", "--help"), ("bench", "-h")])
def test_help(root, args):
    result = kk(root, *args)
    assert result.returncode == 0
    assert result.stdout.startswith("usage: ./kk COMMAND")
    for command in ("build", "test", "bench", "bench --compare OLD.json", "report", "new NAME", "demo", "cuda-matrix", "gpu [PART...]"):
        assert f"\n  {command} " in result.stdout


@pytest.mark.parametrize(
    "args, text",
    [
        (("buidl",), 'unknown command "buidl"; ./kk --help lists them'),
        (("test", "--al"), "unknown option --al; ./kk --help lists them"),
        (("build", "scale"), 'unexpected "scale"'),
        (("gpu", "--arch"), "--arch needs a list: 90 or 90,120"),
        (("gpu", "--arch", "sm_90"), "--arch needs a list: 90 or 90,120"),
        (("gpu", "scale"), 'unexpected "scale"'),
        (("gpu", "--build", "--run"), "gpu --build and gpu --run together are ./kk gpu"),
        (("build", "--run"), "--run belongs to gpu: ./kk gpu --run"),
        (("bench", "--compare"), "--compare needs a file: the run.json of an earlier run"),
        (("test", "--compare", "x"), "--compare belongs to bench: ./kk bench --compare OLD.json"),
        (("test", "--with"), "--with needs a list: torch,jax"),
    ],
)
def test_refusals(root, args, text):
    result = kk(root, *args)
    assert result.returncode == 1
    assert result.stderr.startswith("kk: ") and text in result.stderr


@pytest.mark.parametrize("name", ["../x", "Fast", "$(touch b)", ""])
def test_new_is_the_command_line_s(root, tmp_path, name):
    result = kk(root, "new", name, "--output", str(tmp_path))
    assert result.returncode == 3
    assert result.stderr.startswith('kernkit: library_name "')
    assert not list(tmp_path.iterdir())


def test_is_what_shellcheck_wants(root):
    try:
        scripts = ["kk", ".ci/run", "tests/gpu/cuda_matrix.sh"]
        scripts.append("template/{{cookiecutter.library_name}}/kk")
        result = subprocess.run(["shellcheck", "-x", *scripts], cwd=root, capture_output=True)
    except FileNotFoundError:
        pytest.skip("shellcheck is not installed")
    assert result.returncode == 0, result.stdout.decode()


# ./kk of a library, on tools that say how they were called, and fail as FAILING says.

TOOL = """#!/bin/sh
case "$*" in
  --version) echo "cmake version 3.25.1" ;;
  *" -m "* | "-m "* | --*) echo "$(basename "$0") $* KERNKIT_CUDA=$KERNKIT_CUDA" ;;
esac
case " $FAILING " in *" $(basename "$0") "*) exit 8 ;; esac
"""


@pytest.fixture
def library_kk(template, tmp_path):
    """Runs the template's ./kk there."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("cmake", "ctest", "python", "ninja"):
        (tools / name).write_text(TOOL)
        (tools / name).chmod(0o755)

    def kk(*words, **environment):
        kept = {key: value for key, value in os.environ.items() if key != "KERNKIT_CUDA"}
        environment = {**kept, "KK_VENV": str(tmp_path), "CMAKE_PREFIX_PATH": "x", **environment}
        return subprocess.run(
            [template / "{{cookiecutter.library_name}}/kk", *words],
            capture_output=True, text=True, env=environment,
        )  # fmt: skip

    return kk


@pytest.mark.parametrize(
    "failing, code, sentence",
    [
        ("", 0, ""),
        ("ctest", 1, "kk: failed: ctest (preset release)\n"),
        ("python", 1, "kk: failed: pytest\n"),
        ("ctest python", 1, "kk: failed: ctest (preset release), pytest\n"),
    ],
)
def test_all_tests_run_whichever_fail(library_kk, failing, code, sentence):
    done = library_kk("test", FAILING=failing)
    assert "\nctest --preset release" in done.stdout and "\npython -m pytest" in done.stdout
    assert (done.returncode, done.stderr) == (code, sentence)


def test_what_does_not_build_is_not_tested(library_kk):
    done = library_kk("test", FAILING="cmake")
    assert done.returncode == 8 and "ctest" not in done.stdout


@pytest.mark.parametrize(
    "words, given, used",
    [
        ([], {}, ""),
        ([], {"KERNKIT_CUDA": "OFF"}, "OFF"),
        (["--cuda"], {"KERNKIT_CUDA": "OFF"}, "ON"),
        (["--no-cuda"], {"KERNKIT_CUDA": "AUTO"}, "OFF"),
    ],
)
def test_kernkit_cuda_is_the_callers_unless_an_option_says_otherwise(library_kk, words, given, used):
    done = library_kk("build", *words, **given)
    assert f"cmake --preset release KERNKIT_CUDA={used}\n" in done.stdout
