// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>

#include "kernkit/cuda/launch.h"
#include "kernkit/owning_tensor.h"
#include "matmul/matmul.h"

// [cublas]
namespace {

void check(cublasStatus_t status, const char* call) {
  KERNKIT_CHECK(status == CUBLAS_STATUS_SUCCESS, RuntimeError)
      << call << " failed: " << cublasGetStatusString(status);
}

// Returns the calling thread's cuBLAS handle for a device. The first call creates the handle, which
// is expensive. Handles are never destroyed: the driver may be unloaded before the thread ends.
cublasHandle_t handle_of(int device) {
  thread_local cublasHandle_t handles[64] = {};
  KERNKIT_CHECK(device < 64, ValueError) << "cuda:" << device << " is beyond 64 devices";
  if (handles[device] == nullptr) check(cublasCreate(&handles[device]), "cublasCreate()");
  return handles[device];
}

}  // namespace

void matmul_cuda(kernkit::TensorView c, kernkit::TensorView a, kernkit::TensorView b) {
  kernkit::cuda::Launch launch(c, a, b);  // makes the device current
  const cublasHandle_t handle = handle_of(launch.device().device_id);
  check(cublasSetStream(handle, launch.stream()), "cublasSetStream()");
  // The workspace is memory of the caller's framework, because an allocation by cuBLAS cannot be
  // captured into a graph.
  const int64_t bytes = int64_t{32} << 20;
  const kernkit::Tensor scratch =
      kernkit::alloc_tensor({bytes}, kernkit::dl_uint8, launch.device());
  check(cublasSetWorkspace(handle, scratch.data_ptr(), bytes), "cublasSetWorkspace()");
  const int m = static_cast<int>(a.size(0)), n = static_cast<int>(b.size(1));
  const int k = static_cast<int>(a.size(1));
  const float one = 1, zero = 0;
  // cuBLAS stores columns, so it computes c^T = b^T @ a^T.
  check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b.data<const float>(), n,
                    a.data<const float>(), k, &zero, c.data<float>(), n),
        "cublasSgemm()");
}
// [/cublas]
