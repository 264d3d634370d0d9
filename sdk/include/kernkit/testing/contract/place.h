// SPDX-License-Identifier: Apache-2.0
// Place: the device of a call's tensors, and the copies of bytes to and from it.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "kernkit/testing/poisoned_memory.h"
#include "kernkit/types/device.h"

namespace kernkit::testing::contract {

class Place {
 public:
  virtual ~Place() = default;

  virtual DLDevice device() const { return {kDLCPU, 0}; }
  /// Memory aligned to 256 bytes.
  virtual void* allocate(size_t bytes) {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  virtual void release(void* memory) { std::free(memory); }
  virtual void upload(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
  virtual void download(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

  /// Poisons bytes of allocate()'s memory: AddressSanitizer reports an access by the op.
  virtual void poison(void* memory, size_t bytes) { poison_memory(memory, bytes); }
  /// Unpoisons the bytes, after all work that the op began has ended.
  virtual void unpoison(void* memory, size_t bytes) { unpoison_memory(memory, bytes); }

  /// Before and after a call: sets the caller's device and stream, and resets them.
  virtual void enter() {}
  virtual void leave() {}
  /// Makes the place as good as new. False if only a new place is.
  virtual bool renew() { return true; }
  /// Makes threads of a device run in another order from now on.
  virtual void reorder(unsigned) {}
  /// Faults in this place that the op did not report, or "".
  virtual std::string fault() { return ""; }

  bool is_cpu() const { return device().device_type == kDLCPU; }
  /// "" or " on cuda:0", for messages.
  std::string suffix() const {
    return is_cpu() ? "" : std::string(" on ") + device_name(device()).c_str();
  }
};

/// The CPU, for tensors that stay there.
inline Place& cpu_place() {
  static Place place;
  return place;
}

}  // namespace kernkit::testing::contract
