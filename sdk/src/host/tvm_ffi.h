// SPDX-License-Identifier: Apache-2.0
// Detects tvm_ffi in the process. The runtime replaces tvm_ffi, and forwards to tvm_ffi once
// tvm_ffi is loaded.
#pragma once

#include <atomic>

namespace kernkit::host {

/// Returns the address of a function of tvm_ffi, or null while tvm_ffi is not loaded. While tvm_ffi
/// is missing, the function searches again only if a library was loaded since the last search.
void* find_tvm_ffi(const char* name) noexcept;

/// Caches the address of a function of tvm_ffi. get() returns the address, or null as long as
/// find_tvm_ffi() does not find the function.
template <class Function>
class TvmFfi {
 public:
  constexpr explicit TvmFfi(const char* name) : name_(name) {}
  Function* get() noexcept {
    void* function = function_.load(std::memory_order_acquire);
    if (function == nullptr) {
      function = find_tvm_ffi(name_);
      function_.store(function, std::memory_order_release);
    }
    return reinterpret_cast<Function*>(function);
  }

 private:
  const char* name_;
  std::atomic<void*> function_{nullptr};
};

}  // namespace kernkit::host
