// SPDX-License-Identifier: Apache-2.0
// scale.cu on tvm-ffi's own headers, for comparison: the CUDA kernel of tvm-ffi's guide in one
// file, with scale's dtypes. Three errors of the guide are corrected: the 32-bit index, launches
// for empty tensors, and unchecked launches.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/cuda/device_guard.h>
#include <tvm/ffi/function.h>

#include "tvm_ffi_checks.h"

namespace {

namespace ffi = tvm::ffi;

template <class T, class Compute>
__global__ void scale_kernel(T* y, const T* x, Compute factor, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<T>(static_cast<Compute>(x[i]) * factor);
}

template <class T, class Compute>
void launch(ffi::TensorView y, ffi::TensorView x, double factor) {
  const int64_t n = x.numel();
  if (n == 0) return;
  const ffi::CUDADeviceGuard guard(x.device().device_id);
  const auto stream =
      static_cast<cudaStream_t>(TVMFFIEnvGetStream(x.device().device_type, x.device().device_id));
  scale_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      static_cast<T*>(y.data_ptr()), static_cast<const T*>(x.data_ptr()),
      static_cast<Compute>(factor), n);
  TVM_FFI_CHECK(cudaGetLastError() == cudaSuccess, RuntimeError) << "the launch failed";
}

void scale(ffi::TensorView y, ffi::TensorView x, double factor) {
  PEER_CHECK_SCALE(kDLCUDA, y, x);
  if (x.dtype() == kFloat32) {
    launch<float, float>(y, x, factor);
  } else if (x.dtype() == kFloat64) {
    launch<double, double>(y, x, factor);
  } else if (x.dtype() == kFloat16) {
    launch<__half, float>(y, x, factor);
  } else if (x.dtype() == kBfloat16) {
    launch<__nv_bfloat16, float>(y, x, factor);
  } else {
    TVM_FFI_THROW(TypeError) << "Unsupported dtype: " << x.dtype();
  }
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, scale);
