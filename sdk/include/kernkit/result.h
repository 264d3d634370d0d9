// SPDX-License-Identifier: Apache-2.0
// From what an exported function returns to the result of the C ABI. Included by export.h.
#pragma once

#include <utility>

#include "kernkit/host_api.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/schema.h"

namespace kernkit::detail {

[[noreturn, gnu::cold]] inline void throw_no_host(const char* what) {
  KERNKIT_THROW(RuntimeError) << "returns " << what
                              << ", which only a host can make, and none is in the process";
}

/// Makes a String of the host. Throws RuntimeError when there is no host.
inline void set_string(KernkitAny* result, const char* data, size_t size) {
  auto* make_string = host_api::string_from_byte_array.get();
  const KernkitByteArray bytes = {data, size};
  if (make_string == nullptr || make_string(&bytes, result) != 0) throw_no_host("a str");
}

/// How a value of type T is returned.
///   fits(returns, n)    whether these results may be declared for it
///   set(result, value)  hands the value over
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
    result->type_index = kIsBool ? kKernkitBool : kIsFloat ? kKernkitFloat : kKernkitInt;
    result->small_size = 0;
    if constexpr (kIsFloat) {
      result->v.f64 = static_cast<double>(value);
    } else {
      result->v.i64 = static_cast<int64_t>(value);
    }
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

/// Releases the references that results hold when making the tuple fails.
struct ResultArray {
  KernkitAny* items;
  int32_t size;
  ~ResultArray() {
    for (int32_t i = 0; i < size; ++i) {
      if (items[i].type_index >= kKernkitObject) release(items[i].v.object);
    }
  }
};

/// std::tuple and std::pair: an Array, made by the host's own constructor.
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
    (Result<std::tuple_element_t<I, T>>::set(&items[I], std::move(std::get<I>(value))), ...);
  }
  static void set(KernkitAny* result, T&& value) {
    KernkitAny items[kSize] = {};
    const ResultArray owner{items, kSize};
    set_each(items, value, std::make_index_sequence<kSize>());
    constexpr char kName[] = "ffi.Array";
    const KernkitByteArray name = {kName, sizeof(kName) - 1};
    auto* get_global = host_api::function_get_global.get();
    auto* call = host_api::function_call.get();
    void* make_array = nullptr;
    const bool found = get_global != nullptr && call != nullptr &&
                       get_global(&name, &make_array) == 0 && make_array != nullptr;
    const bool made = found && call(make_array, items, kSize, result) == 0;
    if (make_array != nullptr) release(static_cast<KernkitObject*>(make_array));
    if (!made) throw_no_host("a tuple");
  }
};

}  // namespace kernkit::detail
