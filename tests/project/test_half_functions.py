# SPDX-License-Identifier: Apache-2.0
"""The simulator runs every numeric function of CUDA's half and bfloat16 headers from nvcc's PTX, with correct results.
For a function that the headers also implement on the host, the reference is that integer code, compiled by the host
compiler, bit by bit; for other functions it is the C library in double precision, within two units in the last place.

The names come from the toolkit's headers, so a new function fails a test."""

import os
import re
import subprocess
import sys

import pytest
from cuda_tools import include_of, tool

HEADERS = ("cuda_fp16.hpp", "cuda_bf16.hpp")
FUNCTION = re.compile(r"__CUDA_(HOSTDEVICE_)?(?:FP16|BF16)_DECL__\s+([\w ]+?)\s+(\w+)\(([^)]*)\)\s*(?:noexcept\s*)?\{")
ARGUMENT = re.compile(r"(?:const )?([\w ]+?)(?: const)? (\w+)")
# {type: expression of an argument made from the number x}
CONVERSIONS = {"__half2": "__half2half2(x)", "__nv_bfloat16": "__float2bfloat16(__half2float(x))",
               "__nv_bfloat162": "__float2bfloat162_rn(__half2float(x))", "float2": "make_float2(__half2float(x), 1)"}  # fmt: skip
# The numbers 0.5, 1.4, -2.5, -1/3, 4.5, 3.5, the smallest normal half and -0.01. Some are ties when rounded to
# integers, and none overflows.
INPUTS = (0x3800, 0x3D9A, 0xC100, 0xB555, 0x4480, 0x4300, 0x0400, 0xA11F)
KERNEL = "__global__ void k{n}({type}* y) {{\n  const __half x = __ushort_as_half(kInputs[threadIdx.x]);\n  y[threadIdx.x] = {call};\n}}\n"
HOST = "static {type} h{n}(__half x) {{ return {call}; }}\n"
LAUNCH = '  run(k{n}, {host}, {reference}, "{call}");\n'
# {device-only function: its expression with functions of the C library}
REFERENCES = {"sin": "std::sin(x)", "cos": "std::cos(x)", "exp": "std::exp(x)", "exp2": "std::exp2(x)", "exp10": "std::pow(10, x)",
              "log": "std::log(x)", "log2": "std::log2(x)", "log10": "std::log10(x)", "tanh": "std::tanh(x)", "sqrt": "std::sqrt(x)",
              "rsqrt": "1 / std::sqrt(x)", "rcp": "1 / x", "trunc": "std::trunc(x)", "ceil": "std::ceil(x)", "floor": "std::floor(x)",
              "rint": "std::nearbyint(x)"}  # fmt: skip
ROUNDED = {"rn": "std::nearbyint(x)", "rd": "std::floor(x)", "ru": "std::ceil(x)"}
PROGRAM = r"""
#include <cmath>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__device__ const unsigned short kInputs[] = {INPUTS};
const unsigned short kHostInputs[] = {INPUTS};
constexpr int kCount = sizeof(kHostInputs) / sizeof(kHostInputs[0]);
// Elements of a result as double.
template <class T> void elements(T value, double* to) { to[0] = to[1] = static_cast<double>(value); }
void elements(__half value, double* to) { to[0] = to[1] = __half2float(value); }
void elements(__nv_bfloat16 value, double* to) { to[0] = to[1] = __bfloat162float(value); }
void elements(__half2 value, double* to) { to[0] = __low2float(value), to[1] = __high2float(value); }
void elements(__nv_bfloat162 value, double* to) { to[0] = __low2float(value), to[1] = __high2float(value); }
void elements(float2 value, double* to) { to[0] = value.x, to[1] = value.y; }
// What the function got: for bfloat16 the number rounded to bfloat16.
template <class T> double argument(__half x) {
  const float value = __half2float(x);
  const bool brain = std::is_same<T, __nv_bfloat16>::value || std::is_same<T, __nv_bfloat162>::value;
  return brain ? __bfloat162float(__float2bfloat16(value)) : value;
}
// Two units in the last place, relative.
template <class T> double bound() {
  const bool brain = std::is_same<T, __nv_bfloat16>::value || std::is_same<T, __nv_bfloat162>::value;
  const bool half = std::is_same<T, __half>::value || std::is_same<T, __half2>::value;
  return brain ? 1.0 / 64 : half ? 1.0 / 512 : 0;
}
template <class T, class Host>
void run(void (*kernel)(T*), Host host, double (*reference)(double), const char* call) {
  static T* y = nullptr;
  if (y == nullptr) cudaMallocManaged(&y, kCount * sizeof(T));
  std::memset(static_cast<void*>(y), 0x5a, kCount * sizeof(T));
  kernel<<<1, kCount>>>(y);
  if (cudaDeviceSynchronize() != cudaSuccess) std::printf("%s: failed\n", call);
  for (int i = 0; i < kCount; ++i) {
    const __half x = __ushort_as_half(kHostInputs[i]);
    double got[2], wanted[2];
    elements(y[i], got);
    if constexpr (!std::is_same<Host, std::nullptr_t>::value) {
      const T value = host(x);
      elements(value, wanted);
      const bool both_nan = std::isnan(got[0]) && std::isnan(wanted[0]);
      if (!both_nan && std::memcmp(&value, &y[i], sizeof(T)) != 0) {
        std::printf("%s: x = %g: %g, %g on the host\n", call, __half2float(x), got[0], wanted[0]);
      }
    } else if (reference != nullptr) {
      wanted[0] = reference(argument<T>(x));
      for (const double one : got) {
        const bool equal = one == wanted[0] || (std::isnan(one) && std::isnan(wanted[0]));
        if (!equal && !(std::fabs(one - wanted[0]) <= bound<T>() * std::fabs(wanted[0]) + 1e-7)) {
          std::printf("%s: x = %g: %g, %g by the C library\n", call, __half2float(x), one, wanted[0]);
        }
      }
    }
  }
}
"""


def reference(name):
    """Returns the expression of a device-only function with functions of the C library, or None."""
    if match := re.fullmatch(r"h2?([a-z]+\d*)(_approx)?", name):
        return REFERENCES.get(match[1])
    # Conversions to unsigned types are excluded, because some inputs are negative, and conversions from bfloat16,
    # because the input is rounded to bfloat16 first.
    match = re.fullmatch(r"__half2(?:int|short|ll)_(r[ndu])", name)
    return ROUNDED[match[1]] if match else None


def calls():
    """Returns {call: (the type of its result, whether the host has the function, its name)}."""
    call_results = {}
    for header in HEADERS:
        for host, result, name, arguments in FUNCTION.findall((include_of(header) / header).read_text()):
            types = [ARGUMENT.fullmatch(" ".join(argument.split())) for argument in arguments.split(",")]
            is_inner = name.startswith(("__internal", "operator", "__shfl")) or result in ("void", "__CUDA_ALIGN__")
            if is_inner or None in types or any("_raw" in argument[1] for argument in types) or "_raw" in result:
                continue
            converted = (CONVERSIONS.get(argument[1], f"({argument[1]})x") for argument in types)
            call_results[f"{name}({', '.join(converted)})"] = result, bool(host), name
    return call_results


@pytest.mark.all
@pytest.mark.parametrize("architecture", [80, 90])  # different instructions
def test_values_of_every_function(root, tmp_path, architecture):
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
    if tool("nvcc") is None or not runtime.exists():
        pytest.skip("no nvcc")
    functions = []
    for n, (call, (type, on_host, name)) in enumerate(calls().items()):
        expression = None if on_host else reference(name)
        functions.append({"n": n, "call": call, "type": type, "host": f"h{n}" if on_host else "nullptr",
                          "reference": f"+[](double x) -> double {{ return {expression}; }}" if expression else "nullptr"})  # fmt: skip
    assert len(functions) > 380
    assert sum(function["host"] != "nullptr" or function["reference"] != "nullptr" for function in functions) > 300
    text = PROGRAM.replace("INPUTS", ", ".join(map(str, INPUTS))) + "".join(KERNEL.format(**function) for function in functions)
    text += "".join(HOST.format(**function) for function in functions if function["host"] != "nullptr")
    text += "int main() {\n" + "".join(LAUNCH.format(**function) for function in functions)
    (tmp_path / "all.cu").write_text(text + "  return cudaDeviceSynchronize();\n}\n")
    program = tmp_path / "all"
    subprocess.run([tool("nvcc"), f"-arch=compute_{architecture}", "-cudart", "shared", "-w", "-o", program, tmp_path / "all.cu"], check=True)
    result = subprocess.run([sys.executable, "-B", "-m", "kernkit", "run", "--runtime", runtime, program], capture_output=True, text=True,
                            env={**os.environ, "PYTHONPATH": str(root / "sdk/python")})  # fmt: skip
    assert (result.returncode, result.stdout) == (0, ""), result.stdout + result.stderr
