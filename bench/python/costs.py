# SPDX-License-Identifier: Apache-2.0
"""The cost of one op, scale on the CPU, written with kernkit, with tvm-ffi's headers and as a PyTorch extension:
a call from Python with tensors of one element, compiling the host files, the library's size, the wheel's size,
and the shared libraries that the library requires. README's table of costs has these figures.

    bench/python/costs.py --benchmark_out rows.json --record bench/results/cpu/costs_PROCESSOR.json

The build in build/release must be complete. Compile times are processor time of the compiler, with the commands
of CMake, or the flags of scale.cc together with PyTorch's include folders. Wheels are made by the usual tool of
each library: scikit-build-core, or setuptools with CppExtension.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import timeit
import zipfile

import build_cost
import tvm_ffi
from rows import ROOT, Rows, interleaved, processor

BUILD = ROOT / "build/release"
KERNKIT, PEER, TORCH = "kernkit", "tvm-ffi", "torch extension"
LIBRARIES = {KERNKIT: BUILD / "lib/libscale_kernkit.so", PEER: BUILD / "lib/libscale_tvm_ffi.so"}
TORCH_SOURCE = ROOT / "bench/peers/scale_torch.cc"
TORCH_MODULE = "scale_torch"

PEER_PROJECT = {
    "pyproject.toml": """\
[build-system]
requires = ["scikit-build-core"]
build-backend = "scikit_build_core.build"
[project]
name = "scale_peer"
version = "0.1.0"
dependencies = ["apache-tvm-ffi"]
[tool.scikit-build]
wheel.py-api = "py3"
wheel.packages = ["scale_peer"]
cmake.build-type = "Release"
""",
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.20)
project(scale_peer LANGUAGES CXX)
find_package(Python REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND "${Python_EXECUTABLE}" -m tvm_ffi.config --cmakedir
                OUTPUT_VARIABLE tvm_ffi_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(tvm_ffi CONFIG REQUIRED)
add_library(scale_peer MODULE scale_tvm_ffi.cc)
target_include_directories(scale_peer PRIVATE include .)
tvm_ffi_configure_target(scale_peer)
set_target_properties(scale_peer PROPERTIES CXX_STANDARD 17 PREFIX "" LINK_OPTIONS "-s")
install(TARGETS scale_peer DESTINATION scale_peer)
""",
    "scale_peer/__init__.py": """\
import pathlib
import tvm_ffi
scale = tvm_ffi.load_module(str(pathlib.Path(__file__).parent / "scale_peer.so")).scale
""",
}
TORCH_PROJECT = {
    "setup.py": """\
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension
setup(name="scale_torch", version="0.1.0", install_requires=["torch"],
      ext_modules=[CppExtension("scale_torch", ["scale_torch.cc"], extra_compile_args=["-O3"],
                                extra_link_args=["-s"])],
      cmdclass={"build_ext": BuildExtension})
""",
}


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def processor_seconds(command, cwd):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(result.stderr[-2000:])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def torch_command():
    """Returns the command that compiles TORCH_SOURCE, without its output. The command has the flags of scale.cc,
    PyTorch's folders, and C++20, which the headers of PyTorch require."""
    from torch.utils import cpp_extension

    command = build_cost.without_dependencies(build_cost.commands(BUILD)["kernels/scale/scale.cc"])
    arguments = [argument for argument in command[1:-2] if re.match("-(O|f|march|DNDEBUG)", argument)]
    folders = [*cpp_extension.include_paths(), sysconfig.get_path("include")]
    includes = [part for folder in folders for part in ("-isystem", str(folder))]
    return [command[0], *arguments, "-std=c++20", *includes, f"-DTORCH_EXTENSION_NAME={TORCH_MODULE}", "-c", str(TORCH_SOURCE)]


def torch_library(folder):
    """Compiles and links the PyTorch extension, and returns its path."""
    from torch.utils import cpp_extension

    out = folder / f"{TORCH_MODULE}.so"
    flags = [f"-L{path}" for path in cpp_extension.library_paths()]
    subprocess.run([*torch_command(), "-o", folder / "out.o"], check=True, capture_output=True)
    subprocess.run(["g++", "-shared", "-o", out, folder / "out.o", *flags, "-lc10", "-ltorch_cpu", "-ltorch",
                    "-ltorch_python"], check=True)  # fmt: skip
    return out


def measure_calls(rows, torch_path):
    import torch

    spec = importlib.util.spec_from_file_location(TORCH_MODULE, torch_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    functions = {implementation: tvm_ffi.load_module(str(path)).scale for implementation, path in LIBRARIES.items()}
    functions[TORCH] = module.scale
    x, y = torch.full((1,), 3.0), torch.zeros(1)
    timers = {}
    for implementation, function in functions.items():
        y.zero_()
        function(y, x, 2.0)
        assert y.item() == 6, implementation
        timers[implementation] = timeit.Timer("f(y, x, 2.0)", globals={"f": function, "x": x, "y": y})
    for implementation, samples in interleaved(timers, 0.005, 15).items():
        rows.add(f"cost/call from Python/{implementation}", samples)


def measure_compiling(rows, repetitions=3):
    commands_of_files = build_cost.commands(BUILD)
    with tempfile.TemporaryDirectory() as folder:
        out = ["-o", f"{folder}/out.o"]
        files_of_kernkit = {f"{KERNKIT}, once per library": build_cost.ONCE["kernkit"], KERNKIT: build_cost.HOST["kernkit"]}
        commands = {implementation: [[*build_cost.without_dependencies(commands_of_files[file]), *out] for file in files]
                    for implementation, files in {**files_of_kernkit, PEER: build_cost.HOST["tvm-ffi"]}.items()}  # fmt: skip
        commands[TORCH] = [[*torch_command(), *out]]
        samples = {implementation: [] for implementation in commands}
        for _ in range(repetitions):
            for implementation, several in commands.items():
                seconds = sum(processor_seconds(command, BUILD) for command in several)
                samples[implementation].append(seconds * 1e9)
    for implementation, times in samples.items():
        rows.add(f"cost/compiling/{implementation}", times)


def required(library):
    """Returns the names of the shared libraries that a library requires, except those that every Linux system has."""
    from kernkit.binaries.library import read_library
    from kernkit.binaries.rules import NEEDED

    return sorted(set(read_library(library).needed) - NEEDED)


def build_wheel(folder, source, **environment):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "-w", folder, source]
    subprocess.run(command, check=True, env={**os.environ, **environment})
    (wheel,) = pathlib.Path(folder).glob("*.whl")
    return wheel


def own_wheel(folder):
    """Builds the wheel of a library from `kernkit new` that has the op scale in place of the sample; returns its
    path."""
    tools = {**os.environ, "PYTHONPATH": str(ROOT / "sdk/python")}

    def kernkit(*arguments, cwd=folder):
        subprocess.run([sys.executable, "-B", "-m", "kernkit", *arguments], cwd=cwd, env=tools, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip

    kernkit("new", "scale_ours")
    library = folder / "scale_ours"
    kernkit("remove", "silu_and_mul", cwd=library)
    kernkit("add", "scale", "(Tensor(a!) y, Tensor x, float factor) -> ()", cwd=library)
    for name in ("scale.h", "scale.cc", "scale.cu"):
        text = (ROOT / "kernels/scale" / name).read_text()
        text = text.replace("namespace kernkit::kernels {", "namespace scale_ours {\nusing namespace kernkit;", 1)
        (library / "kernels/scale" / name).write_text(text.replace("kernkit::kernels", "scale_ours"))
    return build_wheel(folder / "own", library, KERNKIT_CUDA="OFF")


def peer_wheel(folder):
    project = folder / "peer_project"
    write(project, PEER_PROJECT)
    for name in ("scale_tvm_ffi.cc", "tvm_ffi_checks.h"):
        shutil.copy(ROOT / "bench/peers" / name, project)
    shutil.copytree(ROOT / "sdk/include", project / "include")  # the headers that define float16 and bfloat16
    return build_wheel(folder / "peer", project)


def torch_wheel(folder):
    project = folder / "torch_project"
    write(project, TORCH_PROJECT)
    shutil.copy(TORCH_SOURCE, project)
    return build_wheel(folder / "torch", project)


def tag(wheel):
    return "-".join(wheel.stem.split("-")[2:])


def measure_wheels(rows, folder):
    """Builds and measures the wheels. Returns {implementation: platform tag of the wheel}."""
    tags = {}
    for implementation, build in {KERNKIT: own_wheel, PEER: peer_wheel, TORCH: torch_wheel}.items():
        wheel = build(folder)
        assert any(name.endswith(".so") for name in zipfile.ZipFile(wheel).namelist())
        rows.add(f"cost/wheel/{implementation}", [wheel.stat().st_size], "bytes")
        tags[implementation] = tag(wheel)
    return tags


def record(rows, extra):
    """Returns the record from which table() makes README's table: the medians of all rows with their units, and
    `extra`."""
    import torch

    medians = {row["name"][len("cost/") :]: {"median": statistics.median(row["samples"]), "unit": row["unit"]}
               for row in rows.rows}  # fmt: skip
    versions = {"apache-tvm-ffi": tvm_ffi.__version__, "torch": torch.__version__.partition("+")[0]}
    return {"processor": processor(), "compiler": "g++ " + subprocess.run(
        ["g++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip(),
        "packages": versions, "rows": medians, **extra}  # fmt: skip


def table(record):
    """Returns README's table of costs in Markdown, from a record."""
    rows, names = record["rows"], (KERNKIT, PEER, TORCH)

    def cells(group, factor, form):
        return [form.format(rows[f"{group}/{name}"]["median"] / factor) for name in names]

    once = rows[f"compiling/{KERNKIT}, once per library"]["median"] / 1e9
    compiling = cells("compiling", 1e9, "{:.1f} s")
    compiling[0] += f", and {once:.1f} s once per library"
    libraries = [", ".join(f"`{name.partition('.so')[0]}`" for name in record["required"][name]) or "none" for name in names]
    wheels = [f"{size}, `{record['tags'][name]}`" for name, size in zip(names, cells("wheel", 1e3, "{:.0f} kB"))]
    lines = [
        ("", "kernkit", "tvm-ffi's headers", "PyTorch extension"),
        ("---",) * 4,
        ("call from Python, one element", *cells("call from Python", 1, "{:.0f} ns")),
        ("compile the op's C++ files, processor time", *compiling),
        ("library, stripped", *cells("library", 1e3, "{:.0f} kB")),
        ("wheel, and its tag", *wheels),
        ("shared libraries that the library requires", *libraries),
    ]
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


def main():
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--record", type=pathlib.Path)
    options, _ = parser.parse_known_args()
    sys.path.insert(0, str(ROOT / "sdk/python"))
    with Rows(__doc__) as rows, tempfile.TemporaryDirectory() as text:
        if importlib.util.find_spec("torch") is None:
            rows.skip("cost", "torch is not installed")
            return
        folder = pathlib.Path(text)
        path = torch_library(folder)
        measure_calls(rows, path)
        measure_compiling(rows)
        libraries = {**LIBRARIES, TORCH: path}
        for implementation, library in libraries.items():
            rows.add(f"cost/library/{implementation}", [build_cost.stripped_size(library)], "bytes")
        needs = {implementation: required(library) for implementation, library in libraries.items()}
        tags = measure_wheels(rows, folder)
        if options.record:
            options.record.write_text(json.dumps(record(rows, {"required": needs, "tags": tags}), indent=1) + "\n")


if __name__ == "__main__":
    main()
