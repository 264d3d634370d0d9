// SPDX-License-Identifier: Apache-2.0
// Place: where the tensors of a call are, and who moves bytes there.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "kernkit/testing/closed_memory.h"
#include "kernkit/types/device.h"

namespace kernkit::testing::contract {

class Place {
 public:
  virtual ~Place() = default;

  virtual DLDevice device() const { return {kDLCPU, 0}; }
  /// Memory that begins on a multiple of 256 bytes.
  virtual void* allocate(size_t bytes) {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  virtual void release(void* memory) { std::free(memory); }
  virtual void upload(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
  virtual void download(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

  /// Under AddressSanitizer the op may not touch these bytes of what allocate() gave.
  virtual void close(void* memory, size_t bytes) { close_memory(memory, bytes); }
  /// Nothing of it is closed any more, once what the op began has ended.
  virtual void open(void* memory, size_t bytes) { open_memory(memory, bytes); }

  /// Around a call: makes the caller's device and stream current, and takes them back.
  virtual void enter() {}
  virtual void leave() {}
  /// Makes the place as good as new; false where only another one is.
  virtual bool renew() { return true; }
  /// From now on threads of a device run in another order.
  virtual void reorder(unsigned) {}
  /// What went wrong here besides what the op itself said, or "".
  virtual std::string fault() { return ""; }

  bool is_cpu() const { return device().device_type == kDLCPU; }
  /// "" or " on cuda:0", for sentences.
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
