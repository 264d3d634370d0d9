// SPDX-License-Identifier: Apache-2.0
// KERNKIT_BACKWARD: names the op that computes the gradients of another op. For <op>_export.cc
// files.
#pragma once

#include "kernkit/shapes/export.h"

/// KERNKIT_BACKWARD(name, backward): op `backward` of this library computes the gradients of op
/// `name`, which is exported above in the same file (docs/shapes.md has the rules for parameter
/// names). `kernkit bindings` writes the formulas of autograd and custom_vjp from this declaration,
/// and rejects a pair of ops that do not match. At run time nothing is checked or called. The
/// symbol `__tvm_ffi__backward_<name>` returns the text in section "kernkit_backward" of the file:
/// "name: backward" and NUL. An op `name` that this file does not export is a compile error.
#define KERNKIT_BACKWARD(name, backward)                                                      \
  namespace kernkit_export {                                                                  \
  __attribute__((used, section("kernkit_backward"))) static const char name##_backward_of[] = \
      #name ": " #backward;                                                                   \
  }                                                                                           \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__backward_##name, , , result) {                           \
    return ::kernkit::detail::return_doc<kernkit_export::name>(                               \
        kernkit_export::name##_backward_of + sizeof(#name ": ") - 1, result);                 \
  }
