// SPDX-License-Identifier: Apache-2.0
// Shape: sizes that a kernel computes and owns.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

#include "kernkit/types/shape.h"

namespace kernkit {

/// The sizes of a tensor [elements], in an array of int64 that owns its elements and allocates
/// memory only for more than 8 elements. A member throws nothing unless the member's comment names
/// an error. Converts to a ShapeView, which is valid during the Shape's lifetime.
///
///     Shape half(x.sizes());
///     half[half.size() - 1] /= 2;
///     Tensor y = alloc_tensor(half, x.dtype(), x.device());
class Shape {
 public:
  /// An array without elements, which is the shape of a tensor of rank 0.
  Shape() = default;
  /// Copies the sizes [elements], which are not checked. Throws std::bad_alloc if memory for more
  /// than 8 sizes cannot be allocated.
  Shape(ShapeView sizes) : size_(sizes.size()) {  // NOLINT(runtime/explicit)
    if (size_ > kInline) data_ = new int64_t[size_];
    for (size_t i = 0; i < size_; ++i) data_[i] = sizes[i];
  }
  /// Copies a literal, as in `Shape s = {4, 8};`. Throws std::bad_alloc if memory for more than 8
  /// sizes cannot be allocated.
  Shape(const std::initializer_list<int64_t>& sizes)  // NOLINT(runtime/explicit)
      : Shape(ShapeView(sizes)) {}
  /// Copies the int64_t elements of a std::vector, a std::array or another class with data() and
  /// size(). Throws std::bad_alloc if memory for more than 8 sizes cannot be allocated.
  template <class Sizes,
            std::enable_if_t<
                !std::is_convertible_v<const Sizes&, ShapeView> &&
                    std::is_same_v<decltype(std::declval<const Sizes&>().data()), const int64_t*>,
                int> = 0>
  Shape(const Sizes& sizes)  // NOLINT(runtime/explicit)
      : Shape(ShapeView(sizes.data(), sizes.size())) {}
  /// Copies the sizes. Throws std::bad_alloc if memory for more than 8 sizes cannot be allocated.
  Shape(const Shape& other) : Shape(ShapeView(other)) {}
  /// Copies the sizes. Throws std::bad_alloc if memory for more than 8 sizes cannot be allocated;
  /// this Shape is then unchanged.
  Shape& operator=(const Shape& other) {
    if (this == &other) return *this;
    // Allocates first, so that an exception leaves this object unchanged.
    int64_t* data = other.size_ > kInline ? new int64_t[other.size_] : inline_;
    for (size_t i = 0; i < other.size_; ++i) data[i] = other.data_[i];
    if (data_ != inline_) delete[] data_;
    data_ = data;
    size_ = other.size_;
    return *this;
  }
  ~Shape() {
    if (data_ != inline_) delete[] data_;
  }

  /// Converts to a view, which is valid until this Shape is assigned or destroyed. A temporary
  /// Shape does not convert.
  operator ShapeView() const& { return {data_, size_}; }  // NOLINT(runtime/explicit)

  /// Number of sizes, which is the rank of a tensor with this shape.
  size_t size() const { return size_; }
  /// True for rank 0, but not for a shape that contains a size of 0.
  bool empty() const { return size_ == 0; }
  /// Address of the first size, for reading, valid until this object is assigned or destroyed.
  const int64_t* data() const { return data_; }
  /// Address of the first size, valid until this object is assigned or destroyed.
  int64_t* data() { return data_; }
  /// Returns size i [elements], counted from 0. The index is not checked.
  int64_t operator[](size_t i) const { return data_[i]; }
  /// Returns size i [elements] for assignment, counted from 0. The index is not checked.
  int64_t& operator[](size_t i) { return data_[i]; }
  /// Returns size i [elements], counted from 0. Throws IndexError for i >= size().
  int64_t at(size_t i) const { return ShapeView(data_, size_).at(i); }
  /// Iterator at the first size, for reading, valid until this object is assigned or destroyed.
  const int64_t* begin() const { return data_; }
  /// Iterator past the last size, for reading, valid until this object is assigned or destroyed.
  const int64_t* end() const { return data_ + size_; }
  /// Iterator at the first size, valid until this object is assigned or destroyed.
  int64_t* begin() { return data_; }
  /// Iterator past the last size, valid until this object is assigned or destroyed.
  int64_t* end() { return data_ + size_; }

 private:
  static constexpr size_t kInline = 8;
  int64_t inline_[kInline];
  int64_t* data_ = inline_;
  size_t size_ = 0;
};

}  // namespace kernkit
