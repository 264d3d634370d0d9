// SPDX-License-Identifier: Apache-2.0
// Hooks: the interface for tools. RuntimeHooks receive calls of the runtime, LaunchHooks and
// BlockHooks the operations of a kernel. Without a tool no operation calls a hook: a kernel runs
// instrumented only if a tool is on.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace kernkit::simulator {

/// Steps that order work: acquire or release of an object, begin or end of an actor, and begin of
/// work of a queue.
enum class OrderStep { kAcquire, kRelease, kEnters, kLeaves, kBegins };
inline void ignore_order(OrderStep, const void*) {}
/// Steps of device memory; kBegins and kEnds occur in the order of a stream.
enum class MemoryStep { kAllocated, kFreed, kCopied, kFilled, kBegins, kEnds };
inline void ignore_memory(MemoryStep, const void*, size_t, const void*) {}

/// Functions that tools set.
struct RuntimeHooks {
  void (*order)(OrderStep step, const void* what) = ignore_order;
  /// `from` is the source of a copy.
  void (*memory)(MemoryStep step, const void* at, size_t bytes, const void* from) = ignore_memory;
  /// Called when a call returned an error; `why` is "" if only CUDA's text describes the error.
  void (*call_failed)(const char* function, cudaError_t error, const std::string& why) = nullptr;
  /// Called when work is enqueued in a stream. Returns the work that runs in its place.
  std::function<void()> (*enqueued)(std::function<void()> work, cudaStream_t stream) = nullptr;
};
inline RuntimeHooks runtime_hooks;

namespace ptx {

struct Block;
struct Kernel;
struct Module;
struct Operation;
struct Warp;

/// A tool's hooks for the blocks that one OS thread runs, one block after the other.
class BlockHooks {
 public:
  virtual ~BlockHooks() = default;
  /// Called when a block starts.
  virtual void starts() {}
  /// Called before and after an operation; the warp's mask has the lanes that execute the
  /// operation.
  virtual void before(Warp& /*warp*/, const Operation& /*operation*/) {}
  virtual void after(Warp& /*warp*/, const Operation& /*operation*/) {}
  /// Called before an operation of control flow, which `lanes` execute.
  virtual void decides(Warp& /*warp*/, const Operation& /*operation*/, uint32_t /*lanes*/) {}
  /// Called when lanes of a warp have synchronised at __syncwarp().
  virtual void meets(const Warp& /*warp*/, uint32_t /*lanes*/) {}
  /// Called when lanes of a warp have arrived at a barrier; with `only`, the lanes do not wait.
  virtual void arrives(const Warp& /*warp*/, uint32_t /*barrier*/, bool /*only*/) {}
  /// Called when all threads that a barrier expects have arrived.
  virtual void opens(uint32_t /*barrier*/) {}
};

/// A tool's hooks for a launch.
class LaunchHooks {
 public:
  virtual ~LaunchHooks() = default;
  /// Called by each OS thread that runs blocks; the hooks end with the thread's last block.
  virtual std::unique_ptr<BlockHooks> of(Block& block) = 0;
  /// Returns whether blocks must run one after the other, on one processor.
  virtual bool needs_order() const { return false; }
};

/// A launch that begins.
struct LaunchStart {
  const Kernel& kernel;
  const Module& module;
  const std::string& name;  // C++ name of the kernel
  dim3 grid, block;
  size_t dynamic_shared_bytes;
  bool runs_all_blocks;
};

/// The tools of the process, which register themselves.
class Tools {
 public:
  virtual ~Tools() = default;
  /// Called in the launching thread, for a launch that may overlap earlier work of its stream. The
  /// result is passed to begin() when the launch runs.
  virtual std::shared_ptr<void> known_work() const = 0;
  /// Returns hooks for a launch, whose kernel is then instrumented; null if no tool is on.
  virtual std::unique_ptr<LaunchHooks> begin(const LaunchStart& launch,
                                             const std::shared_ptr<void>& known_work) = 0;
  /// Called when a launch ended. `sentence` describes a fault, or is ""; `tool` reports the fault.
  virtual void end(const std::string& kernel, const std::string& sentence, const char* tool) = 0;
};
inline Tools* tools = nullptr;

}  // namespace ptx
}  // namespace kernkit::simulator
