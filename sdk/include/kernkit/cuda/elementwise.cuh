// SPDX-License-Identifier: Apache-2.0
// The CUDA loop of an elementwise op.
#pragma once

#include <type_traits>

#include "kernkit/apply.h"
#include "kernkit/cuda/launch.h"
#include "kernkit/cuda/pack.cuh"

namespace kernkit::cuda {
namespace detail {

inline constexpr int kElementwiseThreads = 256;

/// The packs of one array that one thread loads: pack threadIdx.x of a tile, and then every
/// kElementwiseThreads-th pack.
template <class T, int kWidth, int kPacks>
struct Packs {
  Pack<T, kWidth> packs[kPacks];
};

// Loads this thread's packs of a tile of `count` packs. If kFull is true, the tile has kPacks packs
// for each thread, and `count` is ignored.
template <bool kFull, int kWidth, int kPacks, class T>
__device__ __forceinline__ Packs<T, kWidth, kPacks> load(const T* in, int count) {
  Packs<T, kWidth, kPacks> result;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int i = p * kElementwiseThreads + static_cast<int>(threadIdx.x);
    if (kFull || i < count) result.packs[p] = reinterpret_cast<const Pack<T, kWidth>*>(in)[i];
  }
  return result;
}

// Applies the op to this thread's packs and stores the results. The caller has already loaded all
// inputs, so that the output may be one of the inputs and all loads of a thread are in flight
// together.
template <bool kFull, int kWidth, int kPacks, class Op, class Out, class... In>
__device__ __forceinline__ void apply(int count, const Op& op, Out* out,
                                      const Packs<In, kWidth, kPacks>&... in) {
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int i = p * kElementwiseThreads + static_cast<int>(threadIdx.x);
    if (!kFull && i >= count) return;
    Pack<Out, kWidth> result;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) result.values[j] = apply_op<Out>(op, in.packs[p].values[j]...);
    reinterpret_cast<Pack<Out, kWidth>*>(out)[i] = result;
  }
}

// Computes one tile per block; `head` elements precede the first tile. The index of a tile has 64
// bits, an index inside a tile 32 bits. The first block also computes the elements of the head, and
// the last block also computes the elements after the last whole pack.
template <int kWidth, int kPacks, class Op, class Out, class... In>
__global__ void __launch_bounds__(kElementwiseThreads)
    elementwise_kernel(int64_t n, int head, Op op, Out* out, const In*... in) {
  constexpr int kTile = kElementwiseThreads * kPacks * kWidth;
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t tile = head + static_cast<int64_t>(blockIdx.x) * kTile;
  if (blockIdx.x == 0 && thread < head) out[thread] = apply_op<Out>(op, in[thread]...);
  const int64_t remaining = n - tile;
  if (remaining >= kTile) {
    apply<true, kWidth, kPacks>(kPacks, op, out + tile,
                                load<true, kWidth, kPacks>(in + tile, kPacks)...);
  } else {
    const int count = static_cast<int>(remaining) / kWidth;
    apply<false, kWidth, kPacks>(count, op, out + tile,
                                 load<false, kWidth, kPacks>(in + tile, count)...);
    const int64_t last = tile + count * kWidth + thread;
    if (kWidth > 1 && last < n) out[last] = apply_op<Out>(op, in[last]...);
  }
}

/// Returns the number of elements before the first pack boundary if that number is the same for all
/// pointers, otherwise -1.
template <int kWidth, class First, class... Others>
int common_head(const First* first, const Others*... others) {
  const auto head_of = [](const auto* pointer) {
    constexpr uintptr_t kSize = sizeof(*pointer);
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    KERNKIT_CHECK(address % kSize == 0, ValueError)
        << "elementwise: address " << static_cast<const void*>(pointer)
        << " is not aligned to elements of " << kSize << " bytes";
    return static_cast<int>((kWidth - address / kSize % kWidth) % kWidth);
  };
  const int head = head_of(first);
  int differs = 0;
  ((differs |= head_of(others) ^ head), ...);  // head_of() throws for a pointer that is not aligned
  return differs == 0 ? head : -1;
}

template <int kWidth, int kPacks, class Op, class Out, class... In>
void launch_elementwise(const Launch& launch, int64_t n, int head, const Op& op, Out* out,
                        const In*... in) {
  constexpr int64_t kTile = kElementwiseThreads * kPacks * kWidth;
  if (head > n) head = static_cast<int>(n);
  const int64_t tiles = (n - head + kTile - 1) / kTile;
  launch(elementwise_kernel<kWidth, kPacks, Op, Out, In...>,
         {tiles > 0 ? tiles : 1, kElementwiseThreads}, n, head, op, out, in...);
}

}  // namespace detail

/// Computes out[i] = apply_op(op, in[i]...) for i in [0, n), n <= 2^40, on the launch's stream; n
/// <= 0 launches nothing. `out` may be one of the inputs (exactly in place); otherwise they must
/// not overlap. Throws ValueError if a pointer is not aligned to its elements, and the errors of
/// Launch::operator().
///
/// The types may differ in size. A pack of an array has 16 / S elements, where S is the largest
/// element size [bytes]. A thread moves whole packs if all pointers have the same number of
/// elements before their next pack boundary; otherwise a thread moves eight single elements of each
/// array. Enqueues one kernel and does not wait. The op is copied into the kernel and must be
/// callable as const in device code; the arrays must stay accessible to the launch's device until
/// the kernel ends.
template <class Op, class Out, class... In>
void elementwise(const Launch& launch, int64_t n, const Op& op, Out* out, const In*... in) {
  static_assert(
      !std::is_const_v<Out>,
      "elementwise: the output, which comes before the inputs, is const: pass y.data<T>()");
  static_assert(
      kernkit::detail::is_applicable<Op, Out, In...>(),
      "elementwise: op does not accept the input types, or its result does not convert to "
      "the output type");
  constexpr int kSizes[] = {sizeof(Out), sizeof(In)...};
  constexpr int kWidest = [&] {
    int widest = 1;
    for (const int size : kSizes) widest = size > widest ? size : widest;
    return widest;
  }();
  static_assert((16 % sizeof(Out) == 0) && ((16 % sizeof(In) == 0) && ...),
                "elementwise: elements have 1, 2, 4, 8 or 16 bytes");
  // A thread loads 64 bytes in total, or 32 bytes if all types have 1 byte, and computes at least 4
  // elements, so that a grid covers 2^40 elements.
  constexpr int kWidth = 16 / kWidest;
  constexpr int kBytes = kWidth * (sizeof...(In) == 0 ? sizeof(Out) : (sizeof(In) + ... + 0));
  constexpr int kExpected = (kWidest == 1 ? 32 : 64) / kBytes;
  constexpr int kLeast = kWidth < 4 ? 4 / kWidth : 1;
  constexpr int kPacks = kExpected > kLeast ? kExpected : kLeast;
  if (n <= 0) return;
  const int head = detail::common_head<kWidth>(out, in...);
  if (head >= 0) {
    detail::launch_elementwise<kWidth, kPacks>(launch, n, head, op, out, in...);
  } else {
    detail::launch_elementwise<1, 8>(launch, n, 0, op, out, in...);
  }
}

}  // namespace kernkit::cuda
