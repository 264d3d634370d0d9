// SPDX-License-Identifier: Apache-2.0
// Implementation of Tensor::FromNDAlloc(): a DLPack tensor with memory of an allocator.
#pragma once

#include <stddef.h>
#include <stdlib.h>

#include <utility>

#include "kernkit/error.h"
#include "kernkit/memory/data_size.h"

namespace kernkit::detail {

/// Throws a MemoryError, whose message contains the dtype, shape and device of the tensor.
[[noreturn, gnu::cold]] void throw_no_memory(const DLTensor& tensor);

/// Throws TypeError for a dtype without bits, and ValueError if a size of the shape is negative or
/// the tensor takes more than 2^63 - 1 bytes.
void check_new_tensor(ShapeView shape, DLDataType dtype);

/// Sets all members of *tensor except the data. Copies shape and strides to `tail`, which must have
/// space for both. If `strides` is null, the strides are row-major. Throws the errors of
/// check_new_tensor(), and ValueError if the strides reach past the memory of a contiguous tensor
/// with this shape.
void describe_tensor(DLTensor* tensor, int64_t* tail, ShapeView shape, const ShapeView* strides,
                     DLDataType dtype, DLDevice device);

/// One block of memory that contains the managed tensor, the allocator, the shape and the strides.
template <class Alloc>
class NDAllocation {
  struct Tail {
    size_t bytes;
  };

 public:
  /// Returns a new tensor, whose deleter frees the memory. Throws the allocator's exceptions, and
  /// MemoryError if the allocator sets no data for a tensor with elements. An error leaks no
  /// memory.
  template <class... Args>
  static DLManagedTensorVersioned* make(Alloc&& alloc, ShapeView shape, const ShapeView* strides,
                                        DLDataType dtype, DLDevice device, Args&&... args) {
    const Tail tail = {2 * shape.size() * sizeof(int64_t)};
    return &(new (tail) NDAllocation(std::move(alloc), shape, strides, dtype, device,
                                     std::forward<Args>(args)...))
                ->managed_;
  }

 private:
  template <class... Args>
  NDAllocation(Alloc&& alloc, ShapeView shape, const ShapeView* strides, DLDataType dtype,
               DLDevice device, Args&&... args)
      : alloc_(std::move(alloc)) {
    managed_.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    managed_.manager_ctx = this;
    managed_.deleter = [](DLManagedTensorVersioned* self) {
      delete static_cast<NDAllocation*>(self->manager_ctx);
    };
    DLTensor* tensor = &managed_.dl_tensor;
    describe_tensor(tensor, reinterpret_cast<int64_t*>(this + 1), shape, strides, dtype, device);
    alloc_.AllocData(tensor, std::forward<Args>(args)...);
    if (__builtin_expect(tensor->data == nullptr, 0) && TensorView(tensor).numel() != 0) {
      throw_no_memory(*tensor);
    }
  }
  // Drops the exceptions of FreeData(), because the C caller of a deleter cannot catch them.
  ~NDAllocation() {
    try {
      alloc_.FreeData(&managed_.dl_tensor);
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }

  static void* operator new(size_t size, Tail tail) {
    static_assert(alignof(NDAllocation) <= alignof(max_align_t));
    if (void* block = malloc(size + tail.bytes)) return block;
    throw std::bad_alloc();
  }
  // The operator delete with two parameters is called if the constructor throws.
  static void operator delete(void* block) { free(block); }
  static void operator delete(void* block, Tail) { free(block); }

  DLManagedTensorVersioned managed_{};
  Alloc alloc_;
};

/// A TensorAllocator, which a framework registers with its host: sets *out to a new tensor with the
/// shape, dtype and device of `prototype` and with memory of an Alloc. Returns 0, or -1 after a
/// call of set_error(error_context, kind, message).
template <class Alloc>
int allocate_with(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_context,
                  void (*set_error)(void*, const char*, const char*)) noexcept {
  try {
    const ShapeView shape(prototype->shape, static_cast<size_t>(prototype->ndim));
    *out = NDAllocation<Alloc>::make(Alloc(), shape, nullptr, prototype->dtype, prototype->device);
    return 0;
  } catch (const Error& error) {
    set_error(error_context, error.kind(), error.message());
  } catch (const std::bad_alloc&) {
    set_error(error_context, kind::MemoryError, "out of memory");
  }
  return -1;
}

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/memory/impl/nd_alloc.h"
#endif
