// SPDX-License-Identifier: Apache-2.0
// Scratch: memory that a call needs besides its arguments and results.
#pragma once

#include "kernkit/memory/data_size.h"
#include "kernkit/optional.h"
#include "kernkit/owning_tensor.h"

namespace kernkit {

/// `bytes` of scratch for one call: of the tensor that the caller gives, otherwise of a new one of
/// the caller's framework. It is not initialised. Nothing is kept from call to call, so nothing
/// grows while a graph is captured. A new one may go when the function returns: the framework
/// reuses its memory in the order of the stream.
class Scratch {
 public:
  /// On the device of `like`. Of the tensor that is given: TypeError where it is not of uint8,
  /// ValueError where it is on another device, not contiguous, not on a 16-byte boundary or too
  /// small. Throws what alloc_tensor() throws.
  Scratch(const Optional<TensorView>& given, int64_t bytes, const TensorView& like) {
    KERNKIT_CHECK(bytes >= 0, ValueError) << "scratch: expected a number of bytes, got " << bytes;
    if (!given.has_value()) {
      made_ = alloc_tensor({bytes}, dl_uint8, like.device());
      data_ = made_.data_ptr();
      return;
    }
    const char* name = given->name() != nullptr ? given->name() : "scratch";
    KERNKIT_CHECK(given->dtype() == dl_uint8, TypeError)
        << name << ": dtype " << given->dtype() << " is not supported; expected uint8";
    const auto has = static_cast<int64_t>(GetDataSize(*given));
    KERNKIT_CHECK(given->device() == like.device(), ValueError)
        << name << ": device " << given->device() << " does not match " << like.device();
    KERNKIT_CHECK(given->is_contiguous(), ValueError) << name << ": must be contiguous";
    KERNKIT_CHECK(has >= bytes, ValueError)
        << name << ": has " << has << " bytes; expected at least " << bytes;
    KERNKIT_CHECK(bytes == 0 || IsAligned(*given->get(), 16), ValueError)
        << name << ": must begin on a 16-byte boundary";
    data_ = given->data_ptr();
  }

  template <class T>
  T* data() const {
    return static_cast<T*>(data_);
  }

 private:
  Tensor made_;
  void* data_ = nullptr;
};

}  // namespace kernkit
