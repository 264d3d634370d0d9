# SPDX-License-Identifier: Apache-2.0
"""The cost of edits in a library of thirty ops: kernkit's build, compared with the compilers and linkers alone.

`./kk bench` excludes this program, because the first run builds the library, which takes minutes:

    python -m kernkit bench "bench/python/thirty_ops.py --folder /tmp/thirty" --rounds 3 --repetitions 1

The folder keeps the library: the template's op and ten ops of each of three kinds, for one architecture. Times are
processor times of all processes, which do not depend on the number of jobs. An edit adds a line to a file, builds the
program that tests the op in the simulator, and runs the tests. `bare` is the time of the compiler for the edited file
and of one link, without a test; for a .cu file, the time of nvcc and of the link of the library.

With --clean, and without CUDA: a build of all targets in a folder of its own, all tests, and the wheel. `bare` is the
time of the compilers in that build for the library's files and for each test and benchmark once, and of the linkers for
the library and for one program; for the tests, one run of the program with all tests; for the wheel, packing the
library as zip.

With --kk: `./kk test OP` after an edit of the op's .cu file: without CUDA, with CUDA, and with CUDA in a library with
the component ptx. `bare` is the time of nvcc for the file and of the link of one program.

"""

import argparse
import os
import pathlib
import shlex
import shutil
import sys
import zipfile

from rows import ROOT, Rows

sys.path.insert(0, str(ROOT / "tests/project"))
from commands import timed  # noqa: E402

KINDS = {
    "scale": ("elementwise", "(Tensor(a!) y, Tensor x, float factor) -> ()"),
    "norm": ("row", "(Tensor(a!) y, Tensor x, Tensor weight, float eps) -> ()"),
    "sum": ("row_reduction", "(Tensor(a!) y, Tensor x, float alpha=1.0) -> ()"),
}
NAME, EACH = "thirty", 10
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "sdk/python"), "CUDAARCHS": "90", "CCACHE_DISABLE": "1"}


def seconds(command, folder, shell=False):
    """Runs a command, and returns its processor time [s] and its output. Ends the program if the command fails."""
    took, code, log = timed(command, cwd=folder, shell=shell, env=ENVIRONMENT)
    if code != 0:
        sys.exit(f"{command}\n{log[-3000:]}")
    return took, log


def make(folder, name=NAME, *arguments):
    """Renders the library and adds the ops. The folder must not contain a library."""
    kernkit = [sys.executable, "-B", "-m", "kernkit"]
    folder.mkdir(parents=True, exist_ok=True)
    seconds([*kernkit, "new", name, "--no-git", "--output", folder, *arguments], folder)
    for number in range(EACH):
        for op, (kind, schema) in KINDS.items():
            seconds([*kernkit, "add", f"{op}_{number}", schema, "--kind", kind], folder / name)


class Library:
    def __init__(self, folder, preset, name=NAME):
        self.name, self.folder, self.preset, self.build = name, folder / name, preset, folder / name / "build" / preset

    def run(self, *targets):
        return seconds(["cmake", "--build", "--preset", self.preset, "--target", *targets], self.folder)

    def bare(self, output):
        """Runs the build's command for the file `output`, such as a compile command, without ninja and CMake, and
        returns the processor time [s]."""
        listing = seconds(["ninja", "-t", "commands", "-s", output], self.build)[1].splitlines()
        return seconds(listing[-1], self.build, shell=True)[0]

    def object_of(self, source):
        """Returns the object file of a source file in the library itself."""
        outputs = seconds(["ninja", "-t", "targets", "all"], self.build)[1]
        (output,) = [line.split(": ")[0] for line in outputs.splitlines() if f"{self.name}_objects.dir/{source}.o: " in line]
        return output

    def object_of_test(self, op):
        """Returns the object file of the op's test in the program for the simulator."""
        outputs = seconds(["ninja", "-t", "inputs", f"bin/{op}_cuda_test"], self.build)[1]
        (output,) = [line for line in outputs.split() if line.endswith(f"/{op}_test.cc.o")]
        return output

    def edit(self, source, op, *more):
        """Edits a source file, builds the op's test program and the targets `more`, and runs the op's tests with the
        .cu file on the CPU. Returns the processor time [s]."""
        program = f"{op}_cuda_test"
        self.run(program, *more)
        path, text = self.folder / source, (self.folder / source).read_text()
        try:
            path.write_text(text + "// edited\n")
            took = self.run(program, *more)[0]
            return took + seconds([self.build / "bin" / program, "--gtest_brief=1"], self.folder)[0]
        finally:
            path.write_text(text)


def measure(rows, library):
    first = {op: f"{op}_0" for op in KINDS}
    library.run(NAME)
    link = library.bare(f"lib/lib{NAME}.so")
    edits = {f"{op}_0/{op}_0.cu": op for op in KINDS} | {"scale_0/scale_0.cc": "scale"}
    for source, op in edits.items():
        label = f"edit of {source.partition('/')[2]} until its tests ran"
        if rows.wants(label):
            rows.add(f"{label}/cpu/kernkit", [library.edit(f"kernels/{source}", first[op]) * 1e9])
            rows.add(f"{label}/cpu/bare", [(library.bare(library.object_of(source)) + link) * 1e9])
    both = "edit of scale_0.cu until its tests ran and the library is linked"
    if rows.wants(both):
        source = "scale_0/scale_0.cu"
        rows.add(f"{both}/cpu/kernkit", [library.edit(f"kernels/{source}", "scale_0", NAME) * 1e9])
        rows.add(f"{both}/cpu/bare", [(library.bare(library.object_of(source)) + link) * 1e9])
    test = "edit of scale_0_test.cc until it ran"
    if rows.wants(test):
        rows.add(f"{test}/cpu/kernkit", [library.edit("tests/scale_0_test.cc", "scale_0") * 1e9])
        compiled = library.bare(library.object_of_test("scale_0"))
        rows.add(f"{test}/cpu/bare", [(compiled + library.bare("bin/scale_0_cuda_test")) * 1e9])
    if rows.wants("no-op build"):
        library.run(NAME, "scale_0_cuda_test")
        rows.add("no-op build of the library/cpu/kernkit", [library.run(NAME, "scale_0_cuda_test")[0] * 1e9])
        rows.add("no-op build of the library/cpu/bare", [seconds(["ninja", "-n"], library.build)[0] * 1e9])
    if rows.wants("configuring"):
        rows.add("configuring/cpu/kernkit", [seconds(["cmake", "--preset", library.preset], library.folder)[0] * 1e9])
    rows.add("size of the library/g++/kernkit", [(library.build / f"lib/lib{NAME}.so").stat().st_size], "bytes")


def by_kk(rows, folder):
    of_ptx = f"{NAME}_ptx"
    if not (folder / of_ptx).exists():
        make(folder, of_ptx, "--with", "ptx")
    ENVIRONMENT["KK_VENV"] = sys.prefix
    took = {}
    for variant, name, option in (("without CUDA", NAME, "--no-cuda"), ("with CUDA", NAME, "--cuda"), ("by PTX", of_ptx, "--cuda")):
        library, source = Library(folder, "release", name), "kernels/scale_0/scale_0.cu"
        command, path = ["./kk", "test", "scale_0", option], library.folder / source
        seconds(command, library.folder)
        text = path.read_text()
        try:
            path.write_text(text + "// edited\n")
            took[variant] = seconds(command, library.folder)[0]
        finally:
            path.write_text(text)
    bare = library.bare(library.object_of("scale_0/scale_0.cu")) + library.bare("bin/scale_0_test")
    for variant, kernkit in took.items():
        rows.add(f"./kk test OP after an edit of its .cu, {variant}/cpu/kernkit", [kernkit * 1e9])
        rows.add(f"./kk test OP after an edit of its .cu, {variant}/cpu/bare", [bare * 1e9])


TIMED = """#!/bin/sh
"$@" || exit
times >"$TIMED_INTO/$$"
printf '%s\\n' "$*" >>"$TIMED_INTO/$$"
"""


def clean(rows, folder):
    """Measures a build of all targets, the tests and the wheel. A launcher records the time of each compiler and
    linker."""
    library, times, launcher = folder / NAME, folder / "times", folder / "timed"
    shutil.rmtree(times, ignore_errors=True)
    shutil.rmtree(library / "build/clean", ignore_errors=True)
    times.mkdir()
    launcher.write_text(TIMED)
    launcher.chmod(0o755)
    ENVIRONMENT["TIMED_INTO"] = str(times)
    arguments = [f"-DCMAKE_CXX_{kind}_LAUNCHER={launcher}" for kind in ("COMPILER", "LINKER")]
    configured = seconds(["cmake", "--preset", "cpu", "-B", "build/clean", *arguments], library)[0]
    took = seconds(["cmake", "--build", "build/clean", "-j", "1"], library)[0]
    each = {}
    for file in times.iterdir():
        _, of_children, command = file.read_text().split("\n", 2)
        minutes = [value.rstrip("s").split("m") for value in of_children.split()]
        arguments = shlex.split(command)
        each[arguments[arguments.index("-o") + 1]] = sum(int(integer) * 60 + float(rest) for integer, rest in minutes)
    library_files = {name: took for name, took in each.items() if f"/{NAME}_objects.dir/" in name or name == f"lib/lib{NAME}.so"}
    files = {name.split("/")[-1]: took for name, took in each.items() if name.endswith(("_test.cc.o", "_bench.cc.o"))}
    links = [took for name, took in each.items() if name.startswith("bin/")]
    rows.add("clean build/cpu/kernkit", [(configured + took) * 1e9])
    rows.add("clean build/cpu/bare", [(sum(library_files.values()) + sum(files.values()) + max(links)) * 1e9])
    rows.add("programs/cpu/kernkit", [len(links)], "programs")
    rows.add("all programs linked/cpu/kernkit", [sum(links) * 1e9])
    rows.add("all programs linked/cpu/bare", [max(links) * 1e9])
    rows.add("no-op build of everything/cpu/kernkit", [seconds(["cmake", "--build", "build/clean"], library)[0] * 1e9])
    rows.add("no-op build of everything/cpu/bare", [seconds(["ninja", "-n"], library / "build/clean")[0] * 1e9])
    of_ops = [f"{file.stem.rpartition('_')[0]}_{kind}" for file in (library / "tests").glob("*_test.cc") for kind in ("test", "cuda_test", "bench")]
    more = seconds(["cmake", "--build", "build/clean", "-j", "1", "--target", *of_ops], library)[0]
    rows.add("each op's programs linked as well/cpu/kernkit", [more * 1e9])
    tests = sorted((library / "build/clean/bin").glob(f"{NAME}*_test"))
    rows.add("all tests/cpu/kernkit", [seconds(["ctest", "--test-dir", "build/clean"], library)[0] * 1e9])
    rows.add("all tests/cpu/bare", [sum(seconds([test, "--gtest_brief=1"], library)[0] for test in tests) * 1e9])
    shared = library / f"build/clean/lib/lib{NAME}.so"
    rows.add("size of the library/cpu/kernkit", [shared.stat().st_size], "bytes")
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", "build/wheel", "."]
    package = ["-C", "wheel.cmake=false", "-C", "wheel.platlib=true", "-C", f"wheel.packages=build/clean/python/{NAME}",
               "-C", f"sdist.include=build/clean/python/{NAME}"]
    shutil.rmtree(library / "build/wheel", ignore_errors=True)
    seconds([*wheel, *package], library)
    packed = folder / "library.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(shared)
    rows.add("size of the wheel/cpu/kernkit", [next((library / "build/wheel").glob("*.whl")).stat().st_size], "bytes")
    rows.add("size of the wheel/cpu/bare", [packed.stat().st_size], "bytes")


def main():
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/thirty_ops")
    parser.add_argument("--preset", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--clean", action="store_true")
    parser.add_argument("--kk", action="store_true")
    options, _ = parser.parse_known_args()
    with Rows(__doc__) as rows:
        if not (options.folder / NAME).exists():
            make(options.folder)
        if options.clean or options.kk:
            return (clean if options.clean else by_kk)(rows, options.folder)
        seconds(["cmake", "--preset", options.preset], options.folder / NAME)
        measure(rows, Library(options.folder, options.preset))


if __name__ == "__main__":
    main()
