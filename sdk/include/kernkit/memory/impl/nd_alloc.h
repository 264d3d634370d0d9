// SPDX-License-Identifier: Apache-2.0
// The part of an allocation that does not depend on the allocator.
#pragma once

#include "kernkit/memory/dlpack.h"
#include "kernkit/memory/nd_alloc.h"

namespace kernkit::detail {

KERNKIT_COLD void throw_no_memory(const DLTensor& tensor) {
  KERNKIT_THROW(MemoryError) << "cannot allocate " << GetDataSize(tensor) << " bytes on "
                             << tensor.device << " for " << tensor.dtype << " "
                             << TensorView(&tensor).sizes();
}

KERNKIT_COLD void check_new_tensor(ShapeView shape, DLDataType dtype) {
  KERNKIT_CHECK(dtype.bits != 0 && dtype.lanes != 0, TypeError)
      << "dtype " << dtype << " has no bits";
  int64_t numel = 0;
  int64_t size = 0;
  const bool fits = checked_product(shape, &numel) && packed_size(numel, dtype, &size);
  KERNKIT_CHECK(fits, ValueError) << "shape " << shape << " of " << dtype
                                  << " has a negative size or more than 2^63 - 1 bytes";
}

KERNKIT_COLD void describe_tensor(DLTensor* tensor, int64_t* tail, ShapeView shape,
                                  const ShapeView* strides, DLDataType dtype, DLDevice device) {
  check_new_tensor(shape, dtype);
  if (strides != nullptr) check_strides(shape, *strides);
  tensor->device = device;
  tensor->ndim = static_cast<int32_t>(shape.size());
  tensor->dtype = dtype;
  tensor->shape = tail;
  tensor->strides = tail + shape.size();
  const StridesView all(strides != nullptr ? strides->data() : nullptr, shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    tensor->shape[i] = shape[i];
    tensor->strides[i] = all[i];
  }
}

}  // namespace kernkit::detail
