// SPDX-License-Identifier: Apache-2.0
// Row: the operations of a cuda::rows() body on one row, in a kernel.
#pragma once

#include <type_traits>

#include "kernkit/apply.h"
#include "kernkit/cuda/block_reduce.cuh"
#include "kernkit/cuda/row_pack.cuh"
#include "kernkit/memory/row_writes.h"

namespace kernkit::cuda {

namespace detail {

// Ends the kernel: the body used a result of load(), keep() or map() of a long row after a map() or
// put() overwrote the memory from which the result is read. A separate function, so that a debugger
// shows the function's name.
__device__ __attribute__((noinline)) inline void row_value_was_overwritten() { __trap(); }

}  // namespace detail

/// A row of d elements, handled by kThreads threads, which are a warp or a block. Thread t handles
/// the packs t, t + kThreads, ... of kWidth elements: at most kPacks packs, or any number if kPacks
/// is 0. A pack is moved by one instruction if its address is aligned, otherwise element by
/// element. The assignment of elements to threads, and thus the bits of a result, do not depend on
/// alignment.
///
/// The inputs of sum(), max(), map() and keep() are results of load(), keep() and map(), or
/// pointers. Ops take compute types. All threads of the row must call these functions, and all
/// threads get the result.
///
/// A result of load(), keep() or map() does not change if the body overwrites memory. If the row is
/// not in registers (kPacks is 0), a use of a result whose memory a map() or put() has overwritten
/// traps: the kernel ends with an error. A pointer is read without this check.
template <int kThreads, int kWidth, int kPacks>
class Row {
 public:
  /// This thread's packs of an input, in registers, so that the row is read once. A row that is too
  /// long for registers (kPacks is 0) is a RowInMemory, which each pass reads.
  template <class T>
  struct Loaded {
    /// The thread's packs. Elements past the row's end are unspecified.
    Pack<T, kWidth> packs[kPacks];
  };

  /// This thread's packs of 16-bit elements in a block whose threads have 64 registers each. Each
  /// register holds two elements; with one element per register, registers would spill.
  template <class T>
  struct PackedPairs {
    uint32_t pairs[kPacks][kWidth / 2];  ///< two elements in each word, the first in the low bits
  };

  /// Makes a row of d elements, at most kThreads * kWidth * kPacks unless kPacks is 0; this is not
  /// checked. cuda::rows() makes the rows for its body.
  __device__ __forceinline__ explicit Row(int64_t d) : d_(static_cast<Index>(d)) {}

  /// Returns the row in[0 ... d), read into registers, or a RowInMemory if kPacks is 0. `in` must
  /// be aligned to at least one element. An empty row reads nothing.
  template <class T>
  __device__ __forceinline__ auto load(const T* in) const {
    if constexpr (kPacks == 0) {
      return with_write_count(in);
    } else if constexpr (kThreads == 1024 && sizeof(T) == 2 && kWidth % 2 == 0) {
      PackedPairs<T> values;
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        const auto pack =
            first_of(p) < d_ ? detail::read_pack<kWidth>(in, first_of(p), d_) : Pack<T, kWidth>{};
        memcpy(values.pairs[p], &pack, sizeof(pack));
#pragma unroll
        for (int i = 0; i < kWidth / 2; ++i) detail::keep_whole(values.pairs[p][i], d_);
      }
      return values;
    } else {
      Loaded<T> values;
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        values.packs[p] =
            first_of(p) < d_ ? detail::read_pack<kWidth>(in, first_of(p), d_) : Pack<T, kWidth>{};
      }
      return values;
    }
  }

  /// Returns the row op(x[i]...), not rounded, in registers, for several passes. If the row is too
  /// long for registers, each pass computes the values again from the inputs, and a use of the
  /// result traps if the body has overwritten an input. The result is valid as long as the row.
  template <class Op, class... In>
  __device__ __forceinline__ auto keep(const Op& op, const In&... in) const {
    using R = result_of<Op, In...>;
    if constexpr (kPacks == 0) {
      check(in...);
      return computed<R>(op, with_write_count(in)...);
    } else {
      Loaded<R> values{};
      each([&](int p, Index first) { apply(op, values.packs[p], pack_of(in, p, first)...); });
      return values;
    }
  }

  /// Returns the sum of op(x[i]...) to each thread, in the type that op returns; 0 for an empty
  /// row. The order of the additions depends only on d and kWidth. Waits for the row's threads. In
  /// a row that is too long for registers, a use of a result of load(), keep() or map() traps if
  /// the body has overwritten the result's memory.
  template <class Op, class... In>
  __device__ __forceinline__ auto sum(const Op& op, const In&... in) const {
    return reduce(detail::Plus{}, 0, op, in...);
  }
  /// Returns the largest op(x[i]...) to each thread: NaN if any value is NaN, -infinity for an
  /// empty row. Waits for the row's threads. In a row that is too long for registers, a use of a
  /// result of load(), keep() or map() traps if the body has overwritten the result's memory.
  template <class Op, class... In>
  __device__ __forceinline__ auto max(const Op& op, const In&... in) const {
    return reduce(detail::Larger{}, -__builtin_huge_valf(), op, in...);
  }

  /// Stores out[i] = op(x[i]...), converted as by apply_op(), and returns the written row, as
  /// load() does. `out` may be an input: each thread reads its own elements first. The output must
  /// not overlap an input otherwise; this is not checked. In a row that is too long for registers,
  /// a use of a result of load(), keep() or map() traps if the body has overwritten the result's
  /// memory.
  template <class Op, class Out, class... In>
  __device__ __forceinline__ auto map(const Op& op, Out* out, const In&... in) const {
    if constexpr (kPacks == 0) {
      check(in...);
      each([&](int, Index first) {
        Pack<Out, kWidth> result;
        apply(op, result, pack_of(in, 0, first)...);
        detail::write_pack(out, first, d_, result);
      });
      writes_.add(out, d_);
      return with_write_count(static_cast<const Out*>(out));
    } else {
      Loaded<Out> results{};
      each([&](int p, Index first) {
        apply(op, results.packs[p], pack_of(in, p, first)...);
        detail::write_pack(out, first, d_, results.packs[p]);
      });
      return results;
    }
  }

  /// Stores the value of the row's first thread in *at, converted to T as apply_op() converts a
  /// result. `at` must be aligned to T. Other threads may read *at after a barrier.
  template <class T, class R>
  __device__ __forceinline__ void put(T* at, R value) const {
    if (static_cast<int>(threadIdx.x) % kThreads == 0) *at = T(static_cast<compute_t<T>>(value));
    if constexpr (kPacks == 0) writes_.add(at, 1);
  }

 private:
  // Type of an element index: 32 bits suffice for a row that is kept in registers.
  using Index = std::conditional_t<kPacks == 0, int64_t, int>;
  struct None {};
  using Writes = std::conditional_t<kPacks == 0, kernkit::detail::RowWrites, None>;

  // The result of keep() for a row that is not in registers. make(first) computes the pack that
  // begins at element `first`; all_of(holds) returns whether holds(x) is true for every RowInMemory
  // x that the computation reads.
  template <class R, class Make, class AllOf>
  struct Computed {
    Make make;
    AllOf all_of;
  };
  template <class R, class Op, class... In>
  __device__ __forceinline__ auto computed(const Op& op, const In&... in) const {
    const auto make = [this, op, in...](Index first) {
      Pack<R, kWidth> pack;
      apply(op, pack, pack_of(in, 0, first)...);
      return pack;
    };
    const auto all_of = [in...](const auto& holds) {
      return (int{each_source(in, holds)} & ... & 1) != 0;
    };
    return Computed<R, decltype(make), decltype(all_of)>{make, all_of};
  }

  // Returns a pointer as a RowInMemory with the number of writes so far, and any other input
  // unchanged.
  template <class In>
  __device__ __forceinline__ auto with_write_count(const In& in) const {
    if constexpr (std::is_pointer_v<In>) {
      using T = std::remove_const_t<std::remove_pointer_t<In>>;
      return kernkit::detail::RowInMemory<T>{in, writes_.count()};
    } else {
      return in;
    }
  }

  // Returns whether holds(x) is true for every RowInMemory x that `in` reads.
  template <class T, class Holds>
  __device__ __forceinline__ static bool each_source(const T*, const Holds&) {
    return true;
  }
  template <class T, class Holds>
  __device__ __forceinline__ static bool each_source(const kernkit::detail::RowInMemory<T>& in,
                                                     const Holds& holds) {
    return holds(in);
  }
  template <class R, class Make, class AllOf, class Holds>
  __device__ __forceinline__ static bool each_source(const Computed<R, Make, AllOf>& in,
                                                     const Holds& holds) {
    return in.all_of(holds);
  }

  // Traps if the memory of an input was overwritten.
  template <class... In>
  __device__ __forceinline__ void check(const In&... in) const {
    const auto unchanged = [this](const auto& x) { return writes_.unchanged(x, d_); };
    if ((int{each_source(in, unchanged)} & ... & 1) == 0) detail::row_value_was_overwritten();
  }

  __device__ __forceinline__ static Index first_of(int pack) {
    return (pack * kThreads + static_cast<int>(threadIdx.x) % kThreads) * kWidth;
  }
  // Calls f(p, i) for each of this thread's packs p that has elements; i is the index of the pack's
  // first element in the row.
  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
    if constexpr (kPacks == 0) {
      for (Index first = first_of(0); first < d_; first += kThreads * kWidth) f(0, first);
    } else {
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        if (first_of(p) < d_) f(p, first_of(p));
      }
    }
  }
  template <class T>
  __device__ __forceinline__ const Pack<T, kWidth>& pack_of(const Loaded<T>& in, int p,
                                                            Index) const {
    return in.packs[p];
  }
  template <class T>
  __device__ __forceinline__ Pack<T, kWidth> pack_of(const PackedPairs<T>& in, int p, Index) const {
    uint32_t words[kWidth / 2];
    Pack<T, kWidth> pack;
#pragma unroll
    for (int i = 0; i < kWidth / 2; ++i) words[i] = detail::anew(in.pairs[p][i]);
    memcpy(&pack, words, sizeof(pack));
    return pack;
  }
  template <class T>
  __device__ __forceinline__ Pack<T, kWidth> pack_of(const T* in, int, Index first) const {
    return detail::read_pack<kWidth>(in, first, d_);
  }
  template <class T>
  __device__ __forceinline__ Pack<T, kWidth> pack_of(const kernkit::detail::RowInMemory<T>& in, int,
                                                     Index first) const {
    return detail::read_pack<kWidth>(in.at, first, d_);
  }
  template <class R, class Make, class AllOf>
  __device__ __forceinline__ Pack<R, kWidth> pack_of(const Computed<R, Make, AllOf>& in, int,
                                                     Index first) const {
    return in.make(first);
  }
  template <class Op, class Out, class... In>
  __device__ __forceinline__ static void apply(const Op& op, Pack<Out, kWidth>& result,
                                               const Pack<In, kWidth>&... in) {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) result.values[j] = apply_op<Out>(op, in.values[j]...);
  }

  template <class T>
  static T element_of(const Loaded<T>&);
  template <class T>
  static T element_of(const PackedPairs<T>&);
  template <class T>
  static T element_of(const T*);
  template <class T>
  static T element_of(const kernkit::detail::RowInMemory<T>&);
  template <class R, class Make, class AllOf>
  static R element_of(const Computed<R, Make, AllOf>&);
  template <class Op, class... In>
  using result_of = std::decay_t<
      std::invoke_result_t<const Op&, compute_t<decltype(element_of(std::declval<In>()))>...>>;

  template <class Join, class Op, class... In>
  __device__ __forceinline__ auto reduce(const Join& join, float identity, const Op& op,
                                         const In&... in) const {
    using R = result_of<Op, In...>;
    R result = identity;
    if constexpr (kPacks == 0) check(in...);
    each([&](int p, Index first) {
      Pack<R, kWidth> pack;
      apply(op, pack, pack_of(in, p, first)...);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        result = join(result, first + j < d_ ? pack.values[j] : static_cast<R>(identity));
      }
    });
    if constexpr (kThreads == 32) {
      return detail::reduce_warp(result, join);
    } else {
      return detail::reduce_block(result, join);
    }
  }

  Index d_;
  mutable Writes writes_;
};

}  // namespace kernkit::cuda
