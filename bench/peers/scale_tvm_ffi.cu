// SPDX-License-Identifier: Apache-2.0
// The peer of scale.cu: the CUDA kernel of tvm-ffi's guide in one file, on tvm-ffi's own headers,
// with scale's dtypes and the mistakes of the guide's mended: 64-bit index, empty tensors, launch
// errors.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/cuda/device_guard.h>
#include <tvm/ffi/function.h>

namespace {

namespace ffi = tvm::ffi;

#define PEER_CHECK_CUDA(x) \
  TVM_FFI_CHECK(x.device().device_type == kDLCUDA, ValueError) << #x " must be a CUDA tensor"
#define PEER_CHECK_CONTIGUOUS(x) \
  TVM_FFI_CHECK(x.IsContiguous(), ValueError) << #x " must be contiguous"
#define PEER_CHECK_INPUT(x) \
  PEER_CHECK_CUDA(x);       \
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
  PEER_CHECK_INPUT(x);
  PEER_CHECK_INPUT(y);
  PEER_CHECK_DEVICE(x, y);
  TVM_FFI_CHECK(x.dtype() == y.dtype(), TypeError) << "x and y must have the same dtype";
  TVM_FFI_CHECK(x.ndim() == y.ndim(), ValueError) << "x and y must have the same rank";
  TVM_FFI_CHECK(x.numel() == y.numel(), ValueError) << "x and y must have the same size";
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
