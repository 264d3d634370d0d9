// SPDX-License-Identifier: Apache-2.0
// How an op is called with an argument that is rarely of its type.
#pragma once

#include "kernkit/call/argument.h"

namespace kernkit::detail {

/// Calls `self`, an exported function, once more with args[i] as what it stands for: a float in
/// place of an int beyond 64 bits, the object in place of its slot.
///
/// Reading it where it is would do as well, but a call that returns, however cold, takes registers
/// from the arguments that have been read.
[[gnu::cold]] int call_again(KernkitFunction self, const char* op, const char* name,
                             const KernkitAny* args, int32_t num_args, size_t i, KernkitAny* result,
                             Where where) noexcept;

/// Whether the argument is to be read like that.
template <class T>
bool is_rare([[maybe_unused]] const KernkitAny& any) {
  if constexpr (std::is_floating_point_v<T>) {
    return __builtin_expect(any.type_index != kKernkitFloat, 0) &&
           type_index_again(any) == kKernkitBigInt;
  } else if constexpr (std::is_same_v<typename Argument<T>::Held, TensorView>) {
    return __builtin_expect(any.type_index != kKernkitTensor, 0) &&
           type_index_again(any) == kKernkitObjectRValueRef;
  }
  return false;
}

/// Reads an argument that is not.
template <class T>
typename Argument<T>::Held read_usual(const KernkitAny& any, const char* name) {
  if constexpr (std::is_floating_point_v<T> ||
                std::is_same_v<typename Argument<T>::Held, TensorView>) {
    return Argument<T>::read_usual(any, name);
  } else {
    return Argument<T>::read(any, name);
  }
}

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/call/impl/call_again.h"
#endif
