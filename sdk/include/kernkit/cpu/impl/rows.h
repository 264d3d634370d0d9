// SPDX-License-Identifier: Apache-2.0
// run_rows(): the choice of a loop over rows, its threads and its errors.
#pragma once

#include "kernkit/cpu/impl/row_log.h"
#include "kernkit/cpu/impl/row_pass.h"
#include "kernkit/cpu/impl/row_scratch.h"
#include "kernkit/cpu/impl/row_streams.h"
#include "kernkit/cpu/parallel.h"
#include "kernkit/cpu/rows.h"
#include "kernkit/error.h"

namespace kernkit::cpu::detail {

/// The reason why a body failed. Several threads may store a reason.
struct RowFailure {
  size_t missing_bytes = 0;  // size of an allocation that failed for row.keep() [bytes], or 0
  bool overwritten = false;  // the body used a value after overwriting its memory
};

// Assumed time of a loop over rows, as a multiple of the time of an elementwise loop over the same
// bytes. A loop over an eighth of machine().threading_bytes or more therefore runs on several
// threads; on one thread, that many bytes take 10 us in a norm and 50 us in a softmax.
inline constexpr size_t kRowWork = 8;
// Least total size of the rows that a thread takes at a time [bytes]; a norm or a softmax of rows
// of this size takes about 2 to 12 us.
inline constexpr size_t kRowPieceBytes = size_t{64} << 10;

KERNKIT_LOCAL inline RowLoops::Loop best_row_loop(const RowLoops& loops) {
  if (loops.avx2 == nullptr) return loops.baseline;
  const InstructionSet set = machine().instruction_set;
  if (set >= InstructionSet::kAvx512) return loops.avx512;
  return set == InstructionSet::kAvx2 ? loops.avx2 : loops.baseline;
}

[[noreturn, gnu::cold, gnu::noinline]] KERNKIT_LOCAL inline void throw_row_failure(
    const RowFailure& failure) {
  if (failure.overwritten) {
    KERNKIT_THROW(RuntimeError)
        << "cpu::rows(): the body used a result of row.load() or row.map() after map(), map_sum() "
           "or put() had overwritten its memory; use the result earlier, or call row.keep()";
  }
  KERNKIT_THROW(MemoryError) << "row.keep(): cannot allocate " << failure.missing_bytes
                             << " bytes for the kept values of a row";
}

[[noreturn, gnu::cold, gnu::noinline]] KERNKIT_COLD void row_value_was_overwritten() {
  throw RowValueWasOverwritten{};
}

KERNKIT_COLD void run_rows(const RowLoops& loops, const void* body, int64_t n, int64_t d,
                           size_t bytes) {
  const RowLoops::Loop loop = best_row_loop(loops);
  if (n <= 0) return;
  const Machine& here = machine();
  const bool streaming = bytes >= here.streaming_bytes && (here.streaming & kNonTemporal) != 0;
  int bits = RowStreams::kUnknown;
  int* const streams = streaming ? &bits : nullptr;
  RowFailure failure;
  // Runs the rows of [begin, end), up to a row whose body fails.
  const auto run = [&](int64_t begin, int64_t end) {
    try {
      loop(body, d, begin, end, streams);
    } catch (const NoRowMemory& error) {
      __atomic_store_n(&failure.missing_bytes, error.bytes, __ATOMIC_RELAXED);
    } catch (const RowValueWasOverwritten&) {
      __atomic_store_n(&failure.overwritten, true, __ATOMIC_RELAXED);
    }
    if (streams != nullptr) end_streaming();
  };
  if (bytes < here.threading_bytes / kRowWork) {
    run(0, n);
  } else {
    const size_t of_a_row = bytes / static_cast<size_t>(n) + 1;
    const size_t piece = piece_bytes(bytes, kRowPieceBytes);
    parallel_for(n, static_cast<int64_t>(piece / of_a_row), run);
  }
  if (__builtin_expect(failure.missing_bytes != 0 || failure.overwritten, 0)) {
    throw_row_failure(failure);
  }
}

}  // namespace kernkit::cpu::detail
