// SPDX-License-Identifier: Apache-2.0
// Which results of a row's body go past the caches.
#pragma once

#include "kernkit/base/cold.h"
#include "kernkit/base/inline.h"
#include "kernkit/cpu/memory_hints.h"

namespace kernkit::cpu::detail {

/// Results of a row on their way past the caches.
struct alignas(64) RowPart {
  static constexpr size_t kBytes = 2048;
  unsigned char bytes[kBytes];
};

/// `to` becomes the first `bytes` of a part: past the caches, but for the lines that the part
/// shares with its neighbours.
template <bool kAvx>
__attribute__((noinline)) KERNKIT_LOCAL void stream_part(void* to, const RowPart& part,
                                                         size_t bytes) {
  auto* const out = static_cast<unsigned char*>(to);
  const size_t to_line = (64 - reinterpret_cast<uintptr_t>(out) % 64) % 64;
  const size_t head = to_line < bytes ? to_line : bytes;
  memcpy(out, part.bytes, head);
  size_t done = head;
  for (; done + 64 <= bytes; done += 64) stream_line<kAvx>(out + done, part.bytes + done);
  memcpy(out + done, part.bytes + done, bytes - done);
}

/// The map() calls of a body whose results may stream: bit k is call number k of a row. Results
/// that the body reads as well, before or after, are in the caches and stay there. The first row of
/// a call of rows() shows which these are; only the time of other rows depends on it.
class RowStreams {
 public:
  static constexpr int kUnknown = -1;

  /// `shared`: the bits, or kUnknown, of all threads; null where nothing streams.
  KERNKIT_INLINE explicit RowStreams(int* shared) : shared_(shared) {
    if (shared_ != nullptr) bits_ = __atomic_load_n(shared_, __ATOMIC_RELAXED);
    learning_ = bits_ == kUnknown;
  }
  KERNKIT_INLINE void begin_row() { maps_ = 0; }
  KERNKIT_INLINE void end_row() {
    if (__builtin_expect(learning_, 0)) end_learning();
  }
  /// The body reads the row at `in`.
  KERNKIT_INLINE void read(const void* in) {
    if (__builtin_expect(learning_, 0)) learn_read(in);
  }
  /// Whether the next map() streams, whose results belong at `out`.
  KERNKIT_INLINE bool next(const void* out) {
    return __builtin_expect(bits_ != 0, 0) && next_of(out);
  }

 private:
  static constexpr int kMaps = 4, kReads = 8;

  KERNKIT_LOCAL void end_learning();
  KERNKIT_LOCAL void learn_read(const void* in);
  KERNKIT_LOCAL bool next_of(const void* out);

  int* shared_;
  int bits_ = 0;              // while learning, all that no read has shown to stay in the caches
  int maps_ = 0, reads_ = 0;  // of this row
  bool learning_;
  const void* outs_[kMaps];
  const void* ins_[kReads];
};

__attribute__((noinline)) inline void RowStreams::end_learning() {
  learning_ = false;
  const int known = maps_ < kMaps ? maps_ : kMaps;
  bits_ = reads_ > kReads ? 0 : bits_ & ((1 << known) - 1);
  __atomic_store_n(shared_, bits_, __ATOMIC_RELAXED);
}

__attribute__((noinline)) inline void RowStreams::learn_read(const void* in) {
  for (int k = 0; k < maps_ && k < kMaps; ++k) {
    if (outs_[k] == in) bits_ &= ~(1 << k);
  }
  if (reads_ < kReads) ins_[reads_] = in;
  ++reads_;
}

__attribute__((noinline)) inline bool RowStreams::next_of(const void* out) {
  const int k = maps_++;
  if (!learning_) return k < kMaps && (bits_ >> k & 1) != 0;
  if (k < kMaps) outs_[k] = out;
  for (int i = 0; i < reads_ && i < kReads; ++i) {
    if (ins_[i] == out && k < kMaps) bits_ &= ~(1 << k);
  }
  return false;
}

}  // namespace kernkit::cpu::detail
