// SPDX-License-Identifier: Apache-2.0
// Lookup of host functions.
#pragma once

#include <dlfcn.h>

#include "kernkit/host_api/host_api.h"

namespace kernkit::detail {

// Returns a handle of the library that contains the host's code, which dladdr() finds from a
// function whose address the host stored in the module object.
KERNKIT_COLD void* library_of_module() {
  if (&__tvm_ffi__library_ctx == nullptr || __tvm_ffi__library_ctx == nullptr) return nullptr;
  const auto* module = static_cast<const KernkitObject*>(__tvm_ffi__library_ctx);
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(module->deleter), &info) == 0) return nullptr;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

KERNKIT_COLD void* find_tvm_ffi_function(const char* name) {
  if (void* function = dlsym(RTLD_DEFAULT, name)) return function;
  void* library = dlopen("libtvm_ffi.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) library = library_of_module();
  if (library == nullptr) return nullptr;
  void* function = dlsym(library, name);
  // Keeps the handle open if the function was found: the caller caches the function's address, so
  // the library must stay loaded.
  if (function == nullptr) dlclose(library);
  return function;
}

KERNKIT_COLD FindHost* handed_over_host() {
  static FindHost find = nullptr;
  return &find;
}

KERNKIT_COLD FindHost use_host(FindHost find) {
  FindHost first = nullptr;
  const bool is_first = __atomic_compare_exchange_n(handed_over_host(), &first, find, false,
                                                    __ATOMIC_RELEASE, __ATOMIC_ACQUIRE);
  return is_first ? find : first;
}

KERNKIT_COLD void* find_host_function(const char* name) {
  if (void* function = find_tvm_ffi_function(name)) return function;
  FindHost find = __atomic_load_n(handed_over_host(), __ATOMIC_ACQUIRE);
  if (find == nullptr) {
    find = reinterpret_cast<FindHost>(dlsym(RTLD_DEFAULT, "kernkit_host_find"));
    if (find != nullptr) find = use_host(find);
  }
  return find == nullptr ? nullptr : find(name);
}

}  // namespace kernkit::detail
