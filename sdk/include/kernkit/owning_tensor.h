// SPDX-License-Identifier: Apache-2.0
// Tensor: an owning, reference-counted tensor of the host.
#pragma once

#include "kernkit/host_api/object_ref.h"
#include "kernkit/memory/nd_alloc.h"

namespace kernkit {

namespace detail {

/// Creates a tensor object of the host, which takes ownership of `tensor`, also on an error. Throws
/// RuntimeError without a host in the process, and the host's error.
KernkitObject* import_to_host(DLManagedTensorVersioned* tensor);

/// True if CPUNDAlloc allocates memory on `device`: for the CPU if the host has no allocator of a
/// framework, because no argument of the call was a framework's tensor, as in a call with NumPy
/// arrays.
bool is_own_memory(DLDevice device);

/// Throws InternalError for an undefined tensor, ValueError for a read-only tensor.
[[noreturn, gnu::cold]] void throw_not_writable(const KernkitObject* object, const char* name);

}  // namespace detail

/// Shares ownership of a tensor object of the host. As a parameter of an exported function, a
/// Tensor can keep the tensor alive after the call; where that is not needed, use a TensorView.
/// Copies share the tensor; threads may use different copies at the same time, but no thread may
/// use a Tensor object while another thread changes it. A member throws nothing unless the member's
/// comment names an error. A result of an exported function becomes a tensor of the caller's
/// framework.
///
/// DLPack has a read-only flag, but tensor objects of the host have no flags. A Tensor made by
/// FromDLPackVersioned() keeps the producer's flags, and so do its copies: a read-only Tensor
/// rejects writes and is exported as read-only. detach() and the result of an exported function
/// lose the flags; arguments have none.
class Tensor {
 public:
  /// An undefined Tensor. Its accessors throw InternalError.
  Tensor() = default;

  /// Allocates a tensor through the caller's framework, which caches this memory like the memory of
  /// its own tensors; CPU memory comes from CPUNDAlloc if no argument of the call was a framework's
  /// tensor. The tensor is contiguous and uninitialised; sub-byte elements are packed. Throws
  /// TypeError for a dtype without bits or lanes, ValueError if the shape has a negative size or
  /// more than 2^63 - 1 bytes, RuntimeError without a host in the process, and the framework's
  /// error with its kind.
  static Tensor FromEnvAlloc(ShapeView shape, DLDataType dtype, DLDevice device);
  /// Allocates with `env_alloc`, a function of the type of TVMFFIEnvTensorAlloc, which returns 0
  /// and sets *out to a new tensor object, whose reference the result takes over, or returns -1
  /// with an error in the host's slot. `prototype` has shape, dtype and device, but no data and
  /// strides. Throws TypeError for a dtype without bits or lanes, ValueError if the shape has a
  /// negative size or more than 2^63 - 1 bytes, the function's error, and RuntimeError if the
  /// function fails without an error.
  static Tensor FromEnvAlloc(int (*env_alloc)(DLTensor* prototype, void** out), ShapeView shape,
                             DLDataType dtype, DLDevice device);

  /// Allocates with `alloc`, an object of any struct with two members: AllocData(DLTensor*,
  /// args...) sets `data` of a dense row-major tensor, and FreeData(DLTensor*) is called by the
  /// thread that releases the last owner; exceptions of FreeData are dropped. The tensor keeps the
  /// contents that AllocData gives to the memory. Throws the errors of FromEnvAlloc(), MemoryError
  /// if data stays null for a tensor with elements, std::bad_alloc, and the exceptions of
  /// AllocData; an exception leaks nothing. The code of FreeData must stay loaded, as it does in
  /// libraries of kernkit_add_library(), which are never unloaded.
  template <class Alloc, class... Args>
  static Tensor FromNDAlloc(Alloc alloc, ShapeView shape, DLDataType dtype, DLDevice device,
                            Args&&... args) {
    return adopt(detail::import_to_host(detail::NDAllocation<Alloc>::make(
        std::move(alloc), shape, nullptr, dtype, device, std::forward<Args>(args)...)));
  }
  /// Allocates as FromNDAlloc() does, with other strides [elements], as for a transposed layout.
  /// Throws ValueError unless each size has a stride and all elements are in the memory of a dense
  /// tensor of that shape, which the allocator returns; and the errors of FromNDAlloc().
  template <class Alloc, class... Args>
  static Tensor FromNDAllocStrided(Alloc alloc, ShapeView shape, ShapeView strides,
                                   DLDataType dtype, DLDevice device, Args&&... args) {
    return adopt(detail::import_to_host(detail::NDAllocation<Alloc>::make(
        std::move(alloc), shape, &strides, dtype, device, std::forward<Args>(args)...)));
  }

  /// Takes over a DLPack tensor and returns an owner, with the tensor's flags: the tensor's deleter
  /// is called once, when the last owner is released or before this function throws. Throws
  /// ValueError (TypeError for a dtype without bits) for a tensor that is null, invalid or of
  /// another major version, that lacks the required alignment [bytes; 0 requires nothing] or
  /// contiguity, or that has unsupported flags or sub-byte elements padded to bytes. Throws
  /// RuntimeError without a host in the process, and the host's error. Copies no elements.
  static Tensor FromDLPackVersioned(DLManagedTensorVersioned* tensor, size_t require_alignment = 0,
                                    bool require_contiguous = false);
  /// Takes over a tensor of DLPack before 1.0, which has no version and no flags: the result is
  /// writable. As in FromDLPackVersioned(), the deleter is called once, when the last owner is
  /// released or before this function throws. Throws ValueError for a tensor that is null or
  /// invalid, or that lacks the required alignment [bytes; 0 requires nothing] or contiguity,
  /// TypeError for a dtype without bits, RuntimeError without a host, and the host's error.
  static Tensor FromDLPack(DLManagedTensor* tensor, size_t require_alignment = 0,
                           bool require_contiguous = false);
  /// Returns a new owner as a DLPack tensor, for another library, which must call the deleter once,
  /// in any thread. Copies no elements. The flags are exported as well. Throws InternalError for an
  /// undefined Tensor, RuntimeError without a host in the process, and the host's error.
  DLManagedTensorVersioned* ToDLPackVersioned() const;
  /// Returns a new owner as a tensor of DLPack before 1.0, for another library, which must call the
  /// deleter once, in any thread. Copies no elements. Throws ValueError for a read-only tensor,
  /// because that version has no flag, and the errors of ToDLPackVersioned().
  DLManagedTensor* ToDLPack() const;

  /// Adds an owner to an object of type index 70 (kKernkitTensor), which is not checked; null gives
  /// an undefined Tensor. Messages use `name`, which must outlive the Tensor.
  static Tensor share(KernkitObject* object, const char* name = nullptr) {
    return Tensor(detail::ObjectRef::share(object), name);
  }
  /// Takes over a reference that the caller owns, to an object of type index 70 (kKernkitTensor),
  /// which is not checked; null gives an undefined Tensor. Messages use `name`, which must outlive
  /// the Tensor.
  static Tensor adopt(KernkitObject* object, const char* name = nullptr) {
    return Tensor(detail::ObjectRef::adopt(object), name);
  }
  /// Returns the reference, which the caller then owns, without the flags, so that other code
  /// treats the tensor as writable. Returns null for an undefined Tensor. This Tensor is undefined
  /// afterwards.
  KernkitObject* detach() noexcept { return object_.detach(); }

  /// True if this Tensor refers to a tensor object.
  bool defined() const { return object_.get() != nullptr; }
  /// Number of owners, including this Tensor, at the time of the call; other threads may change the
  /// number. 0 if this Tensor is undefined.
  uint32_t use_count() const {
    if (!defined()) return 0;
    return static_cast<uint32_t>(__atomic_load_n(&object_.get()->ref_counts, __ATOMIC_RELAXED));
  }
  /// True if DLPack's flag READ_ONLY is set: the tensor must not be written, because other code
  /// relies on the contents. False for an undefined Tensor of the default constructor and for any
  /// other Tensor without flags; detach() does not clear the flag.
  bool is_read_only() const { return (flags_ & 1) != 0; }
  /// True if DLPack's flag IS_COPIED is set: the producer made the copy for this consumer only.
  /// False for an undefined Tensor of the default constructor and for any other Tensor without
  /// flags; detach() does not clear the flag.
  bool is_copied() const { return (flags_ & 2) != 0; }

  /// A view for reading and writing, valid while an owner exists. Throws ValueError for a read-only
  /// tensor, InternalError for an undefined Tensor.
  TensorView view() const {
    return TensorView(reinterpret_cast<const DLTensor*>(writable_object() + 1), name_);
  }
  /// The host's object, borrowed: valid while an owner exists. Throws ValueError for a read-only
  /// tensor, because an object has no read-only flag, and InternalError for an undefined Tensor.
  KernkitObject* writable_object() const {
    if (__builtin_expect(!defined() || is_read_only(), 0)) {
      detail::throw_not_writable(object_.get(), name_);
    }
    return object_.get();
  }
  /// A view for reading only, such as the input of a kernel, valid while an owner exists. Throws
  /// InternalError for an undefined Tensor.
  TensorView read_only_view() const { return TensorView(get(), name_); }
  /// Converts to a view for reading and writing, valid while an owner exists, as view() does.
  /// Throws ValueError for a read-only tensor, and InternalError for an undefined Tensor. A
  /// temporary does not convert, because its view would dangle.
  operator TensorView() const& { return view(); }  // NOLINT(runtime/explicit)
  /// Deleted, because the view of a temporary would dangle.
  operator TensorView() const&& = delete;  // NOLINT(runtime/explicit)
  /// The DLTensor, valid while an owner exists. If is_read_only() is true, the data must not be
  /// written. Throws InternalError for an undefined Tensor.
  const DLTensor* get() const {
    if (__builtin_expect(!defined(), 0)) detail::throw_not_writable(nullptr, name_);
    return reinterpret_cast<const DLTensor*>(object_.get() + 1);
  }

  /// Number of dimensions; 0 for a scalar tensor. Throws InternalError for an undefined Tensor.
  int32_t ndim() const { return get()->ndim; }
  /// Number of dimensions. Same as ndim(), under PyTorch's name. Throws InternalError for an
  /// undefined Tensor.
  int32_t dim() const { return get()->ndim; }
  /// Type of the elements, lanes included. Throws InternalError for an undefined Tensor.
  DLDataType dtype() const { return get()->dtype; }
  /// Device of the memory, as its type (such as kDLCUDA) and index. Throws InternalError for an
  /// undefined Tensor.
  DLDevice device() const { return get()->device; }
  /// Distance from the DLTensor's data field to the first element [bytes]; data_ptr() includes it.
  /// Throws InternalError for an undefined Tensor.
  uint64_t byte_offset() const { return get()->byte_offset; }
  /// Sizes of all dimensions [elements], valid while an owner exists. Throws InternalError for an
  /// undefined Tensor.
  ShapeView sizes() const { return read_only_view().sizes(); }
  /// Sizes of all dimensions [elements], valid while an owner exists. Same as sizes(), under
  /// NumPy's name. Throws InternalError for an undefined Tensor.
  ShapeView shape() const { return read_only_view().sizes(); }
  /// Size of dimension i [elements]; a negative i counts from the end: -1 is the last dimension.
  /// Throws IndexError outside [-ndim, ndim). Throws InternalError for an undefined Tensor.
  int64_t size(int64_t i) const { return read_only_view().size(i); }
  /// Strides of all dimensions [elements], valid while an owner exists; row-major if the DLTensor
  /// has none. Throws InternalError for an undefined Tensor.
  StridesView strides() const { return read_only_view().strides(); }
  /// Stride of dimension i [elements]; a negative i counts from the end: -1 is the last dimension.
  /// Throws IndexError outside [-ndim, ndim), InternalError for an undefined Tensor.
  int64_t stride(int64_t i) const { return read_only_view().stride(i); }
  /// Number of elements: 1 for rank 0, 0 if any size is 0. Throws ValueError if a size is negative
  /// or the product exceeds int64. Throws InternalError for an undefined Tensor.
  int64_t numel() const { return read_only_view().numel(); }
  /// True if the elements are dense in row-major order; an empty tensor is contiguous (see
  /// TensorView::is_contiguous). Throws InternalError for an undefined Tensor.
  bool is_contiguous() const { return read_only_view().is_contiguous(); }
  /// True if the elements are dense in row-major order, or the tensor is empty. Same as
  /// is_contiguous(), under tvm-ffi's name. Throws InternalError for an undefined Tensor.
  bool IsContiguous() const { return read_only_view().is_contiguous(); }
  /// True if the address of the first element, byte_offset included, is a multiple of `alignment`
  /// [bytes], which must not be 0 (see kernkit::IsAligned). Throws InternalError for an undefined
  /// Tensor.
  bool IsAligned(size_t alignment) const { return kernkit::IsAligned(*get(), alignment); }
  /// Address of the first element, in the memory of device(), byte_offset applied; valid while an
  /// owner exists, may be null if numel() is 0. Throws ValueError for a read-only tensor, and for a
  /// null address with elements; InternalError for an undefined Tensor.
  void* data_ptr() const { return view().data_ptr(); }
  /// Address of the first element for reading, also for a read-only tensor, in the memory of
  /// device(), byte_offset applied; valid while an owner exists, may be null if numel() is 0.
  /// Throws ValueError for a null address with elements, InternalError for an undefined Tensor.
  const void* const_data_ptr() const { return read_only_view().data_ptr(); }
  /// Typed address of the first element, in the memory of device(), valid while an owner exists:
  /// `data<const float>()` reads any tensor. Throws TypeError if elements are not stored as T,
  /// ValueError for a read-only tensor unless T is const, and for a null address with elements;
  /// InternalError for an undefined Tensor.
  template <class T>
  T* data() const {
    return (std::is_const_v<T> ? read_only_view() : view()).template data<T>();
  }

 private:
  explicit Tensor(detail::ObjectRef object, const char* name = nullptr)
      : object_(std::move(object)), name_(name) {}

  detail::ObjectRef object_;
  const char* name_ = nullptr;
  uint64_t flags_ = 0;  // DLPack's flags
};

/// Size of a tensor's elements without gaps [bytes]: elements of less than a byte are packed, and
/// the size is rounded up; 0 for an empty tensor. Throws ValueError if a size is negative or the
/// result exceeds 2^63 - 1, InternalError for an undefined Tensor.
inline size_t GetDataSize(const Tensor& tensor) { return GetDataSize(*tensor.get()); }

/// Returns a new tensor, contiguous in row-major order and uninitialised, allocated through the
/// caller's framework: `Tensor y = alloc_tensor({n, 8}, dl_float32, x.device());` Throws the errors
/// of Tensor::FromEnvAlloc(): TypeError for a dtype without bits, ValueError for an invalid shape,
/// RuntimeError without a host, and the framework's own error.
inline Tensor alloc_tensor(ShapeView shape, DLDataType dtype, DLDevice device) {
  return Tensor::FromEnvAlloc(shape, dtype, device);
}

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/owning_tensor.h"
#endif
