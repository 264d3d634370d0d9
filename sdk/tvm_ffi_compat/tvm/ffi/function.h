// SPDX-License-Identifier: Apache-2.0
// TVM_FFI_DLL_EXPORT_TYPED_FUNC. KERNKIT_EXPORT (kernkit/export.h) makes the same symbol and may
// take its place one op at a time.
#pragma once

#include "kernkit/call/export_typed.h"
#include "tvm/ffi/container/tensor.h"

#define TVM_FFI_DLL __attribute__((visibility("default")))
#define TVM_FFI_DLL_EXPORT __attribute__((visibility("default")))

#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, ...) \
  KERNKIT_EXPORT_TYPED(name, __VA_ARGS__)        \
  static_assert(true)

/// The documentation of an op that is exported in this file, before this line.
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(name, doc)                         \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__doc_##name, , , result) {               \
    return ::kernkit::detail::return_doc<kernkit_export::name>(doc, result); \
  }                                                                          \
  static_assert(true)
