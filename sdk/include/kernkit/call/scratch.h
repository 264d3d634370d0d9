// SPDX-License-Identifier: Apache-2.0
// Scratch: memory that a call needs in addition to its arguments and results.
#pragma once

#include "kernkit/memory/data_size.h"
#include "kernkit/optional.h"
#include "kernkit/owning_tensor.h"

namespace kernkit {

/// Scratch memory of `bytes` bytes for one call: the tensor that the caller passes, or else a new
/// tensor of the caller's framework. The memory is uninitialised. No memory is kept between calls,
/// so no buffer has to grow while a graph is captured. A new tensor may be released when the
/// function returns: the framework reuses its memory in stream order.
class Scratch {
 public:
  /// Uses the memory of `passed`, which must then outlive this object, or allocates a tensor on the
  /// device of `like`. Throws ValueError if `bytes` is negative. For a passed tensor, throws
  /// TypeError if its dtype is not uint8, and ValueError if the tensor is on another device, not
  /// contiguous, not on a 16-byte boundary or too small. Otherwise throws the errors of
  /// alloc_tensor().
  Scratch(const Optional<TensorView>& passed, int64_t bytes, const TensorView& like) {
    KERNKIT_CHECK(bytes >= 0, ValueError) << "scratch: expected a number of bytes, got " << bytes;
    if (!passed.has_value()) {
      allocated_ = alloc_tensor({bytes}, dl_uint8, like.device());
      data_ = allocated_.data_ptr();
      return;
    }
    const char* name = passed->name() != nullptr ? passed->name() : "scratch";
    KERNKIT_CHECK(passed->dtype() == dl_uint8, TypeError)
        << name << ": dtype " << passed->dtype() << " is not supported; expected uint8";
    const auto has = static_cast<int64_t>(GetDataSize(*passed));
    KERNKIT_CHECK(passed->device() == like.device(), ValueError)
        << name << ": device " << passed->device() << " does not match " << like.device();
    KERNKIT_CHECK(passed->is_contiguous(), ValueError) << name << ": must be contiguous";
    KERNKIT_CHECK(has >= bytes, ValueError)
        << name << ": has " << has << " bytes; expected at least " << bytes;
    KERNKIT_CHECK(bytes == 0 || IsAligned(*passed->get(), 16), ValueError)
        << name << ": must begin on a 16-byte boundary";
    data_ = passed->data_ptr();
  }

  /// Returns the memory, on the device of `like`, as a T*; aligned to 16 bytes if the caller passed
  /// the tensor. May be null for 0 bytes. The size and the alignment of T are not checked. Valid as
  /// long as this object, or as the caller's tensor. Throws nothing.
  template <class T>
  T* data() const {
    return static_cast<T*>(data_);
  }

 private:
  Tensor allocated_;
  void* data_ = nullptr;
};

}  // namespace kernkit
