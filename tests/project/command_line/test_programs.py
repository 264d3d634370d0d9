# SPDX-License-Identifier: Apache-2.0
"""On a machine without git or another program, commands print an error message or omit an entry, and print no
traceback."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from commands import path_without
from kernkit import cli, errors, programs
from kernkit.driver import gpu as driver_gpu
from kernkit.scaffold import rendering
from kernkit.simulator import resources
from test_bench import PROGRAM


@pytest.fixture(scope="module")
def without_git(tmp_path_factory):
    return path_without(tmp_path_factory.mktemp("links"), "git")


@pytest.fixture
def library(tmp_path, without_git, monkeypatch, capsys):
    """Returns a library that `kernkit new` rendered without git."""
    monkeypatch.setenv("PATH", without_git)
    assert shutil.which("git") is None and shutil.which("ldd")
    assert cli.main(["new", "fast_ops", "--output", str(tmp_path)]) == 0
    assert "no git repository was made: git is not installed\n" in capsys.readouterr().out
    monkeypatch.chdir(tmp_path / "fast_ops")
    return tmp_path / "fast_ops"


def test_commands_that_call_git(library, capsys):
    """Without git, commands that need git end with an error, and other commands omit git's information."""
    (library / "op_bench.py").write_text(PROGRAM.format(more=""))
    for arguments, code, text in [
        (["env"], 0, "cmake 3."),
        (["bench", "op_bench.py", "--rounds", "1"], 0, "1 rows in "),
        (["add", "swish", "(Tensor(a!) y, Tensor x) -> ()"], 0, "kernels/swish/swish.h\n"),
        (["remove", "swish"], 3, "kernkit: git could not restore swish: git is not installed; commit the files, or add --force\n"),
        (["remove", "swish", "--force"], 0, "files that name swish are not listed: git is not installed\n"),
        (["update"], 3, "kernkit: git is not installed\n"),
    ]:
        assert cli.main(arguments) == code, arguments
        output = capsys.readouterr()
        assert text in output.out + output.err, arguments
    assert json.loads((library / "build/bench/run.json").read_text())["context"]["commit"] == "unknown"
    assert not (library / "kernels/swish").exists()


def test_a_build_for_a_gpu_without_git(library, monkeypatch):
    for name in ("bin/fast_gpu_test", "lib/libfast_ops.so"):
        (library / "build/gpu" / name).parent.mkdir(parents=True)
        shutil.copy(shutil.which("true"), library / "build/gpu" / name)
    monkeypatch.setattr(driver_gpu, "ROOT", library)
    monkeypatch.setattr(driver_gpu, "run", lambda *_, **__: None)
    monkeypatch.setattr(driver_gpu, "check", lambda _: None)
    driver_gpu.build("90", "fast_ops")
    assert (library / "build/gpu/commit").read_text() == "unknown\n"


def driver(library, *arguments, path):
    """Runs a command of ./kk without the script's preparations."""
    environment = {**os.environ, "PATH": str(path), "PYTHONPATH": str(library / "third_party/kernkit/python"),
                   "KK_ROOT": str(library), "KK_LIBRARY": "fast_ops", "VIRTUAL_ENV": ""}  # fmt: skip
    command = [sys.executable, "-B", "-m", "kernkit.driver", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=library)


@pytest.fixture
def rendered(tmp_path):
    rendering.render({**rendering.questions(), "library_name": "fast_ops"}, tmp_path)
    return tmp_path / "fast_ops"


def program(path, text="exit 0"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    "arguments, existing, message",
    [
        (["build"], [], "kk: cmake is not installed\n"),
        (["test"], [], "kernkit: cmake is not installed\n"),
        (["test", "silu_and_mul"], [], "kk: cmake is not installed\n"),
        (["test", "silu_and_mul"], ["cmake"], "kk: ninja is not installed\n"),
        (["bench"], [], "kk: cmake is not installed\n"),
        (["all"], [], "kernkit: cmake is not installed\n"),
        (["format"], [], "kk: clang-format is not installed\n"),
    ],
)
def test_a_tool_that_is_missing(rendered, tmp_path, arguments, existing, message):
    for name in existing:
        program(tmp_path / "bin" / name, "/bin/mkdir -p build/release")
    result = driver(rendered, *arguments, path=tmp_path / "bin")
    assert result.returncode in (1, 3) and result.stderr == message, result.stdout + result.stderr


def test_a_wheel_without_auditwheel(rendered, tmp_path):
    """./kk wheel without auditwheel ends with an error. A fake scikit-build-core creates the archive."""
    program(tmp_path / "bin/cmake")
    folder = tmp_path / "packages/scikit_build_core"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "build.py").write_text("import pathlib\ndef build_wheel(folder, settings):\n    pathlib.Path(folder).mkdir(parents=True)\n"
                                     "    pathlib.Path(folder, 'a.whl').touch()\n")  # fmt: skip
    environment = {**os.environ, "PATH": str(tmp_path / "bin"), "KK_ROOT": str(rendered), "KK_LIBRARY": "fast_ops",
                   "PYTHONPATH": f"{rendered}/third_party/kernkit/python:{tmp_path}/packages", "VIRTUAL_ENV": ""}  # fmt: skip
    result = subprocess.run([sys.executable, "-B", "-m", "kernkit.driver", "wheel"], capture_output=True, text=True,
                            env=environment, cwd=rendered)  # fmt: skip
    assert (result.returncode, result.stderr) == (1, "kk: auditwheel is not installed\n"), result.stdout + result.stderr


def test_a_file_that_the_driver_cannot_write(rendered, tmp_path):
    """An error of the operating system becomes an error message of ./kk, as in `kernkit`."""
    (rendered / "build").write_text("a file, not a folder")
    program(tmp_path / "bin/cmake")
    result = driver(rendered, "test", "silu_and_mul", path=tmp_path / "bin")
    assert result.returncode == 1 and re.fullmatch(r"kk: .*build/release.*: .+\n", result.stderr), result.stderr


def test_counters_name_kernels_without_cxxfilt(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert resources.plain_names(["_Z1fv", "_Z1gi"]) == ["_Z1fv", "_Z1gi"]


def test_libraries_of_a_program_without_ldd(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert cli.main(["run", sys.executable]) == 3
    assert capsys.readouterr().err == "kernkit: ldd is not installed\n"


def test_a_tool_that_cannot_be_started_has_no_version(tmp_path, monkeypatch, capsys):
    program(tmp_path / "ninja")
    (tmp_path / "ninja").write_text("#!/no/such/interpreter\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(["env"]) == 0
    assert "\nninja cannot be started: No such file or directory\n" in capsys.readouterr().out


def test_a_program_that_cannot_be_started_is_named(tmp_path):
    (tmp_path / "text").write_text("a text")
    (tmp_path / "empty").touch(mode=0o755)
    for arguments, options, sentence in [
        (["no-such-program"], {}, "no-such-program is not installed"),
        ([tmp_path / "none"], {}, f"program {tmp_path}/none not found"),
        (["./none"], {"cwd": tmp_path}, "program ./none not found"),
        ([tmp_path / "text"], {}, f"{tmp_path}/text cannot be started: Permission denied"),
        ([tmp_path / "empty"], {}, f"{tmp_path}/empty cannot be started: Exec format error"),
        (["true"], {"cwd": tmp_path / "none"}, f"true cannot be started in {tmp_path}/none: folder not found"),
    ]:
        with pytest.raises(errors.UserError, match=f"^{re.escape(sentence)}$"):
            programs.run(arguments, **options)


def test_programs_are_started_in_one_place(root):
    """Only programs.py starts programs, where a missing program becomes an error message. Exceptions are `kernkit run`,
    which replaces itself with the program, `kernkit conformance`, which starts this Python and reports how the
    process ended, trial.py of `kernkit replay`, which does the same for a reduced call, and start.py of torch_cuda, which runs in a program without kernkit's modules."""
    sources = pathlib.Path(root / "sdk/python/kernkit").rglob("*.py")
    starts = re.compile(r"subprocess\.(?:run|call|check_\w+|Popen)\(|os\.(?:system|popen|spawn\w*|posix_spawn\w*|exec\w+)\(")
    calls_by_file = {path.name: starts.findall(path.read_text()) for path in sources}
    assert {name: calls for name, calls in calls_by_file.items() if calls} == {
        "programs.py": [*["subprocess.run("] * 2, *["subprocess.Popen("] * 2], "run.py": ["os.execve("], "runner.py": ["subprocess.Popen("],
        "start.py": ["subprocess.run("], "trial.py": ["subprocess.Popen("]}  # fmt: skip
