// SPDX-License-Identifier: Apache-2.0
// From one argument of the C ABI to one C++ parameter, checked.
#pragma once

#include <limits>

#include "kernkit/schema.h"
#include "kernkit/tensor.h"

namespace kernkit::detail {

/// What came, for messages: "None", "int 3", "float 2.5", "Tensor float32 [4]", "type index 130".
[[gnu::cold]] inline Message& operator<<(Message& out, const KernkitAny& any) {
  switch (any.type_index) {
    case kKernkitNone: return out << "None";
    case kKernkitInt: return out << "int " << any.v.i64;
    case kKernkitBool: return out << "bool " << (any.v.i64 != 0);
    case kKernkitFloat: return out << "float " << any.v.f64;
    case kKernkitOpaquePtr: return out << "a raw pointer";
    case kKernkitDataType: return out << "dtype " << any.v.dtype;
    case kKernkitDevice: return out << "device " << any.v.device;
    case kKernkitDLTensorPtr: return out << "DLTensor*";
    case kKernkitRawStr:
    case kKernkitSmallStr:
    case kKernkitStr: return out << "str";
    case kKernkitByteArrayPtr:
    case kKernkitSmallBytes:
    case kKernkitBytes: return out << "bytes";
    case kKernkitFunction: return out << "a function";
    case kKernkitShape: return out << "Shape";
    case kKernkitTensor: return out << "Tensor";
    case kKernkitArray:
    case kKernkitList: return out << "a list";
    case kKernkitMap:
    case kKernkitDict: return out << "a dict";
    case kKernkitOpaquePyObject: return out << "a Python object that is no tensor";
    case kKernkitBigInt: return out << "an int beyond 64 bits";
    default: return out << "an object of type index " << any.type_index;
  }
}

// Errors about an argument come from no line of the kernel; raise() puts the export line there.
[[noreturn, gnu::cold]] inline void throw_argument_type(const char* name, const char* expected,
                                                        const KernkitAny& any) {
  Message text;
  throw Error(kind::TypeError,
              (text << name << ": expected " << expected << ", got " << any).c_str());
}

/// How a C++ parameter of type T is read. kType is the schema type that it fits.
template <class T, class = void>
struct Argument {
  static constexpr bool kKnown = false;
};

template <>
struct Argument<TensorView> {
  static constexpr bool kKnown = true;
  static constexpr schema::Type kType = schema::Type::kTensor;
  static TensorView read(const KernkitAny& any, const char* name) {
    // A framework's tensor arrives as an object, whose DLTensor stands behind its header.
    if (__builtin_expect(any.type_index == kKernkitTensor, 1)) {
      return TensorView(reinterpret_cast<const DLTensor*>(any.v.object + 1), name);
    }
    if (any.type_index != kKernkitDLTensorPtr || any.v.ptr == nullptr) {
      throw_argument_type(name, "Tensor", any);
    }
    return TensorView(static_cast<const DLTensor*>(any.v.ptr), name);
  }
};

template <class T>
struct Argument<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static constexpr bool kKnown = true;
  static constexpr schema::Type kType = schema::Type::kFloat;
  static T read(const KernkitAny& any, const char* name) {
    if (__builtin_expect(any.type_index == kKernkitFloat, 1)) return static_cast<T>(any.v.f64);
    if (any.type_index != kKernkitInt && any.type_index != kKernkitBool) {
      throw_argument_type(name, "float", any);
    }
    return static_cast<T>(any.v.i64);
  }
};

template <>
struct Argument<bool> {
  static constexpr bool kKnown = true;
  static constexpr schema::Type kType = schema::Type::kBool;
  static bool read(const KernkitAny& any, const char* name) {
    if (any.type_index != kKernkitBool && any.type_index != kKernkitInt) {
      throw_argument_type(name, "bool", any);
    }
    return any.v.i64 != 0;
  }
};

template <class T>
[[noreturn, gnu::cold]] void throw_out_of_range(const char* name, const KernkitAny& any) {
  Message text;
  text << name << ": " << any << " is out of range [" << std::numeric_limits<T>::min() << ", "
       << std::numeric_limits<T>::max() << "]";
  throw Error(kind::ValueError, text.c_str());
}

template <class T>
struct Argument<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static constexpr bool kKnown = true;
  static constexpr schema::Type kType = schema::Type::kInt;
  static T read(const KernkitAny& any, const char* name) {
    if (any.type_index != kKernkitInt && any.type_index != kKernkitBool) {
      if (any.type_index == kKernkitBigInt) throw_out_of_range<T>(name, any);
      throw_argument_type(name, "int", any);
    }
    const int64_t value = any.v.i64;
    const auto narrowed = static_cast<T>(value);
    const bool fits = static_cast<int64_t>(narrowed) == value && (value < 0) == (narrowed < 0);
    if (!fits) throw_out_of_range<T>(name, any);
    return narrowed;
  }
};

}  // namespace kernkit::detail
