// SPDX-License-Identifier: Apache-2.0
// The runs of a map() over a row, and stores past the caches.
#pragma once

#include "kernkit/cpu/row_pass.h"

namespace kernkit::cpu::detail {

/// `to` becomes the `bytes` at `from`: past the caches, but for the lines that these bytes share
/// with their neighbours.
template <bool kAvx>
KERNKIT_LOCAL inline void stream_bytes(unsigned char* to, const unsigned char* from, size_t bytes) {
  const size_t to_line = (64 - reinterpret_cast<uintptr_t>(to) % 64) % 64;
  const size_t head = to_line < bytes ? to_line : bytes;
  memcpy(to, from, head);
  size_t done = head;
  for (; done + 64 <= bytes; done += 64) stream_line<kAvx>(to + done, from + done);
  memcpy(to + done, from + done, bytes - done);
}

inline bool RowPass::next_run(int64_t first) {
  const int64_t left = (d_ & -int64_t{kBlock}) - first;
  if (left <= 0) return false;
  const auto part = static_cast<int64_t>(kPart / size_);
  first_ = first;
  count_ = streaming_ && left > part ? part : left;
  to_ = streaming_ ? part_ : out_ + static_cast<size_t>(first) * size_;
  return true;
}

__attribute__((noinline)) KERNKIT_COLD void RowPass::begin(void* out, int64_t d, size_t size, void* last, bool streaming,
                                 bool avx) {
  out_ = static_cast<unsigned char*>(out);
  last_ = static_cast<unsigned char*>(last);
  d_ = d;
  size_ = size;
  streaming_ = streaming;
  avx_ = avx;
  if (d % kBlock == 0) {
    count_ = 0;
    next_run(0);
  } else {
    to_ = last;
    first_ = d < kBlock ? 0 : d - kBlock;
    count_ = kBlock;
  }
}

__attribute__((noinline)) KERNKIT_COLD bool RowPass::next() {
  if (to_ == last_) {
    if (next_run(0)) return true;
  } else {
    unsigned char* const to = out_ + static_cast<size_t>(first_) * size_;
    const size_t bytes = static_cast<size_t>(count_) * size_;
    if (streaming_ && avx_) stream_bytes<true>(to, part_, bytes);
    if (streaming_ && !avx_) stream_bytes<false>(to, part_, bytes);
    if (next_run(first_ + count_)) return true;
  }
  const int64_t ragged = d_ % kBlock;
  if (ragged != 0 && d_ < kBlock) {
    memcpy(out_, last_ + static_cast<size_t>(kBlock - d_) * size_, static_cast<size_t>(d_) * size_);
  } else if (ragged != 0) {
    memcpy(out_ + static_cast<size_t>(d_ - kBlock) * size_, last_, kBlock * size_);
  }
  return false;
}

}  // namespace kernkit::cpu::detail
