// SPDX-License-Identifier: Apache-2.0
// The CPU loop of an elementwise op.
#pragma once

#include <stdint.h>

#include <type_traits>

// Says that iterations do not depend on each other, so that a compiler vectorises without a check
// for overlap; that check would send the in-place call down the scalar path.
#if defined(__clang__)
#define KERNKIT_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define KERNKIT_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define KERNKIT_INDEPENDENT_ITERATIONS
#endif

namespace kernkit::cpu {

/// out[i] = op(in[i]...) for i in [0, n). `out` may be one of the inputs (exactly in place);
/// otherwise they must not overlap. Elements of T are aligned to alignof(T) at least.
///
///     cpu::elementwise(x.numel(), Scale<T>{factor}, y.data<T>(), x.data<const T>());
template <class Op, class Out, class... In>
void elementwise(int64_t n, const Op& op, Out* out, const In*... in) {
  static_assert(!std::is_const_v<Out>,
                "elementwise: the output comes before the inputs and is written: y.data<T>()");
  static_assert(std::is_invocable_r_v<Out, const Op&, In...>,
                "elementwise: op does not take these inputs, or does not return an output's type");
  if (__builtin_expect(n < 4, 1)) {
    // A scalar or nearly, past the vector loop's prologue. Expected, since a long loop does not
    // notice the jump that is saved here. The empty asm keeps this loop scalar.
    for (int64_t i = 0; i < n; ++i) {
      out[i] = op(in[i]...);
      asm volatile("");
    }
    return;
  }
  KERNKIT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) out[i] = op(in[i]...);
}

}  // namespace kernkit::cpu
