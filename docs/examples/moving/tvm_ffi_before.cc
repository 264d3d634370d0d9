// SPDX-License-Identifier: Apache-2.0
// An op on tvm-ffi's headers. Built and called by tests/project/test_examples.py.
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

#include "peer_macros.h"
#include "rms_norm.h"

namespace ffi = tvm::ffi;

// [before]
void rms_norm(ffi::TensorView out, ffi::TensorView x, ffi::Optional<ffi::TensorView> weight,
              double eps) {
  CHECK_INPUT(x);
  CHECK_DIM(2, x);
  CHECK_INPUT(out);
  CHECK_SHAPE(out, x);
  CHECK_SAME_DTYPE(out, x);
  if (weight.has_value()) {
    CHECK_INPUT(weight.value());
    CHECK_DIM(1, weight.value());
    TVM_FFI_ICHECK_EQ(weight.value().size(0), x.size(1)) << "weight has a wrong size";
    CHECK_SAME_DTYPE(weight.value(), x);
  }
  DISPATCH_DLPACK_DTYPE_TO_CTYPE(x.dtype(), c_type, [&] {
    const void* w = weight.has_value() ? weight.value().data_ptr() : nullptr;
    rms_norm_rows(x.size(0), x.size(1), static_cast<c_type*>(out.data_ptr()),
                  static_cast<const c_type*>(x.data_ptr()), static_cast<const c_type*>(w), eps);
    return true;
  });
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(rms_norm, rms_norm);
// [/before]
