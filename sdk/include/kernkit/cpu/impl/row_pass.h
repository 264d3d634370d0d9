// SPDX-License-Identifier: Apache-2.0
// RowPass: the non-temporal stores.
#pragma once

#include "kernkit/cpu/row_pass.h"

namespace kernkit::cpu::detail {

/// Copies `bytes` bytes by non-temporal stores, except for partial cache lines at both ends.
template <bool kAvx>
KERNKIT_LOCAL inline void stream_bytes(unsigned char* to, const unsigned char* from, size_t bytes) {
  const size_t to_line = (64 - reinterpret_cast<uintptr_t>(to) % 64) % 64;
  const size_t head = to_line < bytes ? to_line : bytes;
  memcpy(to, from, head);
  size_t done = head;
  for (; done + 64 <= bytes; done += 64) stream_line<kAvx>(to + done, from + done);
  memcpy(to + done, from + done, bytes - done);
}

__attribute__((noinline)) KERNKIT_COLD void RowPass::begin(void* out, int64_t d, size_t size,
                                                           bool avx) noexcept {
  first_ = count_ = 0;
  d_ = d;
  out_ = static_cast<unsigned char*>(out);
  size_ = size;
  avx_ = avx;
}

__attribute__((noinline)) KERNKIT_COLD int64_t RowPass::next() noexcept {
  unsigned char* const to = out_ + static_cast<size_t>(first_) * size_;
  const size_t bytes = static_cast<size_t>(count_) * size_;
  if (avx_) {
    stream_bytes<true>(to, bytes_, bytes);
  } else {
    stream_bytes<false>(to, bytes_, bytes);
  }
  first_ += count_;
  const auto most = static_cast<int64_t>(kBytes / size_);
  count_ = d_ - first_ < most ? d_ - first_ : most;
  return count_;
}

}  // namespace kernkit::cpu::detail
