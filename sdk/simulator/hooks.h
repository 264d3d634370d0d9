// SPDX-License-Identifier: Apache-2.0
// Hooks: the interface for tools. RuntimeHooks receive calls of the runtime, LaunchHooks and
// BlockHooks the operations of a kernel. Without a tool no operation calls a hook: a kernel runs
// instrumented only while a tool is in use.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// Steps that order work, for the happens-before relation of a race detector.
enum class OrderStep {
  kAcquire,  ///< work that was released to an object happens before the actor's later work
  kRelease,  ///< the actor releases its earlier work to an object
  kForget,   ///< the object no longer exists: another object may get its address
  kEnters,   ///< this thread becomes a new actor, such as a stream
  kLeaves,   ///< this thread becomes the previous actor again
  kBegins    ///< work of a queue begins
};
/// Ignores a step. This function is the value of RuntimeHooks::order while no tool is in use.
inline void ignore_order(OrderStep, const void*) {}
/// Event of a range of device memory. kBegins and kEnds occur when a stream reaches the allocation
/// or the free.
enum class MemoryStep {
  kAllocated,  ///< a call allocated the bytes
  kFreed,      ///< the bytes are no longer allocated
  kCopied,     ///< a copy wrote the bytes
  kFilled,     ///< a memset, or host work in a stream, wrote the bytes
  kRead,       ///< host work in a stream read the bytes
  kBegins,     ///< an allocation by a stream or graph begins
  kEnds        ///< an allocation by a stream or graph ends
};
/// Ignores a step. This function is the value of RuntimeHooks::memory while no tool is in use.
inline void ignore_memory(MemoryStep, const void*, size_t, const void*) {}

/// Functions that the runtime calls; a tool replaces the functions that it needs.
struct RuntimeHooks {
  /// Called for each step, in the thread of the actor. `object` is the acquired, released or
  /// forgotten object; for kBegins, the queue, or null if the work is not ordered with the queue's
  /// other work; otherwise null.
  void (*order)(OrderStep step, const void* object) = ignore_order;
  /// Called for each step that concerns the `bytes` bytes at `at`. `from` is the source of a copy;
  /// otherwise null.
  void (*memory)(MemoryStep step, const void* at, size_t bytes, const void* from) = ignore_memory;
  /// Called once, in the process's first call of an API function.
  void (*first_call)() = nullptr;
  /// Called when a launch or a check of arguments returns an error. `why` describes the error; ""
  /// if there is only the error code.
  void (*call_failed)(const char* function, cudaError_t error, const std::string& why) = nullptr;
  /// Called when work is enqueued in a stream. Returns the work to run in place of `work`.
  std::function<void()> (*enqueued)(std::function<void()> work, cudaStream_t stream) = nullptr;
};
/// The hooks of the process.
inline RuntimeHooks runtime_hooks;

namespace ptx {

struct Block;
struct Kernel;
struct Module;
struct Operation;
struct Warp;

/// Bytes that a bulk copy accesses.
struct CopiedBytes {
  enum Kind : uint8_t { kReads, kWrites, kReduces } kind;
  Block* block;  // block in whose shared memory the bytes are; null for global memory
  uint64_t at;   // offset in shared memory [bytes], or address of global memory
  uint32_t bytes;
};

/// A bulk copy that a lane issues.
struct IssuedCopy {
  uint64_t number;  // number of the copy among the copies of the issuing block
  int lane;
  bool in_group;      // whether the copy completes in a bulk group instead of at mbarriers
  bool is_generic;    // whether the copy uses the generic proxy: st.async, red.async
  uint32_t mbarrier;  // offset of the mbarriers in shared memory [bytes]
  uint64_t map;       // address of the tensor map; 0 for a copy without a tensor map
  std::vector<CopiedBytes> bytes;
};

/// The state of an mbarrier that has counted copied bytes, or whose completed phase a lane has
/// observed.
struct MbarrierPhase {
  Block& block;     // block in whose shared memory the mbarrier is
  uint32_t at;      // offset in shared memory [bytes]
  uint64_t phases;  // number of completed phases, see Mbarriers::phases()
};

/// A tool's hooks for the blocks that one OS thread runs, one block after the other.
class BlockHooks {
 public:
  /// Called after the last block of the thread.
  virtual ~BlockHooks() = default;
  /// Called when a block starts.
  virtual void starts() {}
  /// Called before an operation; the warp's mask contains the lanes that execute the operation.
  virtual void before(Warp& /*warp*/, const Operation& /*operation*/) {}
  /// Called after an operation. The warp's mask contains the lanes that executed the operation,
  /// except lanes whose invalid accesses were skipped.
  virtual void after(Warp& /*warp*/, const Operation& /*operation*/) {}
  /// Called in place of after() if the accesses of all lanes were skipped.
  virtual void leaves_out(Warp& /*warp*/, const Operation& /*operation*/) {}
  /// Called before the lanes in the mask `lanes` execute a control-flow operation.
  virtual void decides(Warp& /*warp*/, const Operation& /*operation*/, uint32_t /*lanes*/) {}
  /// Called when lanes of a warp have synchronised at __syncwarp().
  virtual void synchronises(const Warp& /*warp*/, uint32_t /*lanes*/) {}
  /// Called when lanes of a warp have arrived at a barrier. `only`: whether the lanes continue
  /// without a wait, as after bar.arrive.
  virtual void arrives(const Warp& /*warp*/, uint32_t /*barrier*/, bool /*only*/) {}
  /// Called when lanes of a warp have arrived at barrier.cluster. `releases`: false for an arrival
  /// with `.relaxed`.
  virtual void arrives_at_cluster(const Warp& /*warp*/, bool /*releases*/) {}
  /// Called when lanes of a warp leave a wait for barrier.cluster.
  virtual void leaves_cluster_barrier(const Warp& /*warp*/) {}
  /// Called when all threads that a barrier expects have arrived.
  virtual void opens(uint32_t /*barrier*/) {}
  /// Called when a bulk copy, or another block of the cluster, stored `bytes` bytes at offset `at`
  /// of shared memory. `from` is the source address in global memory; 0 for any other source, whose
  /// bytes count as initialised.
  virtual void copied_into_shared(uint32_t /*at*/, uint32_t /*bytes*/, uint64_t /*from*/) {}
  /// Called when a bulk copy that `lane` issued has stored `bytes` bytes from offset `from` of
  /// shared memory at address `at` of global memory.
  virtual void copied_into_global(const Warp& /*warp*/, int /*lane*/,
                                  const Operation& /*operation*/, uint64_t /*at*/,
                                  uint32_t /*bytes*/, uint32_t /*from*/) {}
  /// Called when a lane of the block issues a bulk copy.
  virtual void issues(const Warp& /*warp*/, const Operation& /*operation*/,
                      const IssuedCopy& /*copy*/) {}
  /// Called for the issuing block when a bulk copy has stored its bytes in shared memory of the
  /// block `to`, before the mbarrier counts the bytes.
  virtual void lands(uint64_t /*copy*/, const Block& /*to*/, const MbarrierPhase& /*mbarrier*/) {}
  /// Called when an mbarrier of the block has counted bytes, or arrivals of cp.async.
  virtual void counted(uint32_t /*mbarrier*/) {}
  /// Called when a lane found that a phase of an mbarrier has completed.
  virtual void waited(const Warp& /*warp*/, int /*lane*/, const Operation& /*operation*/,
                      const MbarrierPhase& /*mbarrier*/) {}
  /// Called when all threads of the block have ended.
  virtual void ends() {}
};

/// A tool's hooks for a launch.
class LaunchHooks {
 public:
  /// Called when the launch has ended.
  virtual ~LaunchHooks() = default;
  /// Returns the hooks for the blocks that one OS thread runs. Called by that thread, which
  /// destroys the hooks after its last block.
  virtual std::unique_ptr<BlockHooks> block_hooks(Block& block) = 0;
  /// Returns whether blocks must run one after the other, on one processor.
  virtual bool needs_order() const { return false; }
  /// Returns whether invalid accesses are skipped and their threads continue, so that the tool also
  /// checks later accesses. After the kernel, the device has the error of the first invalid access.
  virtual bool continues_after_faults() const { return false; }
  /// Returns the seed of the order of blocks and threads. `of_program` is the seed of the runtime.
  virtual unsigned seed(unsigned of_program) const { return of_program; }
};

/// The launch that Tools::begin() receives.
struct LaunchStart {
  const Kernel& kernel;         ///< decoded code of the kernel
  const Module& module;         ///< PTX module of the kernel
  const std::string& name;      ///< C++ name of the kernel
  dim3 grid,                    ///< size of the grid [blocks]
      block;                    ///< size of a block [threads]
  size_t dynamic_shared_bytes;  ///< dynamic shared memory of a block [bytes]
  bool runs_all_blocks;         ///< false if only some blocks run, see CudaRuntime::sample_blocks()
  int device;                   ///< number of the device
  uint64_t number;              ///< result of Tools::number_launch(); 0 for a launch by a kernel
};

/// Interface to the tools, which register themselves in `tools` if they are linked.
class Tools {
 public:
  /// Never called: the tools live until the process ends.
  virtual ~Tools() = default;
  /// Returns a record of the work that happened before a programmatic dependent launch, which may
  /// overlap earlier work of its stream. Called in the launching thread; begin() receives the
  /// record when the launch runs.
  virtual std::shared_ptr<void> work_clock() const = 0;
  /// Returns the number of a launch by the host: 1 for the first call. In each launch of a graph, a
  /// kernel node has the number of the call that made the node. Called in the launching thread.
  virtual uint64_t number_launch() = 0;
  /// Returns the hooks for a launch, which then runs the instrumented kernel. Returns null if no
  /// tool is active.
  virtual std::unique_ptr<LaunchHooks> begin(const LaunchStart& launch,
                                             const std::shared_ptr<void>& work_clock) = 0;
  /// Called when a launch of `kernel` has ended. `sentence` describes a fault, or is "" without a
  /// fault; `tool` is the name of the tool that reports the fault.
  virtual void end(const std::string& kernel, const std::string& sentence, const char* tool) = 0;
};
/// The tools of the process; null if no tool is linked.
inline Tools* tools = nullptr;

}  // namespace ptx
}  // namespace kernkit::simulator
