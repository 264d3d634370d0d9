// SPDX-License-Identifier: Apache-2.0
// Detects tvm_ffi in the process. The runtime replaces tvm_ffi and forwards to it after it is
// loaded.
#pragma once

#include <atomic>

namespace kernkit::host {

/// A function of tvm_ffi, or null while tvm_ffi is not loaded. A call costs some tens of
/// nanoseconds: it searches again only if a library was loaded since the last search.
void* find_tvm_ffi(const char* name) noexcept;

/// A function of tvm_ffi. get() searches by find_tvm_ffi() until the function is found, and keeps
/// the address.
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
