// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "host/functions.h"
#include "host/objects.h"
#include "host/tvm_ffi.h"

namespace kernkit::host {
namespace {

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

// The global function ffi.Array: stores an Array of the arguments in *result.
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

// The global function ffi.Shape: stores a Shape of the arguments, which must be int, in *result.
int make_shape(void*, const KernkitAny* args, int32_t num_args, KernkitAny* result) noexcept {
  const auto size = static_cast<size_t>(num_args);
  auto* shape = make_object<ShapeObject>(size * sizeof(int64_t), size);
  if (shape == nullptr) return fail("MemoryError", "out of memory");
  for (size_t i = 0; i < size; ++i) {
    if (args[i].type_index != kKernkitInt) {
      KernkitObjectDecRef(&shape->header);
      return fail("TypeError", "ffi.Shape: expected int arguments");
    }
    shape->sizes()[i] = args[i].v.i64;
  }
  *result = {};
  result->type_index = kKernkitShape;
  result->v.object = &shape->header;
  return 0;
}

}  // namespace

int object_inc_ref(void* object) noexcept {
  return KernkitObjectIncRef(static_cast<KernkitObject*>(object)), 0;
}
int object_dec_ref(void* object) noexcept {
  return KernkitObjectDecRef(static_cast<KernkitObject*>(object)), 0;
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

int function_get_global(const KernkitByteArray* name, void** out) noexcept {
  static TvmFfi<decltype(function_get_global)> real("TVMFFIFunctionGetGlobal");
  if (auto* get = real.get()) return get(name, out);
  *out = nullptr;
  const std::string_view requested(name->data, name->size);
  if (requested == "ffi.Array") return function_create(nullptr, make_array, nullptr, out);
  if (requested == "ffi.Shape") return function_create(nullptr, make_shape, nullptr, out);
  return 0;
}

}  // namespace kernkit::host
