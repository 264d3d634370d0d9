// SPDX-License-Identifier: Apache-2.0
// Access to a KernkitAny: its object's cell, its text, and its description for messages.
#pragma once

#include "kernkit/abi/abi.h"
#include "kernkit/errors/message.h"

namespace kernkit::detail {

/// Returns the cell of type Cell that follows an object's header. `any` must hold an object with a
/// cell of this type.
template <class Cell>
const Cell* cell_of(const KernkitAny& any) {
  return reinterpret_cast<const Cell*>(any.v.object + 1);
}

/// Returns the object of an argument of type index 10 (kKernkitObjectRValueRef), borrowed; returns
/// the argument itself if the object was already taken over.
KernkitAny object_in_slot(const KernkitAny& any);

/// Returns the value of an argument. An argument of type index 10 (kKernkitObjectRValueRef) holds
/// the address of an object reference that the callee may take over; for such an argument, returns
/// the object.
inline KernkitAny referent(const KernkitAny& any) {
  return __builtin_expect(any.type_index == kKernkitObjectRValueRef, 0) ? object_in_slot(any) : any;
}

/// Takes over the object of an argument of type index 10 if the object has type `type_index`;
/// otherwise returns null.
KernkitObject* take_object(const KernkitAny& any, int32_t type_index);

/// False for values that a correct host never passes: a null object, text or function, a size
/// without data, or a small str that is too long. Does not read the members of a tensor.
bool is_sound(const KernkitAny& any);

/// Sets *out to the text of a str argument, valid as long as `any`. Returns false if the argument
/// is not a str or if is_sound() is false.
bool read_text(const KernkitAny& any, KernkitByteArray* out);

/// Describes a value: "None", "int 3", "str \"x\"", "a list of 2", "a null Tensor", "an object of
/// type index 130".
[[gnu::cold]] Message& operator<<(Message& out, const KernkitAny& any);

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/host_api/impl/any.h"
#endif
