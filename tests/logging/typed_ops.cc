// SPDX-License-Identifier: Apache-2.0
// An op that was written for tvm-ffi.
#include "tvm/ffi/tvm_ffi.h"

TVM_FFI_DLL_EXPORT_TYPED_FUNC(typed_sum, [](tvm::ffi::TensorView x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += static_cast<double>(static_cast<const float*>(x.data_ptr())[i]);
  return sum;
});
