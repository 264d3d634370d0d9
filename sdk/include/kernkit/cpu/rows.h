// SPDX-License-Identifier: Apache-2.0
// cpu::rows(): the CPU loop of an op on rows, such as norms, softmax and activations.
#pragma once

#include "kernkit/cpu/row.h"

namespace kernkit::cpu {

namespace detail {

/// The loops of one body over rows [begin, end), with the body's type erased; null for an
/// instruction set that is not compiled.
struct RowLoops {
  using Loop = void (*)(const void* body, int64_t d, int64_t begin, int64_t end, int* streams);
  Loop baseline, avx2, avx512;
};

template <class Body>
struct RowsOf {
  template <InstructionSet kSet>
  KERNKIT_FLATTENED static void loop(const void* body, int64_t d, int64_t begin, int64_t end,
                                     int* streams) {
    const Body& of_row = *static_cast<const Body*>(body);
    RowScratch scratch;
    RowStreams row_streams(streams);
    RowLog log;
    for (int64_t r = begin; r < end; ++r) {
      scratch.begin_row();
      const Row<kSet> row(d, &scratch, &row_streams, &log);
      of_row(row, r);
      row.end();
    }
  }
  KERNKIT_VECTORISED_ROWS static void baseline(const void* body, int64_t d, int64_t begin,
                                               int64_t end, int* streams) {
    loop<InstructionSet::kBaseline>(body, d, begin, end, streams);
  }
#if KERNKIT_INSTRUCTION_SETS > 1
  KERNKIT_AVX2 KERNKIT_VECTORISED_ROWS static void avx2(const void* body, int64_t d, int64_t begin,
                                                        int64_t end, int* streams) {
    loop<InstructionSet::kAvx2>(body, d, begin, end, streams);
  }
  KERNKIT_AVX512 KERNKIT_VECTORISED_ROWS static void avx512(const void* body, int64_t d,
                                                            int64_t begin, int64_t end,
                                                            int* streams) {
    loop<InstructionSet::kAvx512>(body, d, begin, end, streams);
  }
  static constexpr RowLoops kLoops{baseline, avx2, avx512};
#else
  static constexpr RowLoops kLoops{baseline, nullptr, nullptr};
#endif
};

/// Runs the loops of rows() with the type of the body erased.
KERNKIT_LOCAL void run_rows(const RowLoops& loops, const void* body, int64_t n, int64_t d,
                            size_t bytes);

}  // namespace detail

/// Calls body(row, r) for r in [0, n), in any order; n <= 0 makes no call. `bytes` is the size of
/// all memory that the calls read and write; if it is at least an eighth of
/// machine().threading_bytes, several threads take part. `row` is a Row of d elements, whose type
/// depends on the instruction set: the body is a lambda with a parameter `const auto& row`, and
/// captures pointers and numbers by value.
///
///     cpu::rows(n, d, 2 * n * d * sizeof(T), [=](const auto& row, int64_t r) {
///       const T* in = x + r * stride;
///       const float squares = row.sum([](float v) { return v * v; }, in);
///       const float scale = math::rsqrt(squares / static_cast<float>(d) + eps);
///       row.map([scale](float v, float g) { return v * scale * g; }, y + r * d, in, weight);
///     });
///
/// The bits of a row do not depend on the instruction set, the threads or other rows.
///
/// Returns when all calls have ended. Several threads may call the body at the same time, as const,
/// so two rows may not write the same memory. d must not be negative; with d = 0 the rows are
/// empty.
///
/// Throws MemoryError if the system has no memory for the results of row.keep(), RuntimeError if
/// the body uses a result of load() or map() after overwriting its memory, and an exception of the
/// body. After an error, any row may be written, partly written or unwritten.
template <class Body>
void rows(int64_t n, int64_t d, size_t bytes, const Body& body) {
  detail::run_rows(detail::RowsOf<Body>::kLoops, &body, n, d, bytes);
}

}  // namespace kernkit::cpu

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/rows.h"
#endif
