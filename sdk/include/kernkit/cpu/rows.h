// SPDX-License-Identifier: Apache-2.0
// The CPU loop of an op on rows: norms, softmax, activations.
#pragma once

#include "kernkit/cpu/parallel.h"
#include "kernkit/cpu/row.h"
#include "kernkit/error.h"

namespace kernkit::cpu {

namespace detail {

/// Why a body did not end. Threads write it.
struct RowFailure {
  size_t missing_bytes = 0;  // of memory for what a row keeps; 0 where there was enough
  bool overwritten = false;  // the body used a value whose memory it had overwritten
};

template <class Body>
struct RowsOf {
  using Loop = void (*)(const Body& body, int64_t d, int64_t begin, int64_t end, int* streams);

  template <InstructionSet kSet>
  KERNKIT_INLINE static void loop(const Body& body, int64_t d, int64_t begin, int64_t end,
                                  int* shared) {
    RowScratch scratch;
    RowStreams streams(shared);
    for (int64_t r = begin; r < end; ++r) {
      scratch.begin_row();
      streams.begin_row();
      body(Row<kSet>(d, &scratch, &streams), r);
      streams.end_row();
    }
  }
  KERNKIT_VECTORISED static void baseline(const Body& body, int64_t d, int64_t begin, int64_t end,
                                          int* streams) {
    loop<InstructionSet::kBaseline>(body, d, begin, end, streams);
  }
#if KERNKIT_INSTRUCTION_SETS > 1
  KERNKIT_AVX2 KERNKIT_VECTORISED static void avx2(const Body& body, int64_t d, int64_t begin,
                                                   int64_t end, int* streams) {
    loop<InstructionSet::kAvx2>(body, d, begin, end, streams);
  }
  KERNKIT_AVX512 KERNKIT_VECTORISED static void avx512(const Body& body, int64_t d, int64_t begin,
                                                       int64_t end, int* streams) {
    loop<InstructionSet::kAvx512>(body, d, begin, end, streams);
  }
#endif
  static Loop best() {
#if KERNKIT_INSTRUCTION_SETS > 1
    const InstructionSet set = machine().instruction_set;
    if (set >= InstructionSet::kAvx512) return avx512;
    if (set == InstructionSet::kAvx2) return avx2;
#endif
    return baseline;
  }

  /// The rows of [begin, end), up to the one whose body fails.
  static void run(Loop loop, const Body& body, int64_t d, int64_t begin, int64_t end, int* streams,
                  RowFailure* failure) {
    try {
      loop(body, d, begin, end, streams);
    } catch (const NoRowMemory& error) {
      __atomic_store_n(&failure->missing_bytes, error.bytes, __ATOMIC_RELAXED);
    } catch (const RowValueWasOverwritten&) {
      __atomic_store_n(&failure->overwritten, true, __ATOMIC_RELAXED);
    }
    if (streams != nullptr) end_streaming();
  }
};

[[noreturn, gnu::cold, gnu::noinline]] KERNKIT_LOCAL inline void throw_row_failure(
    const RowFailure& failure) {
  if (failure.overwritten) {
    KERNKIT_THROW(RuntimeError)
        << "cpu::rows(): the body used what row.load() or row.map() returned after a map(), "
           "map_sum() or put() had overwritten that memory; use it before, or take row.keep()";
  }
  KERNKIT_THROW(MemoryError) << "row.keep(): the system has no memory of " << failure.missing_bytes
                             << " bytes for the kept values of a row";
}

// Rows take so many times as long as an elementwise loop over their bytes: several threads have
// them from an eighth of the bytes on, which are 10 us of a norm and 50 of a softmax.
inline constexpr size_t kRowWork = 8;
// The least bytes of the rows that a thread takes at a time, some 2 to 12 us.
inline constexpr size_t kRowPieceBytes = size_t{64} << 10;

}  // namespace detail

/// Calls body(row, r) for r in [0, n), in any order, on several threads where `bytes`, all that it
/// reads and writes, are many (an eighth of machine().threading_bytes). `row` is a Row of d
/// elements, whose type depends on the instruction set: the body is a lambda on `const auto& row`,
/// and captures pointers and numbers by value.
///
///     cpu::rows(n, d, 2 * n * d * sizeof(T), [=](const auto& row, int64_t r) {
///       const T* in = x + r * stride;
///       const float squares = row.sum([](float v) { return v * v; }, in);
///       const float scale = math::rsqrt(squares / static_cast<float>(d) + eps);
///       row.map([scale](float v, float g) { return v * scale * g; }, y + r * d, in, weight);
///     });
///
/// A row's bits depend neither on the instruction set nor on threads nor on the other rows.
///
/// MemoryError where the system has no memory for what a row keeps; RuntimeError where the body
/// uses what load() or map() returned after overwriting that memory. Rows before that row are
/// written.
template <class Body>
void rows(int64_t n, int64_t d, size_t bytes, const Body& body) {
  using Rows = detail::RowsOf<Body>;
  const auto loop = Rows::best();
  if (n <= 0) return;
  const Machine& here = machine();
  const bool streaming = bytes >= here.streaming_bytes && (here.streaming & kPastCaches) != 0;
  int bits = detail::RowStreams::kUnknown;
  int* const streams = streaming ? &bits : nullptr;
  detail::RowFailure failure;
  if (bytes < here.threading_bytes / detail::kRowWork) {
    Rows::run(loop, body, d, 0, n, streams, &failure);
  } else {
    const size_t of_a_row = bytes / static_cast<size_t>(n) + 1;
    const size_t piece = detail::piece_bytes(bytes, detail::kRowPieceBytes);
    const auto grain = static_cast<int64_t>(piece / of_a_row);
    parallel_for(n, grain, [&](int64_t begin, int64_t end) {
      Rows::run(loop, body, d, begin, end, streams, &failure);
    });
  }
  if (__builtin_expect(failure.missing_bytes != 0 || failure.overwritten, 0)) {
    detail::throw_row_failure(failure);
  }
}

}  // namespace kernkit::cpu
