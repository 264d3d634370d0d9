// SPDX-License-Identifier: Apache-2.0
// Copies of an op's returned tensors to the memory that XLA has allocated before the call.
//
// XLA's memory is valid for one call. At the time of an allocation it is unknown whether the op
// returns that tensor, drops it or keeps it for later calls, so an op never allocates in XLA's
// memory. (A Tensor(out!) is XLA's memory: the op writes to it directly.)
#pragma once

#include "kernkit/env.h"
#include "kernkit/list.h"
#include "kernkit/owning_tensor.h"

namespace kernkit::shapes {

#if defined(KERNKIT_WITH_CUDA) && defined(KERNKIT_COMPILED)
/// While this object exists during a call on a GPU, alloc_tensor() allocates in the order of XLA's
/// stream. A tensor that the op releases during the call is freed in the same order; a tensor that
/// outlives the call keeps its memory. kernkit/cuda/impl/xla_results.h defines the members.
class KERNKIT_LOCAL XlaGpuMemory {
 public:
  /// Makes the allocator of XLA's stream current for this thread. Waits for nothing. Throws the
  /// errors of AllocatorGuard's constructor.
  XlaGpuMemory();
  /// Restores the allocator that was current before. Must run in the thread that created this
  /// object. Throws nothing, and waits for nothing.
  ~XlaGpuMemory();
  XlaGpuMemory(const XlaGpuMemory&) = delete;
  XlaGpuMemory& operator=(const XlaGpuMemory&) = delete;

 private:
  uint64_t outer_call_;
  TensorAllocator outer_allocator_;
  TensorAllocator allocator_;
  AllocatorGuard guard_;
};
/// Copies `from` to `to` on XLA's stream, and does not wait for the copy. Requires that both
/// tensors are contiguous, have the same shape and dtype, and are on the same device. Throws
/// RuntimeError if CUDA reports an error.
KERNKIT_LOCAL void copy_on_gpu(TensorView to, TensorView from);
#else
/// Placeholder in a library without CUDA, in which alloc_tensor() needs no other allocator.
struct XlaGpuMemory {
  /// Makes no allocator current, because the library has no code for a GPU.
  XlaGpuMemory() {}  // NOLINT(modernize-use-equals-default): not unused
};
/// Throws RuntimeError, because a library without CUDA cannot copy memory of a GPU.
[[gnu::cold]] inline void copy_on_gpu(TensorView, TensorView from) {
  KERNKIT_THROW(RuntimeError) << "returns " << from
                              << ", which a library that was built without CUDA cannot copy";
}
#endif

/// Copies the `count` tensors that the op returned into XLA's `buffers`, and releases them, also on
/// an error. A copy on the CPU is complete on return; a copy on a GPU is ordered by XLA's stream.
/// *returned is None afterwards. Throws RuntimeError for a tensor that is not contiguous or that
/// differs in shape, dtype or device from XLA's buffer, which was allocated for the result in the
/// schema line, and if CUDA fails.
KERNKIT_LOCAL inline void copy_to_xla(KernkitAny* returned, const DLTensor* buffers,
                                      int32_t count) {
  const kernkit::detail::ObjectRef reference =
      kernkit::detail::ObjectRef::adopt(returned->v.object);
  const KernkitAny all = *returned;
  *returned = KernkitAny{};
  const KernkitAny* items = &all;
  if (all.type_index != kKernkitTensor) {
    items = static_cast<const KernkitAny*>(kernkit::detail::cell_of<KernkitSeqCell>(all)->data);
  }
  for (int32_t i = 0; i < count; ++i) {
    const TensorView from = kernkit::detail::Argument<TensorView>::read(items[i], "its result");
    const TensorView to(buffers + i);
    const bool is_alike =
        from.sizes() == to.sizes() && from.dtype() == to.dtype() && from.device() == to.device();
    KERNKIT_CHECK(is_alike && from.is_contiguous(), RuntimeError)
        << "returns " << from << "; its schema line requires " << to << ", contiguous";
    if (to.numel() == 0) continue;
    if (is_cpu(to.device())) {
      memmove(to.data_ptr(), from.data_ptr(), GetDataSize(to));
    } else {
      copy_on_gpu(to, from);
    }
  }
}

}  // namespace kernkit::shapes
