# SPDX-License-Identifier: Apache-2.0
"""README's commands work on a minimal Debian 12 with its own Python and pip and without nvcc: with the packages that
README requires, without git, without make, and from the wheel alone. The times of all steps are in
build/junit/bare_systems.json."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import bare_systems
import pytest
from rendering import CALL
from test_wheel import build

MISSING = bare_systems.missing()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]
# {root folder: packages in addition to bare_systems.PACKAGES}. Debian's packages of CMake do not include make.
ROOTS = {"as README requires": ["git", "make"], "without git": ["make"], "without make": ["git"]}
FROM_WHEEL = "from the wheel"
REPOSITORY, LIBRARY = "/root/kernkit", "/root/fast_kernels"
SCHEMA = "(Tensor(a!) y, Tensor x, float beta=1.0) -> ()"
STEPS = {
    "demo": (REPOSITORY, ["./kk", "demo"]),
    "test": (REPOSITORY, ["./kk", "test"]),
    "new": (REPOSITORY, ["./kk", "new", "fast_kernels", "--output", ".."]),
    "all": (LIBRARY, ["./kk", "all"]),
    "wheel": (LIBRARY, ["./kk", "wheel"]),
    "add": (LIBRARY, ["./kk", "add", "swish", SCHEMA]),
    "test of an op": (LIBRARY, ["./kk", "test", "swish"]),
}
INSTALLED = {
    "environment": ("/root", ["python3", "-m", "venv", "v"]),
    "install": ("/root", ["sh", "-c", "v/bin/pip install --quiet ./kernkit-*.whl"]),
    "new": ("/root", ["v/bin/kernkit", "new", "fast_kernels"]),
    **{step: STEPS[step] for step in ("all", "wheel", "add", "test of an op")},
}
NODES = [(root, step) for root in ROOTS for step in STEPS] + [
    (FROM_WHEEL, step) for step in INSTALLED
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Yields the folder of the root folders, each of several GB, and deletes the folder at the end."""
    folder = tmp_path_factory.mktemp("roots")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def first(folder):
    return bare_systems.make(folder / "first")


@pytest.fixture(scope="module")
def archive(root, folder):
    """Returns an archive of the files of the last commit."""
    path = folder / "kernkit.tar"
    result = subprocess.run(
        ["git", "archive", "--prefix=kernkit/", "-o", path, "HEAD"], cwd=root, capture_output=True
    )
    if result.returncode != 0:
        pytest.skip("the sources are not in a git repository")
    return path


@pytest.fixture(scope="module")
def systems(root, first, archive, folder):
    """Returns system(name), which creates a root folder once. The root folder contains a clone of the repository, the
    files of the archive if git is missing, or the wheel."""
    created = {}

    def system(name):
        if name not in created:
            created[name] = first.copy(folder / name.replace(" ", "_"), ROOTS.get(name, []))
            home = created[name].folder / "root"
            if name == FROM_WHEEL:
                subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
                shutil.copy(build(folder / "kernkit", "build_wheel", folder / "wheel"), home)
            elif "git" in ROOTS[name]:
                subprocess.run(
                    ["git", "clone", "-q", "--no-hardlinks", root, home / "kernkit"], check=True
                )
            else:
                subprocess.run(["tar", "-xf", archive, "-C", home], check=True)
        return created[name]

    return system


@pytest.fixture(scope="module")
def record(root):
    """Returns keep(name, step, result), which records the times of a step and writes all times to the file."""
    sys.path.insert(0, str(root / "bench/python"))
    from rows import processor

    rows = []
    path = pathlib.Path(root, "build/junit/bare_systems.json")

    def keep(name, step, result):
        rows.append(
            {
                "root": name,
                "step": step,
                "code": result.code,
                "wall_s": round(result.wall, 1),
                "cpu_s": round(result.cpu, 1),
            }
        )
        print(rows[-1])
        path.parent.mkdir(parents=True, exist_ok=True)
        times = {"processor": processor(), "cores": os.cpu_count(), "rows": rows}
        path.write_text(json.dumps(times, indent=1) + "\n")

    return keep


def test_a_root_has_no_tool_that_readme_does_not_require(first):
    for tool in ("git", "make", "cmake", "ninja", "nvcc", "pip3", "ccache"):
        assert first.run("sh", "-c", f"command -v {tool}").code != 0, tool
    assert re.match(
        r"pip 23\.0", first.check("sh", "-c", "python3 -m venv /tmp/v && /tmp/v/bin/pip --version")
    )


def test_no_process_and_no_mount_remains_after_a_command(first):
    before = pathlib.Path("/proc/self/mounts").read_text()
    result = first.run("sh", "-c", "sleep 4321 & sleep 4321", limit=2)
    assert result.code == 124
    assert pathlib.Path("/proc/self/mounts").read_text() == before
    assert subprocess.run(["pgrep", "-fx", "sleep 4321"], capture_output=True).stdout == b""


@pytest.mark.parametrize("name, step", NODES)
def test_readme(systems, record, name, step):
    folder, arguments = (INSTALLED if name == FROM_WHEEL else STEPS)[step]
    result = systems(name).run(*arguments, cwd=folder)
    record(name, step, result)
    assert result.code == 0 and "Traceback" not in result.printed, result.printed[-8000:]
    if "test" in arguments or step == "all":
        assert not re.search(r"[1-9]\d* failed", result.printed), result.printed[-8000:]


@pytest.mark.parametrize("name", [*ROOTS, FROM_WHEEL])
def test_the_wheel_is_called_in_an_environment_of_its_own(systems, name):
    system = systems(name)
    system.check(
        "sh", "-c", "python3 -m venv v && v/bin/pip install --quiet numpy dist/*.whl", cwd=LIBRARY
    )
    assert system.check(
        "v/bin/python", "-c", CALL.format(name="fast_kernels"), cwd=LIBRARY
    ).startswith("[[2.1932, -0.9536]]")


def test_an_environment_is_described_without_git(systems):
    printed = systems(FROM_WHEEL).check("v/bin/kernkit", "env")
    assert "kernkit" in printed and "Traceback" not in printed


@pytest.mark.parametrize("name", ["without git"])
def test_an_op_is_not_removed_without_git_and_no_traceback_is_printed(systems, name):
    result = systems(name).run("./kk", "remove", "swish", cwd=LIBRARY)
    assert "Traceback" not in result.printed, result.printed
