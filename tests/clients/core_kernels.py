# SPDX-License-Identifier: Apache-2.0
"""Kernels in CUDA C++ that NVRTC compiles through cuda.core; their results are compared with formulas: kernkit run
python -m pytest core_kernels.py"""

import functools
import math

import numpy as np
import pytest
from checks import (
    EPS16,
    EPS32,
    EPS_BF16,
    assert_close,
    from_bf16,
    product_bound,
    softmax,
    sum_bound,
    to_bf16,
    to_tf32,
)
from cuda import pathfinder
from cuda.bindings import driver, runtime
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ManagedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

rng = np.random.default_rng(38)
EPS64 = float(np.finfo(np.float64).eps)
device = Device()
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


class Array:
    """A copy of a NumPy array in the device's memory."""

    def __init__(self, values):
        values = np.ascontiguousarray(values)
        self.shape, self.dtype, self.size = values.shape, values.dtype, values.nbytes
        self.host = pinned.allocate(self.size)
        self.view()[...] = values
        self.buffer = device.memory_resource.allocate(self.size, stream=stream)
        self.buffer.copy_from(self.host, stream=stream)

    def view(self):
        return np.from_dlpack(self.host).view(np.uint8).view(self.dtype).reshape(self.shape)

    def numpy(self):
        self.buffer.copy_to(self.host, stream=stream)
        stream.sync()
        return self.view().copy()


def zeros(shape, dtype=np.float32):
    return Array(np.zeros(shape, dtype))


@functools.lru_cache(maxsize=None)
def module_of(source, template, with_headers):
    folders = [pathfinder.find_nvidia_header_directory(library) for library in ("cudart", "cccl")] if with_headers else None
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", lineinfo=True, include_path=folders)
    return Program(source, code_type="c++", options=options).compile("ptx", name_expressions=template)


def compiled(source, name, with_headers=False):
    """Compiles the source to PTX by NVRTC and returns the kernel `name`. `name` may be an expression such as
    "saxpy<float>". `with_headers`: the source includes headers of CUDA."""
    return module_of(source, (name,) if "<" in name else (), with_headers).get_kernel(name)


def run(kernel, grid, block, *arguments, on=stream, **config):
    arguments = [argument.buffer if isinstance(argument, Array) else argument for argument in arguments]
    launch(on, LaunchConfig(grid=grid, block=block, **config), kernel, *arguments)


# [saxpy]
SAXPY = """
template <class T>
__global__ void saxpy(T* y, const T* x, T a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""


def test_templates():
    for dtype, name in ((np.float32, "float"), (np.float64, "double")):
        x, y = rng.standard_normal(1000).astype(dtype), rng.standard_normal(1000).astype(dtype)
        on_device = Array(y)
        run(compiled(SAXPY, f"saxpy<{name}>"), 4, 256, on_device, Array(x), dtype(2.5), np.int32(1000))
        expected = y.astype(np.longdouble) + dtype(2.5) * x.astype(np.longdouble)
        assert_close(on_device.numpy(), expected, np.finfo(dtype).eps * np.abs(expected.astype(float)))  # one rounding
# [/saxpy]


REDUCTION = """
extern "C" __global__ void total(const double* x, double* out, int n) {
  __shared__ double sums[32];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < blockDim.x / 32; ++warp) sum += sums[warp];
    atomicAdd(out, sum);
  }
}
"""


def test_reduction_by_shuffles_and_atomics():
    x = rng.standard_normal(5000)
    out = zeros(1, np.float64)
    run(compiled(REDUCTION, "total"), 3, 128, Array(x), out, np.int32(5000))
    assert_close(out.numpy(), [math.fsum(x)], sum_bound(5000, np.abs(x).sum(), EPS64))


TILES = """
constexpr int kTile = 16;
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < k; start += kTile) {
    left[threadIdx.y][threadIdx.x] = row < m && start + threadIdx.x < k ? a[row * k + start + threadIdx.x] : 0;
    right[threadIdx.y][threadIdx.x] = start + threadIdx.y < k && column < n ? b[(start + threadIdx.y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
"""


def test_matmul_in_shared_tiles():
    a, b = normal(37, 45), normal(45, 29)
    c = zeros((37, 29))
    run(compiled(TILES, "multiply"), (2, 3), (16, 16), Array(a), Array(b), c, *map(np.int32, (37, 29, 45)))
    assert_close(c.numpy(), a.astype(np.float64) @ b.astype(np.float64), product_bound(a, b))


WMMA = """
#include <mma.h>
using namespace nvcuda;
template <class T, class Sum>
__global__ void multiply(const T* a, const T* b, Sum* c, int n, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sum;
  wmma::fill_fragment(sum, Sum(0));
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(left, a + blockIdx.y * 16 * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + blockIdx.x * 16, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}
"""


def test_tensor_cores_float16():
    a, b = normal(32, 48).astype(np.float16), normal(48, 16).astype(np.float16)
    c = zeros((32, 16))
    run(compiled(WMMA, "multiply<__half, float>", True), (1, 2), 32, Array(a), Array(b), c, np.int32(16), np.int32(48))
    assert_close(c.numpy(), a.astype(np.float64) @ b.astype(np.float64), product_bound(a, b))


def test_tensor_cores_int8():
    a, b = rng.integers(-128, 128, (16, 64), np.int8), rng.integers(-128, 128, (64, 32), np.int8)
    c = zeros((16, 32), np.int32)
    run(compiled(WMMA, "multiply<signed char, int>", True), (2, 1), 32, Array(a), Array(b), c, np.int32(32), np.int32(64))
    np.testing.assert_array_equal(c.numpy(), a.astype(np.int32) @ b.astype(np.int32))


# The layout of mma's fragments according to the PTX ISA: lane / 4 selects the row of A, lane % 4 a pair of columns.
MMA = """
__device__ unsigned pair(const unsigned short* x, int step) { return x[0] | unsigned(x[step]) << 16; }
extern "C" __global__ void bfloat16(const unsigned short* a, const unsigned short* b, float* c) {
  const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
  const unsigned a0 = pair(a + row * 16 + column, 1), a1 = pair(a + (row + 8) * 16 + column, 1);
  const unsigned a2 = pair(a + row * 16 + column + 8, 1), a3 = pair(a + (row + 8) * 16 + column + 8, 1);
  const unsigned b0 = pair(b + column * 8 + row, 8), b1 = pair(b + (column + 8) * 8 + row, 8);
  float d[4] = {};
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * 8 + column + i % 2] = d[i];
}
extern "C" __global__ void tf32(const unsigned* a, const unsigned* b, float* c) {
  const int row = threadIdx.x / 4, column = threadIdx.x % 4;
  float d[4] = {};
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[row * 8 + column]), "r"(a[(row + 8) * 8 + column]), "r"(a[row * 8 + column + 4]),
        "r"(a[(row + 8) * 8 + column + 4]), "r"(b[column * 8 + row]), "r"(b[(column + 4) * 8 + row]));
  for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * 8 + column * 2 + i % 2] = d[i];
}
"""


def test_tensor_cores_bfloat16():
    a, b = to_bf16(normal(16, 16)), to_bf16(normal(16, 8))
    c = zeros((16, 8))
    run(compiled(MMA, "bfloat16"), 1, 32, Array(a), Array(b), c)
    a, b = from_bf16(a), from_bf16(b)
    assert_close(c.numpy(), a.astype(np.float64) @ b.astype(np.float64), product_bound(a, b))


def test_tensor_cores_tf32():
    a, b = to_tf32(normal(16, 8)), to_tf32(normal(8, 8))
    c = zeros((16, 8))
    run(compiled(MMA, "tf32"), 1, 32, Array(a), Array(b), c)
    assert_close(c.numpy(), a.astype(np.float64) @ b.astype(np.float64), product_bound(a, b))


ATTENTION = """
template <int D>
__global__ void attention(const float* q, const float* k, const float* v, float* out, int length, float scale) {
  const int row = blockIdx.x, lane = threadIdx.x;  // a warp for each query
  extern __shared__ float scores[];
  float largest = -__int_as_float(0x7f800000), total = 0;
  for (int key = lane; key <= row; key += 32) {
    float sum = 0;
    for (int d = 0; d < D; ++d) sum += q[row * D + d] * k[key * D + d];
    scores[key] = sum * scale;
    largest = fmaxf(largest, scores[key]);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, lanes));
  for (int key = lane; key <= row; key += 32) total += scores[key] = expf(scores[key] - largest);
  for (int lanes = 16; lanes > 0; lanes /= 2) total += __shfl_xor_sync(~0u, total, lanes);
  __syncwarp();
  for (int d = lane; d < D; d += 32) {
    float sum = 0;
    for (int key = 0; key <= row; ++key) sum += scores[key] * v[key * D + d];
    out[row * D + d] = sum / total;
  }
}
"""


def test_attention():
    length, depth = 48, 64
    q, k, v = normal(length, depth), normal(length, depth), normal(length, depth)
    out = zeros((length, depth))
    run(compiled(ATTENTION, "attention<64>"), length, 32, Array(q), Array(k), Array(v), out, np.int32(length),
        np.float32(depth**-0.5), shmem_size=4 * length)  # fmt: skip
    scores = q.astype(np.float64) @ k.T.astype(np.float64) * depth**-0.5
    weights = softmax(np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf))
    # A score is a sum of 64 terms. The absolute error of a score is the relative error of the weight, exp(score). The
    # sum over the rows of v has at most 48 terms.
    largest = (np.abs(q) @ np.abs(k).T).max() * depth**-0.5
    assert_close(out.numpy(), weights @ v, (2 * 64 * largest + 64) * EPS32 * (weights @ np.abs(v)))


DOT4 = """
extern "C" __global__ void rows(const int* a, const int* b, int* out, int words) {
  int sum = 0;
  for (int i = threadIdx.x; i < words; i += 32) sum = __dp4a(a[blockIdx.x * words + i], b[i], sum);
  sum = __reduce_add_sync(~0u, sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
"""


def test_dot_products_of_bytes():
    a, b = rng.integers(-128, 128, (5, 400), np.int8), rng.integers(-128, 128, 400, np.int8)
    out = zeros(5, np.int32)
    run(compiled(DOT4, "rows"), 5, 32, Array(a), Array(b), out, np.int32(100))
    np.testing.assert_array_equal(out.numpy(), a.astype(np.int32) @ b.astype(np.int32))


CONVOLUTION = """
__constant__ float kWeights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
extern "C" __global__ void convolve(const float* x, float* out, int n) {
  __shared__ float tile[128 + 4];
  const int first = blockIdx.x * 128 - 2;
  for (int i = threadIdx.x; i < 132; i += 128) {
    const int at = first + i;
    tile[i] = at >= 0 && at < n ? x[at] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 5; ++i) sum += kWeights[i] * tile[threadIdx.x + i];
  if (first + 2 + threadIdx.x < n) out[first + 2 + threadIdx.x] = sum;
}
"""


def test_convolution_with_constant_memory():
    x = normal(300)
    out = zeros(300)
    run(compiled(CONVOLUTION, "convolve"), 3, 128, Array(x), out, np.int32(300))
    weights = np.array([1, 4, 6, 4, 1]) / 16
    assert_close(out.numpy(), np.convolve(x.astype(np.float64), weights, "same"), sum_bound(5, np.abs(x).max()))


TRANSPOSE = """
extern "C" __global__ void transpose(const double* x, double* out, int rows, int columns) {
  __shared__ double tile[32][33];
  const int row = blockIdx.y * 32, column = blockIdx.x * 32;
  for (int i = threadIdx.y; i < 32; i += blockDim.y)
    if (row + i < rows && column + threadIdx.x < columns) tile[i][threadIdx.x] = x[(row + i) * columns + column + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += blockDim.y)
    if (column + i < columns && row + threadIdx.x < rows) out[(column + i) * rows + row + threadIdx.x] = tile[threadIdx.x][i];
}
"""


def test_transpose():
    x = rng.standard_normal((70, 45))
    out = zeros((45, 70), np.float64)
    run(compiled(TRANSPOSE, "transpose"), (2, 3), (32, 8), Array(x), out, np.int32(70), np.int32(45))
    np.testing.assert_array_equal(out.numpy(), x.T)


GROUPS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void groups(const int* x, int* sums, int* largest) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = cg::this_grid().thread_rank();
  sums[i] = cg::exclusive_scan(tile, x[i], cg::plus<int>());
  largest[i] = cg::reduce(tile, x[i], cg::greater<int>());
}
extern "C" __global__ void diffuse(double* x, double* next, int n, int steps) {
  const auto grid = cg::this_grid();
  const int i = grid.thread_rank();
  for (int step = 0; step < steps; ++step) {
    if (i < n) next[i] = 0.5 * x[i] + 0.25 * (x[(i + 1) % n] + x[(i + n - 1) % n]);
    grid.sync();
    double* last = x;
    x = next, next = last;
  }
}
"""


def test_cooperative_groups():
    x = rng.integers(-100, 100, 256, np.int32)
    sums, largest = zeros(256, np.int32), zeros(256, np.int32)
    run(compiled(GROUPS, "groups", True), 2, 128, Array(x), sums, largest)
    tiles = x.reshape(-1, 8)
    np.testing.assert_array_equal(sums.numpy().reshape(-1, 8), np.cumsum(tiles, 1) - tiles)
    np.testing.assert_array_equal(largest.numpy().reshape(-1, 8), np.repeat(tiles.max(1), 8).reshape(-1, 8))


def test_barrier_of_the_grid():
    x = rng.standard_normal(200)
    at, following = Array(x), zeros(200, np.float64)
    run(compiled(GROUPS, "diffuse", True), 4, 64, at, following, np.int32(200), np.int32(6), is_cooperative=True)
    for _ in range(6):
        x = 0.5 * x + 0.25 * (np.roll(x, -1) + np.roll(x, 1))
    assert_close(at.numpy(), x, 6 * 4 * EPS64 * 4)  # 6 steps of at most 4 roundings; magnitudes of at most 4


HISTOGRAM = """
extern "C" __global__ void histogram(const unsigned char* x, unsigned* counts, int n) {
  __shared__ unsigned own[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned same = __match_any_sync(__activemask(), x[i]);
    if ((same & ((1u << threadIdx.x % 32) - 1)) == 0) atomicAdd(&own[x[i]], __popc(same));
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&counts[i], own[i]);
}
"""


def test_histogram_of_matching_lanes():
    x = (rng.random(3001) ** 2 * 256).astype(np.uint8)
    counts = zeros(256, np.uint32)
    run(compiled(HISTOGRAM, "histogram"), 3, 128, Array(x), counts, np.int32(3001))
    np.testing.assert_array_equal(counts.numpy(), np.bincount(x, minlength=256))


PIPELINE = """
#include <cuda_pipeline.h>
extern "C" __global__ void total(const float4* x, float* out, int rounds) {
  __shared__ float4 stages[2][64];
  float sum = 0;
  __pipeline_memcpy_async(&stages[0][threadIdx.x], x + threadIdx.x, 16);
  __pipeline_commit();
  for (int i = 0; i < rounds; ++i) {
    if (i + 1 < rounds) __pipeline_memcpy_async(&stages[(i + 1) % 2][threadIdx.x], x + (i + 1) * 64 + threadIdx.x, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float4 other = stages[i % 2][63 - threadIdx.x];  // of another thread
    sum += other.x + 2 * other.y + 3 * other.z + 4 * other.w;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
"""


def test_asynchronous_copies():
    x = normal(5, 64, 4)
    out = zeros(64)
    run(compiled(PIPELINE, "total", True), 1, 64, Array(x), out, np.int32(5))
    weighted = x.astype(np.float64) * [1, 2, 3, 4]
    assert_close(out.numpy(), weighted.sum((0, 2))[::-1], sum_bound(20, np.abs(weighted).sum((0, 2))[::-1]))


SORT = """
struct Descending { __device__ bool operator()(int a, int b) const { return a > b; } };
template <int N, class Before>
__global__ void sort(int* x) {
  __shared__ int shared[N];
  shared[threadIdx.x] = x[blockIdx.x * N + threadIdx.x];
  for (int size = 2; size <= N; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int other = threadIdx.x ^ stride;
      const bool up = (threadIdx.x & size) == 0;
      const int a = shared[threadIdx.x], b = shared[other];
      if (other > threadIdx.x && (up ? Before()(b, a) : Before()(a, b))) shared[threadIdx.x] = b, shared[other] = a;
    }
  __syncthreads();
  x[blockIdx.x * N + threadIdx.x] = shared[threadIdx.x];
}
"""


def test_sort_with_a_functor():
    x = rng.integers(-1000, 1000, (2, 128), np.int32)
    ordered = Array(x)
    run(compiled(SORT, "sort<128, Descending>"), 2, 128, ordered)
    np.testing.assert_array_equal(ordered.numpy(), -np.sort(-x, 1))


STEPS = """
extern "C" __global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
extern "C" __global__ void add(int* x, int value) { x[threadIdx.x] += value; }
"""


def test_streams_and_events():
    second = device.create_stream()
    x = zeros(64, np.int32)
    run(compiled(STEPS, "fill"), 1, 64, x, np.int32(5))
    second.wait(stream.record())
    run(compiled(STEPS, "add"), 1, 64, x, np.int32(2), on=second)
    stream.wait(second.record())
    np.testing.assert_array_equal(x.numpy(), np.full(64, 7))


def test_graphs():
    x, add = zeros(64, np.int32), compiled(STEPS, "add")
    stream.sync()
    builder = device.create_graph_builder().begin_building()
    for value in (1, 10):
        run(add, 1, 64, x, np.int32(value), on=builder)
    graph = builder.end_building().complete()
    for _ in range(3):
        graph.launch(stream)
    np.testing.assert_array_equal(x.numpy(), np.full(64, 33))


PARTS = ('extern __device__ float weigh(float); extern "C" __global__ void apply(float* x) '
         "{ x[threadIdx.x] = weigh(x[threadIdx.x]); }",
         "__device__ float weigh(float x) { return x < 0 ? 0.25f * x : x; }")  # fmt: skip


def test_linked_programs():
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", relocatable_device_code=True)
    parts = [Program(part, code_type="c++", options=options).compile("ptx") for part in PARTS]
    linked = Linker(*parts, options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
    x = normal(64)
    result = Array(x)
    run(linked.get_kernel("apply"), 1, 64, result)
    np.testing.assert_array_equal(result.numpy(), np.where(x < 0, np.float32(0.25) * x, x))


HALVES = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void halves(const __half2* x, __half2* out) {
  out[threadIdx.x] = __hfma2(x[threadIdx.x], __float2half2_rn(2), h2exp(x[threadIdx.x]));
}
extern "C" __global__ void brains(const __nv_bfloat16* x, __nv_bfloat16* out) {
  out[threadIdx.x] = __float2bfloat16(tanhf(__bfloat162float(x[threadIdx.x])));
}
"""


def test_half_precision():
    x = normal(128).astype(np.float16)
    out = zeros(128, np.float16)
    run(compiled(HALVES, "halves", True), 1, 64, Array(x), out)
    wide = x.astype(np.float64)
    # exp() rounds its result to float16, and the fma rounds the final result to float16.
    assert_close(out.numpy(), 2 * wide + np.exp(wide), EPS16 * (np.abs(2 * wide) + 2 * np.exp(wide)))
    x = to_bf16(normal(64))
    out = zeros(64, np.uint16)
    run(compiled(HALVES, "brains", True), 1, 64, Array(x), out)
    expected = np.tanh(from_bf16(x).astype(np.float64))
    assert_close(from_bf16(out.numpy()), expected, EPS_BF16 * np.abs(expected))


CALLS = """
__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ int square(int n) { return n * n; }
extern "C" __global__ void calls(int* out) {
  int (*functions[])(int) = {factorial, square};
  out[threadIdx.x] = functions[threadIdx.x % 2](threadIdx.x);
  if (threadIdx.x == 5) printf("thread %d has %d of %s\\n", threadIdx.x, out[5], "square");
}
"""


def test_calls_and_printf(capfd):
    out = zeros(10, np.int32)
    run(compiled(CALLS, "calls"), 1, 10, out)
    assert out.numpy().tolist() == [i * i if i % 2 else math.factorial(i) for i in range(10)]
    assert capfd.readouterr().out == "thread 5 has 25 of square\n"


SPARSE = """
extern "C" __global__ void multiply(const int* starts, const int* columns, const double* values, const double* x, double* y, int rows) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  double sum = 0;
  for (int i = starts[row] + threadIdx.x % 32; i < starts[row + 1]; i += 32) sum = fma(values[i], __ldg(x + columns[i]), sum);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
  if (threadIdx.x % 32 == 0) y[row] = sum;
}
"""


@pytest.mark.xfail(strict=True, reason="cuMemGetMemPool() is not supported yet")
def test_sparse_matrix_in_managed_memory():
    dense = rng.standard_normal((50, 80)) * (rng.random((50, 80)) < 0.3)
    x, y = rng.standard_normal(80), ManagedMemoryResource().allocate(8 * 50, stream=stream)
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(51))
    run(compiled(SPARSE, "multiply"), 13, 128, Array(starts.astype(np.int32)), Array(columns.astype(np.int32)),
        Array(dense[rows, columns]), Array(x), y, np.int32(50))  # fmt: skip
    stream.sync()
    result = np.from_dlpack(y).view(np.uint8).view(np.float64)
    assert_close(result, dense @ x, sum_bound(80, np.abs(dense) @ np.abs(x), EPS64))


def check(result):
    """Checks that a call of cuda-bindings succeeded, and returns the results of the call without the error code."""
    error, *values = result
    assert error == runtime.cudaError_t.cudaSuccess, error
    return values


def test_runtime_of_the_bindings():
    """Under `kernkit run`, kernkit's runtime replaces the runtime that is linked statically into cuda-bindings. Streams
    of the driver API are valid in the runtime API, and addresses of the runtime API in the driver API."""
    x = normal(100)
    (address,) = check(runtime.cudaMalloc(x.nbytes))
    host_to_device = runtime.cudaMemcpyKind.cudaMemcpyHostToDevice
    check(runtime.cudaMemcpyAsync(address, x.ctypes.data, x.nbytes, host_to_device, int(stream.handle)))
    check(runtime.cudaStreamSynchronize(int(stream.handle)))
    result = np.empty_like(x)
    (error,) = driver.cuMemcpyDtoH(result.ctypes.data, address, x.nbytes)
    assert error == driver.CUresult.CUDA_SUCCESS
    np.testing.assert_array_equal(result, x)
    check(runtime.cudaFree(address))
    assert runtime.cudaFree(address)[0] == runtime.cudaError_t.cudaErrorInvalidValue
    assert device.pci_bus_id.startswith("0000:")
    device.sync()


HEAP = """
extern "C" __global__ void reverse(const int* x, int* out, int n) {
  int* copy = static_cast<int*>(malloc(n * sizeof(int)));
  assert(copy);
  for (int i = 0; i < n; ++i) copy[i] = x[threadIdx.x * n + i];
  for (int i = 0; i < n; ++i) out[threadIdx.x * n + i] = copy[n - 1 - i];
  free(copy);
}
"""


def test_memory_of_threads():
    x = rng.integers(0, 99, (8, 12), np.int32)
    out = zeros((8, 12), np.int32)
    run(compiled(HEAP, "reverse"), 1, 8, Array(x), out, np.int32(12))
    np.testing.assert_array_equal(out.numpy(), x[:, ::-1])
