// SPDX-License-Identifier: Apache-2.0
// Kernel: a decoded kernel, the functions that it calls included.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/machine/operation.h"
#include "ptx/parser/module.h"

namespace kernkit::simulator::ptx {

inline constexpr uint32_t kStackBytes = 8192;  // of a thread, for the frames of functions

/// A register that holds the same in every warp.
struct Constant {
  uint32_t at;
  uint32_t size;  // bytes a lane; 0: a predicate
  uint64_t bits;
  uint32_t variable = kNone;  // the variable with this address, a number of Kernel::variables
};

/// A variable of global or shared memory that the kernel names.
struct KernelVariable {
  enum Kind { kGlobal, kShared, kDynamic } kind;  // kDynamic: dynamic shared memory
  std::string name;                               // in PTX
  uint64_t begin;                                 // its address in its space
  uint32_t bytes;                                 // of kDynamic 0, since a launch has it
};

/// A register that holds %tid.x and the like.
struct SpecialRegister {
  int which;  // see special_registers.h
  uint32_t at;
};

struct Parameter {
  uint32_t at, size;  // bytes
};

/// A function that has frames: it calls itself, or is called by its address.
struct CalledFunction {
  uint32_t number = 0;  // in the module
  uint32_t entry = 0;   // an operation
  uint32_t frame_bytes = 0;
  std::vector<Parameter> results, parameters;  // in its frame
};

struct CallSite {
  uint32_t caller = kNone;                    // a function; kNone: the kernel
  uint32_t function = kNone;                  // kNone: by its address
  std::vector<uint32_t> results, parameters;  // where they are in the caller's frame
};

/// A place of registers.
struct Slot {
  uint32_t at, size;  // bytes a lane; 0: a predicate
};

/// The order that the modifiers of an instruction give its access or fence.
enum class Ordering : uint8_t { kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcquireRelease };
/// The threads that an ordered access or a fence is visible to.
enum class ThreadScope : uint8_t { kNone, kBlock, kDevice };

/// The instruction that an operation comes from.
struct Origin {
  SourceLine line;
  std::string opcode;                        // as the PTX has it; for messages
  const Instruction* instruction = nullptr;  // null: the end of a kernel or function
  Type type = Type::kNone;                   // the last type among the modifiers
  AccessKind access = AccessKind::kNone;     // kNone for constants and parameters as well
  Ordering ordering = Ordering::kWeak;
  ThreadScope scope = ThreadScope::kDevice;
  bool is_uncached = false;  // ld.cv

  /// The scope of an access that other threads may wait for; kNone for a weak access.
  ThreadScope ordered_scope() const {
    return access == AccessKind::kAtomic || ordering != Ordering::kWeak ? scope
                                                                        : ThreadScope::kNone;
  }
  /// The scope of a fence, or of an access that releases; kNone for other instructions.
  ThreadScope fence_scope() const {
    const bool releases = ordering == Ordering::kRelease || ordering == Ordering::kAcquireRelease;
    return has_effect(Effect::kFence) || (access != AccessKind::kNone && releases)
               ? scope
               : ThreadScope::kNone;
  }
  bool has_effect(Effect effect) const {
    return instruction != nullptr && instruction->effect == effect;
  }
};

struct InstrumentedKernel;

struct Kernel {
  std::string name;
  std::vector<Operation> code;
  std::vector<Origin> origins;  // of the operations
  std::vector<Constant> constants;
  std::vector<SpecialRegister> specials;
  std::vector<Parameter> parameters;
  std::vector<std::vector<uint32_t>> tables;
  std::vector<std::vector<uint32_t>> lists;  // of registers, see Operation::more
  std::vector<CalledFunction> functions;
  std::vector<CallSite> calls;
  std::vector<Slot> slots;
  std::vector<KernelVariable> variables;
  uint32_t register_bytes = 0;  // of a warp
  uint32_t shared_bytes = 0;    // static, with reserved bytes
  uint32_t reserved_begin = 0;  // in shared memory, zero at first: %reserved_smem_offset_1
  uint32_t reserved_bytes = 0;
  uint32_t local_bytes = 0;  // of a thread
  uint32_t frame_bytes = 0;  // of these the kernel's own
  uint32_t frame = kNone;    // the register of where the frame of a lane begins
  uint32_t parameter_bytes = 0;
  mutable std::shared_ptr<InstrumentedKernel> instrumented;  // made at the first launch with a tool

  /// Visits every register of an operation, those in its list included.
  template <class Visit>
  void each_register(Operation* operation, const Visit& visit) {
    operation->each_register(visit);
    if (operation->more == kNone) return;
    for (uint32_t& one : lists[operation->more]) visit(&one);
  }
};

}  // namespace kernkit::simulator::ptx
