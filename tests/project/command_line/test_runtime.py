# SPDX-License-Identifier: Apache-2.0
"""The runtime of `kernkit run`: how it is compiled and kept. A script replaces CMake."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

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
    """A folder with an environment that is not on PATH, the only folder on PATH, and a cache."""

    def __init__(self, root, folder):
        self.folder, self.bin = folder, folder / "bin"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        (packages,) = folder.glob("venv/lib/python3*/site-packages")
        here = [place for place in sys.path if place.endswith("-packages")]
        (packages / "more.pth").write_text("\n".join([str(root / "sdk/python"), *here]))
        self.bin.mkdir()
        for name in TOOLS:
            (self.bin / name).symlink_to(shutil.which(name))
        subprocess.run(["g++", "-shared", "-x", "c++", "/dev/null", "-o", folder / "library.so"], check=True)
        (folder / "program").write_text("#!/bin/sh\necho ran\n")
        (folder / "program").chmod(0o755)
        self.environment = {"PATH": str(self.bin), "XDG_CACHE_HOME": str(folder / "cache"), "CALLS": str(folder / "calls"),
                            "LIBRARY": str(folder / "library.so")}  # fmt: skip

    def install(self, name, text="#!/bin/sh\n"):
        program = self.folder / "venv/bin" / name
        program.write_text(text)
        program.chmod(0o755)

    def start(self, **more):
        words = [self.folder / "venv/bin/python", "-B", "-m", "kernkit", "run", self.folder / "program"]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
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
    assert code == 3 and "kernkit: neither ninja nor make is installed; kernkit's runtime is compiled by one of them: " in errors
    place.install("ninja")
    code, _, errors = place.run()
    assert code == 3 and "kernkit: cmake is not installed; kernkit's runtime is compiled by it: run " in errors


def test_two_processes_at_once_compile_once(place):
    place.install("cmake", CMAKE)
    place.install("ninja")
    processes = [place.start() for _ in range(3)]
    assert [process.communicate()[0] for process in processes] == ["ran\n"] * 3
    assert len(place.calls()) == 2
