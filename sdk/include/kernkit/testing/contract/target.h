// SPDX-License-Identifier: Apache-2.0
// Target: the device of a call's tensors, and the copies of bytes between the host and the device.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "kernkit/testing/poisoned_memory.h"
#include "kernkit/types/device.h"

namespace kernkit::testing::contract {

/// The device of a call's tensors, and the copies of bytes to and from the device. This class is
/// the CPU; CudaTarget is a CUDA device. Use a target in one thread. Functions throw only
/// std::bad_alloc unless stated.
class Target {
 public:
  /// Destroys the target, after each Call that uses it was destroyed.
  virtual ~Target() = default;

  /// Returns the device of tensors, here the CPU.
  virtual DLDevice device() const { return {kDLCPU, 0}; }
  /// Returns uninitialised memory of `bytes` > 0 bytes at a multiple of 256 bytes, which release()
  /// frees. Throws std::bad_alloc without memory; a CUDA device throws RuntimeError if CUDA fails.
  virtual void* allocate(size_t bytes) {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  /// Frees memory of allocate(), for a CUDA device after the work of all streams; ignores null and
  /// errors of CUDA. Throws nothing.
  virtual void release(void* memory) { std::free(memory); }
  /// Copies `bytes` bytes of the host to memory of the target, before all work that the op enqueues
  /// later in the caller's stream. On a CUDA device the copy may read `from` after the return, so
  /// `from` must stay valid and unchanged until the next download() or release(). A CUDA device
  /// throws RuntimeError if CUDA fails.
  virtual void upload(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
  /// Copies `bytes` bytes of the target to the host, after all earlier work of the caller's stream,
  /// and waits for the copy. A CUDA device throws RuntimeError if the device cannot be made
  /// current.
  virtual void download(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

  /// Poisons `bytes` bytes of allocate()'s memory. On the CPU AddressSanitizer then reports an
  /// access (poison_memory()); in the simulator an access of a kernel is a fault; on a GPU this
  /// does nothing.
  virtual void poison(void* memory, size_t bytes) { poison_memory(memory, bytes); }
  /// Makes `bytes` bytes at `memory` accessible again. A CUDA device first waits for its work, then
  /// makes the whole allocation that contains `memory` accessible; it throws RuntimeError if the
  /// device cannot be made current.
  virtual void unpoison(void* memory, size_t bytes) { unpoison_memory(memory, bytes); }

  /// Sets the caller's stream and allocator for this thread, before a call of the op; leave()
  /// follows the call. Does nothing on the CPU. A CUDA device throws RuntimeError without a host,
  /// and the host's error.
  virtual void enter() {}
  /// Restores the stream and the allocator that were current before enter(). Does nothing on the
  /// CPU. Throws nothing.
  virtual void leave() {}
  /// Returns whether the target is in its initial state, as the CPU always is; otherwise the caller
  /// makes a new target. A CUDA device deletes the records of its runtime.
  virtual bool renew() { return true; }
  /// Sets the seed for the order of blocks and threads of later kernels and the delay of streams in
  /// the simulator (CudaRuntime::set_seed()). Does nothing on the CPU and on a GPU.
  virtual void reorder(unsigned) {}
  /// Returns the first fault of the target's device that is not an error raised by the op; ""
  /// without a fault, and always on the CPU. Does not wait.
  virtual std::string fault() { return ""; }

  /// Returns whether the device is the CPU.
  bool is_cpu() const { return device().device_type == kDLCPU; }
  /// Returns "" for the CPU, otherwise " on cuda:0", for messages.
  std::string suffix() const {
    return is_cpu() ? "" : std::string(" on ") + device_name(device()).c_str();
  }
};

/// Returns the target of tensors that stay on the CPU, the same object in each call, which exists
/// until the end of the process. Throws nothing.
inline Target& cpu_target() {
  static Target target;
  return target;
}

}  // namespace kernkit::testing::contract
