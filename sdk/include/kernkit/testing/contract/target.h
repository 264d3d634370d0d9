// SPDX-License-Identifier: Apache-2.0
// Target: the device of a call's tensors, and the copies of bytes to and from it.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "kernkit/testing/poisoned_memory.h"
#include "kernkit/types/device.h"

namespace kernkit::testing::contract {

/// The device of a call's tensors, and the copies of bytes to and from it. This class is the CPU;
/// CudaTarget is a CUDA device. Use a target in one thread. Functions throw nothing unless stated,
/// except std::bad_alloc by those that return a text.
class Target {
 public:
  /// Destroys the target. The calls that use the target must have been destroyed before.
  virtual ~Target() = default;

  /// Returns the device of tensors, here the CPU.
  virtual DLDevice device() const { return {kDLCPU, 0}; }
  /// Returns memory of `bytes` bytes at a multiple of 256 bytes. Throws std::bad_alloc without
  /// memory; a CUDA device throws RuntimeError if CUDA fails.
  virtual void* allocate(size_t bytes) {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  /// Frees memory of allocate(), ignoring errors of CUDA; null is ignored. Never throws.
  virtual void release(void* memory) { std::free(memory); }
  /// Copies `bytes` bytes of the host to memory of the target, before all work that the op begins
  /// later. A CUDA device throws RuntimeError if CUDA fails.
  virtual void upload(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
  /// Copies `bytes` bytes of the target to the host, after all work that the op began, and waits
  /// for the copy. A CUDA device throws RuntimeError if the device cannot be made current.
  virtual void download(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

  /// Poisons `bytes` bytes of allocate()'s memory: AddressSanitizer reports an access by the op;
  /// the simulator reports an access by a kernel.
  virtual void poison(void* memory, size_t bytes) { poison_memory(memory, bytes); }
  /// Makes `bytes` bytes accessible again, after all work that the op began has ended; a CUDA
  /// device opens the whole allocation around them. A CUDA device throws RuntimeError if the device
  /// cannot be made current.
  virtual void unpoison(void* memory, size_t bytes) { unpoison_memory(memory, bytes); }

  /// Sets the caller's stream and allocator for this thread, before a call. Does nothing on the
  /// CPU. A CUDA device throws RuntimeError without a host.
  virtual void enter() {}
  /// Restores the stream and the allocator that were current before enter(). Does nothing on the
  /// CPU. Never throws.
  virtual void leave() {}
  /// Restores the initial state of the target and returns true. Returns false if that is
  /// impossible: the caller then makes a new target.
  virtual bool renew() { return true; }
  /// Sets the seed for the order of the blocks and threads of later kernels in the simulator. Does
  /// nothing on the CPU and on a GPU. Never throws.
  virtual void reorder(unsigned) {}
  /// Returns a fault in this target that the op did not report, or "". The CPU has none.
  virtual std::string fault() { return ""; }

  /// Returns whether the device is the CPU.
  bool is_cpu() const { return device().device_type == kDLCPU; }
  /// Returns "" for the CPU, otherwise " on cuda:0", for messages.
  std::string suffix() const {
    return is_cpu() ? "" : std::string(" on ") + device_name(device()).c_str();
  }
};

/// Returns the CPU, for tensors that stay there. The object exists until the end of the process.
/// Throws nothing.
inline Target& cpu_target() {
  static Target target;
  return target;
}

}  // namespace kernkit::testing::contract
