# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles without other includes before it, and includes no large header."""

import pathlib
import re
import shutil
import subprocess

import pytest

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "sdk/include"
SHIM = INCLUDE.parent / "simulator/shim"
SIMULATOR = INCLUDE.parent / "simulator/include"
HEADERS = sorted(p.relative_to(folder) for folder in (INCLUDE, SIMULATOR) for p in folder.rglob("*.h"))
# Headers that a kernel's file may include: all headers except those for testing, CUDA, the simulator and hosts.
LIGHT = [h for h in HEADERS if h.parts[1] not in ("testing", "cuda", "cuda_on_cpu", "simulator", "host")]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compile_text(compiler, flags, text, dlpack_include):
    command = [compiler, *flags, "-I", INCLUDE, "-I", SIMULATOR, "-isystem", dlpack_include, "-"]
    command[1:1] = ["-isystem", cuda_include() or SHIM]
    return subprocess.run(command, input=text, capture_output=True, text=True)


def cuda_include():
    nvcc = shutil.which("nvcc")
    return pathlib.Path(nvcc).resolve().parents[1] / "include" if nvcc else None


def text_of(header):
    return next(folder / header for folder in (INCLUDE, SIMULATOR) if (folder / header).exists()).read_text()


# Matches macros that a header uses if its code depends on the compiler.
COMPILERS = re.compile(r"__clang__|__GNUC__|__has_\w+")
# The headers in testing/, which include GoogleTest, belong to tier all, because they take half of the time.
MARKED = [pytest.param("g++", h, marks=[pytest.mark.all] * (h.parts[1] == "testing"), id=f"{h}-g++") for h in HEADERS]
# clang++ uses the same standard library as g++, so only headers that depend on the compiler are also compiled by
# clang++.
MARKED += [pytest.param("clang++", h, marks=pytest.mark.all, id=f"{h}-clang++")
           for h in HEADERS if COMPILERS.search(text_of(h))]  # fmt: skip


def compile_headers(compiler, headers, dlpack_include):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    text = "".join(f'#include "{header}"\n' for header in headers)
    flags = ["-x", "c++", "-std=c++17", *WARNINGS, "-c", "-o", "/dev/null"]
    result = compile_text(compiler, flags, text, dlpack_include)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("compiler, header", MARKED)
def test_compiles_alone(compiler, header, dlpack_include):
    compile_headers(compiler, [header, header], dlpack_include)


@pytest.mark.all
def test_clang_warns_of_nothing(dlpack_include):
    assert len(HEADERS) > 100
    compile_headers("clang++", HEADERS, dlpack_include)


PRODUCT_AND_SUM = """
#include "kernkit/cpu/elementwise.h"
float x[100], y[100], z[100];
int main(int, char**) {
  for (int i = 0; i < 100; ++i) x[i] = 1.0f + 0.37f * i, y[i] = 3.0f - 0.11f * i;
  const auto op = [](float a, float b) { return a * b + 0.3f; };
  for (int n = 1; n <= 100; ++n) {
    kernkit::cpu::elementwise(n, op, z, static_cast<const float*>(x), static_cast<const float*>(y));
    for (int i = 0; i < n; ++i) {
      volatile float product = x[i] * y[i];
      if (z[i] != product + 0.3f) return n;
    }
  }
  return 0;
}
"""


@pytest.mark.parametrize("compiler, flag", [("g++", None), ("clang++", "-ffp-contract=off")])
def test_elementwise_does_not_fuse_whatever_n(compiler, flag, dlpack_include, tmp_path):
    """If FMA is enabled by a compiler option, without kernkit's CMake functions, elementwise() still rounds each
    product before the addition, for any n. clang++ needs the option that docs/edit-to-call.md names."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if " fma " not in (cpuinfo.read_text() if cpuinfo.exists() else ""):
        pytest.skip("this processor has no FMA")
    assert not flag or f"`{flag}`" in (INCLUDE.parents[1] / "docs/edit-to-call.md").read_text()
    program = tmp_path / "program"
    flags = ["-x", "c++", "-std=c++17", "-O2", "-march=haswell", "-pthread", "-o", program]
    result = compile_text(compiler, [*flags, *[flag] * bool(flag)], PRODUCT_AND_SUM, dlpack_include)
    assert result.returncode == 0, result.stderr
    assert subprocess.run([program]).returncode == 0, "the exit code is the first n with a fused element"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_abi_is_c99(compiler, dlpack_include):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    flags = ["-x", "c", "-std=c99", *WARNINGS, "-fsyntax-only"]
    text = '#include "kernkit/abi/abi.h"\n#include "kernkit/abi/xla.h"\nint main(void) { return 0; }\n'
    result = compile_text(compiler, flags, text, dlpack_include)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("header", LIGHT, ids=str)
def test_includes_nothing_heavy(header, dlpack_include):
    result = compile_text(
        "g++", ["-x", "c++", "-std=c++17", "-M"], f'#include "{header}"', dlpack_include
    )
    heavy = {"iostream", "sstream", "string", "regex", "functional", "cmath", "memory", "tuple"}
    included = {pathlib.Path(p).name for p in result.stdout.split() if "/c++/" in p}
    assert not included & heavy


@pytest.mark.parametrize(
    "header, lines", [("kernkit/tensor.h", 9000), ("kernkit/expect.h", 10500), ("kernkit/export.h", 14000)]
)
def test_preprocessed_size(header, lines, dlpack_include):
    """The preprocessed headers for kernels have fewer lines than a limit, because the compile time depends on their
    size."""
    result = compile_text(
        "g++", ["-x", "c++", "-std=c++17", "-E"], f'#include "{header}"', dlpack_include
    )
    assert result.stdout.count("\n") < lines


@pytest.mark.parametrize("header", HEADERS, ids=str)
def test_macros_have_the_prefix(header):
    names = re.findall(r"^#define +(\w+)", text_of(header), re.MULTILINE)
    assert all(name.startswith("KERNKIT_") for name in names)


OUTSIDE = """
#include "kernkit/cpu/allocator.h"
int main(int, char** argv) {
  int64_t size = 100;
  DLTensor x{nullptr, {kDLCPU, 0}, 1, {kDLUInt, 8, 1}, &size, nullptr, 0};
  kernkit::CPUNDAlloc alloc;
  alloc.AllocData(&x);
  volatile char* data = static_cast<char*>(x.data);
  data[0] = data[99] = 1;
  data[atoi(argv[1])] = 1;
  alloc.FreeData(&x);
}
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_allocated_memory_is_guarded_by_address_sanitizer(compiler, dlpack_include, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    flags = ["-x", "c++", "-std=c++17", "-fsanitize=address", "-g1", "-o", tmp_path / "program"]
    result = compile_text(compiler, flags, OUTSIDE, dlpack_include)
    assert result.returncode == 0, result.stderr
    for index in ("100", "-1"):
        completed = subprocess.run([tmp_path / "program", index], capture_output=True, text=True)
        match = re.search(r"heap-buffer-overflow(.|\n)*#0 .* in main .*<stdin>:10", completed.stderr)
        assert match, f"data[{index}]: {completed.stderr or 'nothing was reported'}"
