// SPDX-License-Identifier: Apache-2.0
// Dim: a named size that several tensors share.
#pragma once

#include "kernkit/error.h"

namespace kernkit {

/// A size that several tensors share. The first shape() with the Dim binds the size, later calls
/// compare sizes with it, and value() returns it for the launch: `Dim n("n");
/// KERNKIT_EXPECT(x).shape(n, 8); f(n.value());` A member throws nothing unless the member's
/// comment names an error. Not safe from several threads.
class Dim {
 public:
  /// An unbound size. Messages use `name`, which must not be null and must outlive the Dim.
  explicit constexpr Dim(const char* name) : name_(name) {}
  /// A Dim is not copyable, since a copy would miss a later binding.
  Dim(const Dim&) = delete;
  Dim& operator=(const Dim&) = delete;

  /// The name for messages, as passed to the constructor.
  const char* name() const { return name_; }
  /// True once a tensor's size or stride has set the value. A value that only suggest() has set
  /// does not count.
  bool is_bound() const { return bound_by_ != nullptr; }
  /// The size [elements], or the stride that suggest() set. Throws InternalError if no check has
  /// set a size or a stride.
  int64_t value() const {
    KERNKIT_CHECK(is_bound() || is_suggested_, InternalError)
        << "Dim " << name_ << " is used before shape() or strides() bound it";
    return value_;
  }
  /// Name of the tensor that has bound the size, as passed to accepts(); null if the Dim is
  /// unbound.
  const char* bound_by() const { return bound_by_; }

  /// Binds an unbound Dim to `size` [elements], and records `tensor`, a name that must outlive the
  /// Dim and must not be null. Returns whether `size` is the bound size.
  bool accepts(int64_t size, const char* tensor) const {
    if (bound_by_ == nullptr) {
      value_ = size;
      bound_by_ = tensor;
    }
    return value_ == size;
  }
  /// Sets the value of an unbound Dim to `stride` [elements], the stride of an empty tensor or of a
  /// dimension of size 1. accepts() may bind another value later. Does nothing if the Dim is bound.
  void suggest(int64_t stride) {
    if (bound_by_ != nullptr) return;
    value_ = stride;
    is_suggested_ = true;
  }

 private:
  friend struct ScaledDim;

  const char* name_;
  // Mutable, because a multiple of a const Dim may bind a value that only suggest() has set.
  mutable int64_t value_ = 0;
  mutable const char* bound_by_ = nullptr;  // null if unbound; every value_ is a valid size
  mutable bool is_suggested_ = false;
};

/// `dim * factor` in a shape: a multiple of a Dim that is already bound.
struct ScaledDim {
  /// The Dim whose size is multiplied.
  const Dim& dim;
  /// The multiplier.
  int64_t factor;

  /// Returns whether `size` [elements] equals factor * dim; false for a product beyond int64. If
  /// only suggest() has set the Dim's value and `factor` divides `size`, binds the Dim to size /
  /// factor and records `tensor`, a name that must outlive the Dim. Throws InternalError for an
  /// unbound Dim.
  bool accepts(int64_t size, const char* tensor) const {
    if (!dim.is_bound() && dim.is_suggested_ && factor > 0) {
      return size % factor == 0 && dim.accepts(size / factor, tensor);
    }
    int64_t product = 0;
    return !__builtin_mul_overflow(dim.value(), factor, &product) && product == size;
  }
};
/// A multiple of `dim`, for KERNKIT_EXPECT(x).shape(n, 2 * d). `dim` must outlive the result.
/// Throws nothing.
inline ScaledDim operator*(int64_t factor, const Dim& dim) { return {dim, factor}; }
/// A multiple of `dim`, for KERNKIT_EXPECT(x).shape(n, d * 2). `dim` must outlive the result.
/// Throws nothing.
inline ScaledDim operator*(const Dim& dim, int64_t factor) { return {dim, factor}; }

}  // namespace kernkit
