// SPDX-License-Identifier: Apache-2.0
// Application of an elementwise op to elements: the types of its arguments, and the storage of its
// result.
#pragma once

#include <type_traits>

#include "kernkit/base/inline.h"
#include "kernkit/float.h"

namespace kernkit {

namespace detail {

// True if an Op can be called with the compute types of the inputs' elements, such as float for
// float16.
template <class Op, class... In>
inline constexpr bool kOnComputeTypes = std::is_invocable_v<const Op&, compute_t<In>...>;

template <class Result, class Out>
inline constexpr bool kStorable =
    std::is_convertible_v<Result, Out> || std::is_convertible_v<Result, compute_t<Out>>;

template <class Op, class Out, class... In>
constexpr bool is_applicable() {
  if constexpr (kOnComputeTypes<Op, In...>) {
    return kStorable<std::invoke_result_t<const Op&, compute_t<In>...>, Out>;
  } else if constexpr (std::is_invocable_v<const Op&, In...>) {
    return kStorable<std::invoke_result_t<const Op&, In...>, Out>;
  } else {
    return false;
  }
}

// True if Op takes and returns compute types, so that a loop may convert whole registers at once.
// False if Op returns an Out that needs no conversion, such as a float16.
template <class Op, class Out, class... In>
constexpr bool only_computes() {
  if constexpr (kOnComputeTypes<Op, In...>) {
    using Result = std::invoke_result_t<const Op&, compute_t<In>...>;
    return std::is_same_v<Out, compute_t<Out>> || !std::is_convertible_v<Result, Out>;
  } else {
    return false;
  }
}

template <class Out, class Result>
KERNKIT_HOST_DEVICE KERNKIT_INLINE Out to_element(const Result& result) {
  if constexpr (std::is_convertible_v<Result, Out>) {
    return result;
  } else {
    return Out(static_cast<compute_t<Out>>(result));
  }
}

}  // namespace detail

/// Applies `op` to one element of each input, and returns the result as an Out. An op whose
/// parameters are compute types is called with compute types: `[](float x) { return 2 * x; }`
/// serves float, float16 and bfloat16. The op's result is converted to compute_t<Out> and then to
/// Out, to nearest even: a float is rounded once, and a double is rounded to float first if Out is
/// narrower than float. A result that is stored as an integer must be in the range of the integer
/// type. An op that accepts the element types but not their compute types, for example float16 and
/// not float, is called with the unconverted elements. An op that accepts neither the compute types
/// nor the element types does not compile. Throws only what `op` throws.
#if defined(__NVCC__)
#pragma nv_exec_check_disable  // suppresses the warning about an op that only the host can call
#endif
template <class Out, class Op, class... In>
KERNKIT_HOST_DEVICE KERNKIT_INLINE Out apply_op(const Op& op, const In&... in) {
  if constexpr (detail::kOnComputeTypes<Op, In...>) {
    return detail::to_element<Out>(op(static_cast<compute_t<In>>(in)...));
  } else {
    return detail::to_element<Out>(op(in...));
  }
}

}  // namespace kernkit
