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

/// True for CPU memory where the host has no framework's allocator: no argument of the call was a
/// framework's tensor, as in a call with NumPy arrays. CPUNDAlloc allocates it then.
bool is_own_memory(DLDevice device);

/// InternalError for an undefined tensor, ValueError for a read-only one.
[[noreturn, gnu::cold]] void throw_not_writable(const KernkitObject* object, const char* name);

}  // namespace detail

/// Shares ownership of a tensor object that the host made. As a parameter of an exported function
/// it keeps the tensor alive after the call; otherwise take a TensorView. As a result it becomes a
/// tensor of the caller's framework.
///
/// DLPack has a read-only flag, tensor objects have none. A Tensor made by FromDLPackVersioned()
/// keeps the producer's flags, as do its copies: a read-only Tensor rejects writes and is exported
/// as read-only. detach() and the result of an exported function lose the flags; arguments have
/// none.
class Tensor {
 public:
  /// Refers to no tensor. Its accessors throw InternalError.
  Tensor() = default;

  /// The way to allocate in a kernel: the caller's framework does it, on the device and with the
  /// caching that its own tensors have; CPU memory comes from CPUNDAlloc when no argument of the
  /// call was a framework's tensor. Contents are undefined. Throws TypeError for a dtype of no
  /// bits, ValueError when the shape has a negative size or more than 2^63 - 1 bytes, RuntimeError
  /// when no host is in the process, and the framework's own error when it cannot.
  static Tensor FromEnvAlloc(ShapeView shape, DLDataType dtype, DLDevice device);
  /// The same with a function of the type of TVMFFIEnvTensorAlloc, and nothing else.
  static Tensor FromEnvAlloc(int (*env_alloc)(DLTensor* prototype, void** out), ShapeView shape,
                             DLDataType dtype, DLDevice device);

  /// Memory from `alloc`, any struct with AllocData(DLTensor*, args...), which sets `data`, and
  /// FreeData(DLTensor*), called when the last owner goes; what that one throws is lost. Throws as
  /// FromEnvAlloc(), MemoryError when data stays null, and what AllocData throws, leaking nothing.
  /// FreeData's code must stay loaded: libraries of kernkit_add_library() are never unloaded.
  template <class Alloc, class... Args>
  static Tensor FromNDAlloc(Alloc alloc, ShapeView shape, DLDataType dtype, DLDevice device,
                            Args&&... args) {
    return adopt(detail::import_to_host(detail::NDAllocation<Alloc>::make(
        std::move(alloc), shape, nullptr, dtype, device, std::forward<Args>(args)...)));
  }
  /// The same with other strides, e.g. of a transposed layout. ValueError when they exceed the
  /// memory of the shape's elements, which is all that the allocator returns.
  template <class Alloc, class... Args>
  static Tensor FromNDAllocStrided(Alloc alloc, ShapeView shape, ShapeView strides,
                                   DLDataType dtype, DLDevice device, Args&&... args) {
    return adopt(detail::import_to_host(detail::NDAllocation<Alloc>::make(
        std::move(alloc), shape, &strides, dtype, device, std::forward<Args>(args)...)));
  }

  /// Takes a DLPack tensor over: its deleter is called once, when the last owner goes or before
  /// this throws. ValueError, or TypeError for a dtype of no bits, names what is wrong with a
  /// tensor that is illegal, of another major version, or not aligned and contiguous as required
  /// (in bytes; 0 requires nothing). RuntimeError when no host is in the process.
  static Tensor FromDLPackVersioned(DLManagedTensorVersioned* tensor, size_t require_alignment = 0,
                                    bool require_contiguous = false);
  /// The same for DLPack before 1.0, which has no version and no flags.
  static Tensor FromDLPack(DLManagedTensor* tensor, size_t require_alignment = 0,
                           bool require_contiguous = false);
  /// A new owner for another library, which calls the deleter. The marks go with it. Throws
  /// RuntimeError when no host is in the process.
  DLManagedTensorVersioned* ToDLPackVersioned() const;
  /// The same for DLPack before 1.0. ValueError for a read-only tensor, which has no flag there.
  DLManagedTensor* ToDLPack() const;

  /// A new reference to an object of type index 70. `name` as in TensorView.
  static Tensor share(KernkitObject* object, const char* name = nullptr) {
    return Tensor(detail::ObjectRef::share(object), name);
  }
  /// Takes over a reference which the caller owns.
  static Tensor adopt(KernkitObject* object, const char* name = nullptr) {
    return Tensor(detail::ObjectRef::adopt(object), name);
  }
  /// Gives the reference away, without the marks: who gets it takes the tensor for a writable one.
  KernkitObject* detach() noexcept { return object_.detach(); }

  bool defined() const { return object_.get() != nullptr; }
  /// Number of owners, this one included.
  uint32_t use_count() const {
    if (!defined()) return 0;
    return static_cast<uint32_t>(__atomic_load_n(&object_.get()->ref_counts, __ATOMIC_RELAXED));
  }
  /// DLPack's mark READ_ONLY: others rely on the contents.
  bool is_read_only() const { return (flags_ & 1) != 0; }
  /// DLPack's mark IS_COPIED: the producer made a copy for this consumer alone.
  bool is_copied() const { return (flags_ & 2) != 0; }

  /// A view to read and write, valid while an owner lives. ValueError for a read-only tensor.
  TensorView view() const {
    return TensorView(reinterpret_cast<const DLTensor*>(writable_object() + 1), name_);
  }
  /// The host's object, borrowed. ValueError for a read-only tensor, because objects have no such
  /// flag.
  KernkitObject* writable_object() const {
    if (__builtin_expect(!defined() || is_read_only(), 0)) {
      detail::throw_not_writable(object_.get(), name_);
    }
    return object_.get();
  }
  /// A view that the caller promises only to read: the input of a kernel.
  TensorView read_only_view() const { return TensorView(get(), name_); }
  /// As view(). A temporary does not convert: it would leave a view of nothing.
  operator TensorView() const& { return view(); }  // NOLINT(runtime/explicit)
  operator TensorView() const&& = delete;          // NOLINT(runtime/explicit)
  /// The DLTensor, whose data is to be read only if is_read_only().
  const DLTensor* get() const {
    if (__builtin_expect(!defined(), 0)) detail::throw_not_writable(nullptr, name_);
    return reinterpret_cast<const DLTensor*>(object_.get() + 1);
  }

  // As in TensorView.
  int32_t ndim() const { return get()->ndim; }
  int32_t dim() const { return get()->ndim; }
  DLDataType dtype() const { return get()->dtype; }
  DLDevice device() const { return get()->device; }
  uint64_t byte_offset() const { return get()->byte_offset; }
  ShapeView sizes() const { return read_only_view().sizes(); }
  ShapeView shape() const { return read_only_view().sizes(); }
  int64_t size(int64_t i) const { return read_only_view().size(i); }
  StridesView strides() const { return read_only_view().strides(); }
  int64_t stride(int64_t i) const { return read_only_view().stride(i); }
  int64_t numel() const { return read_only_view().numel(); }
  bool is_contiguous() const { return read_only_view().is_contiguous(); }
  bool IsContiguous() const { return read_only_view().is_contiguous(); }
  bool IsAligned(size_t alignment) const { return kernkit::IsAligned(*get(), alignment); }
  /// Address of the first element, byte_offset applied. ValueError for a read-only tensor.
  void* data_ptr() const { return view().data_ptr(); }
  /// The same to read, of any tensor.
  const void* const_data_ptr() const { return read_only_view().data_ptr(); }
  /// Typed: `data<const float>()` reads any tensor. TypeError when elements are not stored as T.
  template <class T>
  T* data() const {
    return (std::is_const_v<T> ? read_only_view() : view()).template data<T>();
  }

 private:
  explicit Tensor(detail::ObjectRef object, const char* name = nullptr)
      : object_(std::move(object)), name_(name) {}

  detail::ObjectRef object_;
  const char* name_ = nullptr;
  uint64_t flags_ = 0;  // DLPack's
};

inline size_t GetDataSize(const Tensor& tensor) { return GetDataSize(*tensor.get()); }

/// Tensor::FromEnvAlloc(): `Tensor y = alloc_tensor({n, 8}, dl_float32, x.device());`
inline Tensor alloc_tensor(ShapeView shape, DLDataType dtype, DLDevice device) {
  return Tensor::FromEnvAlloc(shape, dtype, device);
}

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/owning_tensor.h"
#endif
