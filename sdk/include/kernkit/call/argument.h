// SPDX-License-Identifier: Apache-2.0
// Converts one argument of the C ABI to one C++ parameter, with checks.
#pragma once

#include "kernkit/host_api/any.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/schema/schema.h"

namespace kernkit::detail {

// Throws TypeError for argument `name`, whose type is not `expected`. The error has no source line:
// raise() reports the line of the export.
[[noreturn, gnu::cold]] void throw_argument_type(const char* name, const char* expected,
                                                 const KernkitAny& any);
/// Returns an int of more than 64 bits, rounded to the nearest double. Throws ValueError for an int
/// beyond the largest double.
[[gnu::cold]] double read_big_int(const KernkitAny& any, const char* name);
[[noreturn, gnu::cold]] void throw_out_of_range(const char* name, const KernkitAny& any,
                                                int64_t min, uint64_t max);

/// Loads the type index from memory again, so that a comparison before this call can use a memory
/// operand and need not keep the type index in a register.
inline int32_t reloaded_type_index(const KernkitAny& any) {
  return __atomic_load_n(&any.type_index, __ATOMIC_RELAXED);
}

/// Reads a C++ parameter of type T.
///   fits(param)      true if the schema may declare the parameter with this type
///   Storage          the type that is stored during the call and converts to T
///   read(any, name)  the value; throws TypeError or ValueError, which name the argument
///   read_fast(...) optional: same as read(), but throws for the arguments that slow_arguments.h
/// converts
template <class T, class = void>
struct Argument;

template <class T, class = void>
inline constexpr bool kIsArgument = false;
template <class T>
inline constexpr bool kIsArgument<T, std::void_t<typename Argument<T>::Storage>> = true;

/// Base of Argument<T> for a type T that matches the schema type `Type`, but not a list or an
/// optional.
template <schema::Type Type, class T>
struct PlainArgument {
  using Storage = T;
  static constexpr bool fits(const schema::Param& param) {
    return param.type == Type && !param.is_list && !param.is_optional;
  }
};

template <>
struct Argument<TensorView> : PlainArgument<schema::Type::kTensor, TensorView> {
  static Storage read(const KernkitAny& any, const char* name) {
    const KernkitAny object = referent(any);
    return read_fast(object.type_index == kKernkitTensor ? object : any, name);
  }
  static Storage read_fast(const KernkitAny& any, const char* name) {
    // A framework's tensor arrives as an object: a header, followed by the DLTensor.
    auto* address = static_cast<const char*>(any.v.ptr);
    const bool is_object = KERNKIT_USUALLY(any.type_index == kKernkitTensor);
    const bool is_tensor = is_object || reloaded_type_index(any) == kKernkitDLTensorPtr;
    if (!(is_tensor && KERNKIT_USUALLY(address != nullptr))) {
      throw_argument_type(name, "Tensor", any);
    }
    if (is_object) address += sizeof(KernkitObject);
    const auto* tensor = reinterpret_cast<const DLTensor*>(address);
    if (!has_sizes(tensor)) throw_no_sizes(tensor, name);
    return TensorView(tensor, name);
  }
};

template <>
struct Argument<Tensor> : PlainArgument<schema::Type::kTensor, Tensor> {
  // A bare DLTensor* is rejected: it belongs to the caller, and no reference could keep it alive.
  static Storage read(const KernkitAny& any, const char* name) {
    Tensor tensor = any.type_index == kKernkitTensor
                        ? Tensor::share(any.v.object, name)
                        : Tensor::adopt(take_object(any, kKernkitTensor), name);
    if (!tensor.defined()) throw_argument_type(name, "an owned Tensor", any);
    if (!has_sizes(tensor.get())) throw_no_sizes(tensor.get(), name);
    return tensor;
  }
};

template <class T>
struct Argument<T, std::enable_if_t<std::is_floating_point_v<T>>>
    : PlainArgument<schema::Type::kFloat, T> {
  static T read(const KernkitAny& any, const char* name) {
    if (any.type_index == kKernkitBigInt) return static_cast<T>(read_big_int(any, name));
    return read_fast(any, name);
  }
  static T read_fast(const KernkitAny& any, const char* name) {
    if (__builtin_expect(any.type_index == kKernkitFloat, 1)) return static_cast<T>(any.v.f64);
    const int32_t type_index = reloaded_type_index(any);
    if (type_index == kKernkitInt || type_index == kKernkitBool) return static_cast<T>(any.v.i64);
    throw_argument_type(name, "float", any);
  }
};

template <>
struct Argument<bool> : PlainArgument<schema::Type::kBool, bool> {
  static Storage read(const KernkitAny& any, const char* name) {
    if (any.type_index != kKernkitBool && any.type_index != kKernkitInt) {
      throw_argument_type(name, "bool", any);
    }
    return any.v.i64 != 0;
  }
};

template <class T>
struct Argument<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
    : PlainArgument<schema::Type::kInt, T> {
  static T read(const KernkitAny& any, const char* name) {
    constexpr uint64_t kMax = ~uint64_t{0} >> (64 - 8 * sizeof(T) + std::is_signed_v<T>);
    constexpr int64_t kMin = std::is_signed_v<T> ? -static_cast<int64_t>(kMax) - 1 : 0;
    const int64_t value = any.v.i64;
    bool fits_in = any.type_index == kKernkitInt || any.type_index == kKernkitBool;
    if (__builtin_expect(!fits_in, 0)) {
      if (any.type_index != kKernkitBigInt || !is_sound(any)) throw_argument_type(name, "int", any);
      // An integer above INT64_MAX arrives as two 64-bit words, least significant first.
      const auto* cells = cell_of<int64_t>(any);
      fits_in = std::is_same_v<T, uint64_t> && cells[0] == 2 && cells[2] == 0;
      if (fits_in) return static_cast<T>(cells[1]);
    }
    const auto narrowed = static_cast<T>(value);
    fits_in =
        fits_in && static_cast<int64_t>(narrowed) == value && (std::is_signed_v<T> || value >= 0);
    if (__builtin_expect(!fits_in, 0)) {
      throw_out_of_range(name, any, kMin, kMax);
    }
    return narrowed;
  }
};

template <>
struct Argument<DLDataType> : PlainArgument<schema::Type::kScalarType, DLDataType> {
  static Storage read(const KernkitAny& any, const char* name) {
    DLDataType dtype = any.v.dtype;
    KernkitByteArray text;
    const bool is_dtype = any.type_index == kKernkitDataType ||
                          (read_text(any, &text) && parse_dtype(text.data, text.size, &dtype));
    if (!is_dtype) throw_argument_type(name, "a dtype", any);
    return dtype;
  }
};

template <>
struct Argument<DLDevice> : PlainArgument<schema::Type::kDevice, DLDevice> {
  static Storage read(const KernkitAny& any, const char* name) {
    if (any.type_index != kKernkitDevice) throw_argument_type(name, "a device", any);
    return any.v.device;
  }
};

/// Argument of std::string_view, std::string, or another class that has a constructor with the
/// parameters (const char*, size_t) and a data() that returns a const char*. The kernel's file
/// includes the header of the class.
template <class T>
struct Argument<
    T,
    std::enable_if_t<std::is_constructible_v<T, const char*, size_t> &&
                     std::is_convertible_v<decltype(std::declval<const T&>().data()), const char*>>>
    : PlainArgument<schema::Type::kStr, T> {
  static T read(const KernkitAny& any, const char* name) {
    KernkitByteArray text;
    if (!read_text(any, &text)) throw_argument_type(name, "str", any);
    return T(text.data, text.size);
  }
};

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/call/impl/argument.h"
#endif
