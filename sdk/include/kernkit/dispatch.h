// SPDX-License-Identifier: Apache-2.0
// dispatch(): calls a function template with the C++ type of a dtype that is known only at run
// time.
#pragma once

#include "kernkit/error.h"
#include "kernkit/types/small_float.h"

namespace kernkit {

/// A list of C++ types that represents the list of their dtypes.
template <class... T>
struct types {};

/// Joins two type lists; concat_t is the result.
template <class First, class Second>
struct Concat;
template <class... A, class... B>
struct Concat<types<A...>, types<B...>> {
  using type = types<A..., B...>;  ///< the types of both lists, in order
};
/// The types of two lists in one list: `concat_t<types<A>, types<B>>` is `types<A, B>`.
template <class First, class Second>
using concat_t = typename Concat<First, Second>::type;

/// float16, bfloat16, float and double. (A library defines its own list by `using`.)
using floating = types<float16, bfloat16, float, double>;
/// The 16-bit floats: float16 and bfloat16.
using reduced_floating = types<float16, bfloat16>;
/// The 8-bit floats of OCP: E4M3 (float8_e4m3fn) and E5M2.
using fp8 = types<float8_e4m3fn, float8_e5m2>;
/// Signed integers of 8 to 64 bits, and uint8_t.
using integral = types<int8_t, int16_t, int32_t, int64_t, uint8_t>;
/// The types of `floating`, then the types of `integral`.
using all_numeric = concat_t<floating, integral>;

/// The argument that dispatch() passes to the function: a value that carries a type.
template <class T>
struct type_tag {
  using type = T;  ///< the type that the tag carries
};
/// The type of a tag: `using T = type_of<decltype(tag)>;`
template <class Tag>
using type_of = typename Tag::type;

/// True if `key` is the dtype_key() of a type in the list. The lanes are part of the dtype. Throws
/// nothing.
template <class... T>
constexpr bool contains(types<T...>, uint32_t key) {
  return ((key == dtype_key(dtype_of<T>)) || ...);
}
/// True if `dtype`, lanes included, is the dtype of a type in the list. Throws nothing.
template <class... T>
constexpr bool contains(types<T...> list, DLDataType dtype) {
  return contains(list, dtype_key(dtype));
}

namespace detail {
template <class... T>
inline constexpr DLDataType kDTypes[] = {dtype_of<T>...};

// Throws TypeError for a dtype that is not in the list. The dtype is passed as its dtype_key(): for
// a DLDataType, a compiler would split the dtype into its members on the hot path.
[[noreturn, gnu::cold]] void throw_unsupported(const char* name, uint32_t dtype_key,
                                               const DLDataType* supported, size_t size,
                                               SourceLocation location);
[[noreturn, gnu::cold]] void throw_not_dispatched(uint32_t dtype_key, const DLDataType* supported,
                                                  size_t size, SourceLocation location);
}  // namespace detail

/// Calls `function(type_tag<T>{})` once, in this thread, for the first T of the list whose dtype is
/// `dtype`. Throws TypeError with the supported dtypes if no type of the list has the dtype; the
/// error has the source line `location`, by default the line of this call. Exceptions of `function`
/// reach the caller; its result is ignored. The whole function is compiled for each T.
///
///     dispatch(floating{}, x.dtype(), [&](auto tag) {
///       using T = type_of<decltype(tag)>;
///       ...
///     });
template <class... T, class Function>
void dispatch(types<T...>, DLDataType dtype, Function&& function,
              SourceLocation location = {__builtin_FILE(), __builtin_LINE()}) {
  const uint32_t key = dtype_key(dtype);
  bool is_supported = false;
  // If a type of the list has no dtype, `function` is not compiled, so that the static_assert is
  // the only compile error.
  if constexpr ((detail::kHasDType<T> && ...)) {
    is_supported = ((key == dtype_key(dtype_of<T>) && (function(type_tag<T>{}), true)) || ...);
  }
  if (__builtin_expect(!is_supported, 0)) {
    detail::throw_not_dispatched(key, detail::kDTypes<T...>, sizeof...(T), location);
  }
}

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/dispatch.h"
#endif
