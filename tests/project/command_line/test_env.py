# SPDX-License-Identifier: Apache-2.0
"""`kernkit env` reports the library that Python would load, and compares its version with the installed version."""

import subprocess

import pytest
from kernkit import cli, sdk
from kernkit.simulator import prebuilt

IDENTITY = "library=fast_ops {}; commit=0123abcd; compiler=GNU 12.2.0; cuda=none; kernkit=0.1.0"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Returns a folder with libraries of two versions and a library that was not linked by kernkit_add_library()."""
    folder = tmp_path_factory.mktemp("files")
    for version in ("0.1.0", "0.2.0", ""):
        text = f'__attribute__((section(".kernkit"))) const char text[] = "{IDENTITY.format(version)}";' if version else ""
        command = ["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", folder / f"lib{version}.so"]
        subprocess.run(command, input=text, text=True, check=True)
    return folder


@pytest.fixture
def package(files, tmp_path, monkeypatch):
    """Returns put(), which creates a package fast_ops in a folder at the start of the import path. With `installed`, a
    version, the package also has a record of its installation."""

    def put(name, of_file, installed=""):
        folder = tmp_path / name
        (folder / "fast_ops").mkdir(parents=True)
        (folder / "fast_ops/__init__.py").write_text('raise RuntimeError("it was imported")')
        (folder / "fast_ops/libfast_ops.so").write_bytes((files / f"lib{of_file}.so").read_bytes())
        if installed:
            info = folder / f"fast_ops-{installed}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: fast-ops\nVersion: {installed}\n"
                                           "Requires-Dist: apache-tvm-ffi>=0.1.14\n")  # fmt: skip
            (info / "RECORD").write_text("fast_ops/__init__.py,,\nfast_ops/libfast_ops.so,,\n")
        monkeypatch.syspath_prepend(str(folder))
        return folder / "fast_ops/libfast_ops.so"

    return put


def env(capsys, *packages):
    code = cli.main(["env", *packages])
    return code, capsys.readouterr().out.splitlines()


def loaded_lines(lines, package="fast_ops"):
    return [line.partition(": ")[2] for line in lines if line.startswith(f"{package}: ")]


def test_the_installed_library_is_the_loaded_one(package, capsys):
    path = package("site", "0.2.0", installed="0.2.0")
    code, lines = env(capsys)
    assert loaded_lines(lines) == [f"loaded from {path}: fast_ops 0.2.0; commit 0123abcd; compiler GNU 12.2.0; cuda none; "
                              "kernkit 0.1.0; installed 0.2.0"]  # fmt: skip
    assert code == 0


def test_another_library_before_the_installed_library_is_a_fault(package, capsys):
    package("site", "0.2.0", installed="0.2.0")
    path = package("before", "0.1.0")
    code, lines = env(capsys)
    (line,) = loaded_lines(lines)
    assert line.startswith(f"loaded from {path}: fast_ops 0.1.0; ") and line.endswith("installed 0.2.0: they differ")
    assert code == 1


def test_a_package_that_is_not_installed_is_named(package, capsys):
    package("build", "0.1.0")
    assert loaded_lines(env(capsys)[1]) == []
    code, lines = env(capsys, "fast_ops", "no_such_package")
    assert loaded_lines(lines)[0].endswith("; installed nowhere") and code == 0
    assert loaded_lines(lines, "no_such_package") == ["import no_such_package finds no library built with kernkit; check the name of the package"]


def test_other_libraries_are_left_out(package, capsys):
    package("site", "", installed="0.2.0")
    assert loaded_lines(env(capsys)[1]) == []


def test_versions_of_the_tools_are_printed(capsys):
    lines = dict(line.split(" ", 1) for line in env(capsys)[1] if " " in line)
    assert lines["cmake"].startswith(("3.", "4.")) and lines["kernkit"] == cli.version()
    assert {"python", "system", "libc", "processor", "c++", "ninja", "nvcc"} <= set(lines)


def simulator_line(capsys):
    return next(line for line in env(capsys)[1] if line.startswith("simulator "))


def test_the_runtime_of_the_simulator_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(prebuilt, "find", lambda: None)
    assert simulator_line(capsys) == "simulator compiled at the first run"
    monkeypatch.undo()
    (tmp_path / "kernkit_simulator").mkdir()
    prebuilt.write_record(tmp_path / "kernkit_simulator", sdk.sdk_folder(), "0.1.0", "13.0")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert simulator_line(capsys) == "simulator prebuilt, kernkit-simulator 0.1.0, with the driver's functions of CUDA 13.0"
    record = tmp_path / "kernkit_simulator" / prebuilt.RECORD
    record.write_text('{"version": "0.2.0"}')
    assert simulator_line(capsys).startswith("simulator compiled at the first run; the runtime of kernkit-simulator 0.2.0 is not used: "
                                             "the prebuilt runtime was compiled from other sources than kernkit ")
