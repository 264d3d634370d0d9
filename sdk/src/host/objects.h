// SPDX-License-Identifier: Apache-2.0
// Layout and creation of the runtime's objects. Each host has its own layouts; this file contains
// the layouts of the kernkit runtime.
#pragma once

#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "kernkit/owning_tensor.h"

namespace kernkit::host {

/// The deleter in the header of an object of struct T. `flags` selects destruction, freeing, or
/// both. has_own_type() recognises objects by this function.
template <class T>
void delete_object(void* self, int flags) noexcept {
  constexpr int kDestroy = 1, kFree = 2;
  if ((flags & kDestroy) != 0) static_cast<T*>(self)->~T();
  if ((flags & kFree) != 0) std::free(self);
}

/// Returns a new object with one owner, followed by `tail` bytes; null if memory is exhausted.
template <class T, class... Args>
T* make_object(size_t tail, Args&&... args) noexcept {
  void* memory = std::malloc(sizeof(T) + tail);
  if (memory == nullptr) return nullptr;
  T* object = new (memory) T(std::forward<Args>(args)...);
  object->header = {(uint64_t{1} << 32) | 1, T::kTypeIndex, 0, delete_object<T>};
  return object;
}

inline void release_any(const KernkitAny& any) noexcept {
  if (any.type_index >= kKernkitObject) KernkitObjectDecRef(any.v.object);
}
inline void retain_any(const KernkitAny& any) noexcept {
  if (any.type_index >= kKernkitObject) KernkitObjectIncRef(any.v.object);
}

struct ErrorObject {
  static constexpr int32_t kTypeIndex = kKernkitError;
  KernkitObject header{};
  KernkitErrorCell cell{};
  std::string kind, message, backtrace;

  ErrorObject(std::string error_kind, std::string text, std::string trace)
      : kind(std::move(error_kind)), message(std::move(text)), backtrace(std::move(trace)) {
    cell.kind = {kind.data(), kind.size()};
    cell.message = {message.data(), message.size()};
    cell.backtrace = {backtrace.data(), backtrace.size()};
    cell.update_backtrace = update_backtrace;
  }
  ~ErrorObject() {
    if (cell.cause != nullptr) KernkitObjectDecRef(cell.cause);
    if (cell.extra != nullptr) KernkitObjectDecRef(cell.extra);
  }
  static void update_backtrace(void* self, const KernkitByteArray* trace, int32_t mode) noexcept {
    constexpr int32_t kReplace = 0;
    auto* error = static_cast<ErrorObject*>(self);
    try {
      if (mode == kReplace) error->backtrace.clear();
      error->backtrace.append(trace->data, trace->size);
    } catch (const std::bad_alloc&) {
    }
    error->cell.backtrace = {error->backtrace.data(), error->backtrace.size()};
  }
};

/// The object of a Str or Bytes; the content and a NUL follow the object in memory.
template <int32_t TypeIndex>
struct TextObject {
  static constexpr int32_t kTypeIndex = TypeIndex;
  KernkitObject header{};
  KernkitByteArray cell;

  explicit TextObject(const KernkitByteArray& text) {
    char* tail = reinterpret_cast<char*>(this + 1);
    if (text.size > 0) memcpy(tail, text.data, text.size);
    tail[text.size] = '\0';
    cell = {tail, text.size};
  }
};

struct FunctionObject {
  static constexpr int32_t kTypeIndex = kKernkitFunction;
  KernkitObject header{};
  KernkitFunctionCell cell;
  void* self;
  KernkitFunction function;
  void (*deleter)(void*);

  FunctionObject(void* closure, KernkitFunction call, void (*destroy)(void*))
      : cell{call_closure, nullptr}, self(closure), function(call), deleter(destroy) {}
  ~FunctionObject() {
    if (deleter != nullptr) deleter(self);
  }
  static int call_closure(void* object, const KernkitAny* args, int32_t num_args,
                          KernkitAny* result) noexcept {
    auto* function = static_cast<FunctionObject*>(object);
    return function->function(function->self, args, num_args, result);
  }
};

/// The object of an Array; the items follow the object in memory.
struct ArrayObject {
  static constexpr int32_t kTypeIndex = kKernkitArray;
  KernkitObject header{};
  KernkitSeqCell cell;

  explicit ArrayObject(int64_t size) : cell{this + 1, size, size, nullptr} {}
  KernkitAny* items() { return static_cast<KernkitAny*>(cell.data); }
  ~ArrayObject() {
    for (int64_t i = 0; i < cell.size; ++i) release_any(items()[i]);
  }
};

/// The object of a Shape; the sizes follow the object in memory.
struct ShapeObject {
  static constexpr int32_t kTypeIndex = kKernkitShape;
  KernkitObject header{};
  KernkitShapeCell cell;

  explicit ShapeObject(size_t size) : cell{reinterpret_cast<int64_t*>(this + 1), size} {}
  int64_t* sizes() { return reinterpret_cast<int64_t*>(this + 1); }
};

/// The object of a tensor from DLPack, versioned or not. If the DLPack tensor has no strides,
/// computed strides follow the object in memory.
struct TensorObject {
  static constexpr int32_t kTypeIndex = kKernkitTensor;
  KernkitObject header{};
  DLTensor tensor;
  uint64_t flags;
  void* managed;
  void (*deleter)(void* managed);

  TensorObject(const DLTensor& from, uint64_t dlpack_flags, void* manager, void (*destroy)(void*))
      : tensor(from), flags(dlpack_flags), managed(manager), deleter(destroy) {
    if (tensor.strides != nullptr) return;
    tensor.strides = reinterpret_cast<int64_t*>(this + 1);
    uint64_t stride = 1;
    for (int32_t i = tensor.ndim; i-- > 0;) {
      tensor.strides[i] = static_cast<int64_t>(stride);
      stride *= static_cast<uint64_t>(tensor.shape[i]);
    }
  }
  ~TensorObject() { deleter(managed); }
};

using StrObject = TextObject<kKernkitStr>;
using BytesObject = TextObject<kKernkitBytes>;

/// Returns whether this runtime created the object.
inline bool has_own_type(const KernkitObject* object) {
  return object->deleter == delete_object<ErrorObject> ||
         object->deleter == delete_object<StrObject> ||
         object->deleter == delete_object<BytesObject> ||
         object->deleter == delete_object<FunctionObject> ||
         object->deleter == delete_object<ArrayObject> ||
         object->deleter == delete_object<ShapeObject> ||
         object->deleter == delete_object<TensorObject>;
}

/// Sets *out to a new object. Returns 0, or -1 if `object` is null because memory was exhausted.
template <class T>
int give(T* object, void** out) {
  *out = object;
  return object == nullptr ? -1 : 0;
}

}  // namespace kernkit::host
