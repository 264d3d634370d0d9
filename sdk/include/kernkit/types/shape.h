// SPDX-License-Identifier: Apache-2.0
// ShapeView and StridesView: borrowed sizes and strides of a tensor; their checked product.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <initializer_list>

namespace kernkit {

/// The sizes of a tensor [elements], in a borrowed array of int64. A member throws nothing unless
/// the member's comment names an error.
class ShapeView {
 public:
  /// An array without elements, which is the shape of a tensor of rank 0.
  constexpr ShapeView() = default;
  /// Borrows `size` numbers at `data`, which must outlive the view; `data` may be null if `size` is
  /// 0. The sizes are not checked.
  constexpr ShapeView(const int64_t* data, size_t size) : data_(data), size_(size) {}
  /// Borrows a literal, as in `alloc_tensor({4, 8}, ...)`. The literal exists until the end of that
  /// statement: a variable of type ShapeView must borrow from an int64_t array instead.
  constexpr ShapeView(const std::initializer_list<int64_t>& sizes)  // NOLINT(runtime/explicit)
  {
    data_ = sizes.begin();  // a member initializer would cause -Winit-list-lifetime
    size_ = sizes.size();
  }
  /// Borrows the elements of an array, which must outlive the view.
  template <size_t N>
  constexpr ShapeView(const int64_t (&array)[N]) : data_(array), size_(N) {}

  /// Address of the first size, valid as long as the borrowed array; may be null if the view is
  /// empty.
  constexpr const int64_t* data() const { return data_; }
  /// Number of sizes, which is the rank of the tensor.
  constexpr size_t size() const { return size_; }
  /// True for rank 0, but not for a shape that contains a size of 0.
  constexpr bool empty() const { return size_ == 0; }
  /// Returns size i [elements], counted from 0. The index is not checked, unlike in
  /// TensorView::size(i) and at().
  constexpr int64_t operator[](size_t i) const { return data_[i]; }
  /// Returns size i [elements], counted from 0. Throws IndexError for i >= size(). Defined in
  /// kernkit/error.h.
  int64_t at(size_t i) const;
  /// Iterator at the first size, valid as long as the borrowed array.
  constexpr const int64_t* begin() const { return data_; }
  /// Iterator past the last size, valid as long as the borrowed array.
  constexpr const int64_t* end() const { return data_ + size_; }

  /// True for equal ranks and equal sizes; two views of rank 0 are equal.
  friend constexpr bool operator==(ShapeView a, ShapeView b) {
    if (a.size_ != b.size_) return false;
    if (a.size_ == 1) return a.data_[0] == b.data_[0];  // fast path for one dimension
    for (size_t i = 0; i < a.size_; ++i) {
      if (a.data_[i] != b.data_[i]) return false;
    }
    return true;
  }
  /// True for different ranks, or if at least one size differs.
  friend constexpr bool operator!=(ShapeView a, ShapeView b) { return !(a == b); }

 private:
  const int64_t* data_ = nullptr;
  size_t size_ = 0;
};

/// Multiplies the sizes, and sets *out to the number of elements: 1 for no sizes. Returns false,
/// with *out unchanged, if a size is negative or the product exceeds int64. If a size is zero and
/// none is negative, the product is zero, even if the product of the other sizes exceeds int64.
/// Throws nothing.
constexpr bool checked_product(ShapeView sizes, int64_t* out) {
  int64_t product = 1;
  int64_t signs = 0;
  bool overflow = false;
  for (const int64_t size : sizes) {
    signs |= size;
    overflow |= __builtin_mul_overflow(product, size, &product);
  }
  if (__builtin_expect(overflow || signs < 0, 0)) {
    bool zero = false;
    for (const int64_t size : sizes) zero |= size == 0;
    if (signs < 0 || !zero) return false;
    product = 0;
  }
  *out = product;
  return true;
}

/// The strides of a tensor [elements]. In DLPack, `strides` may be NULL for a row-major tensor; the
/// view then computes the strides. Members throw nothing.
class StridesView {
 public:
  /// Borrows one stride for each size [elements]; if `strides` is null, the view computes the
  /// strides of a row-major tensor. Both arrays must outlive the view.
  constexpr StridesView(const int64_t* strides, ShapeView sizes)
      : strides_(strides), sizes_(sizes) {}

  /// Number of strides, which is the rank of the tensor.
  constexpr size_t size() const { return sizes_.size(); }
  /// Stride i [elements], counted from 0. The index is not checked. A computed stride wraps if the
  /// following sizes overflow int64; numel() rejects such a tensor.
  constexpr int64_t operator[](size_t i) const {
    if (strides_ != nullptr) return strides_[i];
    uint64_t stride = 1;
    for (size_t j = i + 1; j < sizes_.size(); ++j) stride *= static_cast<uint64_t>(sizes_[j]);
    return static_cast<int64_t>(stride);
  }

  /// Iterator for `for (const int64_t stride : x.strides())`: dereferencing reads or computes a
  /// stride.
  class Iterator {
   public:
    /// Points to stride `i` of the view, which must outlive the iterator.
    constexpr Iterator(const StridesView* view, size_t i) : view_(view), i_(i) {}
    /// Reads or computes the stride [elements]. The position must not be past the last stride.
    constexpr int64_t operator*() const { return (*view_)[i_]; }
    /// Advances to the next stride, and returns this iterator.
    constexpr Iterator& operator++() { return ++i_, *this; }
    /// True for different positions; both iterators must belong to the same view.
    constexpr bool operator!=(Iterator other) const { return i_ != other.i_; }

   private:
    const StridesView* view_;
    size_t i_;
  };
  /// Iterator at the first stride, valid as long as this view.
  constexpr Iterator begin() const { return {this, 0}; }
  /// Iterator past the last stride, valid as long as this view.
  constexpr Iterator end() const { return {this, size()}; }

 private:
  const int64_t* strides_;
  ShapeView sizes_;
};

}  // namespace kernkit
