# SPDX-License-Identifier: Apache-2.0
"""No command installs kernkit by its name from a package index, where a third party could register the name."""

import os
import re
import sys

import pytest
from rendering import run

SUFFIXES = {".py", ".sh", ".md", ".toml", ".txt", ".yml", ".yaml", ".cfg", ""}
FOLDERS = ("sdk", "template", "docs", "bench", "tests", "wheels", ".ci", ".github")
# A call of pip that names kernkit, or a requirement that names kernkit.
BY_NAME = re.compile(r"pip3? (?:install|wheel|download)\b[^\n`;]*[ '\"]kernkit(?:[-=<>~\[][-\w.*=<>~]*)?(?=[\s'\"`;,.)]|$)")
REQUIRED = re.compile(r"^(?:#: )?kernkit(?:-\w+)? *[=<>~]=|requires = \[.*[\"']kernkit|pip_install\([^)\n]*[\"']kernkit", re.MULTILINE)


def installs(text):
    """Returns the parts of a text that would install kernkit from an index."""
    called = [match[0] for match in BY_NAME.finditer(text) if "--no-index" not in match[0]]
    return called + [match[0] for match in REQUIRED.finditer(text)]


@pytest.mark.parametrize(
    "text",
    ["pip install kernkit\n", "pip install --upgrade kernkit, then", "pip install 'kernkit==0.1.*'", "`pip install kernkit-cuda`",
     "kernkit==0.1.*\n", "#: kernkit==0.1.*\n", 'requires = ["scikit-build-core", "kernkit==0.1.*"]', 'pip_install("-q", "kernkit")'],
)  # fmt: skip
def test_a_place_is_found(text):
    assert installs(text)


def test_an_install_from_a_folder_is_none():
    assert installs("pip install --no-index --find-links FOLDER kernkit\npip install ./kernkit.whl\n") == []


def test_nothing_installs_kernkit_from_an_index(root):
    paths = [root / "README.md", root / "kk", root / "pyproject.toml", root / "CONTRIBUTING.md"]
    for folder in FOLDERS:
        paths += [path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES]
    by_file = {}
    for path in paths:
        if path.is_file() and path.name != "test_no_index.py" and "cache" not in str(path.relative_to(root)):
            lines = installs(path.read_text(encoding="utf-8", errors="replace"))
            by_file.update({str(path.relative_to(root)): lines} if lines else {})
    assert by_file == {}


def test_a_library_on_an_installed_kernkit_names_the_folder_of_the_wheel(kernkit_new, tmp_path):
    result = kernkit_new("x2", "--sdk", "find_package", "--no-git")
    assert result.stdout.endswith("x2 is ready: cd there and run PIP_FIND_LINKS=FOLDER ./kk all, where FOLDER holds the wheel "
                                  "of kernkit, since no package index has kernkit\n"), result.stdout  # fmt: skip
    env = {**os.environ, "KK_VENV": sys.prefix}
    env.pop("PIP_FIND_LINKS", None)
    result = run("bash", "-c", "source ./kk && install_kernkit", cwd=tmp_path / "x2", env=env)
    assert result.returncode == 1 and result.stdout.endswith(
        f"kk: kernkit 0.1.* was not found: {sys.prefix} has none, PATH has no program kernkit of this version, PIP_FIND_LINKS is not set, and no "
        f"package index has kernkit. Run {sys.prefix}/bin/python -m pip install --no-index --no-deps --find-links FOLDER "
        "kernkit==0.1.*, where FOLDER holds the wheel of kernkit.\n"), result.stdout  # fmt: skip
