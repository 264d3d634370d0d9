// SPDX-License-Identifier: Apache-2.0
// TensorView and Tensor. As in tvm-ffi, data_ptr() is DLTensor::data without byte_offset().
// Conversion to kernkit's views adds the offset.
#pragma once

#include "kernkit/call/optional_argument.h"
#include "tvm/ffi/container/shape.h"
#include "tvm/ffi/dtype.h"
#include "tvm/ffi/optional.h"

KERNKIT_TVM_FFI_BEGIN
using kernkit::GetDataSize, kernkit::IsAligned;
inline bool IsContiguous(const DLTensor& x) { return kernkit::TensorView(&x).is_contiguous(); }
inline bool IsDirectAddressDevice(DLDevice device) { return kernkit::is_address(device); }

namespace detail {
/// A DLTensor by value, as in tvm-ffi's views; sizes and memory are borrowed.
class ViewBase {
 public:
  explicit ViewBase(kernkit::TensorView x) : tensor_(*x.get()), name_(x.name()) {}
  // Not trivial, so that a parameter is passed by address instead of being copied again.
  ViewBase(const ViewBase& other) : tensor_(other.tensor_), name_(other.name_) {}
  ViewBase& operator=(const ViewBase&) = default;
  kernkit::TensorView read_only_view() const { return {&tensor_, name_}; }
  operator kernkit::TensorView() const& { return {&tensor_, name_}; }  // NOLINT(runtime/explicit)
  operator kernkit::TensorView() const&& = delete;                     // NOLINT(runtime/explicit)

 protected:
  DLTensor tensor_;
  const char* name_;
};

/// The common members of Tensor and TensorView, with tvm-ffi's meaning.
template <class Base>
class TensorAccess : public Base {
 public:
  using Base::Base;
  TensorAccess() = default;
  explicit TensorAccess(Base base) : Base(std::move(base)) {}
  const DLTensor* operator->() const { return this->read_only_view().get(); }
  void* data_ptr() const { return (*this)->data; }
  DLDevice device() const { return (*this)->device; }
  DLDataType dtype() const { return (*this)->dtype; }
  int32_t ndim() const { return (*this)->ndim; }
  int32_t dim() const { return (*this)->ndim; }
  uint64_t byte_offset() const { return (*this)->byte_offset; }
  ShapeView shape() const { return this->read_only_view().shape(); }
  ShapeView sizes() const { return shape(); }
  /// InternalError if the tensor has no strides; stride(i) computes them.
  ShapeView strides() const {
    TVM_FFI_ICHECK((*this)->strides != nullptr || ndim() == 0);
    return ShapeView((*this)->strides, static_cast<size_t>(ndim()));
  }
  int64_t size(int64_t i) const { return (*this)->shape[checked(i)]; }
  int64_t stride(int64_t i) const { return this->read_only_view().stride(checked(i)); }
  int64_t numel() const { return shape().Product(); }
  bool IsContiguous() const {
    const DLTensor& x = *operator->();
    if (x.strides == nullptr || kernkit::detail::is_plain_vector(&x, x.ndim)) return true;
    const DLTensor copy = x;  // its address is passed, so `x` stays in registers
    return kernkit::detail::is_contiguous_of_any_rank(&copy);
  }
  bool is_contiguous() const { return IsContiguous(); }
  bool IsAligned(size_t alignment) const { return kernkit::IsAligned(*operator->(), alignment); }

 private:
  int64_t checked(int64_t i) const {
    if (i >= -ndim() && i < ndim()) return i < 0 ? i + ndim() : i;
    TVM_FFI_THROW(IndexError) << "Index " << i << " out of bounds for tensor with " << ndim()
                              << " dimensions";
  }
};
}  // namespace detail

/// Owns a framework's or an allocator's tensor, shared with its copies.
class Tensor : public detail::TensorAccess<kernkit::Tensor> {
  using Base = kernkit::Tensor;

 public:
  Tensor() = default;
  Tensor(Base tensor) : TensorAccess(std::move(tensor)) {}  // NOLINT(runtime/explicit)
  bool unique() const { return use_count() == 1; }
  const DLTensor* GetDLTensorPtr() const { return defined() ? get() : nullptr; }

  // The same as kernkit's functions, whose comments list the exceptions.
  template <class Alloc, class... T>
  static Tensor FromNDAlloc(Alloc a, ShapeView shape, DLDataType dtype, DLDevice device, T&&... x) {
    return detail::translate([&] {
      return Base::FromNDAlloc(std::move(a), shape, dtype, device, std::forward<T>(x)...);
    });
  }
  template <class Alloc, class... T>
  static Tensor FromNDAllocStrided(Alloc a, ShapeView shape, ShapeView strides, DLDataType dtype,
                                   DLDevice d, T&&... x) {
    return detail::translate([&] {
      return Base::FromNDAllocStrided(std::move(a), shape, strides, dtype, d,
                                      std::forward<T>(x)...);
    });
  }
  static Tensor FromEnvAlloc(int (*env_alloc)(DLTensor*, void**), ShapeView shape, DLDataType dtype,
                             DLDevice device) {
    return detail::translate([&] { return Base::FromEnvAlloc(env_alloc, shape, dtype, device); });
  }
  static Tensor FromDLPack(DLManagedTensor* x, size_t alignment = 0, bool contiguous = false) {
    return checked(detail::translate([&] { return Base::FromDLPack(x); }), alignment, contiguous);
  }
  static Tensor FromDLPackVersioned(DLManagedTensorVersioned* x, size_t alignment = 0,
                                    bool contiguous = false) {
    return checked(detail::translate([&] { return Base::FromDLPackVersioned(x); }), alignment,
                   contiguous);
  }

 private:
  /// Throws RuntimeError, unlike kernkit's functions, which throw ValueError.
  static Tensor checked(Tensor x, size_t alignment, bool contiguous) {
    if (alignment != 0 && !x.IsAligned(alignment)) {
      TVM_FFI_THROW(RuntimeError) << "FromDLPack: Data is not aligned to " << alignment
                                  << " bytes.";
    }
    if (contiguous && !x.IsContiguous()) {
      TVM_FFI_THROW(RuntimeError) << "FromDLPack: Tensor is not contiguous.";
    }
    return x;
  }
};

class TensorView : public detail::TensorAccess<detail::ViewBase> {
 public:
  TensorView(kernkit::TensorView x) : TensorAccess(x) {}            // NOLINT(runtime/explicit)
  TensorView(const Tensor& x) : TensorAccess(defined(x).view()) {}  // NOLINT(runtime/explicit)
  TensorView(Tensor&&) = delete;
  TensorView(const DLTensor* x) : TensorAccess(not_null(x)) {}  // NOLINT(runtime/explicit)

  /// A view with other sizes and strides, which the caller keeps alive, from an offset.
  TensorView as_strided(ShapeView shape, ShapeView strides, Optional<int64_t> offset = {}) const {
    TVM_FFI_ICHECK_EQ(shape.size(), strides.size());
    TVM_FFI_ICHECK_GE(offset.value_or(0), 0);
    TensorView view = *this;
    view.tensor_.shape = const_cast<int64_t*>(shape.data());
    view.tensor_.strides = const_cast<int64_t*>(strides.data());
    view.tensor_.ndim = static_cast<int32_t>(shape.size());
    view.tensor_.byte_offset += GetDataSize(offset.value_or(0), dtype());
    if (IsDirectAddressDevice(device())) {
      view.tensor_.data = static_cast<char*>(view.tensor_.data) + view.tensor_.byte_offset;
      view.tensor_.byte_offset = 0;
    }
    return view;
  }

 private:
  static kernkit::TensorView not_null(const DLTensor* tensor) {
    TVM_FFI_ICHECK(tensor != nullptr);
    return tensor;
  }
  static const Tensor& defined(const Tensor& tensor) {
    TVM_FFI_ICHECK(tensor.defined());
    return tensor;
  }
};
inline size_t GetDataSize(const TensorView& x) { return GetDataSize(*x.operator->()); }
KERNKIT_TVM_FFI_END

template <>
struct kernkit::detail::Argument<tvm::ffi::TensorView> : Argument<TensorView> {};
/// A parameter of type Tensor. None is an undefined Tensor.
template <>
struct kernkit::detail::Argument<tvm::ffi::Tensor> : Argument<Tensor> {
  using Held = tvm::ffi::Tensor;
  static Held read(const KernkitAny& any, const char* name) {
    if (any.type_index == kKernkitNone) return {};
    return Argument<Tensor>::read(any, name);
  }
};
template <>
struct kernkit::detail::Result<tvm::ffi::Tensor> : Result<Tensor> {
  static void set(KernkitAny* result, tvm::ffi::Tensor&& value) {
    if (value.defined()) return Result<Tensor>::set(result, std::move(value));
    *result = KernkitAny{};
  }
};
