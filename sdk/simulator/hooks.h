// SPDX-License-Identifier: Apache-2.0
// Hooks: everything that tools attach to. RuntimeHooks follow the calls of the runtime, LaunchHooks
// and BlockHooks the operations of a kernel. Without a tool no operation calls a hook: a kernel
// runs instrumented only if a tool is on.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace kernkit::simulator {

/// Steps that order work: acquire and release an object, an OS thread starts for its maker and
/// ends, work of a queue begins.
enum class OrderStep { kAcquire, kRelease, kEnters, kLeaves, kBegins };
inline void ignore_order(OrderStep, const void*) {}
/// What happens to memory of devices; kBegins and kEnds: in the order of a stream.
enum class MemoryStep { kAllocated, kFreed, kCopied, kFilled, kBegins, kEnds };
inline void ignore_memory(MemoryStep, const void*, size_t, const void*) {}

/// Set by tools.
struct RuntimeHooks {
  void (*order)(OrderStep step, const void* what) = ignore_order;
  /// `from`: the source of a copy.
  void (*memory)(MemoryStep step, const void* at, size_t bytes, const void* from) = ignore_memory;
  /// A call returned an error; `why` is "" if only CUDA's text describes the error.
  void (*call_failed)(const char* function, cudaError_t error, const std::string& why) = nullptr;
  /// Work is given to a stream. Returns the work that runs in its place.
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
  /// A block starts.
  virtual void starts() {}
  /// Before and after an operation; the mask of the warp has the lanes that execute it.
  virtual void before(Warp& /*warp*/, const Operation& /*operation*/) {}
  virtual void after(Warp& /*warp*/, const Operation& /*operation*/) {}
  /// Before an operation that decides which operation follows; `lanes` execute it.
  virtual void decides(Warp& /*warp*/, const Operation& /*operation*/, uint32_t /*lanes*/) {}
  /// Lanes of a warp synchronised at __syncwarp().
  virtual void meets(const Warp& /*warp*/, uint32_t /*lanes*/) {}
  /// Lanes of a warp arrived at a barrier; `only`: they do not wait.
  virtual void arrives(const Warp& /*warp*/, uint32_t /*barrier*/, bool /*only*/) {}
  /// All threads that a barrier expects have arrived.
  virtual void opens(uint32_t /*barrier*/) {}
};

/// A tool's hooks for a launch.
class LaunchHooks {
 public:
  virtual ~LaunchHooks() = default;
  /// Called by each OS thread that runs blocks; the hooks end with the thread's last block.
  virtual std::unique_ptr<BlockHooks> of(Block& block) = 0;
  /// Whether blocks must run one after the other, on one processor.
  virtual bool needs_order() const { return false; }
};

/// A launch that begins.
struct LaunchStart {
  const Kernel& kernel;
  const Module& module;
  const std::string& name;  // as C++ writes it
  dim3 grid, block;
  size_t dynamic_shared_bytes;
  bool runs_all_blocks;
};

/// The tools of the process, which register themselves.
class Tools {
 public:
  virtual ~Tools() = default;
  /// Called in the thread that launches, for a launch that may overlap earlier work of its stream.
  /// Returns what begin() receives when the launch runs.
  virtual std::shared_ptr<void> known_work() const = 0;
  /// Hooks for a launch, whose kernel is then instrumented; null if no tool is on.
  virtual std::unique_ptr<LaunchHooks> begin(const LaunchStart& launch,
                                             const std::shared_ptr<void>& known_work) = 0;
  /// A launch ended. `sentence`: "" or what the kernel did wrong; `tool`: the tool that reports it.
  virtual void end(const std::string& kernel, const std::string& sentence, const char* tool) = 0;
};
inline Tools* tools = nullptr;

}  // namespace ptx
}  // namespace kernkit::simulator
