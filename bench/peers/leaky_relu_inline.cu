// SPDX-License-Identifier: Apache-2.0
// Source text for load_inline(), which prepends tvm-ffi's headers and appends the export.
#include <tvm/ffi/extra/cuda/device_guard.h>

__global__ void leaky_relu_kernel(float* y, const float* x, float slope, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : slope * x[i];
}

void leaky_relu(tvm::ffi::TensorView y, tvm::ffi::TensorView x, double slope) {
  constexpr DLDataType kFloat32{kDLFloat, 32, 1};
  TVM_FFI_CHECK(x.dtype() == kFloat32, TypeError) << "x must be a float32 tensor";
  TVM_FFI_CHECK(y.dtype() == kFloat32, TypeError) << "y must be a float32 tensor";
  TVM_FFI_CHECK(x.device().device_type == kDLCUDA, ValueError) << "x must be a CUDA tensor";
  TVM_FFI_CHECK(y.device().device_type == kDLCUDA, ValueError) << "y must be a CUDA tensor";
  TVM_FFI_CHECK(x.device().device_id == y.device().device_id, ValueError)
      << "x and y must be on the same device";
  TVM_FFI_CHECK(x.IsContiguous(), ValueError) << "x must be contiguous";
  TVM_FFI_CHECK(y.IsContiguous(), ValueError) << "y must be contiguous";
  TVM_FFI_CHECK(x.ndim() == y.ndim(), ValueError) << "x and y must have the same rank";
  TVM_FFI_CHECK(x.numel() == y.numel(), ValueError) << "x and y must have the same size";
  const int64_t n = x.numel();
  if (n == 0) return;
  const tvm::ffi::CUDADeviceGuard guard(x.device().device_id);
  const auto stream =
      static_cast<cudaStream_t>(TVMFFIEnvGetStream(x.device().device_type, x.device().device_id));
  leaky_relu_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      static_cast<float*>(y.data_ptr()), static_cast<const float*>(x.data_ptr()),
      static_cast<float>(slope), n);
  TVM_FFI_CHECK(cudaGetLastError() == cudaSuccess, RuntimeError) << "the launch failed";
}
