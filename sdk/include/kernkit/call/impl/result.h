// SPDX-License-Identifier: Apache-2.0
// Strings and arrays, which require a host.
#pragma once

#include "kernkit/call/result.h"
#include "kernkit/host_api/host_error.h"

namespace kernkit::detail {

KERNKIT_COLD void throw_no_host(const char* what) {
  KERNKIT_THROW(RuntimeError) << "returns " << what
                              << ", which needs a host; found no host in this process; load a host "
                                 "first, such as tvm_ffi";
}

KERNKIT_COLD void throw_rejected(const char* what) {
  throw_raised_as(Message().stream() << "returning " << what);
}

KERNKIT_COLD void set_text(KernkitAny* result, MakeText& make_text, const char* what,
                           const char* data, size_t size) {
  auto* make = make_text.get();
  if (make == nullptr) throw_no_host(what);
  const KernkitByteArray text = {size == 0 ? "" : data, size};
  KernkitAny value{};
  if (make(&text, &value) != 0) throw_rejected(what);
  *result = value;
}

KERNKIT_COLD void set_string(KernkitAny* result, const char* data, size_t size) {
  set_text(result, host_api::string_from_byte_array, "a str", data, size);
}

KERNKIT_COLD void release_items(const KernkitAny* items, int32_t size) noexcept {
  for (int32_t i = 0; i < size; ++i) {
    if (items[i].type_index >= kKernkitObject) KernkitObjectDecRef(items[i].v.object);
  }
}

KERNKIT_COLD void set_array(KernkitAny* result, const KernkitAny* items, int32_t size,
                            const char* what, const char* constructor) {
  const KernkitByteArray name = {constructor, strlen(constructor)};
  auto* get_global = host_api::function_get_global.get();
  auto* call = host_api::function_call.get();
  void* constructor_handle = nullptr;
  const bool has_host = get_global != nullptr && call != nullptr;
  if (!has_host || get_global(&name, &constructor_handle) != 0 || constructor_handle == nullptr)
    throw_no_host(what);
  const ObjectRef make = ObjectRef::adopt(static_cast<KernkitObject*>(constructor_handle));
  KernkitAny value{};
  if (call(make.get(), items, size, &value) != 0) throw_rejected(what);
  *result = value;
}

KERNKIT_COLD void set_ints(KernkitAny* result, ShapeView values, const char* constructor) {
  KERNKIT_CHECK(values.size() <= INT32_MAX, ValueError)
      << "returns " << values.size() << " integers; a list has at most " << INT32_MAX;
  auto* items = static_cast<KernkitAny*>(calloc(values.size() + 1, sizeof(KernkitAny)));
  if (items == nullptr) throw std::bad_alloc();
  for (size_t i = 0; i < values.size(); ++i) {
    items[i].type_index = kKernkitInt;
    items[i].v.i64 = values[i];
  }
  try {
    set_array(result, items, static_cast<int32_t>(values.size()), "a list", constructor);
  } catch (...) {
    free(items);
    throw;
  }
  free(items);
}

}  // namespace kernkit::detail
