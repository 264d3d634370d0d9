// SPDX-License-Identifier: Apache-2.0
// GPU memory for calls by XLA, in the order of XLA's stream.
#pragma once

#include "kernkit/cpu/allocator.h"
#include "kernkit/cuda/allocator.h"
#include "kernkit/cuda/stream.h"
#include "kernkit/shapes/xla_results.h"

// Same condition as in shapes/xla_results.h, which declares these functions.
#if defined(KERNKIT_WITH_CUDA) && defined(KERNKIT_COMPILED)

namespace kernkit::shapes {

namespace detail {

/// Returns the number of XLA's current call on this thread, counted from 1; 0 outside of a call.
KERNKIT_LOCAL inline uint64_t& xla_call() {
  static thread_local uint64_t call = 0;
  return call;
}
/// Returns the allocator that was current before XLA's current call.
KERNKIT_LOCAL inline TensorAllocator& allocator_before_xla() {
  static thread_local TensorAllocator allocator = nullptr;
  return allocator;
}

/// An allocator for NDAllocation, which allocates GPU memory in the order of XLA's stream.
struct KERNKIT_LOCAL XlaStreamAlloc {
  cudaStream_t stream = nullptr;
  uint64_t call = xla_call();

  void AllocData(DLTensor* tensor) {
    const size_t size = GetDataSize(*tensor);
    if (size == 0) return;
    const CUDADeviceGuard guard(tensor->device.device_id);
    stream = get_cuda_stream(tensor->device);
    kernkit::detail::check_cuda_alloc(cudaMallocAsync(&tensor->data, size, stream),
                                      "cudaMallocAsync", size, tensor->device);
  }
  /// During the call that allocated the memory, frees in stream order. After that call XLA may have
  /// destroyed the stream, so the device is synchronised before the memory is freed.
  void FreeData(DLTensor* tensor) const noexcept {
    if (tensor->data == nullptr) return;
    int previous = 0;
    (void)cuda::succeeded(cudaGetDevice(&previous));
    (void)cuda::succeeded(cudaSetDevice(tensor->device.device_id));
    if (call == xla_call()) {
      (void)cuda::succeeded(cudaFreeAsync(tensor->data, stream));
    } else {
      (void)cuda::succeeded(cudaDeviceSynchronize());
      (void)cuda::succeeded(cudaFree(tensor->data));
    }
    (void)cuda::succeeded(cudaSetDevice(previous));
  }
};

/// The TensorAllocator during a call of XLA: XlaStreamAlloc for a GPU, otherwise the allocator that
/// was current before the call, or CPUNDAlloc.
KERNKIT_LOCAL inline int allocate_for_xla(DLTensor* prototype, DLManagedTensorVersioned** out,
                                          void* context,
                                          void (*set_error)(void*, const char*,
                                                            const char*)) noexcept {
  if (is_cuda(prototype->device)) {
    return kernkit::detail::allocate_with<XlaStreamAlloc>(prototype, out, context, set_error);
  }
  const TensorAllocator before = allocator_before_xla();
  if (before != nullptr) return before(prototype, out, context, set_error);
  return kernkit::detail::allocate_with<CPUNDAlloc>(prototype, out, context, set_error);
}

/// Returns the number of the next call of XLA; all threads share the count.
KERNKIT_LOCAL inline uint64_t next_xla_call() {
  static uint64_t calls = 0;
  return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}

}  // namespace detail

KERNKIT_COLD XlaGpuMemory::XlaGpuMemory()
    : outer_call_(detail::xla_call()),
      outer_allocator_(detail::allocator_before_xla()),
      allocator_(current_allocator()),
      guard_(detail::allocate_for_xla) {
  detail::xla_call() = detail::next_xla_call();
  detail::allocator_before_xla() = allocator_;
}

KERNKIT_COLD XlaGpuMemory::~XlaGpuMemory() {
  detail::xla_call() = outer_call_;
  detail::allocator_before_xla() = outer_allocator_;
}

KERNKIT_COLD void copy_on_gpu(TensorView to, TensorView from) {
  const CUDADeviceGuard guard(to.device().device_id);
  KERNKIT_CUDA_CHECK(cudaMemcpyAsync(to.data_ptr(), from.data_ptr(), GetDataSize(to),
                                     cudaMemcpyDeviceToDevice, get_cuda_stream(to.device())));
}

}  // namespace kernkit::shapes

#endif
