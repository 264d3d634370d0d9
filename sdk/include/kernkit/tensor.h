// SPDX-License-Identifier: Apache-2.0
// TensorView: a borrowed tensor, which knows the name of the argument it came from.
#pragma once

#include "kernkit/error.h"

namespace kernkit {

class TensorView;

namespace detail {
// These take views by value, as everything cold should: a view whose address is taken lives in
// memory for the whole function instead of in two registers.
[[noreturn, gnu::cold]] void throw_bad_index(TensorView x, int64_t i);
[[noreturn, gnu::cold]] void throw_bad_shape(TensorView x);
[[noreturn, gnu::cold]] void throw_wrong_type(TensorView x, DLDataType wanted);
}  // namespace detail

/// A view of a DLTensor that someone else owns and keeps alive during the call. Two pointers: pass
/// it by value. Sizes and strides count elements; `i` may be negative and counts from the end.
///
/// A const TensorView promises nothing about the data: constness is the schema's `(a!)` and the
/// pointer type that the kernel takes.
class TensorView {
 public:
  /// Implicit, so that a DLTensor* goes where a TensorView is wanted. `name` must outlive the view;
  /// messages use it (an exported function gets the names of its schema line).
  TensorView(const DLTensor* tensor, const char* name = nullptr)  // NOLINT(runtime/explicit)
      : tensor_(tensor), name_(name) {}

  int32_t ndim() const { return tensor_->ndim; }
  int32_t dim() const { return tensor_->ndim; }
  DLDataType dtype() const { return tensor_->dtype; }
  DLDevice device() const { return tensor_->device; }
  /// Bytes between the DLTensor's data field and the first element; data_ptr() includes them.
  uint64_t byte_offset() const { return tensor_->byte_offset; }

  ShapeView sizes() const { return {tensor_->shape, static_cast<size_t>(tensor_->ndim)}; }
  ShapeView shape() const { return sizes(); }
  /// Size of dimension i. Throws IndexError outside [-ndim, ndim).
  int64_t size(int64_t i) const { return tensor_->shape[index(i)]; }

  /// Strides; computed when the DLTensor has none, which DLPack defines as row-major.
  StridesView strides() const { return {tensor_->strides, sizes()}; }
  /// Stride of dimension i. Throws IndexError outside [-ndim, ndim).
  int64_t stride(int64_t i) const { return strides()[index(i)]; }

  /// Number of elements: 1 for rank 0, 0 when any size is 0. Throws ValueError when a size is
  /// negative or the product exceeds int64.
  int64_t numel() const {
    int64_t product = 0;
    if (__builtin_expect(!checked_product(sizes(), &product), 0)) detail::throw_bad_shape(*this);
    return product;
  }

  /// Address of the first element, byte_offset applied. It may be null when numel() is 0.
  void* data_ptr() const { return static_cast<char*>(tensor_->data) + tensor_->byte_offset; }
  /// The same, typed. Throws TypeError when the elements are not stored as T.
  template <class T>
  T* data() const {
    if (__builtin_expect(dtype() != dtype_of<std::remove_const_t<T>>, 0)) {
      detail::throw_wrong_type(*this, dtype_of<std::remove_const_t<T>>);
    }
    return static_cast<T*>(data_ptr());
  }

  /// True when the elements are dense in row-major order. As in NumPy and PyTorch the stride of a
  /// dimension of size 1 does not matter, and an empty tensor is contiguous.
  bool is_contiguous() const {
    if (tensor_->strides == nullptr) return true;
    int64_t expected = 1;
    bool dense = true;
    for (int32_t i = tensor_->ndim - 1; i >= 0; --i) {
      const int64_t size = tensor_->shape[i];
      if (size == 0) return true;
      dense &= size == 1 || tensor_->strides[i] == expected;
      expected =
          static_cast<int64_t>(static_cast<uint64_t>(expected) * static_cast<uint64_t>(size));
    }
    return dense;
  }
  bool IsContiguous() const { return is_contiguous(); }

  /// The argument's name, or null when nobody said.
  const char* name() const { return name_; }
  const DLTensor* get() const { return tensor_; }

 private:
  int64_t index(int64_t i) const {
    const int64_t from_start = i < 0 ? i + ndim() : i;
    if (__builtin_expect(from_start < 0 || from_start >= ndim(), 0))
      detail::throw_bad_index(*this, i);
    return from_start;
  }

  const DLTensor* tensor_;
  const char* name_;
};

/// "float32 [4, 8]", with what differs from the usual: "cuda:1 float16 [4, 8] strides [16, 1]".
[[gnu::cold]] Message& operator<<(Message& out, TensorView x);

namespace detail {
inline const char* name_or(TensorView x, const char* otherwise) {
  return x.name() != nullptr ? x.name() : otherwise;
}
}  // namespace detail

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/tensor.h"
#endif
