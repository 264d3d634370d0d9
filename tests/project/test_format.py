# SPDX-License-Identifier: Apache-2.0
"""Every source is formatted, names its licence, and passes the linters."""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import warnings

import pytest

CONFIG = pathlib.Path(__file__).resolve().parents[2] / ".clang-tidy"
SOURCES = (".h", ".cc", ".cu", ".cuh", ".c")


def tracked(root, *endings):
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=root, capture_output=True, text=True,
    )  # fmt: skip
    if listing.returncode:
        pytest.skip("this copy has no git repository")
    return [
        root / name
        for name in listing.stdout.splitlines()
        if name.endswith(endings) and not (root / name).is_symlink() and (root / name).exists()
    ]


def test_clang_format(root):
    if not shutil.which("clang-format"):
        pytest.skip("clang-format is not installed")
    files = tracked(root, *SOURCES)
    assert files
    result = subprocess.run(
        ["clang-format", "--dry-run", "--Werror", *files], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def commands(root, tmp_path_factory):
    """Returns clang++'s command for each file. The commands are from a separate build, because the normal build
    compiles several files together."""
    if not shutil.which("clang-tidy") or not shutil.which("clang++"):
        pytest.skip("clang-tidy or clang++ is not installed")
    build = tmp_path_factory.mktemp("clang")
    subprocess.run(["cmake", "--preset", "clang", "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
                   cwd=root, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    return json.loads((build / "compile_commands.json").read_text())


OF_PTX = re.compile(r"simulator/(ptx|tools|libcuda|libcudart)/")


def files_once(root, commands, of_ptx=False):
    """Returns one entry of `commands` for each file, although several targets may compile a file."""
    files = {str(path) for folder in ("kernels", "sdk/src", "sdk/simulator") for path in root.glob(f"{folder}/**/*.cc")
             if "/tests/" not in str(path) and bool(OF_PTX.search(str(path))) == of_ptx}  # fmt: skip
    once = {entry["file"]: entry for entry in commands if entry["file"] in files}
    assert len(once) > 30
    return [once[file] for file in sorted(once)]


def complaints(entries, folder, *options):
    """Returns clang-tidy's output for the entries. The settings are passed explicitly, because clang-tidy would search
    for a file of settings from `folder` upwards."""
    (folder / "compile_commands.json").write_text(json.dumps(entries))

    def complaints_about(entry):
        arguments = ["clang-tidy", "-p", folder, f"--config-file={CONFIG}", "--quiet", *options, entry["file"]]
        result = subprocess.run(arguments, capture_output=True, text=True)
        return result.stdout if result.returncode != 0 else ""

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return "".join(pool.map(complaints_about, entries))


@pytest.mark.all
def test_clang_tidy(root, commands, tmp_path):
    """clang-tidy reports nothing. Files with the same options are checked in one run, in a quarter of the time, because
    common headers are parsed once. The analyzer, which follows every path of a function and takes longer than all other
    checks, is left to the next test."""
    alike = collections.defaultdict(list)
    for entry in files_once(root, commands):
        alike[re.sub(r" -o \S+ -c \S+$", "", entry["command"])].append(entry["file"])
    together = []
    for number, (command, files) in enumerate(alike.items()):
        file = tmp_path / f"together_{number}.cc"
        file.write_text("".join(f'#include "{each}"  // NOLINT\n' for each in files))
        together.append({"directory": str(tmp_path), "file": str(file), "command": f"{command} -c {file}"})
    options = ["--checks=-clang-analyzer-*", f"--header-filter=^{re.escape(str(root))}/"]
    assert complaints(together, tmp_path, *options) == ""


@pytest.mark.slow
@pytest.mark.parametrize("of_ptx", [False, True], ids=["kernels_and_sdk", "ptx"])
def test_clang_tidy_of_each_file_with_the_analyzer(root, commands, tmp_path, of_ptx):
    """clang-tidy with the analyzer reports nothing when every file is checked separately. Separate checks also find
    unnecessary using-declarations, which a check of several files together does not find."""
    assert complaints(files_once(root, commands, of_ptx), tmp_path) == ""


def test_licence_line(root):
    files = tracked(root, *SOURCES, ".py", ".cmake")
    assert files
    missing = [
        str(path.relative_to(root))
        for path in files
        if "SPDX-License-Identifier: Apache-2.0" not in path.read_text()[:200]
    ]
    assert missing == ["tests/interop/readme.py"]  # README shows the complete file, without a licence line


def test_python_compiles_without_warnings(root):
    """Python code compiles without warnings, because newer versions of Python reject what older versions warn about,
    such as an invalid escape."""
    for path in tracked(root, ".py"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compile(path.read_text(encoding="utf-8"), str(path), "exec")
