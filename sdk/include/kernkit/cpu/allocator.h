// SPDX-License-Identifier: Apache-2.0
// CPUNDAlloc: CPU memory for Tensor::FromNDAlloc().
#pragma once

#include <stdlib.h>

#include "kernkit/base/asan.h"
#include "kernkit/memory/data_size.h"

namespace kernkit {

/// Allocates CPU memory for Tensor::FromNDAlloc(), uninitialised and aligned to kAlignment.
/// `Tensor::FromNDAlloc(CPUNDAlloc(), {4, 8}, dl_float32, {kDLCPU, 0})`
struct CPUNDAlloc {
  /// Alignment of the memory: a cache line and the widest vector register [bytes].
  static constexpr size_t kAlignment = 64;

  /// Sets `data` to uninitialised memory of the tensor's size, GetDataSize(), which FreeData()
  /// frees. Sets `data` to null for an empty tensor, and if memory is exhausted, which
  /// FromNDAlloc() reports as MemoryError. Throws ValueError for a device other than the CPU, or
  /// for a size of more than 2^63 - 1 bytes. Safe from any thread.
  void AllocData(DLTensor* tensor) const {
    KERNKIT_CHECK(is_cpu(tensor->device), ValueError)
        << "CPUNDAlloc: device " << tensor->device << " is not the CPU";
    const size_t size = GetDataSize(*tensor);
    tensor->data = size == 0 ? nullptr : allocate(size);
  }
  /// Frees the memory of AllocData(), from any thread; ignores null `data`. Throws nothing.
  void FreeData(DLTensor* tensor) const noexcept { release(tensor->data); }

 private:
#if defined(KERNKIT_ASAN)
  // Allocates exactly `size` bytes, so that AddressSanitizer reports the first byte past the end.
  static void* allocate(size_t size) {
    void* data = nullptr;
    return posix_memalign(&data, kAlignment, size) == 0 ? data : nullptr;
  }
  static void release(void* data) { free(data); }
#else
  // The aligned allocation functions of glibc bypass malloc's caches and take 70 to 110 ns longer
  // than malloc (glibc 2.36). At least 16 bytes precede the data; the pointer that malloc returned
  // is stored there.
  static void* allocate(size_t size) {
    void* block = malloc(size + kAlignment);
    if (block == nullptr) return nullptr;
    const auto end = reinterpret_cast<uintptr_t>(block) + kAlignment;
    void** data = reinterpret_cast<void**>(end - end % kAlignment);
    data[-1] = block;
    return data;
  }
  static void release(void* data) {
    if (data != nullptr) free(static_cast<void**>(data)[-1]);
  }
#endif
};

}  // namespace kernkit
