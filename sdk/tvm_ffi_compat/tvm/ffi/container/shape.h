// SPDX-License-Identifier: Apache-2.0
// ShapeView and Shape. Product() throws ValueError if the product exceeds int64.
#pragma once

#include "kernkit/list.h"
#include "kernkit/owning_shape.h"
#include "tvm/ffi/container/array.h"

KERNKIT_TVM_FFI_BEGIN
namespace detail {
/// The members of tvm-ffi's shapes that kernkit's shapes lack.
template <class Base>
class ShapeOf : public Base {
 public:
  using Base::Base;
  ShapeOf() = default;
  ShapeOf(const Base& shape) : Base(shape) {}  // NOLINT(runtime/explicit)

  /// Returns size i. Throws IndexError for i >= size().
  int64_t at(size_t i) const {
    if (i < this->size()) return (*this)[i];
    TVM_FFI_THROW(IndexError) << "indexing " << i << " on a Shape of size " << this->size();
  }
  /// Returns the first size. Throws IndexError if there are no sizes.
  int64_t front() const { return at(0); }
  /// Returns the last size. Throws IndexError if there are no sizes.
  int64_t back() const { return at(this->size() - 1); }
  /// Returns the product of the sizes, which is 1 if there are no sizes. Throws ValueError if the
  /// product exceeds int64 or a size is negative.
  KERNKIT_ACCESSOR int64_t Product() const {
    return KERNKIT_USUALLY(this->size() == 1 && (*this)[0] >= 0) ? (*this)[0] : product_of(*this);
  }

 private:
  static int64_t product_of(kernkit::ShapeView sizes) {
    int64_t product = 0;
    if (kernkit::checked_product(sizes, &product)) return product;
    TVM_FFI_THROW(ValueError) << "the sizes " << sizes << " have no product in 64 bits";
  }
};
}  // namespace detail

/// Borrowed sizes, tvm-ffi's ShapeView, implemented by kernkit::ShapeView. Product() returns the
/// product of the sizes and throws ValueError beyond int64; at(), front() and back() throw
/// IndexError.
class ShapeView : public detail::ShapeOf<kernkit::ShapeView> {
  using detail::ShapeOf<kernkit::ShapeView>::ShapeOf;
};

/// Owns sizes: tvm-ffi's Shape, implemented by kernkit::Shape, with the members of ShapeView. A
/// function that returns a Shape gives the caller a Shape object of the host.
class Shape : public detail::ShapeOf<kernkit::Shape> {
 public:
  using detail::ShapeOf<kernkit::Shape>::ShapeOf;
  /// A copy of these sizes.
  Shape(kernkit::ShapeView sizes) : ShapeOf(kernkit::Shape(sizes)) {}  // NOLINT(runtime/explicit)
  /// A copy of the elements of a list.
  Shape(const Array<int64_t>& x) : Shape(x.begin(), x.end()) {}  // NOLINT(runtime/explicit)
  /// A copy of the integers in [first, last).
  template <class It, class = typename std::iterator_traits<It>::iterator_category>
  Shape(It first, It last) : ShapeOf(kernkit::Shape(std::vector<int64_t>(first, last))) {}
  /// Returns a view, valid during the lifetime of the Shape.
  operator ShapeView() const& { return ShapeView(data(), size()); }  // NOLINT(runtime/explicit)
};
KERNKIT_TVM_FFI_END

template <>
struct kernkit::detail::Argument<tvm::ffi::Shape> : Argument<ShapeView> {
  using Storage = tvm::ffi::Shape;
  static Storage read(const KernkitAny& any, const char* name) {
    return Storage(ShapeView(IntList(any, name)));
  }
};
template <>
struct kernkit::detail::Result<tvm::ffi::Shape> : Result<ShapeView> {
  static void set(KernkitAny* result, const tvm::ffi::Shape& shape) {
    set_ints(result, shape, "ffi.Shape");
  }
};
