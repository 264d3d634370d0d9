# SPDX-License-Identifier: Apache-2.0
"""./kk: its help and its refusals, which prepare and change nothing."""

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
