// SPDX-License-Identifier: Apache-2.0
// rms_norm on tvm-ffi's own headers, for comparison: the checks, dtypes and results of kernkit's
// rms_norm, in plain loops.
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

#include <cmath>

#include "kernkit/float.h"
#include "tvm_ffi_checks.h"

namespace {

namespace ffi = tvm::ffi;

template <class T>
void rows(ffi::TensorView y, ffi::TensorView x, const ffi::Optional<ffi::TensorView>& weight,
          double eps) {
  using C = kernkit::compute_t<T>;
  const int64_t n = x.size(0), d = x.size(1), stride = x.stride(0);
  const T* const g = weight ? static_cast<const T*>((*weight).data_ptr()) : nullptr;
  for (int64_t r = 0; r < n; ++r) {
    const T* const in = static_cast<const T*>(x.data_ptr()) + r * stride;
    T* const out = static_cast<T*>(y.data_ptr()) + r * d;
    C squares = 0;
    for (int64_t i = 0; i < d; ++i) squares += static_cast<C>(in[i]) * static_cast<C>(in[i]);
    const C scale = 1 / std::sqrt(squares / static_cast<C>(d) + static_cast<C>(eps));
    for (int64_t i = 0; i < d; ++i) {
      const C v = static_cast<C>(in[i]) * scale;
      out[i] = T(g != nullptr ? v * static_cast<C>(g[i]) : v);
    }
  }
}

void rms_norm(ffi::TensorView y, ffi::TensorView x, ffi::Optional<ffi::TensorView> weight,
              double eps) {
  PEER_CHECK_RMS_NORM(kDLCPU, y, x, weight);
  if (y.numel() == 0) return;
  if (x.dtype() == kFloat32) {
    rows<float>(y, x, weight, eps);
  } else if (x.dtype() == kFloat64) {
    rows<double>(y, x, weight, eps);
  } else if (x.dtype() == kFloat16) {
    rows<kernkit::float16>(y, x, weight, eps);
  } else if (x.dtype() == kBfloat16) {
    rows<kernkit::bfloat16>(y, x, weight, eps);
  } else {
    TVM_FFI_THROW(TypeError) << "Unsupported dtype: " << x.dtype();
  }
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(rms_norm, rms_norm);
