// SPDX-License-Identifier: Apache-2.0
// Arguments that need a conversion before the op can read them: integers beyond 64 bits and moved
// objects.
#pragma once

#include "kernkit/call/argument.h"

namespace kernkit::detail {

/// Converts args[i] and calls the exported function `self` again: an integer beyond 64 bits becomes
/// a float, an rvalue reference becomes the object to which it refers.
///
/// The caller returns the result of this function and does not continue: a conversion function that
/// returned to the caller, even in cold code, would leave fewer registers for the arguments that
/// are already read.
[[gnu::cold]] int call_converted(KernkitFunction self, const char* op, const char* name,
                                 const KernkitAny* args, int32_t num_args, size_t i,
                                 KernkitAny* result, SourceLocation location) noexcept;

/// True if the argument needs call_converted().
template <class T>
bool is_slow_argument([[maybe_unused]] const KernkitAny& any) {
  if constexpr (std::is_floating_point_v<T>) {
    return __builtin_expect(any.type_index != kKernkitFloat, 0) &&
           reloaded_type_index(any) == kKernkitBigInt;
  } else if constexpr (std::is_same_v<typename Argument<T>::Storage, TensorView>) {
    return __builtin_expect(any.type_index != kKernkitTensor, 0) &&
           reloaded_type_index(any) == kKernkitObjectRValueRef;
  }
  return false;
}

/// Reads an argument that needs no conversion.
template <class T>
typename Argument<T>::Storage read_fast(const KernkitAny& any, const char* name) {
  if constexpr (std::is_floating_point_v<T> ||
                std::is_same_v<typename Argument<T>::Storage, TensorView>) {
    return Argument<T>::read_fast(any, name);
  } else {
    return Argument<T>::read(any, name);
  }
}

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/call/impl/slow_arguments.h"
#endif
