// SPDX-License-Identifier: Apache-2.0
#include "host/tvm_ffi.h"

#include <dlfcn.h>
#include <link.h>

namespace kernkit::host {

namespace {

// Returns the number of libraries loaded since the start of the process.
unsigned long long count_loads() noexcept {
  unsigned long long loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;  // stops after the first entry: dlpi_adds is the same in all entries
      },
      &loads);
  return loads;
}

}  // namespace

void* find_tvm_ffi(const char* name) noexcept {
  static std::atomic<unsigned long long> searched_at{0};
  static std::atomic<bool> present{false};
  const unsigned long long loads = count_loads();
  if (!present.load(std::memory_order_relaxed) &&
      searched_at.load(std::memory_order_relaxed) == loads) {
    return nullptr;
  }
  void* function = dlsym(RTLD_DEFAULT, name);
  if (function == nullptr) {
    // The handle stays open, because the function's address is kept.
    if (void* library = dlopen("libtvm_ffi.so", RTLD_LAZY | RTLD_NOLOAD)) {
      function = dlsym(library, name);
      if (function == nullptr) dlclose(library);
    }
  }
  if (function != nullptr) present.store(true, std::memory_order_relaxed);
  searched_at.store(loads, std::memory_order_relaxed);
  return function;
}

}  // namespace kernkit::host
