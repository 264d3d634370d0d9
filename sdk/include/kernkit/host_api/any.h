// SPDX-License-Identifier: Apache-2.0
// Access to a KernkitAny: its object's cell, its text, and its description for messages.
#pragma once

#include "kernkit/abi/abi.h"
#include "kernkit/errors/message.h"

namespace kernkit::detail {

/// The cell that follows an object's header. `any` must hold an object with a cell of this type.
template <class Cell>
const Cell* cell_of(const KernkitAny& any) {
  return reinterpret_cast<const Cell*>(any.v.object + 1);
}

/// The object of an argument of type index 10, borrowed; the argument itself if the object was
/// already taken over.
KernkitAny object_in_slot(const KernkitAny& any);

/// The value of an argument. An argument of type index 10 is the address of a reference that the
/// callee may take over; its value is that object.
inline KernkitAny referent(const KernkitAny& any) {
  return __builtin_expect(any.type_index == kKernkitObjectRValueRef, 0) ? object_in_slot(any) : any;
}

/// Takes over the object of such an argument if it has this type; otherwise returns null.
KernkitObject* take_object(const KernkitAny& any, int32_t type_index);

/// False for values that no host passes: a null object, text or function, a size without data, or a
/// small str that is too long. Does not read a Tensor's contents.
bool is_sound(const KernkitAny& any);

/// The text of a str argument, valid as long as `any`. False if the argument is not a str or not
/// sound.
bool read_text(const KernkitAny& any, KernkitByteArray* out);

/// Describes a value: "None", "int 3", "str \"x\"", "a list of 2", "a null Tensor", "an object of
/// type index 130".
[[gnu::cold]] Message& operator<<(Message& out, const KernkitAny& any);

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/host_api/impl/any.h"
#endif
