// SPDX-License-Identifier: Apache-2.0
// scale on tvm-ffi's own headers, for comparison: the checks and the plain loop of tvm-ffi's kernel
// library guide, with scale's dtypes.
#include <tvm/ffi/function.h>

#include "kernkit/float.h"
#include "tvm_ffi_checks.h"

namespace {

namespace ffi = tvm::ffi;

template <class T>
void loop(ffi::TensorView y, ffi::TensorView x, double factor) {
  const auto f = static_cast<kernkit::compute_t<T>>(factor);
  const int64_t n = x.numel();
  T* const out = static_cast<T*>(y.data_ptr());
  const T* const in = static_cast<const T*>(x.data_ptr());
  for (int64_t i = 0; i < n; ++i) out[i] = T(static_cast<kernkit::compute_t<T>>(in[i]) * f);
}

void scale(ffi::TensorView y, ffi::TensorView x, double factor) {
  PEER_CHECK_SCALE(kDLCPU, y, x);
  if (x.dtype() == kFloat32) {
    loop<float>(y, x, factor);
  } else if (x.dtype() == kFloat64) {
    loop<double>(y, x, factor);
  } else if (x.dtype() == kFloat16) {
    loop<kernkit::float16>(y, x, factor);
  } else if (x.dtype() == kBfloat16) {
    loop<kernkit::bfloat16>(y, x, factor);
  } else {
    TVM_FFI_THROW(TypeError) << "Unsupported dtype: " << x.dtype();
  }
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, scale);
