# SPDX-License-Identifier: Apache-2.0
"""Tests how `kernkit run` finds, compiles and caches its runtime. A script replaces CMake."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from kernkit.scaffold import components
from kernkit.simulator import prebuilt

CMAKE = """\
#!/bin/sh
echo "$@" >> "$CALLS"
case $1 in
  -S) mkdir -p build; touch build/CMakeCache.txt; sleep 0.2
      if [ -n "$FAILS" ]; then echo "CMake Error: it fails"; exit 1; fi;;
  *) mkdir -p build/kernkit_cudart; cp "$LIBRARY" build/kernkit_cudart/libcudart.so.13
     mkdir build/kernkit_cudart/driver; cp "$LIBRARY" build/kernkit_cudart/driver/libcuda.so.1;;
esac
"""
TOOLS = ("sh", "mkdir", "touch", "cp", "sleep")


class Place:
    """A folder with a Python environment, a folder of programs that is the only folder on PATH, and a cache."""

    def __init__(self, root, folder):
        folder.mkdir(exist_ok=True)
        self.folder, self.bin, self.sdk = folder, folder / "bin", root / "sdk"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        (packages,) = folder.glob("venv/lib/python3*/site-packages")
        here = [place for place in sys.path if place.endswith("-packages")]
        (packages / "more.pth").write_text("\n".join([str(root / "sdk/python"), *here]))
        self.bin.mkdir()
        for name in TOOLS:
            (self.bin / name).symlink_to(shutil.which(name))
        subprocess.run(["g++", "-shared", "-x", "c++", "/dev/null", "-o", folder / "library.so"], check=True)
        (folder / "program").write_text('#!/bin/sh\necho ran\n[ -z "$SHOW" ] || echo "$LD_PRELOAD"\n')
        (folder / "program").chmod(0o755)
        self.environment = {"PATH": str(self.bin), "XDG_CACHE_HOME": str(folder / "cache"), "CALLS": str(folder / "calls"),
                            "LIBRARY": str(folder / "library.so")}  # fmt: skip

    def install(self, name, text="#!/bin/sh\n"):
        program = self.folder / "venv/bin" / name
        program.write_text(text)
        program.chmod(0o755)

    def install_prebuilt(self, **changed):
        """Installs a package kernkit_simulator, whose record contains the digest of this kernkit's sources. `changed`
        replaces entries of the record."""
        (packages,) = self.folder.glob("venv/lib/python3*/site-packages")
        package = packages / "kernkit_simulator"
        (package / "driver").mkdir(parents=True)
        for name in ("libcudart.so.13", "driver/libcuda.so.1"):
            shutil.copy(self.folder / "library.so", package / name)
        prebuilt.write_record(package, self.sdk, "0.1.0", "13.0")
        record = json.loads((package / prebuilt.RECORD).read_text())
        (package / prebuilt.RECORD).write_text(json.dumps({**record, **changed}))
        return package

    def start(self, **more):
        arguments = [self.folder / "venv/bin/python", "-B", "-m", "kernkit", "run", self.folder / "program"]
        return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**self.environment, **more})  # fmt: skip

    def run(self, **more):
        process = self.start(**more)
        printed, errors = process.communicate()
        return process.returncode, printed, errors

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def place(root, tmp_path):
    return Place(root, tmp_path)


def test_tools_and_dlpack_of_an_environment_that_is_not_on_path_are_found(place):
    place.install("cmake", CMAKE)
    place.install("ninja")
    code, printed, errors = place.run()
    assert (code, printed) == (0, "ran\n"), errors
    configure, build = place.calls()
    assert " -G Ninja " in configure and "--target kernkit_drop_ins" in build
    folder = pathlib.Path(configure.partition("-DDLPACK_INCLUDE_DIR=")[2])
    assert (folder / "dlpack/dlpack.h").is_file()


def test_a_kept_runtime_needs_no_cmake(place):
    place.install("cmake", CMAKE)
    place.install("ninja")
    assert place.run()[0] == 0
    os.remove(place.folder / "venv/bin/cmake")
    assert place.run() == (0, "ran\n", "")
    assert len(place.calls()) == 2
    (kept,) = place.folder.glob("cache/kernkit/run-*")
    assert not (kept / "build").exists()


def test_a_failed_configuration_leaves_nothing_for_the_next(place):
    place.install("cmake", CMAKE)
    place.install("make")
    code, _, errors = place.run(FAILS="1")
    assert code == 3 and "CMake could not configure kernkit's runtime: CMake Error: it fails. The output of CMake is in " in errors
    assert " -G Unix Makefiles " in place.calls()[0]
    assert not list(place.folder.glob("cache/**/CMakeCache.txt"))
    place.install("ninja")
    assert place.run()[:2] == (0, "ran\n")
    assert " -G Ninja " in place.calls()[1]


def test_missing_tools_are_named(place):
    code, _, errors = place.run()
    assert code == 3 and "kernkit: neither ninja nor make is installed; CMake needs one of the two programs to compile kernkit's runtime: " in errors
    place.install("ninja")
    code, _, errors = place.run()
    assert code == 3 and "kernkit: cmake is not installed; kernkit compiles its runtime by CMake: run " in errors


def test_two_processes_at_once_compile_once(place):
    place.install("cmake", CMAKE)
    place.install("ninja")
    processes = [place.start() for _ in range(3)]
    assert [process.communicate()[0] for process in processes] == ["ran\n"] * 3
    assert len(place.calls()) == 2


def test_a_prebuilt_runtime_is_used_in_its_place(place):
    """A prebuilt runtime is used although neither CMake nor Ninja is installed, and nothing is written into the
    cache."""
    package = place.install_prebuilt()
    libraries = f"{package}/libcudart.so.13:{package}/driver/libcuda.so.1"
    assert place.run(SHOW="1") == (0, f"ran\n{libraries}\n", "")
    assert not list(place.folder.glob("cache/kernkit/run-*"))


OTHER_SOURCES = ("kernkit: the runtime of kernkit-simulator 0.0.9 is not used: the prebuilt runtime was compiled from other sources than "
                 "kernkit 0.1.0; install the kernkit-simulator that was built with this kernkit, or uninstall kernkit-simulator\n")  # fmt: skip


@pytest.mark.parametrize("record", [{"digest": "0123", "version": "0.0.9"}, {"digest": None, "version": "0.0.9", "form": 2}])
def test_a_prebuilt_runtime_of_other_sources_is_not_used(place, record):
    """A prebuilt runtime that was built from other sources is not used. Instead the first run compiles the runtime and
    prints a message; later runs print nothing."""
    place.install("cmake", CMAKE)
    place.install("ninja")
    place.install_prebuilt(**record)
    code, printed, errors = place.run()
    assert (code, printed) == (0, "ran\n") and len(place.calls()) == 2
    assert errors.startswith(OTHER_SOURCES + "kernkit: compiling the runtime, once, into ")
    assert place.run() == (0, "ran\n", "")


def test_a_prebuilt_runtime_that_cannot_be_preloaded_is_not_used(root, tmp_path):
    place = Place(root, tmp_path / "two words")
    package = place.install_prebuilt()
    code, _, errors = place.run()
    assert code == 3 and (f"kernkit: the runtime of kernkit-simulator 0.1.0 is not used: the folder {package} has a space or a colon, which "
                          "LD_PRELOAD does not support; install kernkit-simulator into an environment without these characters in its path\n") in errors  # fmt: skip


def test_a_library_s_copy_has_the_digest_of_the_installed_kernkit(root, tmp_path):
    """The simulator's sources in a library's copy and in the installed kernkit have the same digest, so a prebuilt
    runtime also serves the copy."""
    copy, development = tmp_path / "kernkit", tmp_path / "kernkit_dev"
    shutil.copytree(root / "sdk", copy, ignore=lambda *_: {"__pycache__"})
    components.remove_others(str(copy), "ptx")
    components.move_development(str(copy), str(development))
    assert not (copy / "simulator").exists()
    assert prebuilt.digest_of_sources(copy, development) == prebuilt.digest_of_sources(root / "sdk")
    names = prebuilt.sources_of_runtime(root / "sdk").keys()
    assert prebuilt.sources_of_runtime(copy, development).keys() == names
    assert "simulator/executor.h" in names and not [name for name in names if name.startswith("simulator/tests/")]


@pytest.mark.parametrize("path", ["simulator/ptx/simd/dispatch.cc", "include/kernkit/base/version.h", "cmake/KernkitLibrary.cmake"])
def test_a_changed_source_changes_the_digest(root, tmp_path, path):
    for name in prebuilt.sources_of_runtime(root / "sdk"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / "sdk" / name, tmp_path / name)
    assert prebuilt.digest_of_sources(tmp_path) == prebuilt.digest_of_sources(root / "sdk")
    (tmp_path / path).write_text((tmp_path / path).read_text() + "\n")
    assert prebuilt.digest_of_sources(tmp_path) != prebuilt.digest_of_sources(root / "sdk")
