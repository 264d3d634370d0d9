# SPDX-License-Identifier: Apache-2.0
"""Compile times, sizes and preprocessed lines of scale and rms_norm: kernkit's files, and the same ops written with
tvm-ffi's headers. The compile commands are read from CMake's build/*/compile_commands.json.

"""

import json
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import time

from rows import ROOT, Rows

# For each row: the files of each implementation. kernkit.cc is compiled once per library, whatever the number of ops.
HOST = {
    "kernkit": ["kernels/scale/scale.cc", "kernels/scale/scale_export.cc"],
    "tvm-ffi": ["bench/peers/scale_tvm_ffi.cc"],
}
ROW = {
    "kernkit": ["kernels/rms_norm/rms_norm.cc", "kernels/rms_norm/rms_norm_export.cc"],
    "tvm-ffi": ["bench/peers/rms_norm_tvm_ffi.cc"],
}
ROW_BINDING = {"kernkit": ["kernels/rms_norm/rms_norm_export.cc"]}
ONCE = {"kernkit": ["sdk/src/kernkit.cc"]}
CUDA = {"kernkit": ["kernels/scale/scale.cu"], "tvm-ffi": ["bench/peers/scale_tvm_ffi.cu"]}
TARGETS = ("scale_kernkit_objects", "scale_tvm_ffi", "scale_cuda", "scale_tvm_ffi_cuda",
           "rms_norm_kernkit_objects", "rms_norm_tvm_ffi")


def commands(build):
    """Returns {file: the arguments of its compile command, without the output} for the files of TARGETS."""
    path = build / "compile_commands.json"
    entries = json.loads(path.read_text()) if path.exists() else []
    commands_of_files = {}
    for entry in entries:
        arguments = shlex.split(entry["command"])
        output = arguments.index("-o")
        if any(f"/{target}.dir/" in arguments[output + 1] for target in TARGETS):
            file = str(pathlib.Path(entry["file"]).resolve().relative_to(ROOT))
            commands_of_files[file] = arguments[:output] + arguments[output + 2 :]
    return commands_of_files


def without_dependencies(arguments):
    """Returns the command without the options that write Ninja's list of headers."""
    skipped, remaining = 0, []
    for argument in arguments:
        if skipped:
            skipped -= 1
        elif argument in ("-MT", "-MF"):
            skipped = 1
        elif argument not in ("-MD", "-MMD"):
            remaining.append(argument)
    return remaining


def compile_all(commands_of_files, files, build):
    """Compiles the files one after another, and returns the total time [ns]."""
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            command = [*without_dependencies(commands_of_files[file]), "-o", f"{folder}/out.o"]
            start = time.perf_counter_ns()
            subprocess.run(command, check=True, cwd=build, capture_output=True)
            total += time.perf_counter_ns() - start
    return total


def lines(commands_of_files, files, build):
    """Returns the total number of lines of the files after preprocessing."""
    total = 0
    for file in files:
        command = [argument for argument in without_dependencies(commands_of_files[file]) if argument != "-c"]
        text = subprocess.run([*command, "-E"], check=True, cwd=build, capture_output=True).stdout
        total += text.count(b"\n")
    return total


def stripped_size(library):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["strip", "-o", f"{folder}/out.so", library], check=True)
        return pathlib.Path(f"{folder}/out.so").stat().st_size


def measure(rows, build, compiler):
    commands_of_files = commands(build)
    for label, sides, by in (("compiling the host files", HOST, compiler),
                             ("compiling the host files of a row kernel", ROW, compiler),
                             ("compiling the binding of a row kernel", ROW_BINDING, compiler),
                             ("compiling once per library", ONCE, compiler),
                             ("compiling the CUDA file", CUDA, "nvcc")):  # fmt: skip
        if by == "nvcc" and compiler != "g++":
            continue
        for implementation, files in sides.items():
            name = f"{label}/{by}/{implementation}"
            if not rows.wants(name):
                continue
            if not all(file in commands_of_files for file in files):
                rows.skip(name, f"{build.relative_to(ROOT)} was configured without this file")
                continue
            try:
                rows.add(name, [compile_all(commands_of_files, files, build)])
            except subprocess.CalledProcessError as error:
                rows.fail(name, error.stderr.decode()[-300:])
                continue
            if sides is not ONCE:
                kind = label.replace("compiling", "preprocessed")
                rows.add(f"{kind}/{by}/{implementation}", [lines(commands_of_files, files, build)], "lines")
    for op, label in {"scale": "the library", "sum_of_seven": "a library, plain loop over 8 tensors"}.items():
        for implementation in ("kernkit", "tvm-ffi"):
            name = f"size of {label}/{compiler}/{implementation}"
            library = build / f"lib/lib{op}_{implementation.replace('-', '_')}.so"
            if rows.wants(name) and library.exists():
                rows.add(name, [stripped_size(library)], "bytes")


def main():
    with Rows(__doc__) as rows:
        measure(rows, ROOT / "build/release", "g++")
        if shutil.which("clang++") and (ROOT / "build/clang/CMakeCache.txt").exists():
            measure(rows, ROOT / "build/clang", "clang++")
        else:
            rows.skip("compiling/clang++", "clang++ is not installed, or build/clang is not configured")


if __name__ == "__main__":
    main()
