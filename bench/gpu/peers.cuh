// SPDX-License-Identifier: Apache-2.0
// Other implementations of an elementwise op: CUB's transform, and the kernel of tvm-ffi's guide,
// which computes one element per thread.
#pragma once

#include <cuda_runtime.h>

#include "kernkit/apply.h"
#include "kernkit/cuda/check.h"

// DeviceTransform exists in CUDA 12.9 and later.
#if CUDART_VERSION >= 12090 && __has_include(<cub/device/device_transform.cuh>)
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>
#define KERNKIT_BENCH_CUB 1
#else
#define KERNKIT_BENCH_CUB 0
#endif

namespace kernkit::bench {

// The kernel in tvm-ffi's guide, except that the index has 64 bits, so that the kernel is correct
// for more than 2^32 elements.
template <class Op, class Out, class... In>
__global__ void one_element_per_thread(int64_t n, Op op, Out* out, const In*... in) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = apply_op<Out>(op, in[i]...);
}

template <class Op, class Out, class... In>
void guide(cudaStream_t stream, int64_t n, Op op, Out* out, const In*... in) {
  one_element_per_thread<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(n, op, out,
                                                                                     in...);
  KERNKIT_CUDA_CHECK(cudaGetLastError());
}

#if KERNKIT_BENCH_CUB
template <class Out, class Op>
struct OnElements {
  Op op;
  template <class... In>
  KERNKIT_HOST_DEVICE Out operator()(const In&... in) const {
    return apply_op<Out>(op, in...);
  }
};

template <class Op, class Out, class... In>
void cub_transform(cudaStream_t stream, int64_t n, Op op, Out* out, const In*... in) {
  KERNKIT_CUDA_CHECK(cub::DeviceTransform::Transform(::cuda::std::make_tuple(in...), out, n,
                                                     OnElements<Out, Op>{op}, stream));
}
#endif

}  // namespace kernkit::bench
