// SPDX-License-Identifier: Apache-2.0
// Conversion of a C++ result to the result of the C ABI. Included by export.h.
#pragma once

#include <utility>

#include "kernkit/host_api/host_api.h"
#include "kernkit/owning_shape.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/schema/schema.h"

namespace kernkit::detail {

/// Throws RuntimeError: creating `what` requires a host in the process.
[[noreturn, gnu::cold]] void throw_no_host(const char* what);

// The following four functions throw RuntimeError if the process has no host, and pass on errors of
// the host. After an error *result is unchanged.

/// Stores a new String of the host in *result.
void set_string(KernkitAny* result, const char* data, size_t size);

using MakeText = HostFunction<int(const KernkitByteArray* text, KernkitAny* out)>;
/// Stores a new text or bytes object, created by the host's function `make_text`, in *result.
/// Messages call the object `what`.
void set_text(KernkitAny* result, MakeText& make_text, const char* what, const char* data,
              size_t size);

/// Stores a new Array of the host, with its own references to the items, in *result. If
/// `constructor` is not "ffi.Array", stores the result of the host's global function with this
/// name, called with the items as arguments.
void set_array(KernkitAny* result, const KernkitAny* items, int32_t size, const char* what,
               const char* constructor = "ffi.Array");

/// Stores a new Array of integers in *result, or a Shape if `constructor` is "ffi.Shape".
void set_ints(KernkitAny* result, ShapeView values, const char* constructor = "ffi.Array");

/// Releases one reference to each object among the `size` items.
void release_items(const KernkitAny* items, int32_t size) noexcept;

/// The items for a new Array. The destructor releases the items, also if an exception leaves later
/// items unset.
template <int32_t kSize>
struct Items {
  KernkitAny at[kSize] = {};

  Items() = default;
  Items(const Items&) = delete;
  Items& operator=(const Items&) = delete;
  ~Items() { release_items(at, kSize); }
};

/// Conversion of a C++ return value of type T to a result.
///   fits(returns, n)    whether a schema with the n results `returns` matches a function that
///                       returns T
///   set(result, value)  stores the value, or throws and leaves *result unchanged
template <class T, class = void>
struct Result;

template <class T, class = void>
inline constexpr bool kIsResult = false;
template <class T>
inline constexpr bool kIsResult<T, std::void_t<decltype(&Result<T>::fits)>> = true;

constexpr bool is_single(const schema::Param* returns, int n, schema::Type type) {
  return n == 1 && returns[0].type == type && !returns[0].is_list && !returns[0].is_optional;
}

template <>
struct Result<void> {
  static constexpr bool fits(const schema::Param*, int n) { return n == 0; }
};

template <class T>
struct Result<T, std::enable_if_t<std::is_arithmetic_v<T>>> {
  static constexpr bool kIsBool = std::is_same_v<T, bool>;
  static constexpr bool kIsFloat = std::is_floating_point_v<T>;
  static constexpr bool fits(const schema::Param* returns, int n) {
    using schema::Type;
    return is_single(returns, n, kIsBool ? Type::kBool : kIsFloat ? Type::kFloat : Type::kInt);
  }
  static void set(KernkitAny* result, T value) {
    if constexpr (kIsFloat) {
      result->v.f64 = static_cast<double>(value);
    } else {
      KERNKIT_CHECK(static_cast<int64_t>(value) >= 0 || value < T(1), ValueError)
          << "returns " << value << ", which exceeds the range of int (64 bits with a sign)";
      result->v.i64 = static_cast<int64_t>(value);
    }
    result->type_index = kIsBool ? kKernkitBool : kIsFloat ? kKernkitFloat : kKernkitInt;
    result->small_size = 0;
  }
};

template <class T>
struct Result<T, std::enable_if_t<std::is_convertible_v<decltype(std::declval<const T&>().data()),
                                                        const char*>>> {
  static constexpr bool fits(const schema::Param* returns, int n) {
    return is_single(returns, n, schema::Type::kStr);
  }
  static void set(KernkitAny* result, const T& value) {
    set_string(result, value.data(), value.size());
  }
};

template <>
struct Result<DLDataType> {
  static constexpr bool fits(const schema::Param* returns, int n) {
    return is_single(returns, n, schema::Type::kScalarType);
  }
  static void set(KernkitAny* result, DLDataType value) {
    *result = KernkitAny{};
    result->type_index = kKernkitDataType;
    result->v.dtype = value;
  }
};

template <>
struct Result<DLDevice> {
  static constexpr bool fits(const schema::Param* returns, int n) {
    return is_single(returns, n, schema::Type::kDevice);
  }
  static void set(KernkitAny* result, DLDevice value) {
    result->type_index = kKernkitDevice;
    result->small_size = 0;
    result->v.device = value;
  }
};

template <>
struct Result<Tensor> {
  static constexpr bool fits(const schema::Param* returns, int n) {
    return is_single(returns, n, schema::Type::kTensor);
  }
  static void set(KernkitAny* result, Tensor&& value) {
    KERNKIT_ICHECK(value.defined()) << "an undefined Tensor was returned";
    result->type_index = kKernkitTensor;
    result->small_size = 0;
    result->v.object = value.detach();
  }
};

/// Result of type int[], whose integers are copied.
template <>
struct Result<ShapeView> {
  static constexpr bool fits(const schema::Param* returns, int n) {
    return n == 1 && returns[0].type == schema::Type::kInt && returns[0].is_list &&
           !returns[0].is_optional;
  }
  static void set(KernkitAny* result, ShapeView value) { set_ints(result, value); }
};
template <>
struct Result<Shape> : Result<ShapeView> {};

/// Result of a std::tuple or std::pair: an Array, which the host's function ffi.Array creates.
template <class T>
struct Result<T, std::enable_if_t<(std::tuple_size<T>::value > 0)>> {
  static constexpr int kSize = static_cast<int>(std::tuple_size<T>::value);
  template <size_t... I>
  static constexpr bool each_fits(const schema::Param* returns, std::index_sequence<I...>) {
    return (Result<std::tuple_element_t<I, T>>::fits(returns + I, 1) && ...);
  }
  static constexpr bool fits(const schema::Param* returns, int n) {
    return n == kSize && each_fits(returns, std::make_index_sequence<kSize>());
  }
  template <size_t... I>
  static void set_each(KernkitAny* items, T& value, std::index_sequence<I...>) {
    using std::get;  // get() is called unqualified: <tuple> may be included later
    (Result<std::tuple_element_t<I, T>>::set(&items[I], std::move(get<I>(value))), ...);
  }
  static void set(KernkitAny* result, T&& value) {
    Items<kSize> items;
    set_each(items.at, value, std::make_index_sequence<kSize>());
    set_array(result, items.at, kSize, "a tuple");
  }
};

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/call/impl/result.h"
#endif
