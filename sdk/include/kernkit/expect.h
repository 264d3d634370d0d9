// SPDX-License-Identifier: Apache-2.0
// KERNKIT_EXPECT(x): what a tensor argument must be.
#pragma once

#include "kernkit/dim.h"
#include "kernkit/dispatch.h"
#include "kernkit/overlap.h"
#include "kernkit/tensor.h"

namespace kernkit {

/// The checks. Each acts at once, throws kernkit::Error, and returns *this for the next one;
/// nothing is kept, so no restriction can be lost. Use it through KERNKIT_EXPECT.
class Expect {
 public:
  Expect(const TensorView& tensor, const char* expression, Where where)
      : x_(tensor), name_(detail::name_or(tensor, expression)), where_(where) {}

  /// TypeError unless the dtype is one of the list's, e.g. `.dtype(floating{})`.
  template <class... T>
  const Expect& dtype(types<T...>) const {
    if (!contains(types<T...>{}, x_.dtype())) {
      detail::throw_unsupported(name_, x_.dtype(), detail::kDTypes<T...>, sizeof...(T), where_);
    }
    return *this;
  }
  /// TypeError unless the dtype is this one.
  const Expect& dtype(DLDataType wanted) const {
    if (x_.dtype() != wanted) fail_dtype(wanted);
    return *this;
  }

  /// ValueError unless the tensor has n dimensions.
  const Expect& rank(int32_t n) const {
    if (x_.ndim() != n) fail_rank(n);
    return *this;
  }
  /// ValueError unless the shape is this one: each entry an integer, a Dim or a multiple of one.
  template <class... D>
  const Expect& shape(D&&... wanted) const {
    int32_t i = 0;
    const bool fits = x_.ndim() == static_cast<int32_t>(sizeof...(D)) &&
                      (accepts(wanted, x_.sizes()[static_cast<size_t>(i++)]) && ...);
    if (!fits) {
      Message text;
      ((append_dim(text << (text.empty() ? "[" : ", "), wanted)), ...);
      text << (text.empty() ? "[]" : "]");
      int bound = 0;
      (append_binding(text, wanted, &bound), ...);
      fail_shape(text);
    }
    return *this;
  }

  /// ValueError unless the tensor is in CPU memory.
  const Expect& cpu() const {
    if (!is_cpu(x_.device())) fail_device("cpu");
    return *this;
  }
  /// ValueError unless it is on a CUDA device; RuntimeError when this library has no CUDA.
  const Expect& cuda() const {
    if (!kWithCuda || !is_cuda(x_.device())) fail_device("cuda");
    return *this;
  }
  /// ValueError unless it is on the CPU or a CUDA device; RuntimeError for CUDA when this library
  /// was built without it.
  const Expect& cpu_or_cuda() const {
    if (!is_cpu(x_.device()) && !(kWithCuda && is_cuda(x_.device()))) fail_device("cpu or cuda");
    return *this;
  }

  /// same_dtype, same_device and same_shape in one: the usual check of an output.
  const Expect& like(const TensorView& other) const {
    return same_dtype(other).same_device(other).same_shape(other);
  }
  /// TypeError unless both have one dtype.
  const Expect& same_dtype(const TensorView& other) const {
    if (x_.dtype() != other.dtype()) fail_same_dtype(other);
    return *this;
  }
  /// ValueError unless both are on one device.
  const Expect& same_device(const TensorView& other) const {
    if (x_.device() != other.device()) fail_same_device(other);
    return *this;
  }
  /// ValueError unless both have one shape.
  const Expect& same_shape(const TensorView& other) const {
    if (x_.sizes() != other.sizes()) fail_same_shape(other);
    return *this;
  }

  /// ValueError unless the elements are dense in row-major order (see TensorView::is_contiguous).
  const Expect& contiguous() const {
    if (!x_.is_contiguous()) fail_contiguous();
    return *this;
  }
  /// ValueError when the tensors share memory, unless they are the same elements in the same
  /// order, so that computing in place is allowed.
  const Expect& no_partial_overlap(const TensorView& other) const {
    if (overlaps(x_, other) && !same_elements(x_, other)) fail_overlap(other, "partially ");
    return *this;
  }
  /// ValueError when the tensors share memory.
  const Expect& no_overlap(const TensorView& other) const {
    if (overlaps(x_, other)) fail_overlap(other, "");
    return *this;
  }

 private:
  static bool accepts(int64_t wanted, int64_t size) { return wanted == size; }
  bool accepts(Dim& wanted, int64_t size) const { return wanted.accepts(size, name_); }
  static bool accepts(const ScaledDim& wanted, int64_t size) {
    int64_t product = 0;
    return !__builtin_mul_overflow(wanted.dim.value(), wanted.factor, &product) && product == size;
  }
  static void append_dim(Message& text, int64_t wanted) { text << wanted; }
  static void append_dim(Message& text, const Dim& wanted) { text << wanted.name(); }
  static void append_dim(Message& text, const ScaledDim& wanted) {
    text << wanted.factor << " * " << wanted.dim.name();
  }
  static void append_binding(Message&, int64_t, int*) {}
  [[gnu::cold]] void append_binding(Message& text, const Dim& dim, int* bound) const;
  void append_binding(Message& text, const ScaledDim& wanted, int* bound) const {
    append_binding(text, wanted.dim, bound);
  }

  [[noreturn, gnu::cold]] void fail(const char* kind, const Message& text) const;
  [[noreturn, gnu::cold]] void fail_dtype(DLDataType wanted) const;
  [[noreturn, gnu::cold]] void fail_rank(int32_t wanted) const;
  [[noreturn, gnu::cold]] void fail_shape(const Message& wanted) const;
  [[noreturn, gnu::cold]] void fail_device(const char* wanted) const;
  [[noreturn, gnu::cold]] void fail_same_dtype(const TensorView& other) const;
  [[noreturn, gnu::cold]] void fail_same_device(const TensorView& other) const;
  [[noreturn, gnu::cold]] void fail_same_shape(const TensorView& other) const;
  [[noreturn, gnu::cold]] void fail_contiguous() const;
  [[noreturn, gnu::cold]] void fail_overlap(const TensorView& other, const char* how) const;

  const TensorView& x_;
  const char* name_;
  Where where_;
};

}  // namespace kernkit

/// `KERNKIT_EXPECT(x).dtype(floating{}).cpu_or_cuda().contiguous();` The message names x as the
/// schema line does, and otherwise as it is written here.
#define KERNKIT_EXPECT(tensor) ::kernkit::Expect((tensor), #tensor, KERNKIT_HERE)

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/expect.h"
#endif
