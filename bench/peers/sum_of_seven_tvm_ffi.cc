// SPDX-License-Identifier: Apache-2.0
// sum_of_seven on tvm-ffi's own headers, for comparison, with the four checks of each argument that
// kernkit's sum_of_seven makes.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

namespace {

namespace ffi = tvm::ffi;

#define PEER_CHECK(x)                                                                           \
  TVM_FFI_CHECK(x.ndim() == 1 && x.size(0) == n, ValueError) << #x " must have the shape of y"; \
  TVM_FFI_CHECK(x.dtype() == kFloat32, TypeError) << #x " must be float32";                     \
  TVM_FFI_CHECK(x.device().device_type == kDLCPU, ValueError) << #x " must be a CPU tensor";    \
  TVM_FFI_CHECK(x.IsContiguous(), ValueError) << #x " must be contiguous"

constexpr DLDataType kFloat32{kDLFloat, 32, 1};

void sum_of_seven(ffi::TensorView y, ffi::TensorView a, ffi::TensorView b, ffi::TensorView c,
                  ffi::TensorView d, ffi::TensorView e, ffi::TensorView f, ffi::TensorView g) {
  TVM_FFI_CHECK(y.ndim() == 1, ValueError) << "y must be 1D";
  const int64_t n = y.size(0);
  PEER_CHECK(y);
  PEER_CHECK(a);
  PEER_CHECK(b);
  PEER_CHECK(c);
  PEER_CHECK(d);
  PEER_CHECK(e);
  PEER_CHECK(f);
  PEER_CHECK(g);
  const auto data = [](const ffi::TensorView& x) { return static_cast<float*>(x.data_ptr()); };
  for (int64_t i = 0; i < n; ++i) {
    data(y)[i] =
        data(a)[i] + data(b)[i] + data(c)[i] + data(d)[i] + data(e)[i] + data(f)[i] + data(g)[i];
  }
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(sum_of_seven, sum_of_seven);
