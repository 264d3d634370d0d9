// SPDX-License-Identifier: Apache-2.0
// cuda::rows(): the CUDA loop of an op on rows, such as norms, softmax and activations.
#pragma once

#include "kernkit/cuda/launch.h"
#include "kernkit/cuda/row.cuh"

namespace kernkit::cuda {

namespace detail {

// Number of rows that a block handles. One warp or one block, kThreads threads, handles a row; a
// block has at least four warps.
template <int kThreads>
inline constexpr int kRowsPerBlock = kThreads < 128 ? 128 / kThreads : 1;

// Calls the body for the rows of this block. Row numbers have 64 bits; the loop handles calls with
// more rows than the grid covers.
template <int kThreads, int kWidth, int kPacks, class Body>
__global__ void __launch_bounds__(kThreads* kRowsPerBlock<kThreads>)
    rows_kernel(int64_t n, int64_t d, Body body) {
  constexpr int kRows = kRowsPerBlock<kThreads>;
  const int64_t first =
      static_cast<int64_t>(blockIdx.x) * kRows + static_cast<int>(threadIdx.x) / kThreads;
  for (int64_t r = first; r < n; r += static_cast<int64_t>(gridDim.x) * kRows) {
    body(Row<kThreads, kWidth, kPacks>(d), r);
  }
}

template <int kThreads, int kWidth, int kPacks, class Body>
void launch_rows(const Launch& launch, int64_t n, int64_t d, const Body& body) {
  constexpr int kRows = kRowsPerBlock<kThreads>;
  const int64_t needed = (n - 1) / kRows + 1;
  const int64_t blocks = needed < INT32_MAX ? needed : INT32_MAX;  // the limit of grid.x
  launch(rows_kernel<kThreads, kWidth, kPacks, Body>, {blocks, kThreads * kRows}, n, d, body);
}

}  // namespace detail

/// Calls body(row, r) for r in [0, n) on the launch's stream; n <= 0 launches nothing. `row` is a
/// Row of d elements, whose type depends on d: the body is a class with a template
///
///     template <class Row>
///     __device__ void operator()(const Row& row, int64_t r) const {
///       const auto in = row.load(x + r * stride);
///       const float squares = row.sum([](float v) { return v * v; }, in);
///       const float scale = math::rsqrt(squares / static_cast<float>(d) + eps);
///       row.map([=](float v, float g) { return v * scale * g; }, y + r * d, in, weight);
///     }
///
/// T is the type of the row's elements, of 1, 2, 4, 8 or 16 bytes; a pack has 16 bytes. Rows of up
/// to 64 KiB of T are read once and kept in registers; each pass reads a longer row again. The bits
/// of a row's results are the same in every run, for every alignment, and for every number of rows.
///
/// Enqueues one kernel and does not wait. The body is copied into the kernel; the memory to which
/// it points must live until the kernel ends. For d <= 0 the rows are empty. Throws the errors of
/// Launch::operator().
template <class T, class Body>
void rows(const Launch& launch, int64_t n, int64_t d, const Body& body) {
  static_assert(16 % sizeof(T) == 0, "rows: elements have 1, 2, 4, 8 or 16 bytes");
  constexpr int kWidth = 16 / sizeof(T);
  if (n <= 0) return;
  const int64_t packs = d <= 0 ? 0 : (d - 1) / kWidth + 1;
  if (packs <= 32 * 2) return detail::launch_rows<32, kWidth, 2>(launch, n, d, body);
  if (packs <= 32 * 4) return detail::launch_rows<32, kWidth, 4>(launch, n, d, body);
  if (packs <= 256 * 4) return detail::launch_rows<256, kWidth, 4>(launch, n, d, body);
  if constexpr (sizeof(T) >= 8) {  // a block of 1024 threads has only 64 registers per thread
    if (packs <= 512 * 8) return detail::launch_rows<512, kWidth, 8>(launch, n, d, body);
  } else {
    if (packs <= 1024 * 4) return detail::launch_rows<1024, kWidth, 4>(launch, n, d, body);
  }
  return detail::launch_rows<1024, kWidth, 0>(launch, n, d, body);
}

}  // namespace kernkit::cuda
