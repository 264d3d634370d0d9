// SPDX-License-Identifier: Apache-2.0
// KERNKIT_BACKWARD: names the op that computes the gradients of another op. For <op>_export.cc
// files.
#pragma once

#include "kernkit/shapes/export.h"

/// KERNKIT_BACKWARD(name, backward) declares that op `backward` of this library computes the
/// gradients of op `name`, which must be exported earlier in the same file (docs/shapes.md has the
/// rules for parameter names). `kernkit bindings` writes the formulas of autograd and custom_vjp
/// from this declaration, and rejects a pair of ops that do not match. The declaration has no
/// effect on calls at run time. The function `__tvm_ffi__backward_<name>` returns the text "name:
/// backward" with a terminating NUL, which is in section "kernkit_backward" of the library. If the
/// file does not export op `name`, the declaration is a compile error.
#define KERNKIT_BACKWARD(name, backward)                                                      \
  namespace kernkit_export {                                                                  \
  __attribute__((used, section("kernkit_backward"))) static const char name##_backward_of[] = \
      #name ": " #backward;                                                                   \
  }                                                                                           \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__backward_##name, , , result) {                           \
    return ::kernkit::detail::return_doc<kernkit_export::name>(                               \
        kernkit_export::name##_backward_of + sizeof(#name ": ") - 1, result);                 \
  }
