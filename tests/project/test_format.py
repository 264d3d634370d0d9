# SPDX-License-Identifier: Apache-2.0
"""Every source is formatted, says its licence, and has nothing that a linter would report."""

import concurrent.futures
import json
import os
import shutil
import subprocess

import pytest

SOURCES = (".h", ".cc", ".cu", ".cuh", ".c")


def tracked(root, *endings):
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
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
    """How clang++ compiles each file, read from a build of its own: what is built takes several at a time."""
    if not shutil.which("clang-tidy") or not shutil.which("clang++"):
        pytest.skip("clang-tidy or clang++ is not installed")
    build = tmp_path_factory.mktemp("clang")
    subprocess.run(["cmake", "--preset", "clang", "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
                   cwd=root, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    return json.loads((build / "compile_commands.json").read_text())


@pytest.mark.parametrize(
    "of_ptx, checks",
    [
        pytest.param(False, "-clang-analyzer-*", marks=pytest.mark.all, id="kernels_and_sdk"),
        # Follows each path of a function, which takes longer than everything else.
        pytest.param(False, "-*,clang-analyzer-*", marks=pytest.mark.slow, id="kernels_and_sdk_by_analyzer"),
        pytest.param(True, "", marks=pytest.mark.slow, id="ptx"),
    ],
)
def test_clang_tidy(root, commands, tmp_path, of_ptx, checks):
    folders = ("kernels", "sdk/src", "sdk/cuda_on_cpu")
    files = {str(path) for folder in folders for path in root.glob(f"{folder}/**/*.cc")
             if ("cuda_on_cpu/ptx/" in str(path)) == of_ptx}  # fmt: skip
    # Each file as one target compiles it, not as all do.
    once = {entry["file"]: entry for entry in commands if entry["file"] in files}
    assert len(once) > 30
    (tmp_path / "compile_commands.json").write_text(json.dumps(list(once.values())))

    def complaints(file):
        words = ["clang-tidy", "-p", tmp_path, "--quiet", f"--checks={checks}", file]
        result = subprocess.run(words, capture_output=True, text=True)
        return result.stdout if result.returncode != 0 else ""

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        assert "".join(pool.map(complaints, sorted(once))) == ""


def test_licence_line(root):
    files = tracked(root, *SOURCES, ".py", ".cmake")
    assert files
    missing = [
        str(path.relative_to(root))
        for path in files
        if "SPDX-License-Identifier: Apache-2.0" not in path.read_text()[:200]
    ]
    assert missing == ["tests/interop/readme.py"]  # shown in the README as it stands
