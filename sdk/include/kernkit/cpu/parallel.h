// SPDX-License-Identifier: Apache-2.0
// Threads for long CPU loops.
#pragma once

#include <stdint.h>

#include "kernkit/error.h"

namespace kernkit::cpu {

/// Returns the largest number of threads, including the caller's thread, on which a loop of this
/// library may run: from 1 to 256. The default is the environment variable KERNKIT_THREADS. If this
/// variable is not set, the default is OMP_NUM_THREADS, or else the number of processors that the
/// process may use within its container's quota, but at most 8. Safe to call from any thread.
/// Values of the variables below 1 are ignored, values above 256 are treated as 256. Throws
/// nothing.
int threads() noexcept;

/// Sets threads() for the whole library; a count above 256 is treated as 256. Throws ValueError for
/// a count below 1. Safe from any thread; a loop that is running keeps its number of threads.
void set_threads(int count);

namespace detail {

// Least size of a piece, the part of all arrays that a thread takes at a time [bytes]; a piece of
// this size takes about 10 to 30 us.
inline constexpr size_t kPieceBytes = size_t{256} << 10;

/// Returns the size of the pieces of a loop over `all` bytes, at least `least` [bytes]. The size is
/// large enough that the start of a piece takes little time in comparison, and small enough that
/// all threads end at about the same time.
size_t piece_bytes(size_t all, size_t least) noexcept;

using Piece = void (*)(const void* context, int64_t index);

/// Calls piece(context, i) once for each i in [0, pieces), on this thread and on at most `threads -
/// 1` helper threads; every thread takes the next piece when it has finished a piece. A helper may
/// start late or not at all. Requires that `piece` throws nothing.
void run_pieces(int threads, int64_t pieces, Piece piece, const void* context) noexcept;

/// The first exception thrown by a piece of a loop, carried from that piece's thread to the caller.
class PieceFailure {
 public:
  PieceFailure() = default;
  PieceFailure(const PieceFailure&) = delete;
  PieceFailure& operator=(const PieceFailure&) = delete;

  bool occurred() const noexcept { return __atomic_load_n(&occurred_, __ATOMIC_RELAXED); }
  /// Keeps the current exception, unless an exception was kept before.
  void keep_current() noexcept;
  /// Throws the kept exception. Requires that occurred() is true and that every piece has ended.
  [[noreturn]] void rethrow();

 private:
  bool occurred_ = false;
  void* exception_ = nullptr;  // a std::exception_ptr, whose header is large
};

}  // namespace detail

/// Calls function(begin, end) on pieces of [0, n) of `grain` elements, in any order and at the same
/// time; the last piece may be shorter. Makes no call if n <= 0; a grain below 1 is treated as 1.
/// The caller takes part, so the loop never waits for a thread that has not begun. In a parallel
/// region of OpenMP, or while another thread runs a parallel_for() of this library, all pieces run
/// on the calling thread, one after the other.
///
/// If the function throws, pieces that have not begun are skipped, and the first exception reaches
/// the caller after the last running piece has ended. If a noexcept function throws, the process
/// ends. parallel_for() itself throws nothing.
///
/// Returns when all pieces have ended. The function is called as const. Helper threads have the
/// caller's floating-point mode (rounding, flush to zero), but not its thread-local state, such as
/// the current stream of a framework.
///
/// A piece should take 10 us or more, and the whole loop 100 us or more: a sleeping helper needs
/// about 50 us to wake up.
template <class Function>
void parallel_for(int64_t n, int64_t grain, const Function& function) {
  struct Context {
    const Function& function;
    int64_t n, grain;
    detail::PieceFailure* failure;

    void run(int64_t index) const {
      const int64_t begin = index * grain;
      function(begin, n - begin < grain ? n : begin + grain);
    }
  };
  if (n <= 0) return;
  detail::PieceFailure failure;
  const Context shared{function, n, grain < 1 ? 1 : grain, &failure};
  detail::run_pieces(
      threads(), (n - 1) / shared.grain + 1,  // not (n + grain - 1) / grain: the sum could overflow
      [](const void* context, int64_t index) {
        const Context& c = *static_cast<const Context*>(context);
        if constexpr (noexcept(c.function(index, index))) {
          c.run(index);
        } else {
          if (c.failure->occurred()) return;
          try {
            c.run(index);
          } catch (...) {
            c.failure->keep_current();
          }
        }
      },
      &shared);
  if (failure.occurred()) failure.rethrow();
}

}  // namespace kernkit::cpu

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/parallel.h"
#endif
