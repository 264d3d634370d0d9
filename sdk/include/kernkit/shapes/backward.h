// SPDX-License-Identifier: Apache-2.0
// KERNKIT_BACKWARD: which op computes the gradients of another. For <op>_export.cc files.
#pragma once

#include "kernkit/shapes/export.h"

/// KERNKIT_BACKWARD(name, backward): op `backward` of this library computes the gradients of op
/// `name`, which is exported above in the same file (docs/shapes.md says what its names mean). From
/// it come the formulas of autograd and custom_vjp that `kernkit bindings` writes, which refuses a
/// pair that does not fit. Symbol __tvm_ffi__backward_<name>, which returns the text that stands in
/// section "kernkit_backward" of the file, as "name: backward" and NUL.
#define KERNKIT_BACKWARD(name, backward)                                                      \
  namespace kernkit_export {                                                                  \
  __attribute__((used, section("kernkit_backward"))) static const char name##_backward_of[] = \
      #name ": " #backward;                                                                   \
  }                                                                                           \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__backward_##name, , , result) {                           \
    return ::kernkit::detail::return_doc<kernkit_export::name>(                               \
        kernkit_export::name##_backward_of + sizeof(#name ": ") - 1, result);                 \
  }
