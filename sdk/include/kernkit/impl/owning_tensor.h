// SPDX-License-Identifier: Apache-2.0
// Creation and export of a Tensor through the host.
#pragma once

#include "kernkit/cpu/allocator.h"
#include "kernkit/host_api/host_error.h"
#include "kernkit/memory/dlpack.h"
#include "kernkit/owning_tensor.h"

namespace kernkit {

namespace detail {

template <class Function>
Function* host_function_or_throw(HostFunction<Function>& function) {
  Function* allocator = function.get();
  KERNKIT_CHECK(allocator != nullptr, RuntimeError)
      << "a Tensor is made and exported by a host; found no host in this process; load a host "
         "first, such as tvm_ffi";
  return allocator;
}

/// Owns a DLPack tensor. The destructor calls the tensor's deleter unless hand_over() has passed
/// the tensor on.
template <class Managed>
class ManagedGuard {
 public:
  explicit ManagedGuard(Managed* tensor) : tensor_(tensor) {}
  ManagedGuard(const ManagedGuard&) = delete;
  ManagedGuard& operator=(const ManagedGuard&) = delete;
  ~ManagedGuard() {
    if (tensor_ != nullptr && tensor_->deleter != nullptr) tensor_->deleter(tensor_);
  }
  /// Creates the host's tensor object, which takes over the DLPack tensor.
  template <class Import>
  KernkitObject* hand_over(HostFunction<Import>& import) {
    void* object = nullptr;
    if (host_function_or_throw(import)(tensor_, 0, 0, &object) != 0) {
      throw_raised_as(Message().stream() << "cannot import a DLPack tensor");
    }
    tensor_ = nullptr;
    return static_cast<KernkitObject*>(object);
  }

 private:
  Managed* tensor_;
};

KERNKIT_COLD KernkitObject* import_to_host(DLManagedTensorVersioned* tensor) {
  ManagedGuard<DLManagedTensorVersioned> guard(tensor);
  return guard.hand_over(host_api::tensor_from_dlpack_versioned);
}

KERNKIT_COLD bool is_own_memory(DLDevice device) {
  auto* get_allocator = host_api::env_get_allocator.get();
  return is_cpu(device) && get_allocator != nullptr && get_allocator() == nullptr;
}

KERNKIT_COLD void throw_not_writable(const KernkitObject* object, const char* name) {
  if (name == nullptr) name = "tensor";
  KERNKIT_CHECK(object != nullptr, InternalError) << name << ": an undefined Tensor was used";
  KERNKIT_THROW(ValueError) << name
                            << ": is read-only; read_only_view() and data<const T>() read it";
}

}  // namespace detail

KERNKIT_COLD Tensor Tensor::FromEnvAlloc(ShapeView shape, DLDataType dtype, DLDevice device) {
  auto* env_alloc = detail::host_function_or_throw(host_api::env_tensor_alloc);
  if (detail::is_own_memory(device)) return FromNDAlloc(CPUNDAlloc(), shape, dtype, device);
  return FromEnvAlloc(env_alloc, shape, dtype, device);
}

KERNKIT_COLD Tensor Tensor::FromEnvAlloc(int (*env_alloc)(DLTensor*, void**), ShapeView shape,
                                         DLDataType dtype, DLDevice device) {
  detail::check_new_tensor(shape, dtype);
  DLTensor prototype{};
  prototype.device = device;
  prototype.ndim = static_cast<int32_t>(shape.size());
  prototype.dtype = dtype;
  prototype.shape = const_cast<int64_t*>(shape.data());
  void* object = nullptr;
  if (env_alloc(&prototype, &object) != 0) {
    Message what;
    what << "cannot allocate " << dtype << " " << shape << " on " << device;
    detail::throw_raised_as(what);
  }
  return adopt(static_cast<KernkitObject*>(object));
}

KERNKIT_COLD Tensor Tensor::FromDLPackVersioned(DLManagedTensorVersioned* tensor,
                                                size_t require_alignment, bool require_contiguous) {
  KERNKIT_CHECK(tensor != nullptr, ValueError) << "DLPack tensor: the pointer is null";
  detail::ManagedGuard<DLManagedTensorVersioned> guard(tensor);
  detail::check_version(*tensor);
  detail::check_tensor(tensor->dl_tensor);
  detail::check_wishes(tensor->dl_tensor, require_alignment, require_contiguous);
  const uint64_t flags = tensor->flags;
  Tensor result = adopt(guard.hand_over(host_api::tensor_from_dlpack_versioned));
  result.flags_ = flags;
  return result;
}

KERNKIT_COLD Tensor Tensor::FromDLPack(DLManagedTensor* tensor, size_t require_alignment,
                                       bool require_contiguous) {
  KERNKIT_CHECK(tensor != nullptr, ValueError) << "DLPack tensor: the pointer is null";
  detail::ManagedGuard<DLManagedTensor> guard(tensor);
  detail::check_tensor(tensor->dl_tensor);
  detail::check_wishes(tensor->dl_tensor, require_alignment, require_contiguous);
  return adopt(guard.hand_over(host_api::tensor_from_dlpack));
}

KERNKIT_COLD DLManagedTensorVersioned* Tensor::ToDLPackVersioned() const {
  get();
  auto* to_dlpack = detail::host_function_or_throw(host_api::tensor_to_dlpack_versioned);
  DLManagedTensorVersioned* out = nullptr;
  if (to_dlpack(object_.get(), &out) != 0)
    detail::throw_raised_as(Message().stream() << "cannot export a tensor");
  out->flags |= flags_;
  return out;
}

KERNKIT_COLD DLManagedTensor* Tensor::ToDLPack() const {
  KERNKIT_CHECK(!is_read_only(), ValueError)
      << (name_ != nullptr ? name_ : "tensor")
      << ": is read-only, which DLPack before 1.0 cannot express; use ToDLPackVersioned()";
  get();
  auto* to_dlpack = detail::host_function_or_throw(host_api::tensor_to_dlpack);
  DLManagedTensor* out = nullptr;
  if (to_dlpack(object_.get(), &out) != 0)
    detail::throw_raised_as(Message().stream() << "cannot export a tensor");
  return out;
}

}  // namespace kernkit
