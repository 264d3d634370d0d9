// SPDX-License-Identifier: Apache-2.0
// The CPU loop of an op on rows: norms, softmax, activations.
#pragma once

#include "kernkit/cpu/parallel.h"
#include "kernkit/cpu/row.h"
#include "kernkit/error.h"

namespace kernkit::cpu {

namespace detail {

template <class Body>
struct RowsOf {
  using Loop = void (*)(const Body& body, int64_t d, int64_t begin, int64_t end);

  template <InstructionSet kSet>
  KERNKIT_INLINE static void loop(const Body& body, int64_t d, int64_t begin, int64_t end) {
    RowScratch scratch;
    for (int64_t r = begin; r < end; ++r) {
      scratch.begin_row();
      body(Row<kSet>(d, &scratch), r);
    }
  }
  KERNKIT_VECTORISED static void baseline(const Body& body, int64_t d, int64_t begin, int64_t end) {
    loop<InstructionSet::kBaseline>(body, d, begin, end);
  }
#if KERNKIT_INSTRUCTION_SETS > 1
  KERNKIT_AVX2 KERNKIT_VECTORISED static void avx2(const Body& body, int64_t d, int64_t begin,
                                                   int64_t end) {
    loop<InstructionSet::kAvx2>(body, d, begin, end);
  }
  KERNKIT_AVX512 KERNKIT_VECTORISED static void avx512(const Body& body, int64_t d, int64_t begin,
                                                       int64_t end) {
    loop<InstructionSet::kAvx512>(body, d, begin, end);
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

  /// 0, or how many bytes of memory the system did not have for what a row keeps.
  static size_t run(Loop loop, const Body& body, int64_t d, int64_t begin, int64_t end) {
    try {
      loop(body, d, begin, end);
      return 0;
    } catch (const NoRowMemory& error) {
      return error.bytes;
    }
  }
};

[[noreturn, gnu::cold, gnu::noinline]] KERNKIT_LOCAL inline void throw_no_row_memory(size_t bytes) {
  KERNKIT_THROW(MemoryError) << "row.keep(): the system has no memory of " << bytes
                             << " bytes for the kept values of a row";
}

// Rows take so many times as long as an elementwise loop over their bytes: several threads have
// them from an eighth of the bytes on, which are 10 us of a norm and 50 of a softmax.
inline constexpr size_t kRowWork = 8;
// Bytes of the rows that a thread takes at a time, some 2 to 12 us.
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
/// MemoryError where the system has no memory for what a row keeps; rows before that row are
/// written.
template <class Body>
void rows(int64_t n, int64_t d, size_t bytes, const Body& body) {
  using Rows = detail::RowsOf<Body>;
  const auto loop = Rows::best();
  if (n <= 0) return;
  size_t missing = 0;
  if (bytes < machine().threading_bytes / detail::kRowWork) {
    missing = Rows::run(loop, body, d, 0, n);
  } else {
    const size_t of_a_row = bytes / static_cast<size_t>(n) + 1;
    const auto grain = static_cast<int64_t>(detail::kRowPieceBytes / of_a_row);
    parallel_for(n, grain, [&](int64_t begin, int64_t end) {
      const size_t failed = Rows::run(loop, body, d, begin, end);
      if (__builtin_expect(failed != 0, 0)) __atomic_store_n(&missing, failed, __ATOMIC_RELAXED);
    });
  }
  if (__builtin_expect(missing != 0, 0)) detail::throw_no_row_memory(missing);
}

}  // namespace kernkit::cpu
