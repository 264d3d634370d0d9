// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "host/environment.h"
#include "host/functions.h"
#include "host/objects.h"
#include "host/tvm_ffi.h"
#include "kernkit/cpu/allocator.h"
#include "kernkit/memory/nd_alloc.h"

namespace kernkit::host {
namespace {

// The allocator for calls before an allocator is set: allocates CPU memory, and throws for every
// other device.
struct UnsetAlloc : CPUNDAlloc {
  void AllocData(DLTensor* tensor) const {
    KERNKIT_CHECK(is_cpu(tensor->device), RuntimeError)
        << "no allocator was set for device " << tensor->device;
    CPUNDAlloc::AllocData(tensor);
  }
};

template <class Managed>
int import_tensor(Managed* from, uint64_t flags, int32_t alignment, int32_t require_contiguous,
                  void** out) noexcept {
  const TensorView view(&from->dl_tensor);
  const uintptr_t address = kernkit::detail::address_of(view.get());  // data_ptr() may throw
  if (alignment > 0 && address % alignment != 0) {
    Message text;
    text << "address " << reinterpret_cast<void*>(address) << " is not aligned to " << alignment
         << " bytes";
    return fail("RuntimeError", text.c_str());
  }
  if (require_contiguous != 0 && !view.is_contiguous()) {
    Message text;
    text << "a contiguous tensor is required, got " << view;
    return fail("RuntimeError", text.c_str());
  }
  const auto destroy = [](void* managed) {
    auto* tensor = static_cast<Managed*>(managed);
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  };
  const auto strides = static_cast<size_t>(view.ndim()) * sizeof(int64_t);
  return give(make_object<TensorObject>(strides, from->dl_tensor, flags, from, destroy), out);
}

// Returns a managed struct of DLPack, versioned or not, that owns the tensor object.
template <class Managed>
Managed* export_tensor(void* from) {
  auto* managed = new (std::nothrow) Managed{};
  if (managed == nullptr) return nullptr;
  auto* object = static_cast<KernkitObject*>(from);
  KernkitObjectIncRef(object);
  managed->dl_tensor = *reinterpret_cast<DLTensor*>(object + 1);
  managed->manager_ctx = object;
  managed->deleter = [](Managed* self) {
    KernkitObjectDecRef(static_cast<KernkitObject*>(self->manager_ctx));
    delete self;
  };
  return managed;
}

}  // namespace

int tensor_from_dlpack(DLManagedTensor* from, int32_t alignment, int32_t contiguous,
                       void** out) noexcept {
  static TvmFfi<decltype(tensor_from_dlpack)> real("TVMFFITensorFromDLPack");
  if (auto* make = real.get()) return make(from, alignment, contiguous, out);
  return import_tensor(from, 0, alignment, contiguous, out);
}
int tensor_from_dlpack_versioned(DLManagedTensorVersioned* from, int32_t alignment,
                                 int32_t contiguous, void** out) noexcept {
  static TvmFfi<decltype(tensor_from_dlpack_versioned)> real("TVMFFITensorFromDLPackVersioned");
  if (auto* make = real.get()) return make(from, alignment, contiguous, out);
  if (from->version.major != DLPACK_MAJOR_VERSION) {
    Message text;
    text << "DLPack " << from->version.major << "." << from->version.minor
         << " is not supported; expected " << DLPACK_MAJOR_VERSION << ".x";
    return fail("RuntimeError", text.c_str());
  }
  return import_tensor(from, from->flags, alignment, contiguous, out);
}

int tensor_to_dlpack_versioned(void* from, DLManagedTensorVersioned** out) noexcept {
  static TvmFfi<decltype(tensor_to_dlpack_versioned)> real("TVMFFITensorToDLPackVersioned");
  const bool is_own = has_own_type(static_cast<KernkitObject*>(from));
  if (auto* to = real.get(); to != nullptr && !is_own) return to(from, out);
  *out = export_tensor<DLManagedTensorVersioned>(from);
  if (*out == nullptr) return fail("MemoryError", "out of memory");
  (*out)->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  if (is_own) (*out)->flags = static_cast<TensorObject*>(from)->flags;
  return 0;
}
int tensor_to_dlpack(void* from, DLManagedTensor** out) noexcept {
  static TvmFfi<decltype(tensor_to_dlpack)> real("TVMFFITensorToDLPack");
  const bool is_own = has_own_type(static_cast<KernkitObject*>(from));
  if (auto* to = real.get(); to != nullptr && !is_own) return to(from, out);
  if (is_own && (static_cast<TensorObject*>(from)->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    return fail("ValueError", "a read-only tensor cannot be exported as DLPack before version 1");
  }
  *out = export_tensor<DLManagedTensor>(from);
  return *out == nullptr ? fail("MemoryError", "out of memory") : 0;
}

int env_tensor_alloc(DLTensor* prototype, void** out) noexcept {
  static TvmFfi<decltype(env_tensor_alloc)> real("TVMFFIEnvTensorAlloc");
  if (auto* alloc = real.get()) return alloc(prototype, out);
  const TensorAllocator set = get_allocator();
  DLManagedTensorVersioned* managed = nullptr;
  const TensorAllocator allocate = set != nullptr ? set : detail::allocate_with<UnsetAlloc>;
  const int code = allocate(prototype, &managed, nullptr, raise);
  if (code != 0) return code;
  if (managed == nullptr) return fail("RuntimeError", "the allocator returned no tensor");
  return tensor_from_dlpack_versioned(managed, 0, 0, out);
}

}  // namespace kernkit::host
