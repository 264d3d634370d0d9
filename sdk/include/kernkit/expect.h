// SPDX-License-Identifier: Apache-2.0
// KERNKIT_EXPECT(x): checks of a tensor argument.
#pragma once

#include "kernkit/checks/dim.h"
#include "kernkit/checks/expect_failure.h"
#include "kernkit/dispatch.h"
#include "kernkit/memory/overlap.h"

namespace kernkit {

/// Checks of one tensor argument. A check runs at once: it throws kernkit::Error or returns *this
/// for the next check. A check throws only the errors stated; it reads the DLTensor, never the
/// elements, and waits for no stream. Use the class through KERNKIT_EXPECT.
class Expect {
 public:
  /// Begins the checks of `tensor`. Messages use the name of the tensor, or `expression` if the
  /// tensor has no name; errors have the source line `location`. The DLTensor and the texts must
  /// outlive this object. Throws nothing.
  Expect(const TensorView& tensor, const char* expression, SourceLocation location)
      : x_(tensor.get(), tensor.name()), expression_(expression), location_(location) {}

  /// Throws TypeError unless the dtype, lanes included, is in the list, e.g. `.dtype(floating{})`.
  /// The error contains the supported dtypes. Returns *this.
  template <class... T>
  Expect& dtype(types<T...>) {
    // The dtype is loaded as one word: g++ would split a DLDataType passed by value into its
    // members.
    uint32_t key;
    memcpy(&key, &x_.get()->dtype, sizeof(key));
    if (!contains(types<T...>{}, key)) {
      detail::throw_unsupported(name(), key, detail::kDTypes<T...>, sizeof...(T), location_);
    }
    return *this;
  }
  /// Throws TypeError unless the dtype is `expected`, lanes included. Returns *this.
  Expect& dtype(DLDataType expected) {
    if (x_.dtype() != expected) failure().dtype(expected);
    return *this;
  }

  /// Throws ValueError unless the tensor has n dimensions; a scalar tensor has 0. Returns *this.
  Expect& rank(int32_t n) {
    if (x_.ndim() != n) failure().rank(n);
    return *this;
  }
  /// Throws ValueError unless the sizes [elements] match the arguments: one argument for each
  /// dimension, which is an integer, a Dim or a multiple of a Dim. An unbound Dim is bound to the
  /// tensor's size, and records the tensor's name, which must outlive the Dim. Throws InternalError
  /// for a multiple of an unbound Dim. Returns *this.
  template <class... D>
  Expect& shape(D&&... expected) {
    int32_t i = 0;
    const bool fits = x_.ndim() == static_cast<int32_t>(sizeof...(D)) &&
                      (accepts(expected, x_.sizes()[static_cast<size_t>(i++)]) && ...);
    if (!fits) failure().dims(false, {describe(expected)...});
    return *this;
  }

  /// Throws ValueError unless the tensor is on the device `expected` (kind and index). Throws
  /// RuntimeError instead for a CUDA tensor in a library without CUDA, unless `expected` is the
  /// CPU. Returns *this.
  Expect& device(DLDevice expected) {
    const bool possible = kWithCuda || !is_cuda(expected);
    if (x_.device() != expected || !possible) failure().device(device_name(expected).c_str());
    return *this;
  }
  /// Throws ValueError unless the tensor is in CPU memory (kDLCPU, any index; pinned memory is not
  /// included). Returns *this.
  Expect& cpu() {
    if (!is_cpu(x_.device())) failure().device("cpu");
    return *this;
  }
  /// Throws ValueError unless the tensor is on a CUDA device (kDLCUDA, any index; pinned and
  /// managed memory are not included); RuntimeError for a CUDA tensor if this library was built
  /// without CUDA. Returns *this.
  Expect& cuda() {
    if (!kWithCuda || !is_cuda(x_.device())) failure().device("cuda");
    return *this;
  }
  /// Throws ValueError unless the tensor is in the memory of the CPU or of a CUDA device, as cpu()
  /// and cuda() define them; RuntimeError for a CUDA tensor if this library was built without CUDA.
  /// Returns *this.
  Expect& cpu_or_cuda() {
    if (!is_cpu(x_.device()) && !(kWithCuda && is_cuda(x_.device())))
      failure().device("cpu or cuda");
    return *this;
  }

  /// Throws TypeError unless both tensors have the same dtype, and ValueError unless they have the
  /// same device and shape: the usual check of an output. The error describes the first difference,
  /// in that order. Returns *this. The DLTensor of `other` must outlive this object.
  Expect& like(const TensorView& other) {
    if (!detail::is_like(x_.get(), other.get()))
      failure().differs(other, detail::ExpectFailure::kFirst);
    like_ = other.get();
    return *this;
  }
  /// Throws TypeError unless both tensors have the same dtype, lanes included. Returns *this.
  Expect& same_dtype(const TensorView& other) {
    if (x_.dtype() != other.dtype()) failure().differs(other, detail::ExpectFailure::kDType);
    return *this;
  }
  /// Throws ValueError unless both tensors are on the same device (kind and index). Returns *this.
  Expect& same_device(const TensorView& other) {
    if (x_.device() != other.device()) failure().differs(other, detail::ExpectFailure::kDevice);
    return *this;
  }
  /// Throws ValueError unless both tensors have the same rank and sizes. Strides may differ.
  /// Returns *this.
  Expect& same_shape(const TensorView& other) {
    if (x_.sizes() != other.sizes()) failure().differs(other, detail::ExpectFailure::kShape);
    return *this;
  }

  /// Throws ValueError unless the elements are dense in row-major order (see
  /// TensorView::is_contiguous): an empty tensor passes, and the stride of a dimension of size 1
  /// does not matter. Returns *this.
  Expect& contiguous() {
    if (!x_.is_contiguous()) failure().layout("must be contiguous");
    contiguous_ = true;
    return *this;
  }
  /// Throws ValueError unless the elements of each row (the last dimension) are adjacent. Rows of
  /// at most one element, rank 0 and an empty tensor pass the check. The strides of other
  /// dimensions do not matter. Returns *this.
  Expect& last_dim_contiguous() {
    const int32_t last = x_.ndim() - 1;
    const bool fits = last < 0 || x_.size(last) <= 1 || x_.stride(last) == 1;
    if (!fits && x_.numel() != 0) failure().layout("the last dimension must be contiguous");
    return *this;
  }
  /// Throws ValueError unless the strides [elements] match the arguments: one argument for each
  /// dimension, which is an integer, a Dim or a multiple of a Dim. The stride of a dimension of
  /// size 1 does not matter, nor do strides of an empty tensor: the stride is the value of an
  /// unbound Dim until another check binds the Dim. Throws InternalError for a multiple of an
  /// unbound Dim. Returns *this.
  template <class... D>
  Expect& strides(D&&... expected) {
    size_t i = 0;
    const bool fits =
        x_.ndim() == static_cast<int32_t>(sizeof...(D)) && (accepts_stride(expected, i++) && ...);
    if (!fits) failure().dims(true, {describe(expected)...});
    return *this;
  }
  /// Throws ValueError unless the first element's address, byte_offset included, is a multiple of
  /// `bytes`, a power of two. An empty tensor has no first element, and passes. Also throws
  /// ValueError for a null address with elements (see TensorView::data_ptr). Returns *this.
  Expect& aligned(size_t bytes) {
    const auto address = reinterpret_cast<uintptr_t>(x_.data_ptr());
    if ((address & (bytes - 1)) != 0 && x_.numel() != 0) failure().aligned(bytes);
    return *this;
  }
  /// Throws ValueError if there are more than n elements, or if the elements cannot be counted (see
  /// TensorView::numel). Returns *this.
  Expect& numel_at_most(int64_t n) {
    if (x_.numel() > n) failure().numel(n);
    return *this;
  }
  /// Throws ValueError if the tensors may share memory (see overlaps()), unless both tensors have
  /// the same elements in the same order, as in an in-place call. Also throws ValueError if
  /// elements of this tensor overlap each other, or if the elements of a tensor cannot be counted
  /// (see TensorView::numel). Returns *this.
  KERNKIT_ACCESSOR Expect& no_partial_overlap(const TensorView& other) {
    const bool alike = like_ == other.get() || detail::is_like(x_.get(), other.get());
    if (KERNKIT_USUALLY(alike && contiguous_ && detail::same_or_apart(x_.get(), other.get()))) {
      return *this;
    }
    if (detail::may_overlap(x_.get(), other.get(), true)) failure().overlap(other, "partially ");
    return *this;
  }
  /// Throws ValueError if the tensors may share memory (see overlaps()), if elements of this tensor
  /// overlap each other, or if the elements of a tensor cannot be counted (see TensorView::numel).
  /// Returns *this.
  Expect& no_overlap(const TensorView& other) {
    if (detail::may_overlap(x_.get(), other.get(), false)) failure().overlap(other, "");
    return *this;
  }

 private:
  static bool accepts(int64_t expected, int64_t size) { return expected == size; }
  bool accepts(Dim& expected, int64_t size) const { return expected.accepts(size, name()); }
  bool accepts(const ScaledDim& expected, int64_t size) const {
    return expected.accepts(size, name());
  }
  bool stride_matters(size_t i) const { return x_.sizes()[i] != 1 && x_.numel() != 0; }
  bool accepts_stride(Dim& expected, size_t i) const {
    const int64_t stride = x_.strides()[i];
    if (expected.is_bound() && expected.value() == stride) return true;
    if (stride_matters(i)) return expected.accepts(stride, name());
    expected.suggest(stride);
    return true;
  }
  template <class Expected>
  bool accepts_stride(const Expected& expected, size_t i) const {
    return accepts(expected, x_.strides()[i]) || !stride_matters(i);
  }
  static detail::ExpectedDim describe(int64_t expected) { return {expected, nullptr}; }
  static detail::ExpectedDim describe(const Dim& expected) { return {1, &expected}; }
  static detail::ExpectedDim describe(const ScaledDim& expected) {
    return {expected.factor, &expected.dim};
  }

  KERNKIT_ACCESSOR const char* name() const { return detail::name_or(x_, expression_); }
  // Constructed on failure only: a check that passes stores nothing.
  KERNKIT_ACCESSOR detail::ExpectFailure failure() const { return {x_.get(), name(), location_}; }

  TensorView x_;
  const char* expression_;
  SourceLocation location_;
  // Results of earlier checks, which later checks use.
  const DLTensor* like_ = nullptr;
  bool contiguous_ = false;
};

}  // namespace kernkit

/// Begins the checks of a TensorView or Tensor, as a kernkit::Expect:
/// `KERNKIT_EXPECT(x).dtype(floating{}).cpu_or_cuda().contiguous();` Messages use x's name in the
/// schema line, or the expression in the parentheses. Errors have the source line of the macro.
/// Throws ValueError for a Tensor that is read-only, InternalError for an undefined Tensor, and the
/// errors of the checks. A temporary Tensor is a compile error.
#define KERNKIT_EXPECT(tensor) ::kernkit::Expect((tensor), #tensor, KERNKIT_HERE)
