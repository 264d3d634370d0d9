// SPDX-License-Identifier: Apache-2.0
// TensorView: a borrowed tensor with the name of its argument.
#pragma once

#include "kernkit/error.h"

/// Attribute of a view's accessors, which forces inlining. Without it, a call of an accessor on a
/// cold path would not be inlined and would pass the view's address, so that the view would be in
/// memory on the hot path, too.
#define KERNKIT_ACCESSOR [[gnu::always_inline]]

/// Evaluates `condition` once and returns its value. Marks the condition, for example that a tensor
/// has rank 1, as almost always true: g++ then reserves no registers for calls in the other case,
/// and generates straight-line code for the common case.
#define KERNKIT_USUALLY(condition) __builtin_expect_with_probability((condition), 1, 0.9999)

namespace kernkit {

class TensorView;

namespace detail {
// Cold functions take the two pointers of a view: if the view itself were passed, the caller would
// keep it in memory instead of in two registers.
[[noreturn, gnu::cold]] void throw_bad_index(const DLTensor* x, const char* name, int64_t i);
[[noreturn, gnu::cold]] void throw_wrong_type(const DLTensor* x, const char* name,
                                              DLDataType requested);

/// Number of elements of a tensor that is dense in row-major order or empty; -1 for other tensors,
/// if a size is negative, and if the number exceeds int64.
[[gnu::pure]] int64_t dense_numel(const DLTensor* x) noexcept;
[[gnu::pure]] bool is_contiguous_of_any_rank(const DLTensor* x) noexcept;
/// True if `x` has rank 1 and no strides, or a stride of 1. `ndim` must equal x->ndim.
KERNKIT_ACCESSOR inline bool is_plain_vector(const DLTensor* x, int32_t ndim) {
  return KERNKIT_USUALLY(ndim == 1) &&
         KERNKIT_USUALLY(x->strides == nullptr || KERNKIT_USUALLY(x->strides[0] == 1));
}
KERNKIT_ACCESSOR inline bool is_contiguous(const DLTensor* x) {
  return x->strides == nullptr || is_plain_vector(x, x->ndim) || is_contiguous_of_any_rank(x);
}
/// Number of elements; -1 if a size is negative or the product exceeds int64.
[[gnu::pure]] int64_t count_elements(const DLTensor* x) noexcept;
[[noreturn, gnu::cold]] void throw_no_count(const DLTensor* x, const char* name);
[[noreturn, gnu::cold]] void throw_no_sizes(const DLTensor* x, const char* name);
[[noreturn, gnu::cold]] void throw_no_memory(const DLTensor* x, const char* name);

/// False if the rank is negative, or if `shape` is null and the rank is not 0. One comparison
/// covers both: as an unsigned number, a negative rank exceeds every address, and null is 0.
KERNKIT_ACCESSOR inline bool has_sizes(const DLTensor* x) {
  return KERNKIT_USUALLY(static_cast<uintptr_t>(intptr_t{x->ndim}) <=
                         reinterpret_cast<uintptr_t>(x->shape));
}
/// Address of the first element: DLTensor::data plus byte_offset.
KERNKIT_ACCESSOR inline uintptr_t address_of(const DLTensor* x) {
  return reinterpret_cast<uintptr_t>(x->data) + static_cast<uintptr_t>(x->byte_offset);
}
}  // namespace detail

/// A view of a DLTensor that the caller owns and keeps alive during the call. A TensorView consists
/// of two pointers and is passed by value. Sizes and strides count elements; a negative `i` counts
/// from the end.
///
/// A const TensorView does not make the data constant: `(a!)` in the schema and the pointer type
/// that the kernel requests determine whether the kernel may write the data. The DLTensor must not
/// be null, and its `shape` must have ndim sizes, which holds for the arguments of an exported
/// function. A member throws nothing unless the member's comment names an error.
class TensorView {
 public:
  /// Borrows `tensor`, which must not be null. Implicit, so that a DLTensor* converts to a
  /// TensorView. `name`, which may be null, must outlive the view and is used in messages (a view
  /// that an exported function receives has its name in the schema line).
  TensorView(const DLTensor* tensor, const char* name = nullptr)  // NOLINT(runtime/explicit)
      : tensor_(tensor), name_(name) {}

  /// Number of dimensions; 0 for a scalar tensor.
  KERNKIT_ACCESSOR int32_t ndim() const { return tensor_->ndim; }
  /// Number of dimensions. Same as ndim(), under PyTorch's name.
  KERNKIT_ACCESSOR int32_t dim() const { return tensor_->ndim; }
  /// Type of the elements, lanes included.
  KERNKIT_ACCESSOR DLDataType dtype() const {
    // Reads the dtype as one number, so that the compiler can merge repeated reads.
    return __builtin_bit_cast(DLDataType, dtype_key(tensor_->dtype));
  }
  /// Device of the memory, as its type (such as kDLCUDA) and index.
  KERNKIT_ACCESSOR DLDevice device() const { return tensor_->device; }
  /// Distance from the DLTensor's data field to the first element [bytes]; data_ptr() includes it.
  KERNKIT_ACCESSOR uint64_t byte_offset() const { return tensor_->byte_offset; }

  /// Sizes of all dimensions [elements], borrowed: valid as long as the DLTensor.
  KERNKIT_ACCESSOR ShapeView sizes() const {
    return {tensor_->shape, static_cast<size_t>(tensor_->ndim)};
  }
  /// Sizes of all dimensions [elements], valid as long as the DLTensor. Same as sizes(), under
  /// NumPy's name.
  KERNKIT_ACCESSOR ShapeView shape() const { return sizes(); }
  /// Size of dimension i [elements]; a negative i counts from the end: -1 is the last dimension.
  /// Throws IndexError outside [-ndim, ndim).
  int64_t size(int64_t i) const { return tensor_->shape[index(i)]; }

  /// Strides of all dimensions [elements], valid as long as the DLTensor. If the DLTensor has no
  /// strides, which DLPack defines as row-major, the StridesView computes the strides.
  KERNKIT_ACCESSOR StridesView strides() const { return {tensor_->strides, sizes()}; }
  /// Stride of dimension i [elements]; a negative i counts from the end: -1 is the last dimension.
  /// Row-major if the DLTensor has no strides. Throws IndexError outside [-ndim, ndim).
  int64_t stride(int64_t i) const { return strides()[index(i)]; }

  /// Number of elements: 1 for rank 0, 0 if any size is 0. Throws ValueError if a size is negative
  /// or the product exceeds int64.
  KERNKIT_ACCESSOR int64_t numel() const {
    const bool is_vector =
        KERNKIT_USUALLY(tensor_->ndim == 1) && KERNKIT_USUALLY(tensor_->shape[0] > 0);
    if (KERNKIT_USUALLY(is_vector)) return tensor_->shape[0];
    const int64_t n = detail::count_elements(tensor_);
    if (n < 0) detail::throw_no_count(tensor_, name_);
    return n;
  }

  /// Address of the first element, in the memory of device(), byte_offset applied; valid as long as
  /// the tensor's memory. May be null if numel() is 0. Throws ValueError for a null address with
  /// elements, as PyTorch's fake tensors have. On a device whose data is a handle (see
  /// is_address()), the result is not an address.
  KERNKIT_ACCESSOR void* data_ptr() const {
    const uintptr_t address = detail::address_of(tensor_);
    if (!KERNKIT_USUALLY(address != 0) && detail::count_elements(tensor_) != 0) {
      detail::throw_no_memory(tensor_, name_);
    }
    return reinterpret_cast<void*>(address);
  }
  /// Typed address of the first element, as data_ptr(): `x.data<const float>()`. T is a type that
  /// has a dtype_of, and may be const; a dtype with several lanes requires a T for the whole
  /// element. Throws TypeError if the elements are not stored as T, and the ValueError of
  /// data_ptr().
  template <class T>
  T* data() const {
    constexpr uint32_t kKey = dtype_key(dtype_of<std::remove_const_t<T>>);
    if (__builtin_expect(dtype_key(tensor_->dtype) != kKey, 0)) {
      detail::throw_wrong_type(tensor_, name_, dtype_of<std::remove_const_t<T>>);
    }
    return static_cast<T*>(data_ptr());
  }

  /// True if the elements are dense in row-major order, also if the DLTensor has no strides. As in
  /// NumPy and PyTorch, the stride of a dimension of size 1 does not matter, and an empty tensor is
  /// contiguous.
  KERNKIT_ACCESSOR bool is_contiguous() const { return detail::is_contiguous(tensor_); }
  /// True if the elements are dense in row-major order, or the tensor is empty. Same as
  /// is_contiguous(), under tvm-ffi's name.
  bool IsContiguous() const { return is_contiguous(); }

  /// The argument's name, borrowed, as passed to the constructor; null if no name was passed.
  KERNKIT_ACCESSOR const char* name() const { return name_; }
  /// The DLTensor, borrowed, as passed to the constructor; never null.
  KERNKIT_ACCESSOR const DLTensor* get() const { return tensor_; }

 private:
  int64_t index(int64_t i) const {
    const int64_t from_start = i < 0 ? i + ndim() : i;
    if (__builtin_expect(from_start < 0 || from_start >= ndim(), 0))
      detail::throw_bad_index(tensor_, name_, i);
    return from_start;
  }

  const DLTensor* tensor_;
  const char* name_;
};

/// Appends a description, such as "float32 [4, 8]", with the device unless it is the CPU and with
/// the strides unless the tensor is contiguous, as in "cuda:1 float16 [4, 8] strides [16, 1]".
/// Returns `out`. Reads no elements, and throws nothing.
[[gnu::cold]] Message& operator<<(Message& out, TensorView x);

namespace detail {
KERNKIT_ACCESSOR inline const char* name_or(const TensorView& x, const char* otherwise) {
  return x.name() != nullptr ? x.name() : otherwise;
}
}  // namespace detail

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/tensor.h"
#endif
