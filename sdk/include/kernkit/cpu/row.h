// SPDX-License-Identifier: Apache-2.0
// Row: the operations of a cpu::rows() body on one row, compiled for one instruction set.
#pragma once

#include <type_traits>

#include "kernkit/cpu/loops.h"
#include "kernkit/cpu/reduction.h"
#include "kernkit/cpu/row_block.h"
#include "kernkit/cpu/row_log.h"
#include "kernkit/cpu/row_pass.h"
#include "kernkit/cpu/row_scalar.h"
#include "kernkit/cpu/row_scratch.h"
#include "kernkit/cpu/row_streams.h"
#include "kernkit/memory/row_writes.h"

namespace kernkit::cpu {

namespace detail {

/// Thrown when a body uses a value after overwriting its memory.
struct RowValueWasOverwritten {};

[[noreturn]] KERNKIT_LOCAL void row_value_was_overwritten();

}  // namespace detail

/// A row of d elements, the argument of a cpu::rows() body. Ops take compute types; an op of sum(),
/// max() or map_sum() returns float or double. An input is the result of load(), keep() or map(),
/// or a pointer to the row's first element, aligned to at least one element. The Row of each
/// instruction set has its own type, so that each instance of a body has one caller and is inlined
/// into that caller.
///
/// Each use of a result of load() or map() reads memory. rows() throws RuntimeError if the body
/// overwrote that memory by map(), map_sum() or put() before the use, because CUDA keeps the old
/// values in registers. A pointer is read without this check. A pass calls the op once or more for
/// each element, in any order. The functions do not wait for other threads, and throw only what an
/// op throws and exceptions that rows() catches.
template <InstructionSet kSet>
class Row {
 public:
  /// Makes a row of d elements. `scratch` provides the memory of keep(), `streams` and `log` record
  /// the row's reads and writes; the three objects must outlive the row. Only cpu::rows() calls the
  /// constructor. Throws nothing.
  KERNKIT_INLINE Row(int64_t d, detail::RowScratch* scratch, detail::RowStreams* streams,
                     detail::RowLog* log)
      : d_(d), scratch_(scratch), streams_(streams), log_(log) {}
  /// Ends the row; cpu::rows() calls end() after the body. Throws nothing.
  KERNKIT_INLINE void end() const { streams_->end_row(streamed_); }

  /// Returns the row in[0 ... d) with its present values, as an input of the other functions. The
  /// result contains a pointer and is valid as long as the memory. load() does not read the row; on
  /// CUDA it reads a row of up to 64 KiB into registers. Throws nothing.
  template <class T>
  KERNKIT_INLINE kernkit::detail::RowInMemory<T> load(const T* in) const {
    return {in, writes_};
  }

  /// Computes op(in[i]...) once, not rounded, and returns the results for several passes. The
  /// results are in memory of this thread until the row ends, so later writes to the inputs do not
  /// change them. Each call in a row takes memory for d elements. rows() throws MemoryError if the
  /// system has no memory left. rows() throws RuntimeError if the body overwrote an input that
  /// load() or map() returned.
  template <class Op, class... In>
  KERNKIT_INLINE auto keep(const Op& op, const In&... in) const {
    begin_pass(in...);
    return keep_of(op, at(in)...);
  }

  /// Returns the sum of op(in[i]...) in the type that op returns; 0 for an empty row. The order of
  /// the additions depends only on d and that type. rows() throws RuntimeError if the body
  /// overwrote an input that load() or map() returned.
  template <class Op, class... In>
  KERNKIT_INLINE auto sum(const Op& op, const In&... in) const {
    begin_pass(in...);
    return reduce<detail::Sum, void>(op, nullptr, at(in)...);
  }

  /// Returns the largest op(in[i]...): NaN if any is NaN, -infinity for an empty row. rows() throws
  /// RuntimeError if the body overwrote an input that load() or map() returned.
  template <class Op, class... In>
  KERNKIT_INLINE auto max(const Op& op, const In&... in) const {
    begin_pass(in...);
    return reduce<detail::Max, void>(op, nullptr, at(in)...);
  }

  /// Stores `value` in *at, converted to T as apply_op() converts a result. `at` must be aligned to
  /// T. Throws nothing.
  template <class T, class R>
  KERNKIT_INLINE void put(T* at, R value) const {
    *at = T(static_cast<compute_t<T>>(value));
    written(at, 1);
  }

  /// Stores out[i] = op(in[i]...), converted as by apply_op(), and returns the written row, as
  /// load() does. `out` may be one of the inputs. The output must not overlap an input otherwise;
  /// this is not checked. rows() throws RuntimeError if the body overwrote an input that load() or
  /// map() returned.
  template <class Op, class Out, class... In>
  KERNKIT_INLINE kernkit::detail::RowInMemory<Out> map(const Op& op, Out* out,
                                                       const In&... in) const {
    begin_pass(in...);
    map_of(op, out, streams_->next(streamed_, out), at(in)...);
    written(out, d_);
    return load(static_cast<const Out*>(out));
  }

  /// Does map() and sum() in one pass: stores out[i] = op(in[i]...), converted as by apply_op(),
  /// and returns the sum of the results before conversion, in the type that op returns. The
  /// conditions for `out` are the same as for map(). rows() throws RuntimeError if the body
  /// overwrote an input that load() or map() returned.
  template <class Op, class Out, class... In>
  KERNKIT_INLINE auto map_sum(const Op& op, Out* out, const In&... in) const {
    begin_pass(in...);
    const auto sum = reduce<detail::Sum, Out>(op, out, at(in)...);
    written(out, d_);
    return sum;
  }

 private:
  template <class T>
  KERNKIT_INLINE static const T* at(const T* in) {
    return in;
  }
  template <class T>
  KERNKIT_INLINE static const T* at(const kernkit::detail::RowInMemory<T>& in) {
    return in.at;
  }
  template <class T>
  KERNKIT_INLINE bool is_overwritten(const T*) const {
    return false;
  }
  template <class T>
  KERNKIT_INLINE bool is_overwritten(const kernkit::detail::RowInMemory<T>& in) const {
    return in.since != writes_ &&
           log_->changed(writes_, address(in.at), address(in.at + d_), in.since);
  }
  template <class T>
  KERNKIT_INLINE static uintptr_t address(const T* at) {
    return reinterpret_cast<uintptr_t>(at);
  }
  /// Records that out[0 ... d) was written.
  template <class T>
  KERNKIT_INLINE void written(const T* out, int64_t d) const {
    log_->add(writes_, address(out), address(out + d));
    ++writes_;
  }
  /// Records the reads of a pass, and checks that no input was overwritten.
  template <class... In>
  KERNKIT_INLINE void begin_pass(const In&... in) const {
    streams_->read(streamed_, at(in)...);
    if (__builtin_expect((is_overwritten(in) || ...), 0)) detail::row_value_was_overwritten();
  }
  template <class Op, class... In>
  KERNKIT_INLINE auto keep_of(const Op& op, const In*... in) const {
    using R = detail::result_of<Op, In...>;
    R* values = scratch_->template allocate<R>(d_);
    map_of(op, values, false, in...);
    return static_cast<const R*>(values);
  }

  template <class Op, class Out, class... In>
  KERNKIT_INLINE void map_of(const Op& op, Out* out, bool streaming, const In*... in) const {
    if constexpr (kIsScalar<Out, In...>) {
      detail::map_scalar(op, d_, out, in...);
    } else {
      map_blocks(op, out, streaming, detail::LastBlock<In>().row(in, d_)...);
    }
  }

  // The call of map_block() is compiled once, and is used for whole blocks, for the end of a row,
  // and for rows with non-temporal stores. RowPass contains the non-temporal stores, because in
  // this function they would keep g++ from holding sums of other passes in registers.
  template <class Op, class Out, class... In>
  KERNKIT_FLATTENED void map_blocks(const Op& op, Out* out, bool streaming, const In*... in) const {
    constexpr int64_t kBlock = detail::kBlock;
    const int64_t in_blocks = d_ & -kBlock;
    const bool ragged = in_blocks != d_;
    detail::RowPass pass;
    detail::LastResult<Out> last;
    // A partial last block is computed first and stored last, because the row may be written in
    // place.
    int64_t first = 0, count = in_blocks;
    Out* to = out;
    if (ragged) first = d_ < kBlock ? 0 : d_ - kBlock, count = kBlock, to = last.at;
    if (streaming) {
      pass.begin(out, in_blocks, sizeof(Out), kSet != InstructionSet::kBaseline);
      if (!ragged) count = pass.next(), to = static_cast<Out*>(pass.to());
    }
    for (bool again = ragged;;) {
      for (int64_t i = 0; i < count; i += kBlock) map_block(op, to + i, (in + first + i)...);
      if (streaming) {
        count = pass.next();
        if (count == 0) break;
        first = pass.first(), to = static_cast<Out*>(pass.to());
      } else {
        if (!again) break;
        again = false, first = 0, count = in_blocks, to = out;
      }
    }
    if (ragged) last.store(out, d_);
  }

  /// 16-bit floats have no vector loops for processors before AVX2: compiling these loops would
  /// take a third of a kernel's compile time.
  template <class... T>
  static constexpr bool kIsScalar = KERNKIT_INSTRUCTION_SETS > 1 &&
                                    kSet == InstructionSet::kBaseline &&
                                    ((std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) ||
                                     ...);
  template <class T>
  static constexpr bool kWiden = kSet != InstructionSet::kBaseline&& std::is_same_v<T, float16>;

  template <class Op, class R, class... In>
  KERNKIT_INLINE static void compute(const Op& op, R (&block)[detail::kBlock], const In*... in) {
    compute_of(op, block, detail::BlockOf<kSet, kWiden<In>, In>(in)...);
  }
  template <class Op, class R, class... Block>
  KERNKIT_INLINE static void compute_of(const Op& op, R (&block)[detail::kBlock],
                                        const Block&... in) {
    KERNKIT_INDEPENDENT_ITERATIONS
    for (int j = 0; j < detail::kBlock; ++j) block[j] = apply_op<R>(op, in.at[j]...);
  }

  template <class Out, class R>
  KERNKIT_INLINE static void store(Out* out, const R (&block)[detail::kBlock]) {
    if constexpr (kWiden<Out> && std::is_same_v<R, float>) {
      detail::narrow_to_halves<kSet>(out, block);
    } else {
      KERNKIT_INDEPENDENT_ITERATIONS
      KERNKIT_UNROLLED
      for (int j = 0; j < detail::kBlock; ++j) {
        out[j] = Out(static_cast<compute_t<Out>>(block[j]));
      }
    }
  }

  template <class Op, class Out, class... In>
  KERNKIT_INLINE static void map_block(const Op& op, Out* out, const In*... in) {
    if constexpr (kWiden<Out> || (kWiden<In> || ...)) {
      compute_t<Out> block[detail::kBlock];
      compute(op, block, in...);
      store(out, block);
    } else if constexpr (std::is_same_v<Out, bfloat16> && (std::is_same_v<In, bfloat16> && ...)) {
      detail::pair_block(op, out, in...);
    } else {
      detail::plain_block(op, out, in...);
    }
  }

  // Reduces the values of op, and also stores them if Out is not void. The lanes of the reduction
  // stay in registers for whole blocks.
  template <template <class> class Reduction, class Out, class Op, class... In>
  KERNKIT_FLATTENED auto reduce(const Op& op, Out* out, const In*... in) const {
    using R = detail::result_of<Op, In...>;
    static_assert(std::is_same_v<R, float> || std::is_same_v<R, double>,
                  "row: op makes float or double");
    if constexpr (kIsScalar<Out, In...>) {
      const R result = detail::reduce_scalar<Reduction>(op, d_, in...);
      if constexpr (!std::is_void_v<Out>) detail::map_scalar(op, d_, out, in...);
      return result;
    } else {
      const int64_t in_blocks = d_ & -int64_t{detail::kBlock};
      Reduction<R> lanes;
      detail::LastResult<std::conditional_t<std::is_void_v<Out>, char, Out>> last;
      if (in_blocks != d_) {
        R block[detail::kBlock], padded[detail::kBlock];
        compute(op, block, detail::LastBlock<In>().pointer(in, d_)...);
        const int padding = detail::kBlock - static_cast<int>(d_ - in_blocks);
        for (int j = 0; j < detail::kBlock; ++j) {
          padded[j] = j < padding ? Reduction<R>::kIdentity : block[j];
        }
        lanes.add(padded);
        if constexpr (!std::is_void_v<Out>) store(last.at, block);
      }
      for (int64_t i = 0; i < in_blocks; i += detail::kBlock) {
        R block[detail::kBlock];
        compute(op, block, (in + i)...);
        lanes.add(block);
        if constexpr (!std::is_void_v<Out>) store(out + i, block);
      }
      if constexpr (!std::is_void_v<Out>) {
        if (in_blocks != d_) last.store(out, d_);
      }
      return lanes.result();
    }
  }

  int64_t d_;
  detail::RowScratch* scratch_;
  detail::RowStreams* streams_;
  detail::RowLog* log_;
  mutable detail::RowStreams::Row streamed_;
  mutable int writes_ = 0;
};

}  // namespace kernkit::cpu
