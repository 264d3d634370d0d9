// SPDX-License-Identifier: Apache-2.0
// A tensor in NVSHMEM's symmetric memory. Compiled by tests/project/test_examples.py against the
// headers of the wheel nvidia-nvshmem-cu13.
#include <nvshmem_host.h>

#include "kernkit/export.h"

namespace {

// [nvshmem]
/// Symmetric memory of this process's GPU. Both functions are collective: every PE must create the
/// same tensors in the same order, and must release the last owners in the same order. So keep such
/// a tensor in one place and release it there; do not leave the release to a garbage collector.
struct NVSHMEMNDAlloc {
  void AllocData(DLTensor* tensor) const {
    KERNKIT_CHECK(kernkit::is_cuda(tensor->device), ValueError)
        << "NVSHMEMNDAlloc: device " << tensor->device << " is not a CUDA device";
    const size_t size = kernkit::GetDataSize(*tensor);
    // FromNDAlloc() throws MemoryError if nvshmem_align() returns null.
    if (size != 0) tensor->data = nvshmem_align(256, size);
  }
  /// nvshmem_finalize() has freed the memory already.
  void FreeData(DLTensor* tensor) const noexcept {
    const bool is_up = nvshmemx_init_status() >= NVSHMEM_STATUS_IS_INITIALIZED;
    if (tensor->data != nullptr && is_up) nvshmem_free(tensor->data);
  }
};

kernkit::Tensor symmetric_empty(kernkit::ShapeView shape, DLDataType dtype, DLDevice device) {
  return kernkit::Tensor::FromNDAlloc(NVSHMEMNDAlloc(), shape, dtype, device);
}
// [/nvshmem]

}  // namespace

KERNKIT_EXPORT(symmetric_empty, "(int[] shape, ScalarType dtype, Device device) -> Tensor",
               "Returns a tensor in symmetric memory, which kernels of all PEs can access.",
               symmetric_empty)
