# SPDX-License-Identifier: Apache-2.0
"""The results of every function of CUDA's math API for float and double, compiled by nvcc and run from PTX, are within
the bounds documented in the CUDA programming guide. The references have 200 bits. device_math.py lists the functions
and the bounds.

The names come from the toolkit's headers, so a new function fails a test."""

import itertools
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys

import device_math
import mpmath
import pytest
from cuda_tools import include_of
from device_math import DOUBLE, EQUAL, FAST, FLOAT, FUNCTIONS, OPERATIONS, OTHER_NAMES, c_function, intrinsic
from mpmath import mp

HEADERS = ("math_functions.h", "device_functions.h", "device_double_functions.h")
FORMATS = {"float": FLOAT, "double": DOUBLE}
MODES = "nzud"
SEED = 20


def wide(fmt, r):
    """Returns a random number, of any exponent or of ordinary magnitude."""
    if r.random() < 0.4:
        return fmt.rounded(mp.ldexp(r.uniform(-2, 2), r.randint(fmt.least, -fmt.least)))
    return fmt.rounded(r.choice((r.uniform(-1, 1), r.uniform(-100, 100), r.gauss(0, 1))))


def between(low, high):
    return lambda fmt, r: fmt.rounded(r.uniform(low, high))


INPUTS = {
    "wide": wide, "finite": wide, "nonzero": wide, "unit": between(-1, 1), "two": between(0, 2), "small": between(-80, 80), "bessel": between(-60, 60),
    "past 3": between(3.1, 60), "gamma": between(-30, 35), "circle": between(-3.14, 3.14), "exponent": between(-30, 30),
    "probability": lambda fmt, r: fmt.rounded(r.choice((r.random(), r.random() * 2.0 ** -r.randint(1, 100)))),
    "lgamma": lambda fmt, r: fmt.rounded(r.choice((r.uniform(-2.2, 30), r.uniform(-1000, -24), 2.0 ** r.uniform(0, 100)))),
    "positive": lambda fmt, r: fmt.rounded(2.0 ** r.uniform(-100, 100)),
    "divisor": lambda fmt, r: fmt.rounded(r.choice((-1, 1)) * 2.0 ** r.uniform(-60, 60)),
    "base": lambda fmt, r: fmt.rounded(2.0 ** r.uniform(-3, 3)),
    "whole": lambda fmt, r: fmt.rounded(r.choice((r.uniform(-1e6, 1e6), r.randint(-100, 100) + 0.5))),
}  # fmt: skip
# Kinds of inputs to which arguments_for() adds zeros, infinities and NaN.
WITH_SPECIALS = {"wide", "unit", "two", "probability", "gamma", "small", "bessel", "lgamma"}


def arguments_for(fmt, kind, arity, count, seed):
    r = random.Random(f"{seed} {fmt.name} {kind} {arity}")
    least = math.ldexp(1, fmt.least - fmt.bits + 1)
    usual = [1.0, -1.0, 0.5, -0.5, 2.0]
    edges = [least, -least, 3 * least, fmt.greatest, -fmt.greatest, math.ldexp(1, fmt.least), fmt.steps(1.0, 1), fmt.steps(1.0, -1)]
    single = [math.inf, -math.inf, math.nan, 0.0, -0.0] * (kind in WITH_SPECIALS)
    single += usual * (kind in WITH_SPECIALS | {"finite", "nonzero", "circle", "whole"})
    single += edges * (kind in ("wide", "finite", "nonzero"))
    rows = list(itertools.islice(itertools.product(single, repeat=arity), 400))
    r.shuffle(rows)
    make = INPUTS[kind]
    return rows[:120] + [tuple(make(fmt, r) for _ in range(arity)) for _ in range(count)]


def cases():
    """Returns {(function, format): (expression, C++ type of the result, kind of input, arity)}."""
    all_cases = {}
    for fmt in (FLOAT, DOUBLE):
        for name, function in FUNCTIONS.items():
            all_cases[name, fmt.name] = (function.expression, fmt.name, function.inputs, function.arity)
        for name, (expression, arity, result, _, kind) in EQUAL.items():
            all_cases[name, fmt.name] = (expression, result or fmt.name, kind, arity)
        for operation, (arity, _) in OPERATIONS.items():
            for mode in MODES:
                name = intrinsic(operation, fmt, mode)
                all_cases[name, fmt.name] = (f"{name}({', '.join('xyz'[:arity])})", fmt.name, "wide", arity)
    for name, (expression, *_, kind) in FAST.items():
        all_cases[name, "float"] = (expression, "float", kind, 2 if re.search(r"\by\b", expression) else 1)
    return all_cases


CASES = cases()


def source():
    lines = ["#include <cstdio>", "#include <vector>", "#include <cuda_runtime.h>"]
    rows = []
    for number, ((_, format_name), (expression, result, _, _)) in enumerate(CASES.items()):
        suffix = FORMATS[format_name].suffix
        wider = "long long" if result in ("int", "long long") else "double"
        lines += [f"__global__ void k{number}(const double* in, void* out, int n) {{", f"  using T = {format_name};",
                  "  const int i = blockIdx.x * blockDim.x + threadIdx.x;", "  if (i >= n) return;",
                  "  const T x = T(in[4 * i]), y = T(in[4 * i + 1]), z = T(in[4 * i + 2]), w = T(in[4 * i + 3]);",
                  "  (void)y, (void)z, (void)w;",
                  f"  static_cast<{wider}*>(out)[i] = {expression.replace('{f}', suffix)};", "}"]  # fmt: skip
        rows.append(f"k{number}")
    lines += [f"void (*const kernels[])(const double*, void*, int) = {{{', '.join(rows)}}};", MAIN]
    return "\n".join(lines)


MAIN = r"""
int main(int, char** argv) {  // input: for each run the kernel, the count and four numbers for each; output: 8 bytes for each
  FILE* in = std::fopen(argv[1], "rb"); FILE* out = std::fopen(argv[2], "wb");
  int head[2];
  while (std::fread(head, sizeof head, 1, in) == 1) {
    std::vector<double> x(4 * head[1]), y(head[1]);
    if (std::fread(x.data(), 32, head[1], in) != static_cast<size_t>(head[1])) return 1;
    double *dx, *dy;
    cudaMalloc(&dx, x.size() * 8); cudaMalloc(&dy, y.size() * 8);
    cudaMemcpy(dx, x.data(), x.size() * 8, cudaMemcpyHostToDevice);
    kernels[head[0]]<<<(head[1] + 127) / 128, 128>>>(dx, dy, head[1]);
    const cudaError_t error = cudaMemcpy(y.data(), dy, y.size() * 8, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess || cudaGetLastError() != cudaSuccess) return std::printf("kernel %d: %s\n", head[0], cudaGetErrorString(error)), 2;
    cudaFree(dx); cudaFree(dy);
    std::fwrite(y.data(), 8, head[1], out);
  }
  return std::fclose(out);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    folder = tmp_path_factory.mktemp("device_math")
    (folder / "all.cu").write_text(source())
    subprocess.run(["nvcc", "-std=c++17", "-arch=compute_80", "-cudart", "shared", "-diag-suppress=177", "-o", folder / "all", folder / "all.cu"], check=True)
    return folder / "all"


@pytest.fixture(scope="module")
def results(program, root, tmp_path_factory):
    """Returns run(count), which runs all cases with `count` random arguments each and returns {case: (arguments,
    results)}."""
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
    if not runtime.exists():
        pytest.skip("the simulator's runtime is not built")
    folder = tmp_path_factory.mktemp("runs")

    def run_cases(count, seed=SEED, chosen=tuple(CASES)):
        inputs = {}
        with (folder / "in").open("wb") as file:
            for number, (case, (_, _, kind, arity)) in enumerate(CASES.items()):
                if case not in chosen:
                    continue
                inputs[case] = arguments_for(FORMATS[case[1]], kind, arity, count, seed)
                file.write(struct.pack("<ii", number, len(inputs[case])))
                for row in inputs[case]:
                    file.write(struct.pack("<4d", *row, *[1.0] * (4 - len(row))))
        result = subprocess.run([sys.executable, "-B", "-m", "kernkit", "run", "--runtime", str(runtime), str(program), "in", "out"],
                                cwd=folder, env={**os.environ, "PYTHONPATH": str(root / "sdk/python")}, capture_output=True, text=True)  # fmt: skip
        assert result.returncode == 0, result.stdout + result.stderr
        data, at, results = (folder / "out").read_bytes(), 0, {}
        for case, rows in inputs.items():
            kind = "q" if CASES[case][1] in ("int", "long long") else "d"
            results[case] = (rows, struct.unpack_from(f"<{len(rows)}{kind}", data, at))
            at += 8 * len(rows)
        return results

    return run_cases


def is_special(x):
    return any(math.isnan(value) or math.isinf(value) or value == 0 for value in x)


def exact(reference, x):
    """Returns the reference's value: an mpf, or math.nan if the result is not a real number."""
    try:
        value = reference(*map(mp.mpf, x))
    except (ValueError, ZeroDivisionError):
        return math.nan
    return value if isinstance(value, mp.mpf) and not mpmath.isnan(value) else math.nan


def expected(name, function, fmt, x):
    """Returns the correctly rounded result."""
    if is_special(x) or function.reference is None:
        c = c_function(function.c_name or name, fmt, "x" * len(x))
        if function.special is None and c is not None:
            return c(*x)
        if any(map(math.isnan, x)) and not any(map(math.isinf, x)):
            return math.nan
        return fmt.rounded(mp.mpf(function.special(*x)))
    value = exact(function.reference, x)
    if value != 0 or isinstance(value, float):
        return fmt.rounded(value)
    c = c_function(function.c_name or name, fmt, "x" * len(x))  # The C library determines the sign of a zero.
    return 0.0 if c is None else c(*x)


def are_same(actual, expected_value):
    if math.isnan(expected_value) or math.isnan(actual):
        return math.isnan(expected_value) and math.isnan(actual)
    return actual == expected_value and (actual != 0 or math.copysign(1, actual) == math.copysign(1, expected_value))


def is_within(actual, expected_value, fmt, bound, absolute=0.0):
    if are_same(actual, expected_value):
        return True
    if math.isnan(actual) or math.isnan(expected_value):
        return False
    return abs(fmt.ordered(actual) - fmt.ordered(expected_value)) <= bound or abs(actual - expected_value) <= absolute


def is_inverse(actual, forward, fmt, x, bound):
    """Returns whether the result is at most `bound` + 1 steps away from the inverse of the monotonic function `forward`
    at x."""
    low, high = (forward(mp.mpf(fmt.steps(actual, step))) for step in (-bound - 1, bound + 1))
    return min(low, high) <= x <= max(low, high)


def check(case, rows, values):
    """Returns the errors in a function's results."""
    name, fmt = case[0], FORMATS[case[1]]
    function, at = FUNCTIONS[name], int(case[1] == "double")
    wrong = []
    for x, actual in zip(rows, values):
        if function.inverse_of is not None and not is_special(x):
            low, high = {"unit": (-1, 1), "two": (0, 2), "probability": (0, 1)}[function.inputs]
            if not low <= x[0] <= high:
                good = math.isnan(actual)
            elif x[0] in (low, high):
                increases = function.inverse_of(mp.mpf(1)) > function.inverse_of(mp.mpf(0))
                good = actual == (math.inf if (x[0] == high) == increases else -math.inf)
            else:
                good = is_inverse(actual, function.inverse_of, fmt, mp.mpf(x[0]), function.bounds[at])
            if not good:
                wrong.append((x, actual))
            continue
        expected_value = expected(name, function, fmt, x)
        bound = function.bounds[at]
        absolute = function.absolute[at] if name not in ("j0", "j1", "y0", "y1") or abs(x[0]) >= 8 else 0.0
        if not is_within(actual, expected_value, fmt, bound, absolute):
            wrong.append((x, actual, expected_value))
    return wrong


def test_every_function_of_the_headers_is_tested():
    folder = include_of("crt/math_functions.h")
    if folder is None:
        pytest.skip("crt/math_functions.h is not installed (wheel nvidia-cuda-runtime)")
    tested = set(OTHER_NAMES)
    for expression, *_ in CASES.values():
        for suffix in ("", "f"):
            tested |= set(re.findall(r"(\w+) ?\(", expression.replace("{f}", suffix)))
    missing = []
    for header in HEADERS:
        text = re.sub(r"/\*.*?\*/", "", (folder / "crt" / header).read_text(), flags=re.DOTALL)
        declared = re.findall(r"__device_builtin__\s+(?:__cudart_builtin__\s+)?(?:__CUDA_MATH_CRTIMP\s+)?([\w ]+?)\s*(?:__cdecl\s+|__CRTDECL\s+)?(\w+)\(([^)]*)\)", text)
        for result, name, parameters in declared:
            signature = f"{result} {parameters}"
            if re.search(r"\b(?:float|double)\b", signature) and "long double" not in signature and not is_of_another_test(name):
                missing += [name] * (name not in tested)
    assert missing == []


def is_of_another_test(name):
    """Returns whether the function is not tested here: it is a conversion, which convert_test.cc tests value by value,
    or it only copies bits."""
    return re.search(r"2(?:int|uint|ll|ull|float|double|hiint|loint)(?:_r[nzud])?$|_as_|^__hiloint2double$|^_F|^_f?dsign$|^_D", name)


def test_functions_are_within_their_documented_bounds(results):
    wrong = {}
    for case, (rows, values) in results(60).items():
        if case[0] in FUNCTIONS:
            failures = check(case, rows, values)
            if failures:
                wrong[case] = (len(failures), failures[:3])
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_functions_at_many_arguments(results, seed):
    test_functions_are_within_their_documented_bounds(lambda count: results(1000, f"many {seed}"))


def test_functions_whose_results_are_exact(results):
    chosen = {case for case in CASES if case[0] in EQUAL}
    for case, (rows, values) in results(60, chosen=chosen).items():
        reference = EQUAL[case[0]][3]
        for x, got in zip(rows, values):
            if case[0] in ("frexp", "frexp, exponent", "modf", "modf, whole", "ilogb") and is_special(x):
                continue
            if case[0].startswith("remquo") and (any(map(math.isnan, x)) or math.isinf(x[0]) or x[1] == 0):
                continue
            assert are_same(got, reference(FORMATS[case[1]], *x)), (case, x, got)


def rounded_exactly(operation, fmt, mode, x):
    """Returns the result of an operation according to IEEE 754: math.nan for the root of a negative number, and None
    for arguments that are infinite or NaN, for a division by zero and for a result of zero."""
    if any(map(math.isnan, x)) or any(map(math.isinf, x)):
        return None  # tested by test_operations_at_infinities
    if operation == "sqrt" and x[0] < 0:
        return math.nan
    if operation in ("div", "rcp") and x[-1] == 0:
        return None
    value = OPERATIONS[operation][1](*map(mp.mpf, x))
    return None if value == 0 else fmt.rounded(value, mode)


def test_intrinsics_in_each_rounding(results):
    intrinsics = {(intrinsic(operation, fmt, mode), fmt.name): (operation, mode) for operation in OPERATIONS for fmt in (FLOAT, DOUBLE) for mode in MODES}
    with mp.workprec(5000):  # enough bits for exact sums of the smallest and largest numbers
        for case, (rows, values) in results(60, chosen=set(intrinsics)).items():
            operation, mode = intrinsics[case]
            for x, actual in zip(rows, values):
                expected_value = rounded_exactly(operation, FORMATS[case[1]], mode, x)
                if expected_value is None:
                    expected_value = by_the_processor(operation, mode, x)
                assert are_same(actual, expected_value), (case, x, actual, expected_value)


def by_the_processor(operation, mode, x):
    """Returns the result for zeros, infinities and NaN, computed by Python in rounding to nearest."""
    def divided(a, b):
        if b != 0 or math.isnan(a):
            return a / b if b != 0 else math.nan
        return math.nan if a == 0 or math.isnan(b) else math.copysign(math.inf, a) * math.copysign(1, b)

    def summed(a, b):
        if a == -b and not math.isinf(a) and (a != 0 or math.copysign(1, a) != math.copysign(1, b)):
            return -0.0 if mode == "d" else 0.0
        return a + b

    if operation == "fma":
        product = x[0] * x[1]
        exact_product = mp.mpf(x[0]) * mp.mpf(x[1]) if all(map(math.isfinite, x)) else None
        if exact_product is not None and exact_product != 0:
            return -0.0 if mode == "d" else 0.0  # the exact sum is zero; the rounding mode determines its sign
        return summed(product, x[2])
    return {"add": lambda: summed(*x), "sub": lambda: summed(x[0], -x[1]), "mul": lambda: x[0] * x[1], "div": lambda: divided(*x),
            "rcp": lambda: divided(1.0, x[0]), "sqrt": lambda: math.nan if x[0] < 0 else math.sqrt(x[0])}[operation]()  # fmt: skip


def test_fast_intrinsics(results):
    for case, (rows, values) in results(200, chosen={case for case in CASES if case[0] in FAST}).items():
        _, reference, allowed, _ = FAST[case[0]]
        for x, actual in zip(rows, values):
            expected_value = FLOAT.rounded(exact(reference, x))
            assert is_within(actual, expected_value, FLOAT, *allowed(*x, expected_value)), (case, x, actual, expected_value)


def test_a_wrong_result_is_found():
    assert check(("exp", "double"), [(1.0,)], [DOUBLE.steps(math.e, 2)])
    assert not check(("exp", "double"), [(1.0,)], [DOUBLE.steps(math.e, 1)])
    assert check(("erfinv", "float"), [(0.5,)], [FLOAT.steps(FLOAT.rounded(mpmath.erfinv(0.5)), 6)])
    assert device_math.FLOAT.rounded(mp.mpf(2) ** 128) == math.inf
