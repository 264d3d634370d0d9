# SPDX-License-Identifier: Apache-2.0
"""Compilers vectorise the loops of ops: their machine code has neither a call nor scalar arithmetic."""

import os
import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.all

OPS = """
#include "kernkit/cpu/elementwise.h"
#include "kernkit/math.h"
namespace kernkit::cpu {
#define OP(name, type)                                                      \\
  struct name##_##type {                                                    \\
    type operator()(type x) const { return math::name(x); }                 \\
  };                                                                        \\
  template void elementwise(int64_t, const name##_##type&, type*, const type*);
OP(exp, float) OP(exp_of_negative, float) OP(log, float) OP(tanh, float) OP(erf, float) OP(sigmoid, float) OP(silu, float)
OP(gelu, float) OP(gelu_tanh, float) OP(rsqrt, float)
OP(exp, double) OP(log, double) OP(sigmoid, double) OP(silu, double) OP(rsqrt, double)

// A comparison of floats, the large op of a gate, and one that is larger than any compiler inlines.
struct leaky_relu {
  float operator()(float x) const { return x > 0 ? x : 0.01f * x; }
};
struct silu_and_mul {
  template <class T>
  T operator()(T gate, T up) const { return math::silu(gate) * up; }
};
struct all_of_them {
  float operator()(float x, float y) const {
    return math::gelu(x) * math::tanh(y) + math::silu(y) * math::erf(x + y) -
           math::log(x) * math::exp(y) + math::gelu_tanh(x - y);
  }
};
template void elementwise(int64_t, const leaky_relu&, float*, const float*);
template void elementwise(int64_t, const silu_and_mul&, double*, const double*, const double*);
#define ON(op, type) template void elementwise(int64_t, const op&, type*, const type*, const type*);
ON(silu_and_mul, float) ON(silu_and_mul, float16) ON(silu_and_mul, bfloat16)
ON(all_of_them, float) ON(all_of_them, float16) ON(all_of_them, bfloat16)
}
"""
# The number of loops: each op has a loop for each of three instruction sets, except that the AVX2 loop of float16 also
# serves AVX-512, and bfloat16 has an additional loop.
LOOPS = 3 * (15 + 1 + 1 + 2) + 2 * 2 + 4 * 2

SCALAR = (
    r"v?(?:add|sub|mul|div|sqrt|min|max|u?comi|cmp\w*|fn?m\w+)s[sd]"
    r"|v?cvt(?:t?s[sd]2u?si|u?si2s[sd]|s[sd]2s[sd])[lq]?"
)
PACKED = r"v?(?:add|sub|mul|div|sqrt|min|max|cmp\w*|cvt\w+)p[sd]\w*"


def flags(root):
    """Returns the options -f... that kernkit's CMake functions pass to the compiler for each file of a library."""
    text = (root / "sdk/cmake/KernkitLibrary.cmake").read_text()
    return re.findall(r"-f\S+", re.search(r"set\(host (-Wall[^)]*)\)", text)[1])


def loops(compiler, level, root, dlpack_include, object_file, source=OPS, pattern="LoopsOf<"):
    """Compiles a source and returns {loop: its instructions}."""
    if not shutil.which(compiler) or os.uname().machine != "x86_64":
        pytest.skip(f"{compiler} is not installed, or this machine is not x86-64")
    command = [compiler, "-x", "c++", "-std=c++17", level, *flags(root), "-DKERNKIT_COMPILED",
               "-Wno-pass-failed", "-I", root / "sdk/include", "-isystem", dlpack_include, "-c", "-",
               "-o", object_file]  # fmt: skip
    result = subprocess.run(command, input=source, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    listing = subprocess.run(["objdump", "-dC", "--no-show-raw-insn", object_file],
                             capture_output=True, text=True, check=True).stdout  # fmt: skip
    code_by_loop = {}
    for function in listing.split("\n\n"):
        name = re.search(r"<(.*)>:\n", function)
        if name and pattern in name[1]:
            code_by_loop[name[1]] = re.findall(r"^ +[0-9a-f]+:\t(?:data16 |cs |bnd )*(\w+)", function, re.MULTILINE)
    return code_by_loop


@pytest.mark.parametrize("level", ["-O3", pytest.param("-O2", marks=pytest.mark.all)])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_ops_have_no_call_and_no_scalar_arithmetic(compiler, level, root, dlpack_include, tmp_path):
    code_by_loop = loops(compiler, level, root, dlpack_include, tmp_path / "ops.o")
    assert len(code_by_loop) == LOOPS
    for name, instructions in code_by_loop.items():
        scalar = {i for i in instructions if re.fullmatch(SCALAR, i)}
        assert "call" not in instructions and not scalar, (name, scalar)
        assert any(re.fullmatch(PACKED, i) for i in instructions), name


ROWS = """
#include "kernkit/cpu/rows.h"
#include "kernkit/math.h"
namespace kernkit::cpu {
template <class T>
struct Norm {
  T* y;
  const T* x;
  int64_t d;
  template <class Row>
  KERNKIT_DEVICE void operator()(const Row& row, int64_t r) const {
    const float squares = row.sum([](float v) { return v * v; }, x + r * d);
    const float scale = math::rsqrt(squares / static_cast<float>(d));
    row.map([scale](float v) { return math::silu(v) * scale; }, y + r * d, x + r * d);
  }
};
template void rows(int64_t, int64_t, size_t, const Norm<float>&);
template void rows(int64_t, int64_t, size_t, const Norm<bfloat16>&);
template void rows(int64_t, int64_t, size_t, const Norm<float16>&);
void scaled(int64_t n, int64_t d, float* y, const float* x) {
  rows(n, d, 0, [=](const auto& row, int64_t r) {
    const float most = row.max([](float v) { return v; }, x + r * d);
    row.map([most](float v) { return v / most; }, y + r * d, x + r * d);
  });
}
}
"""


@pytest.mark.parametrize("compiler", ["g++", pytest.param("clang++", marks=pytest.mark.all)])
def test_a_body_of_rows_is_inlined_into_each_loop(compiler, root, dlpack_include, tmp_path):
    """The body of a row op is inlined into the loop of each instruction set: a function that is called would be
    compiled for the baseline instruction set."""
    code_by_loop = loops(compiler, "-O3", root, dlpack_include, tmp_path / "rows.o", ROWS, "RowsOf<")
    loops_of_sets = {name: code for name, code in code_by_loop.items() if "::best(" not in name}
    assert len(loops_of_sets) == 4 * 3
    # The baseline loops of 16-bit floats are not vectorised: without AVX2, 16-bit floats are converted element by
    # element.
    not_vectorised = {name for name in loops_of_sets if "::baseline(" in name and re.search("::b?float16>", name)}
    assert len(not_vectorised) == 2
    for name, instructions in loops_of_sets.items():
        if name in not_vectorised:
            continue
        assert sum(bool(re.fullmatch(PACKED, i)) for i in instructions) >= 16, (name, len(instructions))


def test_halves_are_added_in_registers(root, dlpack_include, tmp_path):
    """Sums of 16-bit floats stay in registers. With an asm that writes converted values to memory, g++ keeps the sums
    in memory too, at 0.6 of the speed."""
    code_by_loop = loops("g++", "-O3", root, dlpack_include, tmp_path / "rows.o", ROWS, "RowsOf<")
    halves = [code for name, code in code_by_loop.items() if "::float16>" in name and "::avx" in name]
    assert len(halves) == 2
    for code in halves:
        following = [code[i + 1] for i, name in enumerate(code) if name == "vcvtph2ps"]
        assert len(following) >= 12 and "vmovups" not in following, following


def test_run_time_compilation_is_shown_with_the_flags_of_cmake(root):
    text = (root / "docs/examples/edit_to_call.py").read_text()
    assert re.findall(r'"(-f\S+?)"', re.search(r"ARITHMETIC = (.*)", text)[1]) == flags(root)
