// SPDX-License-Identifier: Apache-2.0
// What an op returns, in memory that XLA has allocated before the call.
#pragma once

#include "kernkit/cpu/allocator.h"
#include "kernkit/env.h"
#include "kernkit/list.h"

namespace kernkit::shapes {

/// For the length of a call, alloc_tensor() gives XLA's buffers: each to the first tensor of its
/// shape, dtype and device. For others it asks the allocator that was current, or CPUNDAlloc.
class XlaResults {
 public:
  /// Throws as AllocatorGuard does.
  KERNKIT_LOCAL XlaResults(const DLTensor* buffers, int32_t count)
      : count_(count), before_(current()), allocator_(current_allocator()), guard_(allocate) {
    for (int32_t i = 0; i < count; ++i) buffers_[i].tensor = buffers + i;
    current() = this;
  }
  XlaResults(const XlaResults&) = delete;
  XlaResults& operator=(const XlaResults&) = delete;
  KERNKIT_LOCAL ~XlaResults() { current() = before_; }

  /// Has the buffers hold what the op returned, and leaves None of it. A result that lies elsewhere
  /// is copied on the CPU. RuntimeError on another device, and for a tensor that is not as XLA was
  /// told by the line.
  KERNKIT_LOCAL void take(KernkitAny* returned) const {
    const kernkit::detail::ObjectRef held = kernkit::detail::ObjectRef::adopt(returned->v.object);
    const KernkitAny all = *returned;
    *returned = KernkitAny{};
    const bool is_one = all.type_index == kKernkitTensor;
    const KernkitAny* items = &all;
    if (!is_one) {
      items = static_cast<const KernkitAny*>(kernkit::detail::cell_of<KernkitSeqCell>(all)->data);
    }
    Tensor moved[schema::kMaxReturns];  // first all of them, as one may lie in another's buffer
    for (int32_t i = 0; i < count_; ++i) {
      const TensorView from = Read::read(items[i], "its result");
      const TensorView to(buffers_[i].tensor);
      const bool is_alike =
          from.sizes() == to.sizes() && from.dtype() == to.dtype() && from.device() == to.device();
      KERNKIT_CHECK(is_alike && from.is_contiguous(), RuntimeError)
          << "returns " << from << ", where its line says " << to << ", contiguous";
      if (to.numel() == 0 || from.data_ptr() == to.data_ptr()) continue;
      KERNKIT_CHECK(is_cpu(to.device()), RuntimeError)
          << "returns " << from << " which is not the first of this shape that it allocated: XLA "
          << "has a buffer for that one only";
      moved[i] = Tensor::FromNDAlloc(CPUNDAlloc(), to.sizes(), to.dtype(), to.device());
      memcpy(moved[i].data_ptr(), from.data_ptr(), GetDataSize(moved[i]));
    }
    for (int32_t i = 0; i < count_; ++i) {
      if (!moved[i].defined()) continue;
      memcpy(TensorView(buffers_[i].tensor).data_ptr(), moved[i].data_ptr(), GetDataSize(moved[i]));
    }
  }

 private:
  using Read = kernkit::detail::Argument<TensorView>;
  struct Buffer {
    const DLTensor* tensor = nullptr;
    bool is_given = false;
  };
  /// For NDAllocation: memory that is XLA's.
  struct InBuffer {
    const DLTensor* buffer;
    void AllocData(DLTensor* tensor) const {
      tensor->data = buffer->data;
      tensor->byte_offset = buffer->byte_offset;
    }
    void FreeData(DLTensor*) const noexcept {}
  };

  KERNKIT_LOCAL static XlaResults*& current() {
    static thread_local XlaResults* results = nullptr;
    return results;
  }

  /// A TensorAllocator.
  KERNKIT_LOCAL static int allocate(DLTensor* wanted, DLManagedTensorVersioned** out, void* context,
                                    void (*set_error)(void*, const char*, const char*)) {
    const ShapeView shape(wanted->shape, static_cast<size_t>(wanted->ndim));
    XlaResults* results = current();
    for (int32_t i = 0; i < results->count_; ++i) {
      Buffer& one = results->buffers_[i];
      const TensorView buffer(one.tensor);
      if (one.is_given || !(buffer.sizes() == shape) || buffer.dtype() != wanted->dtype ||
          buffer.device() != wanted->device) {
        continue;
      }
      try {
        *out = kernkit::detail::NDAllocation<InBuffer>::make(InBuffer{one.tensor}, shape, nullptr,
                                                             wanted->dtype, wanted->device);
      } catch (const std::bad_alloc&) {
        set_error(context, kind::MemoryError, "out of memory");
        return -1;
      }
      one.is_given = true;
      return 0;
    }
    if (results->allocator_ != nullptr) {
      return results->allocator_(wanted, out, context, set_error);
    }
    return kernkit::detail::allocate_with<CPUNDAlloc>(wanted, out, context, set_error);
  }

  Buffer buffers_[schema::kMaxReturns];
  int32_t count_;
  XlaResults* before_;
  TensorAllocator allocator_;
  AllocatorGuard guard_;  // the last: what it calls reads the others
};

}  // namespace kernkit::shapes
