// SPDX-License-Identifier: Apache-2.0
// A host for tests: a program that includes this file exports the host's C functions, which record
// their calls. For programs with ENABLE_EXPORTS (see tests/CMakeLists.txt).
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernkit/abi/abi.h"

namespace host_stub {

constexpr uint64_t kOneOwner = (uint64_t{1} << 32) | 1;

struct Host {
  std::string kind, message, backtrace;
  int raised = 0, released = 0;
  std::string text;
  std::vector<KernkitAny> items;
  bool fails = false;         // every function fails
  bool has_allocator = true;  // a framework's allocator is set
  int tensors = 0;            // number of tensor objects that exist
};
inline Host host;
inline struct ErrorObject {
  KernkitObject header;
  KernkitErrorCell cell;
} error_object{};
inline bool error_is_raised = false;
inline KernkitObject make_array{kOneOwner + 1, kKernkitFunction, 0, nullptr};
inline int stream;

inline std::string str(const KernkitByteArray* bytes) {
  return std::string(bytes->data, bytes->size);
}
/// Stores an error in the host's slot and returns -1, like a failing function of a host.
inline int fail(const char* kind, const char* message) {
  error_object.header = {kOneOwner, kKernkitError, 0, [](void*, int) { ++host.released; }};
  error_object.cell.kind = {kind, std::strlen(kind)};
  error_object.cell.message = {message, std::strlen(message)};
  error_is_raised = true;
  return -1;
}

/// A tensor object with the layout of tvm_ffi's TensorObj. Like tvm_ffi, make() accepts any version
/// and drops the flags.
template <class Managed>
struct TensorObject {
  KernkitObject header;
  DLTensor tensor;
  Managed* source;
  std::vector<int64_t> strides;

  static int make(Managed* source, void** out) {
    if (host.fails) return fail("RuntimeError", "no");
    auto* self =
        new TensorObject{{kOneOwner, kKernkitTensor, 0, destroy}, source->dl_tensor, source, {}};
    const DLTensor& x = source->dl_tensor;
    if (x.strides == nullptr) {
      uint64_t stride = 1;
      self->strides.resize(static_cast<size_t>(x.ndim));
      for (int32_t i = x.ndim; i-- > 0;) {
        self->strides[static_cast<size_t>(i)] = static_cast<int64_t>(stride);
        stride *= static_cast<uint64_t>(x.shape[i]);
      }
      self->tensor.strides = self->strides.data();
    }
    ++host.tensors;
    *out = self;
    return 0;
  }
  static void destroy(void* object, int flags) {
    auto* self = static_cast<TensorObject*>(object);
    if ((flags & 1) != 0 && self->source->deleter != nullptr) self->source->deleter(self->source);
    if ((flags & 2) == 0) return;
    --host.tensors;
    delete self;
  }
};

template <class Managed>
int export_tensor(void* object, Managed** out) {
  if (host.fails) return fail("RuntimeError", "no");
  auto* header = static_cast<KernkitObject*>(object);
  auto* managed = new Managed{};
  managed->dl_tensor = *reinterpret_cast<DLTensor*>(header + 1);
  managed->manager_ctx = header;
  managed->deleter = [](Managed* self) {
    auto* owner = static_cast<KernkitObject*>(self->manager_ctx);
    if (--owner->ref_counts == kOneOwner - 1) owner->deleter(owner, 3);
    delete self;
  };
  ++header->ref_counts;
  *out = managed;
  return 0;
}

}  // namespace host_stub

#define HOST_STUB_EXPORT extern "C" __attribute__((visibility("default"), weak))

HOST_STUB_EXPORT int TVMFFIErrorCreate(const KernkitByteArray* kind,
                                       const KernkitByteArray* message,
                                       const KernkitByteArray* backtrace, void** out) {
  using host_stub::host;
  if (host.fails) return -1;
  host.kind = host_stub::str(kind);
  host.message = host_stub::str(message);
  host.backtrace = host_stub::str(backtrace);
  *out = &host_stub::error_object;
  return 0;
}
HOST_STUB_EXPORT void TVMFFIErrorSetRaised(void* error) {
  host_stub::host.raised += error == &host_stub::error_object;
}
HOST_STUB_EXPORT void TVMFFIErrorMoveFromRaised(void** out) {
  *out = host_stub::error_is_raised ? &host_stub::error_object : nullptr;
  host_stub::error_is_raised = false;
}
HOST_STUB_EXPORT int TVMFFIObjectDecRef(void* object) {
  host_stub::host.released += object == &host_stub::error_object;
  return 0;
}
HOST_STUB_EXPORT int TVMFFIStringFromByteArray(const KernkitByteArray* text, KernkitAny* out) {
  if (host_stub::host.fails) return host_stub::fail("MemoryError", "the host has none");
  host_stub::host.text = host_stub::str(text);
  out->type_index = kKernkitStr;
  return 0;
}
HOST_STUB_EXPORT int TVMFFIFunctionGetGlobal(const KernkitByteArray* name, void** out) {
  if (host_stub::str(name) != "ffi.Array") return -1;
  ++host_stub::make_array.ref_counts;
  *out = &host_stub::make_array;
  return 0;
}
HOST_STUB_EXPORT int TVMFFIFunctionCall(void* function, const KernkitAny* args, int32_t num_args,
                                        KernkitAny* out) {
  using host_stub::host;
  if (host.fails) return host_stub::fail("MemoryError", "the host has none");
  if (function != &host_stub::make_array) return -1;
  host.items.assign(args, args + num_args);
  // Like tvm_ffi's array, the array here increments the reference counts of its elements.
  for (const KernkitAny& item : host.items) {
    if (item.type_index >= kKernkitObject) ++item.v.object->ref_counts;
  }
  out->type_index = kKernkitArray;
  return 0;
}
HOST_STUB_EXPORT void* TVMFFIEnvGetStream(int32_t type, int32_t id) {
  return type == kDLCUDA && id == 3 ? &host_stub::stream : nullptr;
}

HOST_STUB_EXPORT int TVMFFITensorFromDLPack(DLManagedTensor* from, int32_t, int32_t, void** out) {
  return host_stub::TensorObject<DLManagedTensor>::make(from, out);
}
HOST_STUB_EXPORT int TVMFFITensorFromDLPackVersioned(DLManagedTensorVersioned* from, int32_t,
                                                     int32_t, void** out) {
  return host_stub::TensorObject<DLManagedTensorVersioned>::make(from, out);
}
HOST_STUB_EXPORT int TVMFFITensorToDLPack(void* tensor, DLManagedTensor** out) {
  return host_stub::export_tensor(tensor, out);
}
HOST_STUB_EXPORT int TVMFFITensorToDLPackVersioned(void* tensor, DLManagedTensorVersioned** out) {
  const int result = host_stub::export_tensor(tensor, out);
  if (result == 0) (*out)->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  return result;
}
/// Allocates CPU memory for every device.
HOST_STUB_EXPORT int TVMFFIEnvTensorAlloc(DLTensor* prototype, void** out) {
  if (host_stub::host.fails) return host_stub::fail("MemoryError", "the framework has none");
  if (!host_stub::host.has_allocator) return host_stub::fail("RuntimeError", "no allocator");
  auto* managed = new DLManagedTensorVersioned{};
  managed->dl_tensor = *prototype;
  managed->dl_tensor.data = std::malloc(4096);
  managed->dl_tensor.shape = new int64_t[static_cast<size_t>(prototype->ndim)];
  for (int32_t i = 0; i < prototype->ndim; ++i) {
    managed->dl_tensor.shape[i] = prototype->shape[i];
  }
  managed->deleter = [](DLManagedTensorVersioned* self) {
    std::free(self->dl_tensor.data);
    delete[] self->dl_tensor.shape;
    delete self;
  };
  return TVMFFITensorFromDLPackVersioned(managed, 0, 0, out);
}
HOST_STUB_EXPORT void* TVMFFIEnvGetDLPackManagedTensorAllocator() {
  return host_stub::host.has_allocator ? &host_stub::host : nullptr;
}
