// SPDX-License-Identifier: Apache-2.0
// Pack: the elements that a thread loads or stores at once.
#pragma once

#include <stdint.h>

namespace kernkit::cuda {

/// kWidth adjacent elements, which a thread loads or stores at once; kWidth must be a power of two.
/// A pack of up to 16 bytes is moved by one instruction, a larger pack by several 16-byte
/// instructions. The address must be a multiple of alignof(Pack).
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T values[kWidth];  ///< the elements, in memory order
};

}  // namespace kernkit::cuda
