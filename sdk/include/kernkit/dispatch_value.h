// SPDX-License-Identifier: Apache-2.0
// Dispatch on values other than dtypes: a bool, a small integer, the width of an index.
#pragma once

#include <initializer_list>

#include "kernkit/dispatch.h"
#include "kernkit/memory/overlap.h"

namespace kernkit {

/// Calls `function(std::true_type{})` or `function(std::false_type{})` once: the member `value` of
/// the argument's type is `flag` as a constant. The result of `function` is ignored. Throws only
/// what `function` throws.
template <class Function>
void dispatch_bool(bool flag, Function&& function) {
  if (flag) {
    function(std::true_type{});
  } else {
    function(std::false_type{});
  }
}

namespace detail {
[[noreturn, gnu::cold]] void throw_unsupported_value(const char* name, int64_t value,
                                                     const int64_t* supported, size_t size,
                                                     SourceLocation location);

/// True if, for every view, int32 holds the number of elements, each size, and the offset of every
/// element.
bool fits_int32(std::initializer_list<TensorView> views);
}  // namespace detail

/// Calls `function(std::integral_constant<int64_t, V>{})` once, for the V that equals `value`:
/// `dispatch_int<64, 128, 256>(d.value(), "head_dim", [&](auto tag) { ... });` Throws ValueError
/// with `name` (the argument's name, not null) and the values if no V equals `value`; the error has
/// the source line `location`, by default the line of this call. Exceptions of `function` reach the
/// caller; its result is ignored.
template <int64_t... V, class Function>
void dispatch_int(int64_t value, const char* name, Function&& function,
                  SourceLocation location = {__builtin_FILE(), __builtin_LINE()}) {
  const bool is_supported =
      ((value == V && (function(std::integral_constant<int64_t, V>{}), true)) || ...);
  if (__builtin_expect(!is_supported, 0)) {
    static constexpr int64_t kSupported[] = {V...};
    detail::throw_unsupported_value(name, value, kSupported, sizeof...(V), location);
  }
}

/// Calls `function(type_tag<int32_t>{})` if 32-bit indices reach every element of every view,
/// strides included, and hold the number of elements, so that a loop with `i < n` ends. Calls
/// `function(type_tag<int64_t>{})` otherwise. `dispatch_index({x, y}, [&](auto tag) { using Index =
/// type_of<decltype(tag)>; ... });` (A loop with a step above 1 may count past 2^31 - 1 before it
/// ends: add the step in int64_t.) Throws ValueError for a view whose elements cannot be counted
/// (see TensorView::numel). Exceptions of `function` reach the caller; its result is ignored. An
/// empty list gives int32_t.
template <class Function>
void dispatch_index(std::initializer_list<TensorView> views, Function&& function) {
  if (detail::fits_int32(views)) {
    function(type_tag<int32_t>{});
  } else {
    function(type_tag<int64_t>{});
  }
}

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/dispatch_value.h"
#endif
