# SPDX-License-Identifier: Apache-2.0
"""The work of a cell: builds a part of kernkit with the cell's tools and runs tests. Each kind of work takes at most
two minutes of processor time."""

import os
import pathlib
import re
import subprocess
import sys
from typing import Any, Callable, Dict, List

from cells import BASE, CELLS, Cell
from tools import FOLDER, ROOT, Failed, c_compiler, cxx_of, environment, nvidia, program, python_of, toolkit_for_clang

sys.path.insert(0, str(ROOT / "tests/project"))
from commands import timed  # noqa: E402

# In this order: tests of the SDK's headers, tests of the host, contract tests of ops that break rules, and contract
# tests of the kernels, whose .cu files are compiled as C++.
HOST_TESTS = ["sdk_alone_test", "sdk_with_host_test", "sdk_contract_test", "contract_test"]
LIBRARY = "kernkit_kernels"
ARCHITECTURES = "80;90-real"
# Elementwise kernels, and a row kernel.
COMPILED_BY_CLANG = ("add", "scale", "softmax")
# Tests that call a library from Python.
CALLS = [f"tests/interop/test_{name}.py" for name in ("numpy", "numpy_alone", "lifetime", "values", "arguments", "batches")]
# Tests that inspect the library's file, as in `./kk test`: architectures, spills, width of loads and stores, exports.
INSPECTIONS = ["tests/project/built/test_cuda_code.py", "tests/project/built/test_exports.py"]
_PASSED = re.compile(r"\[  PASSED  \] (\d+) test")
_OF_PYTEST = re.compile(r"^=*\s*(\d+ passed.*?) in [\d.]+s", re.MULTILINE)


class Run:
    """Runs the steps of one cell, and records their outcomes, their processor time, and a log."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.folder = FOLDER / cell.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "log"
        self.log.write_text("")
        self.seconds = 0.0  # processor time of all steps
        self.version = ""
        self.checks: Dict[str, Any] = {}

    def step(self, *command: Any, **variables: str) -> str:
        """Runs a command and returns its output. Raises Failed if the command fails; its output is then in the log."""
        words = [str(word) for word in command]
        seconds, code, output = timed(words, cwd=ROOT, env={**os.environ, **variables})
        self.seconds += seconds
        with self.log.open("a") as log:
            log.write(f"$ {' '.join(words)}\n{output}\n")
        if code != 0:
            error = re.search(r"^.*(?:error|Error|FAILED).*$", output, re.MULTILINE)
            detail = f": {error[0].strip()[:200]}" if error else ""
            raise Failed(f"{pathlib.Path(words[0]).name} ended with exit code {code}{detail}")
        return output

    def build(self, *targets: str, **options: str) -> pathlib.Path:
        """Builds these targets and returns the build folder. `options` are variables of CMake."""
        folder = self.folder / "build"
        defined = [f"-D{name}={value}" for name, value in {"KERNKIT_CUDA": "OFF", "KERNKIT_BUILD_BENCHMARKS": "OFF", **options}.items()]
        self.step("cmake", "--preset", "release", "--fresh", "-B", folder, *defined)
        self.step("cmake", "--build", folder, "--target", *targets)
        return folder

    def run_tests(self, *programs: pathlib.Path) -> None:
        """Runs programs of GoogleTest. Raises Failed if a test failed, or if no test ran."""
        for path in programs:
            match = _PASSED.search(self.step(path))
            if not match:
                raise Failed(f"{path.name} ran no test")
            self.checks[path.name] = int(match[1])

    def pytest(self, name: str, files: List[str], *options: str, python: Any = sys.executable, **variables: str) -> None:
        """Runs files of pytest. Raises Failed if a test failed, or if no test passed."""
        match = _OF_PYTEST.search(self.step(python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, *options, **variables))
        if not match:
            raise Failed(f"{name}: no test passed")
        self.checks[name] = int(match[1].split()[0])


def first_line(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.partition("\n")[0]


def version_of(cxx: str) -> str:
    """Returns the version that a compiler prints, as in "12.2.0"."""
    return re.findall(r"\d+\.\d+\.\d+", first_line(cxx, "--version"))[-1] if "g++" in cxx and "clang" not in cxx else re.search(
        r"clang version (\d+\.\d+\.\d+)", first_line(cxx, "--version"))[1]  # fmt: skip


def on_host(run: Run) -> None:
    settings = run.cell.settings
    cxx = cxx_of(settings)
    run.version = version_of(cxx)
    options = {"CMAKE_CXX_COMPILER": cxx, "CMAKE_C_COMPILER": c_compiler(cxx), "CMAKE_CXX_FLAGS": settings.get("flags", "")}
    if "standard" in settings:
        options["CMAKE_CXX_STANDARD"] = settings["standard"]
    folder = run.build(LIBRARY, *HOST_TESTS, **options)
    run.run_tests(*(folder / "bin" / name for name in HOST_TESTS))


def by_nvcc(run: Run) -> None:
    """Compiles the library and its contract tests by nvcc, and runs the tests on nvcc's PTX in the simulator."""
    nvcc = next(nvidia(run.cell.name, run.cell.settings["package"]).glob("cu*/bin/nvcc"))
    run.version = re.search(r", V([\d.]+)", run.step(nvcc, "--version"))[1]
    folder = run.build(LIBRARY, "contract_on_ptx_test", KERNKIT_CUDA="ON", CMAKE_CUDA_COMPILER=str(nvcc), CUDAToolkit_ROOT=str(nvcc.parents[1]),
                       CMAKE_CUDA_ARCHITECTURES=ARCHITECTURES, CMAKE_CXX_COMPILER=program(BASE))  # fmt: skip
    run.run_tests(folder / "bin/contract_on_ptx_test")
    run.pytest("inspections", INSPECTIONS, "-k", "not of_one_kernel", LIBRARY=str(folder / "lib/libkernkit_kernels.so"))


def by_clang(run: Run) -> None:
    """Compiles .cu files of kernels by clang++, with the headers and the ptxas of CUDA 12."""
    settings = run.cell.settings
    clang = program(settings["compiler"])
    newest = next(cell for cell in reversed(CELLS) if cell.work == "nvcc")
    fatbinary = next(nvidia(newest.name, newest.settings["package"]).glob("cu*/bin/fatbinary"))
    toolkit = toolkit_for_clang(run.cell.name, settings["package"], fatbinary)
    run.version = f"clang++ {version_of(clang)}"
    dlpack = first_line(sys.executable, "-c", "import tvm_ffi.libinfo as info; print(info.find_dlpack_include_path())")
    files = [ROOT / f"kernels/{name}/{name}.cu" for name in COMPILED_BY_CLANG]
    for file in files:
        run.step(clang, "-x", "cuda", f"--cuda-path={toolkit}", "--cuda-gpu-arch=sm_80", "--cuda-gpu-arch=sm_90", "-std=c++17", "-O2", "-Wall",
                 "-Wextra", "-Werror", "-Wno-unknown-cuda-version", "-DKERNKIT_COMPILED", "-DKERNKIT_WITH_CUDA", f"-I{ROOT / 'kernels'}",
                 f"-I{ROOT / 'sdk/include'}", "-isystem", dlpack, "-c", file, "-o", run.folder / f"{file.stem}.o")  # fmt: skip
    run.checks["compiled files"] = len(files)


def library_of_base(run: Run) -> pathlib.Path:
    """Returns the path of the library that the base's compiler built. Builds the library if no cell has built it
    before."""
    path = FOLDER / CELLS[0].folder / "build/lib/libkernkit_kernels.so"
    return path if path.exists() else run.build(LIBRARY, CMAKE_CXX_COMPILER=program(BASE)) / "lib/libkernkit_kernels.so"


def requirements(names: List[str]) -> List[str]:
    """Returns the lines of tests/requirements*.txt for these packages."""
    lines = [line for file in sorted((ROOT / "tests").glob("requirements*.txt")) for line in file.read_text().splitlines()]
    return [line.partition("#")[0].strip() for line in lines if re.split("[=;]", line)[0] in names]


def with_python(run: Run) -> None:
    """Installs kernkit's wheel in an environment of the cell's Python, then runs `kernkit new` and calls the base's
    library."""
    interpreter = python_of(run.cell.settings)
    run.version = first_line(interpreter, "--version").split()[-1]
    folder = environment(f"Python-{run.cell.name}", requirements(["apache-tvm-ffi", "numpy", "pytest", "ml_dtypes", "pyelftools"]), interpreter)
    run.step(sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet", "--force-reinstall", "--no-deps", ".")
    run.step(sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet", "cookiecutter")
    run.step("rm", "-rf", run.folder / "fast_kernels")
    run.step(folder / "bin/kernkit", "new", "fast_kernels", "--no-git", "--output", run.folder)
    run.checks["kernkit new"] = sum(path.is_file() for path in (run.folder / "fast_kernels").rglob("*"))
    run.pytest("calls", CALLS, python=folder / "bin/python", LIBRARY=str(library_of_base(run)), VIRTUAL_ENV=str(folder), CXX=program(BASE))


def with_tvm_ffi(run: Run) -> None:
    """Builds the library and the tests of the host with a release of apache-tvm-ffi, and calls the library by that
    release."""
    folder = environment(f"tvm-ffi-{run.cell.name}",
                         [run.cell.settings["package"], *requirements(["numpy", "pytest", "ml_dtypes", "pyelftools"])])  # fmt: skip
    python = folder / "bin/python"
    run.version = first_line(str(python), "-c", "import tvm_ffi; print(tvm_ffi.__version__)")
    include = next(folder.glob("lib/python*/site-packages/tvm_ffi/include"))
    built = run.build(LIBRARY, "sdk_with_tvm_ffi_test", CMAKE_CXX_COMPILER=program(BASE), DLPACK_INCLUDE_DIR=str(include))
    run.run_tests(built / "bin/sdk_with_tvm_ffi_test")
    run.pytest("calls", CALLS, python=python, LIBRARY=str(built / "lib/libkernkit_kernels.so"), VIRTUAL_ENV=str(folder))


WORK: Dict[str, Callable[[Run], None]] = {"host": on_host, "nvcc": by_nvcc, "clang": by_clang, "python": with_python, "tvm_ffi": with_tvm_ffi}
