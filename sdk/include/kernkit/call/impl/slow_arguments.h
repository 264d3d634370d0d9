// SPDX-License-Identifier: Apache-2.0
// Conversion of slow arguments, and the second call of the op.
#pragma once

#include "kernkit/call/hook.h"
#include "kernkit/call/slow_arguments.h"
#include "kernkit/host_api/raise.h"
#include "kernkit/schema/schema.h"

namespace kernkit::detail {

KERNKIT_COLD int call_converted(KernkitFunction self, const char* op, const char* name,
                                const KernkitAny* args, int32_t num_args, size_t i,
                                KernkitAny* result, SourceLocation location) noexcept {
  try {
    KernkitAny changed[schema::kMaxParams];
    memcpy(changed, args, static_cast<size_t>(num_args) * sizeof(KernkitAny));
    if (args[i].type_index == kKernkitBigInt) {
      changed[i].type_index = kKernkitFloat;
      changed[i].v.f64 = read_big_int(args[i], name);
    } else {
      changed[i] = referent(args[i]);
      // referent() returns the argument unchanged if the object was already taken over.
      if (changed[i].type_index == args[i].type_index) throw_argument_type(name, "Tensor", args[i]);
    }
    return self(hooked_self(), changed, num_args, result);
  } catch (const Error& error) {
    return raise_error(op, error, location);
  }
}

}  // namespace kernkit::detail
