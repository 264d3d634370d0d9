// SPDX-License-Identifier: Apache-2.0
// Strings and arrays, which only the host can make.
#pragma once

#include "kernkit/result.h"

namespace kernkit::detail {

KERNKIT_COLD void throw_no_host(const char* what) {
  KERNKIT_THROW(RuntimeError) << "returns " << what
                              << ", which only a host can make, and none is in the process";
}

KERNKIT_COLD void set_string(KernkitAny* result, const char* data, size_t size) {
  auto* make_string = host_api::string_from_byte_array.get();
  const KernkitByteArray bytes = {data, size};
  if (make_string == nullptr || make_string(&bytes, result) != 0) throw_no_host("a str");
}

KERNKIT_COLD void set_array(KernkitAny* result, KernkitAny* items, int32_t size) {
  constexpr char kName[] = "ffi.Array";
  const KernkitByteArray name = {kName, sizeof(kName) - 1};
  auto* get_global = host_api::function_get_global.get();
  auto* call = host_api::function_call.get();
  void* make_array = nullptr;
  const bool found = get_global != nullptr && call != nullptr &&
                     get_global(&name, &make_array) == 0 && make_array != nullptr;
  const bool made = found && call(make_array, items, size, result) == 0;
  if (make_array != nullptr) KernkitObjectDecRef(static_cast<KernkitObject*>(make_array));
  for (int32_t i = 0; i < size; ++i) {
    if (items[i].type_index >= kKernkitObject) KernkitObjectDecRef(items[i].v.object);
  }
  if (!made) throw_no_host("a tuple");
}

KERNKIT_COLD void set_ints(KernkitAny* result, ShapeView values) {
  KERNKIT_CHECK(values.size() <= INT32_MAX, ValueError)
      << "returns " << values.size() << " integers, which a list cannot hold";
  auto* items = static_cast<KernkitAny*>(calloc(values.size() + 1, sizeof(KernkitAny)));
  if (items == nullptr) throw std::bad_alloc();
  for (size_t i = 0; i < values.size(); ++i) {
    items[i].type_index = kKernkitInt;
    items[i].v.i64 = values[i];
  }
  try {
    set_array(result, items, static_cast<int32_t>(values.size()));
  } catch (...) {
    free(items);
    throw;
  }
  free(items);
}

}  // namespace kernkit::detail
