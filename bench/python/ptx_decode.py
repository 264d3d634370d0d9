# SPDX-License-Identifier: Apache-2.0
"""Time from PTX text in memory to a kernel that can run on the CPU: one kernel of a module of 1 MB, compared with the
time in which nvcc compiles that kernel alone.

"""

import ctypes
import pathlib
import re
import struct
import subprocess
import tempfile
import time

from rows import ROOT, Rows

SAMPLES = 5
MODULE = 1 << 20  # least size of the PTX text [bytes]
KERNEL = """template <int kStep>
__global__ void of_module(float* y, const float* x, int n) {
  __shared__ float tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = x[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    if (i + k * kStep < n) sum += x[i + k * kStep] * tile[(threadIdx.x + k) % 256];
  }
  y[i] = sum;
}
"""


def source(count):
    instances = (f"template __global__ void of_module<{step}>(float*, const float*, int);\n"
                 for step in range(1, count + 1))  # fmt: skip
    return KERNEL + "".join(instances)


def compiler():
    cache = ROOT / "build/release/CMakeCache.txt"
    match = re.search(r"^CMAKE_CUDA_COMPILER:\w+=(.+)$", cache.read_text(), re.M) if cache.exists() else None
    return match.group(1) if match and pathlib.Path(match.group(1)).exists() else None


def compiled(nvcc, folder, count):
    """Compiles a module of `count` kernels. Returns its PTX, and nvcc's time [ns]."""
    file, ptx = folder / "module.cu", folder / "module.ptx"
    file.write_text(source(count))
    start = time.perf_counter_ns()
    subprocess.run([nvcc, "-arch=compute_80", "-lineinfo", "-ptx", "-o", ptx, file],
                   check=True, capture_output=True)  # fmt: skip
    return ptx.read_bytes(), time.perf_counter_ns() - start


def fat_binary(ptx):
    """Returns a fat binary with this PTX, as nvcc --no-compress writes it; see
    sdk/simulator/ptx/image/fat_binary.cc."""
    entry = struct.pack("<HHIQQIIQQQQ", 1, 0, 64, len(ptx) + 1, 0, 0, 80, 0, 0, 0, 0)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) + len(ptx) + 1) + entry + ptx + b"\0"


def decode(runtime, ptx, name):
    """Loads a module and decodes one of its kernels in the simulator's runtime. Returns the time [ns]."""
    data = ctypes.create_string_buffer(fat_binary(ptx))
    wrapper = ctypes.create_string_buffer(struct.pack("<IIQQ", 0x466243B1, 1, ctypes.addressof(data), 0))
    key, attributes = ctypes.create_string_buffer(1), ctypes.create_string_buffer(1024)
    start = time.perf_counter_ns()
    handle = ctypes.c_void_p(runtime.__cudaRegisterFatBinary(wrapper))
    runtime.__cudaRegisterFunction(handle, key, None, name, -1, None, None, None, None, None)
    error = runtime.cudaFuncGetAttributes(attributes, key)
    taken = time.perf_counter_ns() - start
    runtime.__cudaUnregisterFatBinary(handle)
    if error != 0 or struct.unpack_from("<Q", attributes.raw)[0] != 1024:
        raise RuntimeError(f"the kernel was not decoded: error {error}")
    return taken


def measure(rows):
    subject = "decoding one kernel of 1 MB of PTX"
    path = ROOT / "build/release/kernkit_cudart/libcudart.so.13"
    nvcc = compiler()
    if nvcc is None or not path.exists():
        rows.skip(f"{subject}/kernkit-ptx", "nvcc or the runtime that executes PTX was not found")
        return
    runtime = ctypes.CDLL(str(path))
    runtime.__cudaRegisterFatBinary.restype = ctypes.c_void_p
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        single, _ = compiled(nvcc, folder, 1)
        ptx, _ = compiled(nvcc, folder, MODULE // len(single) + 1)
        assert len(ptx) >= MODULE, len(ptx)
        kernel = re.search(rb"\.entry (\w+)\(", ptx).group(1)
        times = {"kernkit-ptx": [], "nvcc": []}
        for _ in range(SAMPLES):
            times["kernkit-ptx"].append(decode(runtime, ptx, kernel))
            times["nvcc"].append(compiled(nvcc, folder, 1)[1])
    for implementation, samples in times.items():
        rows.add(f"{subject}/{implementation}", samples)


if __name__ == "__main__":
    with Rows(__doc__) as all_rows:
        measure(all_rows)
