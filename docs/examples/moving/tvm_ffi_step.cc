// SPDX-License-Identifier: Apache-2.0
// A library halfway through the move: one op has a schema line, the other has none. Built and
// called by tests/project/test_consumers.py.
#include <tvm/ffi/function.h>

#include "kernkit/export.h"

namespace ffi = tvm::ffi;

// [step]
int64_t rows(ffi::TensorView x) { return x.size(0); }
int64_t columns(ffi::TensorView x) { return x.size(1); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(rows, rows);
KERNKIT_EXPORT(columns, "(Tensor x) -> int", "The number of columns of x.", columns)
// [/step]
