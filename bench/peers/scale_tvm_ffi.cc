// SPDX-License-Identifier: Apache-2.0
// The peer of scale: the same function on tvm-ffi's own headers, checked as its kernel library
// guide does it (CHECK_* macros over TVM_FFI_CHECK), with scale's dtypes and the guide's plain
// loop.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

#include "kernkit/float.h"

namespace {

namespace ffi = tvm::ffi;

#define PEER_CHECK_CPU(x) \
  TVM_FFI_CHECK(x.device().device_type == kDLCPU, ValueError) << #x " must be a CPU tensor"
#define PEER_CHECK_CONTIGUOUS(x) \
  TVM_FFI_CHECK(x.IsContiguous(), ValueError) << #x " must be contiguous"
#define PEER_CHECK_INPUT(x) \
  PEER_CHECK_CPU(x);        \
  PEER_CHECK_CONTIGUOUS(x)
#define PEER_CHECK_DEVICE(a, b)                                               \
  TVM_FFI_CHECK(a.device().device_type == b.device().device_type, ValueError) \
      << #a " and " #b " must be on the same device type";                    \
  TVM_FFI_CHECK(a.device().device_id == b.device().device_id, ValueError)     \
      << #a " and " #b " must be on the same device"

constexpr DLDataType kFloat64{kDLFloat, 64, 1};
constexpr DLDataType kFloat32{kDLFloat, 32, 1};
constexpr DLDataType kFloat16{kDLFloat, 16, 1};
constexpr DLDataType kBfloat16{kDLBfloat, 16, 1};

template <class T>
void loop(ffi::TensorView y, ffi::TensorView x, double factor) {
  const auto f = static_cast<kernkit::compute_t<T>>(factor);
  const int64_t n = x.numel();
  T* const out = static_cast<T*>(y.data_ptr());
  const T* const in = static_cast<const T*>(x.data_ptr());
  for (int64_t i = 0; i < n; ++i) out[i] = T(static_cast<kernkit::compute_t<T>>(in[i]) * f);
}

void scale(ffi::TensorView y, ffi::TensorView x, double factor) {
  PEER_CHECK_INPUT(x);
  PEER_CHECK_INPUT(y);
  PEER_CHECK_DEVICE(x, y);
  TVM_FFI_CHECK(x.dtype() == y.dtype(), TypeError) << "x and y must have the same dtype";
  TVM_FFI_CHECK(x.ndim() == y.ndim(), ValueError) << "x and y must have the same rank";
  TVM_FFI_CHECK(x.numel() == y.numel(), ValueError) << "x and y must have the same size";
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
