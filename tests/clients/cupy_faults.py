# SPDX-License-Identifier: Apache-2.0
"""Raw kernels of CuPy with faults that the command line switches on: kernkit sanitize python cupy_faults.py fault KERNEL"""

import inspect

import cupy as cp
import planted

# [lines]
# CuPy's pool rounds sizes up to 512 bytes and keeps freed memory. Without the pool every array has its own allocation,
# so memcheck reports each access outside of an array.
cp.cuda.set_allocator(None)


def raw_kernel(name, code):
    """Returns a RawKernel with the line numbers of this file: `code` starts at the line that calls raw_kernel()."""
    line = inspect.currentframe().f_back.f_lineno + 1
    return cp.RawKernel(f'#line {line} "{__file__}"{code}', name, options=("-lineinfo",))


copy = raw_kernel("copy", r"""
extern "C" __global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];  // FAULT store_out_of_bounds
}
""")  # fmt: skip
# [/lines]


def store_out_of_bounds(has_fault):
    copy((1,), (128,), (cp.zeros(128, cp.float32), cp.zeros(100, cp.float32), 128 if has_fault else 100))


total = raw_kernel("total", r"""
extern "C" __global__ void total(const float* x, float* sum) {
  const float4 four = *reinterpret_cast<const float4*>(x);  // FAULT misaligned_read
  *sum = four.x + four.y + four.z + four.w;
}
""")  # fmt: skip


def misaligned_read(has_fault):
    x = cp.arange(100, dtype=cp.float32)
    total((1,), (1,), (x[1:] if has_fault else x, cp.zeros(1, cp.float32)))


histogram = raw_kernel("histogram", r"""
extern "C" __global__ void histogram(const int* x, int* counts, bool atomic) {
  if (atomic)
    atomicAdd(&counts[x[threadIdx.x]], 1);
  else
    counts[x[threadIdx.x]] += 1;  // FAULT race_of_blocks
}
""")  # fmt: skip


def race_of_blocks(has_fault):
    histogram((2,), (32,), (cp.arange(32, dtype=cp.int32), cp.zeros(32, cp.int32), not has_fault))


accumulate = raw_kernel("accumulate", r"""
extern "C" __global__ void accumulate(const float* x, float* y) {
  y[threadIdx.x] += x[threadIdx.x];  // FAULT uninitialised_memory
}
""")  # fmt: skip


def uninitialised_memory(has_fault):
    accumulate((1,), (64,), (cp.ones(64, cp.float32), (cp.empty if has_fault else cp.zeros)(64, cp.float32)))


if __name__ == "__main__":
    kernels = (store_out_of_bounds, misaligned_read, race_of_blocks, uninitialised_memory)

    def synchronised(kernel):
        def run(has_fault):
            kernel(has_fault)
            cp.cuda.get_current_stream().synchronize()

        return run

    planted.run({kernel.__name__: synchronised(kernel) for kernel in kernels}, cp.cuda.runtime.CUDARuntimeError)
