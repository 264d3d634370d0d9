// SPDX-License-Identifier: Apache-2.0
// The C functions of a host, as tvm_ffi has them, for a process without tvm_ffi. Each hands over to
// tvm_ffi once that is there, so that what was found here before may be kept.
#include "kernkit/host/runtime.h"

#include <dlfcn.h>

#include <utility>

#include "host/environment.h"
#include "host/objects.h"
#include "host/tvm_ffi.h"
#include "kernkit/message.h"

namespace kernkit::host {
namespace {

using StrObject = TextObject<kKernkitStr>;
using BytesObject = TextObject<kKernkitBytes>;

// The error that this thread raised, owned. A pointer, so that the destructors which a thread or
// the process runs at its end may still raise.
thread_local KernkitObject* raised = nullptr;

struct ReleaseAtThreadEnd {
  ~ReleaseAtThreadEnd() {
    if (KernkitObject* left = std::exchange(raised, nullptr)) KernkitObjectDecRef(left);
  }
};

bool is_ours(const KernkitObject* object) {
  return object->deleter == delete_object<ErrorObject> ||
         object->deleter == delete_object<StrObject> ||
         object->deleter == delete_object<BytesObject> ||
         object->deleter == delete_object<FunctionObject> ||
         object->deleter == delete_object<ArrayObject> ||
         object->deleter == delete_object<TensorObject>;
}

template <class T>
int give(T* object, void** out) {
  *out = object;
  return object == nullptr ? -1 : 0;
}

// --- errors -----------------------------------------------------------------------------------

int error_create(const KernkitByteArray* kind, const KernkitByteArray* message,
                 const KernkitByteArray* backtrace, void** out) noexcept {
  static TvmFfi<decltype(error_create)> real("TVMFFIErrorCreate");
  if (auto* create = real.get()) return create(kind, message, backtrace, out);
  try {
    return give(make_object<ErrorObject>(0, std::string(kind->data, kind->size),
                                         std::string(message->data, message->size),
                                         std::string(backtrace->data, backtrace->size)),
                out);
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

// The runtime's own slot is used for its own objects even when tvm_ffi is there.
void error_set_raised(void* error) noexcept {
  static TvmFfi<decltype(error_set_raised)> real("TVMFFIErrorSetRaised");
  auto* object = static_cast<KernkitObject*>(error);
  auto* set_raised = real.get();
  if (set_raised != nullptr && !is_ours(object)) return set_raised(error);
  static thread_local const ReleaseAtThreadEnd at_end;
  (void)at_end;
  KernkitObjectIncRef(object);
  KernkitObject* before = std::exchange(raised, object);
  if (before != nullptr) KernkitObjectDecRef(before);
}

void error_move_from_raised(void** out) noexcept {
  static TvmFfi<decltype(error_move_from_raised)> real("TVMFFIErrorMoveFromRaised");
  *out = nullptr;
  if (auto* move = real.get()) move(out);
  if (*out == nullptr) *out = std::exchange(raised, nullptr);
}

void raise(void*, const char* kind, const char* message) noexcept {
  const KernkitByteArray texts[] = {{kind, strlen(kind)}, {message, strlen(message)}, {"", 0}};
  void* error = nullptr;
  if (error_create(&texts[0], &texts[1], &texts[2], &error) != 0) return;
  error_set_raised(error);
  KernkitObjectDecRef(static_cast<KernkitObject*>(error));
}

int fail(const char* kind, const char* message) noexcept {
  raise(nullptr, kind, message);
  return -1;
}

// --- objects, texts, functions ------------------------------------------------------------------

int object_inc_ref(void* object) noexcept {
  return KernkitObjectIncRef(static_cast<KernkitObject*>(object)), 0;
}
int object_dec_ref(void* object) noexcept {
  return KernkitObjectDecRef(static_cast<KernkitObject*>(object)), 0;
}

template <class T, int32_t Small>
int make_text(const KernkitByteArray* text, KernkitAny* out) noexcept {
  KernkitAny any{};
  if (text->size < sizeof(any.v.small)) {
    any.type_index = Small;
    any.small_size = static_cast<uint32_t>(text->size);
    if (text->size > 0) memcpy(any.v.small, text->data, text->size);
  } else {
    T* object = make_object<T>(text->size + 1, *text);
    if (object == nullptr) return fail("MemoryError", "out of memory");
    any.type_index = T::kTypeIndex;
    any.v.object = &object->header;
  }
  *out = any;
  return 0;
}

int string_from_byte_array(const KernkitByteArray* text, KernkitAny* out) noexcept {
  static TvmFfi<decltype(string_from_byte_array)> real("TVMFFIStringFromByteArray");
  if (auto* make = real.get()) return make(text, out);
  return make_text<StrObject, kKernkitSmallStr>(text, out);
}
int bytes_from_byte_array(const KernkitByteArray* bytes, KernkitAny* out) noexcept {
  static TvmFfi<decltype(bytes_from_byte_array)> real("TVMFFIBytesFromByteArray");
  if (auto* make = real.get()) return make(bytes, out);
  return make_text<BytesObject, kKernkitSmallBytes>(bytes, out);
}

int function_create(void* self, KernkitFunction call, void (*deleter)(void*), void** out) noexcept {
  static TvmFfi<decltype(function_create)> real("TVMFFIFunctionCreate");
  if (auto* create = real.get()) return create(self, call, deleter, out);
  return give(make_object<FunctionObject>(0, self, call, deleter), out);
}

int function_call(void* function, const KernkitAny* args, int32_t num_args,
                  KernkitAny* result) noexcept {
  const auto* object = static_cast<const KernkitObject*>(function);
  const auto* cell = reinterpret_cast<const KernkitFunctionCell*>(object + 1);
  return cell->call(function, args, num_args, result);
}

// ffi.Array: an Array of its arguments.
int make_array(void*, const KernkitAny* args, int32_t num_args, KernkitAny* result) noexcept {
  const auto size = static_cast<size_t>(num_args);
  auto* array = make_object<ArrayObject>(size * sizeof(KernkitAny), num_args);
  if (array == nullptr) return fail("MemoryError", "out of memory");
  for (size_t i = 0; i < size; ++i) {
    retain_any(args[i]);
    array->items()[i] = args[i];
  }
  *result = {};
  result->type_index = kKernkitArray;
  result->v.object = &array->header;
  return 0;
}

int function_get_global(const KernkitByteArray* name, void** out) noexcept {
  static TvmFfi<decltype(function_get_global)> real("TVMFFIFunctionGetGlobal");
  if (auto* get = real.get()) return get(name, out);
  constexpr char kArray[] = "ffi.Array";
  *out = nullptr;
  if (name->size != strlen(kArray) || memcmp(name->data, kArray, name->size) != 0) return 0;
  return function_create(nullptr, make_array, nullptr, out);
}

// --- tensors ------------------------------------------------------------------------------------

template <class Managed>
int import_tensor(Managed* from, uint64_t flags, int32_t alignment, int32_t require_contiguous,
                  void** out) noexcept {
  const TensorView view(&from->dl_tensor);
  if (alignment > 0 && reinterpret_cast<uintptr_t>(view.data_ptr()) % alignment != 0) {
    Message text;
    text << "address " << view.data_ptr() << " is not aligned to " << alignment << " bytes";
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

// Both managed structs carry the object itself.
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
int tensor_to_dlpack_versioned(void* from, DLManagedTensorVersioned** out) noexcept {
  static TvmFfi<decltype(tensor_to_dlpack_versioned)> real("TVMFFITensorToDLPackVersioned");
  const bool ours = is_ours(static_cast<KernkitObject*>(from));
  if (auto* to = real.get(); to != nullptr && !ours) return to(from, out);
  *out = export_tensor<DLManagedTensorVersioned>(from);
  if (*out == nullptr) return fail("MemoryError", "out of memory");
  (*out)->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  if (ours) (*out)->flags = static_cast<TensorObject*>(from)->flags;
  return 0;
}
int tensor_to_dlpack(void* from, DLManagedTensor** out) noexcept {
  static TvmFfi<decltype(tensor_to_dlpack)> real("TVMFFITensorToDLPack");
  const bool ours = is_ours(static_cast<KernkitObject*>(from));
  if (auto* to = real.get(); to != nullptr && !ours) return to(from, out);
  if (ours && (static_cast<TensorObject*>(from)->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    return fail("ValueError", "a read-only tensor cannot go out as DLPack before version 1");
  }
  *out = export_tensor<DLManagedTensor>(from);
  return *out == nullptr ? fail("MemoryError", "out of memory") : 0;
}

int env_tensor_alloc(DLTensor* prototype, void** out) noexcept {
  static TvmFfi<decltype(env_tensor_alloc)> real("TVMFFIEnvTensorAlloc");
  if (auto* alloc = real.get()) return alloc(prototype, out);
  const TensorAllocator set = get_allocator();
  DLManagedTensorVersioned* managed = nullptr;
  const int code = (set != nullptr ? set : allocate_on_cpu)(prototype, &managed, nullptr, raise);
  if (code != 0) return code;
  if (managed == nullptr) return fail("RuntimeError", "the allocator gave no tensor");
  return tensor_from_dlpack_versioned(managed, 0, 0, out);
}

// --- what the runtime made, for a callee that is tvm_ffi's
// -----------------------------------------

// A FunctionObject as the closure of a function of tvm_ffi.
int call_ours(void* self, const KernkitAny* args, int32_t num_args, KernkitAny* result) noexcept {
  return function_call(self, args, num_args, result);
}

// Makes *any, which the runtime made before tvm_ffi came, anew through tvm_ffi; the result owns it.
// 0: there is nothing to do. 1: made. -1: an error was raised.
int adapt(const KernkitAny* any, KernkitAny* out) noexcept {
  if (any->type_index < kKernkitObject || !is_ours(any->v.object)) return 0;
  if (find_tvm_ffi("TVMFFIErrorCreate") == nullptr) return 0;
  KernkitObject* object = any->v.object;
  *out = {};
  out->type_index = any->type_index;
  void* made = nullptr;
  int code = -1;
  switch (any->type_index) {
    case kKernkitTensor: {
      DLManagedTensorVersioned* managed = nullptr;
      code = tensor_to_dlpack_versioned(object, &managed);
      if (code == 0 && tensor_from_dlpack_versioned(managed, 0, 0, &made) != 0) {
        managed->deleter(managed);
        code = -1;  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the deleter deletes it
      }
      break;
    }
    case kKernkitFunction:
      KernkitObjectIncRef(object);
      code = function_create(
          object, call_ours,
          [](void* self) { KernkitObjectDecRef(static_cast<KernkitObject*>(self)); }, &made);
      break;
    case kKernkitStr:
      return string_from_byte_array(&reinterpret_cast<StrObject*>(object)->cell, out) == 0 ? 1 : -1;
    case kKernkitBytes:
      return bytes_from_byte_array(&reinterpret_cast<BytesObject*>(object)->cell, out) == 0 ? 1
                                                                                            : -1;
    default:
      return fail(
          "TypeError",
          "an array that was made before tvm_ffi was loaded cannot be passed to it; make it "
          "again");
  }
  out->v.object = static_cast<KernkitObject*>(made);
  return code == 0 ? 1 : -1;
}

struct Entry {
  const char* name;
  void* function;
};
template <class Function>
Entry entry(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

// A library keeps what it found here, so this code must stay even when it is part of a library that
// is closed.
void stay_mapped() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&error_create), &info) != 0) {
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

}  // namespace
}  // namespace kernkit::host

void* kernkit_host_find(const char* name) {
  using namespace kernkit::host;  // NOLINT(build/namespaces): a table of their functions
  static const Entry kEntries[] = {
      entry("TVMFFIErrorCreate", error_create),
      entry("TVMFFIErrorSetRaised", error_set_raised),
      entry("TVMFFIErrorMoveFromRaised", error_move_from_raised),
      entry("TVMFFIObjectIncRef", object_inc_ref),
      entry("TVMFFIObjectDecRef", object_dec_ref),
      entry("TVMFFIStringFromByteArray", string_from_byte_array),
      entry("TVMFFIBytesFromByteArray", bytes_from_byte_array),
      entry("TVMFFIFunctionCreate", function_create),
      entry("TVMFFIFunctionCall", function_call),
      entry("TVMFFIFunctionGetGlobal", function_get_global),
      entry("TVMFFITensorFromDLPack", tensor_from_dlpack),
      entry("TVMFFITensorFromDLPackVersioned", tensor_from_dlpack_versioned),
      entry("TVMFFITensorToDLPack", tensor_to_dlpack),
      entry("TVMFFITensorToDLPackVersioned", tensor_to_dlpack_versioned),
      entry("TVMFFIEnvGetStream", get_stream),
      entry("TVMFFIEnvSetStream", set_stream),
      entry("TVMFFIEnvGetDLPackManagedTensorAllocator", get_allocator),
      entry("TVMFFIEnvSetDLPackManagedTensorAllocator", set_allocator),
      entry("TVMFFIEnvTensorAlloc", env_tensor_alloc),
      entry("kernkit_host_adapt", adapt),
  };
  static const bool stays = (stay_mapped(), true);
  (void)stays;
  for (const Entry& entry : kEntries) {
    if (strcmp(entry.name, name) == 0) return entry.function;
  }
  return nullptr;
}
