// SPDX-License-Identifier: Apache-2.0
// Printing of a TensorView, and the errors of its checks.
#pragma once

#include "kernkit/tensor.h"

namespace kernkit {

KERNKIT_COLD Message& operator<<(Message& out, TensorView x) {
  if (!is_cpu(x.device())) out << x.device() << " ";
  out << x.dtype() << " " << x.sizes();
  return x.is_contiguous() ? out : out << " strides " << x.strides();
}

KERNKIT_COLD int64_t detail::dense_numel(const DLTensor* x) noexcept {
  int64_t numel = 1;
  int64_t signs = 0;
  bool dense = true;
  for (int32_t i = x->ndim - 1; i >= 0; --i) {
    const int64_t size = x->shape[i];
    if (size == 1) continue;
    if (x->strides != nullptr && x->strides[i] != numel) dense = false;
    if (__builtin_mul_overflow(numel, size, &numel)) dense = false;
    signs |= size;
  }
  if (__builtin_expect(dense && signs >= 0, 1)) return numel;
  bool empty = false;
  for (int32_t i = 0; i < x->ndim; ++i) {
    if (x->shape[i] < 0) return -1;
    empty |= x->shape[i] == 0;
  }
  return empty ? 0 : -1;
}

KERNKIT_COLD bool detail::is_contiguous_of_any_rank(const DLTensor* x) noexcept {
  if (x->strides == nullptr) return true;
  uint64_t expected = 1;
  bool dense = true;
  for (int32_t i = x->ndim - 1; i >= 0; --i) {
    const int64_t size = x->shape[i];
    if (size == 0) return true;
    dense &= size == 1 || static_cast<uint64_t>(x->strides[i]) == expected;
    expected *= static_cast<uint64_t>(size);
  }
  return dense;
}

KERNKIT_COLD void detail::throw_no_sizes(const DLTensor* x, const char* name) {
  KERNKIT_THROW(ValueError) << name << (x->ndim < 0 ? ": ndim is " : ": shape is null, ndim is ")
                            << x->ndim;
}

KERNKIT_COLD void detail::throw_no_memory(const DLTensor* x, const char* name) {
  KERNKIT_THROW(ValueError) << (name != nullptr ? name : "tensor") << ": data is null, shape is "
                            << TensorView(x).sizes();
}

KERNKIT_COLD int64_t detail::count_elements(const DLTensor* x) noexcept {
  int64_t product = 0;
  return checked_product(TensorView(x).sizes(), &product) ? product : -1;
}

KERNKIT_COLD void detail::throw_no_count(const DLTensor* x, const char* name) {
  KERNKIT_THROW(ValueError) << (name != nullptr ? name : "tensor") << ": shape "
                            << TensorView(x).sizes()
                            << " has a negative size or more than 2^63 - 1 elements";
}

KERNKIT_COLD void detail::throw_bad_index(const DLTensor* x, const char* name, int64_t i) {
  KERNKIT_THROW(IndexError) << (name != nullptr ? name : "tensor") << ": dimension " << i
                            << " does not exist; shape is " << TensorView(x).sizes();
}

KERNKIT_COLD void detail::throw_wrong_type(const DLTensor* x, const char* name,
                                           DLDataType requested) {
  KERNKIT_THROW(TypeError) << (name != nullptr ? name : "tensor") << ": dtype " << x->dtype
                           << " was read as " << requested;
}

}  // namespace kernkit
