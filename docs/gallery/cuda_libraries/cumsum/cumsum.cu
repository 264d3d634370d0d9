// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_scan.cuh>

#include "cumsum/cumsum.h"
#include "kernkit/cuda/launch.h"
#include "kernkit/owning_tensor.h"

// [cub]
void cumsum_cuda(kernkit::TensorView y, kernkit::TensorView x) {
  kernkit::cuda::Launch launch(y, x);  // makes the device current
  const auto sum = [&](void* scratch, size_t& bytes) {
    KERNKIT_CUDA_CHECK(cub::DeviceScan::InclusiveSum(scratch, bytes, x.data<const float>(),
                                                     y.data<float>(), x.numel(), launch.stream()));
  };
  size_t bytes = 0;
  sum(nullptr, bytes);  // sets bytes to the size of the scratch memory
  const kernkit::Tensor scratch =
      kernkit::alloc_tensor({static_cast<int64_t>(bytes)}, kernkit::dl_uint8, launch.device());
  sum(scratch.data_ptr(), bytes);
}
// [/cub]
