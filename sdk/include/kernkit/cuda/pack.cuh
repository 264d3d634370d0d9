// SPDX-License-Identifier: Apache-2.0
// The elements that a thread loads or stores at once.
#pragma once

#include <stdint.h>

namespace kernkit::cuda {

/// kWidth neighbours, a power of two. Read through a pointer to one, they are moved by one
/// instruction of up to 16 bytes, or several of 16: the address is a multiple of alignof(Pack).
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T values[kWidth];
};

}  // namespace kernkit::cuda
