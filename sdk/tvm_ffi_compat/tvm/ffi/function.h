// SPDX-License-Identifier: Apache-2.0
// TVM_FFI_DLL_EXPORT_TYPED_FUNC. KERNKIT_EXPORT (kernkit/export.h) defines the same symbol and may
// replace this macro one op at a time.
#pragma once

#include "kernkit/bytes.h"
#include "kernkit/call/export_typed.h"
#include "tvm/ffi/container/tensor.h"
#include "tvm/ffi/container/tuple.h"
#include "tvm/ffi/device.h"

KERNKIT_TVM_FFI_BEGIN
namespace detail {
/// Reads a parameter of type T from values that tvm-ffi accepts and kernkit rejects: std::string
/// also from bytes, DLDataType also from bytes and from every name of a dtype in tvm-ffi, DLDevice
/// also from a name. Optional, Array and Tuple of these types contain such values.
template <class T>
struct Lenient {};

template <class T>
inline constexpr bool kIsLenient =
    std::is_same_v<T, std::string> || std::is_same_v<T, DLDataType> || std::is_same_v<T, DLDevice>;
template <class T>
inline constexpr bool kIsLenient<Optional<T>> = kIsLenient<T>;
template <class T>
inline constexpr bool kIsLenient<Array<T>> = kIsLenient<T>;
template <class... T>
inline constexpr bool kIsLenient<Tuple<T...>> = (kIsLenient<T> || ...);

/// The `reading` of KERNKIT_EXPORT_READ: As<T> is the type that reads a parameter of type T.
struct Reading {
  template <class T>
  using As = std::conditional_t<kIsLenient<T>, Lenient<T>, T>;
};
}  // namespace detail
KERNKIT_TVM_FFI_END

namespace kernkit::detail {
template <>
struct Argument<tvm::ffi::detail::Lenient<std::string>> {
  using Storage = std::string;
  static Storage read(const KernkitAny& any, const char* name) {
    KernkitByteArray text;
    if (!read_text(any, &text) && !read_bytes(any, &text)) throw_argument_type(name, "str", any);
    return Storage(text.data, text.size);
  }
};
template <>
struct Argument<tvm::ffi::detail::Lenient<DLDataType>> {
  using Storage = DLDataType;
  /// Reads a dtype or its name. Throws ValueError if a text does not name a dtype.
  static Storage read(const KernkitAny& any, const char* name) {
    KernkitByteArray text;
    if (!read_text(any, &text) && !read_bytes(any, &text)) {
      return Argument<DLDataType>::read(any, name);
    }
    DLDataType dtype{};
    if (tvm::ffi::detail::read_dtype(text.data, text.size, &dtype)) return dtype;
    TVM_FFI_THROW(ValueError) << name << ": expected a dtype, got " << any;
  }
};
template <>
struct Argument<tvm::ffi::detail::Lenient<DLDevice>> {
  using Storage = DLDevice;
  static Storage read(const KernkitAny& any, const char* name) {
    KernkitByteArray text;
    DLDevice device{};
    const bool is_text = read_text(any, &text);
    if (is_text && tvm::ffi::detail::read_device(text.data, text.size, &device)) return device;
    return Argument<DLDevice>::read(any, name);
  }
};
template <class T>
struct Argument<tvm::ffi::detail::Lenient<std::optional<T>>> {
  using Storage = std::optional<T>;
  static Storage read(const KernkitAny& any, const char* name) {
    if (any.type_index == kKernkitNone) return {};
    return Argument<tvm::ffi::detail::Lenient<T>>::read(any, name);
  }
};
template <class T>
struct Argument<tvm::ffi::detail::Lenient<tvm::ffi::Array<T>>>
    : ArrayArgument<tvm::ffi::Array<T>, T, tvm::ffi::detail::Lenient<T>> {};
template <class... T>
struct Argument<tvm::ffi::detail::Lenient<tvm::ffi::Tuple<T...>>>
    : TupleArgument<tvm::ffi::Tuple<T...>, tvm::ffi::detail::Reading::As<T>...> {};
}  // namespace kernkit::detail

/// Exports a symbol of the library.
#define TVM_FFI_DLL __attribute__((visibility("default")))
/// Exports a symbol of the library.
#define TVM_FFI_DLL_EXPORT __attribute__((visibility("default")))

/// Exports a C++ function, or a captureless lambda, as the op `name`, with tvm-ffi's calling
/// convention: the symbol `__tvm_ffi_<name>`. The types come from the C++ signature; a message
/// names an argument by its number. A call returns 0, or -1 with an error: TypeError for a wrong
/// number or type of arguments, or an error that the function throws.
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, ...)                      \
  KERNKIT_EXPORT_READ(::tvm::ffi::detail::Reading, name, __VA_ARGS__) \
  static_assert(true)

/// Exports `doc`, a string literal, as the documentation of the op `name`, which was exported
/// earlier in this file.
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(name, doc)                         \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__doc_##name, , , result) {               \
    return ::kernkit::detail::return_doc<kernkit_export::name>(doc, result); \
  }                                                                          \
  static_assert(true)
