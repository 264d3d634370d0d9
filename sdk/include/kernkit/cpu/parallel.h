// SPDX-License-Identifier: Apache-2.0
// Threads for CPU loops that are long enough.
#pragma once

#include <stdint.h>

#include "kernkit/error.h"

namespace kernkit::cpu {

/// How many threads a loop of this library may run on, the caller's among them: 1 is none but the
/// caller's. By default the environment variable KERNKIT_THREADS, else OMP_NUM_THREADS, else the
/// processors that the process may run on within its container's quota, at most 8.
int threads() noexcept;

/// Sets threads(), for the whole library. Throws ValueError below 1.
void set_threads(int count);

namespace detail {

// The least bytes of all arrays of a loop together that a thread takes at a time: some 10 to 30 us.
inline constexpr size_t kPieceBytes = size_t{256} << 10;

/// Bytes that a thread takes at a time of `all`, at least `least`: so many that the start and the
/// end of a piece cost little, and so few that threads end at about the same time.
size_t piece_bytes(size_t all, size_t least) noexcept;

using Piece = void (*)(const void* context, int64_t index);

/// Calls piece(context, i) for i in [0, pieces), each once, on this thread and on at most
/// `threads - 1` others, which may come late or never: whoever is free takes the next piece.
/// Pieces do not throw.
void run_pieces(int threads, int64_t pieces, Piece piece, const void* context) noexcept;

/// The first exception that a piece of a loop throws. It travels from the piece's thread to the
/// caller's.
class PieceFailure {
 public:
  PieceFailure() = default;
  PieceFailure(const PieceFailure&) = delete;
  PieceFailure& operator=(const PieceFailure&) = delete;

  bool occurred() const noexcept { return __atomic_load_n(&occurred_, __ATOMIC_RELAXED); }
  /// Keeps the exception that is being handled, unless another thread was first.
  void keep_current() noexcept;
  /// Throws the kept exception. Every piece must have ended.
  [[noreturn]] void rethrow();

 private:
  bool occurred_ = false;
  void* exception_ = nullptr;  // a std::exception_ptr, whose header is large
};

}  // namespace detail

/// Calls function(begin, end) on pieces of [0, n), each of `grain` but the last, in any order and
/// at the same time: not at all when n is 0 or less, and with a grain below 1 as with 1. The caller
/// takes part, so nothing waits for a thread that has not begun. In a parallel region of OpenMP, or
/// while another thread is in such a loop of this library, all pieces run here, one after the
/// other.
///
/// When the function throws, pieces that have not begun are left out, and the first exception
/// reaches the caller after the last running piece has ended. A function that is noexcept skips the
/// test for that.
///
/// A piece should take 10 us or more, all together 100 us: others need that long to wake up.
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
      threads(), (n - 1) / shared.grain + 1,  // n + grain could overflow
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
