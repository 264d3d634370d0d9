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
/// Returns whether the elements are dense in row-major order.
inline bool IsContiguous(const DLTensor& x) { return kernkit::TensorView(&x).is_contiguous(); }
/// Returns whether DLTensor::data is an address on this device, not the handle of a buffer.
inline bool IsDirectAddressDevice(DLDevice device) { return kernkit::is_address(device); }

namespace detail {
/// A DLTensor by value, as in tvm-ffi's views; sizes and memory are borrowed.
class ViewBase {
 public:
  explicit ViewBase(kernkit::TensorView x) : tensor_(*x.get()), name_(x.name()) {}
  // A non-trivial copy constructor, so that the compiler passes a parameter of this type by
  // address, without a further copy.
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
  /// Returns the DLTensor. Throws InternalError for an undefined tensor.
  const DLTensor* operator->() const { return this->read_only_view().get(); }
  /// Returns DLTensor::data, without byte_offset(), as in tvm-ffi.
  void* data_ptr() const { return (*this)->data; }
  /// Returns the device of the memory.
  DLDevice device() const { return (*this)->device; }
  /// Returns the dtype of the elements.
  DLDataType dtype() const { return (*this)->dtype; }
  /// Returns the number of dimensions.
  int32_t ndim() const { return (*this)->ndim; }
  /// Returns the number of dimensions.
  int32_t dim() const { return (*this)->ndim; }
  /// Returns the offset of the first element from data_ptr() [bytes].
  uint64_t byte_offset() const { return (*this)->byte_offset; }
  /// Returns the sizes, borrowed from the tensor.
  ShapeView shape() const { return this->read_only_view().shape(); }
  /// Returns the sizes, borrowed from the tensor.
  ShapeView sizes() const { return shape(); }
  /// Returns the strides [elements]. Throws InternalError for a tensor of rank 1 or more without
  /// strides; stride(i) computes the strides of such a tensor.
  ShapeView strides() const {
    TVM_FFI_ICHECK((*this)->strides != nullptr || ndim() == 0);
    return ShapeView((*this)->strides, static_cast<size_t>(ndim()));
  }
  /// Returns the size of dimension i; a negative i counts from the end. Throws IndexError outside
  /// [-ndim, ndim).
  int64_t size(int64_t i) const { return (*this)->shape[checked(i)]; }
  /// Returns the stride of dimension i [elements]; a negative i counts from the end. Throws
  /// IndexError outside [-ndim, ndim).
  int64_t stride(int64_t i) const { return this->read_only_view().stride(checked(i)); }
  /// Returns the number of elements. Throws ValueError if the product of the sizes exceeds int64.
  int64_t numel() const { return shape().Product(); }
  /// Returns whether the elements are dense in row-major order.
  bool IsContiguous() const {
    const DLTensor& x = *operator->();
    if (x.strides == nullptr || kernkit::detail::is_plain_vector(&x, x.ndim)) return true;
    const DLTensor copy = x;  // the copy's address is passed, so that `x` stays in registers
    return kernkit::detail::is_contiguous_of_any_rank(&copy);
  }
  /// Returns whether the elements are dense in row-major order.
  bool is_contiguous() const { return IsContiguous(); }
  /// Returns whether the address of the first element is a multiple of `alignment` [bytes].
  bool IsAligned(size_t alignment) const { return kernkit::IsAligned(*operator->(), alignment); }

 private:
  int64_t checked(int64_t i) const {
    if (i >= -ndim() && i < ndim()) return i < 0 ? i + ndim() : i;
    TVM_FFI_THROW(IndexError) << "Index " << i << " out of bounds for tensor with " << ndim()
                              << " dimensions";
  }
};
}  // namespace detail

/// Owns a framework's or an allocator's tensor, shared with its copies: tvm-ffi's Tensor,
/// implemented by kernkit::Tensor. As in tvm-ffi, data_ptr() does not include byte_offset(). Errors
/// are tvm::ffi::Error.
class Tensor : public detail::TensorAccess<kernkit::Tensor> {
  using Base = kernkit::Tensor;

 public:
  /// An undefined tensor. Its accessors throw InternalError.
  Tensor() = default;
  /// Takes over the reference of a kernkit::Tensor.
  Tensor(Base tensor) : TensorAccess(std::move(tensor)) {}  // NOLINT(runtime/explicit)
  /// Returns whether this is the only owner.
  bool unique() const { return use_count() == 1; }
  /// Returns the DLTensor, borrowed; null for an undefined tensor.
  const DLTensor* GetDLTensorPtr() const { return defined() ? get() : nullptr; }

  /// Returns a tensor with memory of `a`, any struct with AllocData(DLTensor*, x...) and
  /// FreeData(DLTensor*). Throws TypeError for a dtype without bits, ValueError for an invalid
  /// shape, MemoryError if data stays null, RuntimeError without a host, and the exceptions of
  /// AllocData. See kernkit::Tensor::FromNDAlloc().
  template <class Alloc, class... T>
  static Tensor FromNDAlloc(Alloc a, ShapeView shape, DLDataType dtype, DLDevice device, T&&... x) {
    return detail::translate([&] {
      return Base::FromNDAlloc(std::move(a), shape, dtype, device, std::forward<T>(x)...);
    });
  }
  /// Returns a tensor as FromNDAlloc() does, with these strides [elements]. Throws the errors of
  /// FromNDAlloc(), and ValueError if the strides reach past the memory of a contiguous tensor with
  /// this shape.
  template <class Alloc, class... T>
  static Tensor FromNDAllocStrided(Alloc a, ShapeView shape, ShapeView strides, DLDataType dtype,
                                   DLDevice d, T&&... x) {
    return detail::translate([&] {
      return Base::FromNDAllocStrided(std::move(a), shape, strides, dtype, d,
                                      std::forward<T>(x)...);
    });
  }
  /// Returns a tensor with uninitialised memory of the caller's framework: `env_alloc` is
  /// TVMFFIEnvTensorAlloc. Throws TypeError for a dtype without bits, ValueError for an invalid
  /// shape, RuntimeError without a host, and the framework's own errors.
  static Tensor FromEnvAlloc(int (*env_alloc)(DLTensor*, void**), ShapeView shape, DLDataType dtype,
                             DLDevice device) {
    return detail::translate([&] { return Base::FromEnvAlloc(env_alloc, shape, dtype, device); });
  }
  /// Takes over a DLPack tensor, whose deleter is called once. Throws ValueError or TypeError for
  /// an invalid tensor, and RuntimeError without a host, for an address that is not a multiple of
  /// `alignment` [bytes; 0 requires nothing], and for a tensor that is not contiguous if
  /// `contiguous` is true.
  static Tensor FromDLPack(DLManagedTensor* x, size_t alignment = 0, bool contiguous = false) {
    return checked(detail::translate([&] { return Base::FromDLPack(x); }), alignment, contiguous);
  }
  /// Takes over a DLPack tensor of version 1 as FromDLPack() does, and throws its errors.
  static Tensor FromDLPackVersioned(DLManagedTensorVersioned* x, size_t alignment = 0,
                                    bool contiguous = false) {
    return checked(detail::translate([&] { return Base::FromDLPackVersioned(x); }), alignment,
                   contiguous);
  }

 private:
  /// Returns `x`. Throws RuntimeError if the required alignment or contiguity is missing, where
  /// kernkit's functions throw ValueError.
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

/// A borrowed tensor, tvm-ffi's TensorView, implemented by kernkit::TensorView. As in tvm-ffi,
/// data_ptr() does not include byte_offset().
class TensorView : public detail::TensorAccess<detail::ViewBase> {
 public:
  /// A view of the same tensor.
  TensorView(kernkit::TensorView x) : TensorAccess(x) {}  // NOLINT(runtime/explicit)
  /// A view of a tensor, valid while an owner exists. Throws InternalError for an undefined tensor,
  /// ValueError for a read-only tensor.
  TensorView(const Tensor& x) : TensorAccess(defined(x).view()) {}  // NOLINT(runtime/explicit)
  /// Deleted: the view of a temporary would dangle.
  TensorView(Tensor&&) = delete;
  /// A view of a DLTensor that the caller keeps alive. Throws InternalError for null.
  TensorView(const DLTensor* x) : TensorAccess(not_null(x)) {}  // NOLINT(runtime/explicit)

  /// Returns a view with other sizes and strides [elements], which the caller keeps alive, that
  /// begins `offset` elements after this view. Throws InternalError if the numbers of sizes and
  /// strides differ, or the offset is negative.
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
/// Returns the size of the elements without gaps [bytes]. Throws ValueError beyond 2^63 - 1.
inline size_t GetDataSize(const TensorView& x) { return GetDataSize(*x.operator->()); }
KERNKIT_TVM_FFI_END

template <>
struct kernkit::detail::Argument<tvm::ffi::TensorView> : Argument<TensorView> {};
/// Reads a parameter of type Tensor. None becomes an undefined Tensor.
template <>
struct kernkit::detail::Argument<tvm::ffi::Tensor> : Argument<Tensor> {
  using Storage = tvm::ffi::Tensor;
  static Storage read(const KernkitAny& any, const char* name) {
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
