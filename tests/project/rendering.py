# SPDX-License-Identifier: Apache-2.0
"""Functions that render the template."""

import os
import pathlib
import subprocess
import sys

NAME = "fast_ops"
CHOICES = ["licence", "cuda", "sdk", "ci"]
# A program that calls the op of the rendered package, and its output.
CALL = """
import numpy, {name}
x = numpy.array([[1, -2, 3, 4]], "float32")
y = numpy.empty((1, 2), "float32")
{name}.silu_and_mul(y, x)
print(y.astype("float64").round(4).tolist(), {name}.__version__)
"""
CALLED = "[[2.1932, -0.9536]] 0.1.0\n"
BUILD_OUTPUTS = {".git", "build", "dist", ".venv", "__pycache__", ".pytest_cache"}


def run(*command, timeout=900, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(argument) for argument in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=timeout,
        **options,
    )


def check(*command, **options) -> str:
    """Runs a command that must succeed; returns its output."""
    result = run(*command, **options)
    assert result.returncode == 0, result.stdout
    return result.stdout


def render(template, output, env, *options, python=sys.executable, **answers):
    """Renders the template by cookiecutter. The component ptx, whose tests take half a minute to build, is only
    included if `parts` names it."""
    arguments = [f"{key}={value}" for key, value in {"parts": "", **answers}.items()]
    output.mkdir(exist_ok=True)
    options = ["--no-input", "--output-dir", output, *options]
    return run(python, "-m", "cookiecutter", *options, template, *arguments, env=env)


def files_below(folder: pathlib.Path) -> dict:
    """Returns {relative path: content} of every file except build outputs, following links."""
    contents = {}
    for parent, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if name not in BUILD_OUTPUTS]
        for name in files:
            path = pathlib.Path(parent, name)
            contents[path.relative_to(folder).as_posix()] = path.read_bytes()
    return contents


def source_tree(template: pathlib.Path) -> pathlib.Path:
    """Returns the folder of the template's files for a library."""
    return template / "{{cookiecutter.library_name}}"
