// SPDX-License-Identifier: Apache-2.0
// Kernel: a decoded kernel, including the functions that it calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/machine/operation.h"
#include "ptx/parser/module.h"

namespace kernkit::simulator::ptx {

inline constexpr uint32_t kStackBytes = 8192;  // size of a thread's stack of frames [bytes]

/// A register with the same value in every warp.
struct Constant {
  uint32_t at;
  uint32_t size;  // size [bytes per lane]; 0 for a predicate
  uint64_t bits;
  uint32_t variable = kNone;  // index into Kernel::variables if `bits` is an address
};

/// A variable of global or shared memory to which the kernel refers.
struct KernelVariable {
  enum Kind { kGlobal, kShared, kDynamic } kind;  // kDynamic is dynamic shared memory
  std::string name;                               // name in PTX
  uint64_t begin;                                 // address within the variable's space
  uint32_t bytes;            // size [bytes]; 0 for kDynamic, whose size depends on the launch
  bool is_constant = false;  // whether the variable is in constant memory
};

/// A register with the value of a special register, such as %tid.x.
struct SpecialRegister {
  int which;  // number of the register, see special_registers.h
  uint32_t at;
  bool is_narrow = false;  // whether register `at` contains only the lower 16 bits
};

struct Parameter {
  uint32_t at, size;  // offset and size [bytes]
};

/// A function that has frames: a recursive function, or a function called by its address.
struct CalledFunction {
  uint32_t number = 0;  // number of the function in the module
  uint32_t entry = 0;   // number of the function's first operation
  uint32_t frame_bytes = 0;
  std::vector<Parameter> results, parameters;  // positions in the function's frame
};

struct CallSite {
  uint32_t caller = kNone;    // index of the calling function; kNone for the kernel
  uint32_t function = kNone;  // index of the called function; kNone for a call by address
  std::vector<uint32_t> results, parameters;  // offsets in the caller's frame [bytes]
};

/// The memory of one register, within the registers of a warp.
struct Slot {
  uint32_t at, size;  // offset [bytes], size [bytes per lane]; 0 for a predicate
};

/// The memory order of an access or fence, from the modifiers of its instruction.
enum class Ordering : uint8_t { kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcquireRelease };
/// The scope of a strong access or a fence, from the smallest; kNone for a weak access.
enum class ThreadScope : uint8_t { kNone, kBlock, kCluster, kDevice, kSystem };

/// The PTX instruction from which an operation was decoded.
struct Origin {
  SourceLine line;
  std::string opcode;                        // opcode as in the PTX, for messages
  const Instruction* instruction = nullptr;  // null at the end of a kernel or function
  Type type = Type::kNone;                   // last type among the modifiers
  AccessKind access = AccessKind::kNone;     // kNone for constant and parameter memory
  Ordering ordering = Ordering::kWeak;
  ThreadScope scope = ThreadScope::kDevice;
  bool is_uncached = false;  // whether the operation is ld.cv

  /// Returns the scope of a strong access; kNone for a weak access and for other instructions.
  ThreadScope strong_scope() const {
    return access == AccessKind::kAtomic || ordering != Ordering::kWeak ? scope
                                                                        : ThreadScope::kNone;
  }
  /// Returns the scope of a memory fence; kNone for other instructions.
  ThreadScope fence_scope() const {
    return has_effect(Effect::kFence) ? scope : ThreadScope::kNone;
  }
  /// Returns whether a fence or a strong access is a release. A fence without a memory order is
  /// both a release and an acquire.
  bool releases() const {
    return ordering == Ordering::kRelease || ordering == Ordering::kAcquireRelease ||
           (ordering == Ordering::kWeak && has_effect(Effect::kFence));
  }
  bool acquires() const {
    return ordering == Ordering::kAcquire || ordering == Ordering::kAcquireRelease ||
           (ordering == Ordering::kWeak && has_effect(Effect::kFence));
  }
  bool has_effect(Effect effect) const {
    return instruction != nullptr && instruction->effect == effect;
  }
};

struct InstrumentedKernel;

struct Kernel {
  std::string name;
  std::vector<Operation> code;
  std::vector<Origin> origins;  // origin of each operation
  std::vector<Constant> constants;
  std::vector<SpecialRegister> specials;
  std::vector<Parameter> parameters;
  std::vector<std::vector<uint32_t>> tables;
  std::vector<std::vector<uint32_t>> lists;  // lists of registers, see Operation::more
  std::vector<CalledFunction> functions;
  std::vector<CallSite> calls;
  std::vector<Slot> slots;
  std::vector<KernelVariable> variables;
  uint32_t register_bytes = 0;  // size of the registers of a warp [bytes]
  uint32_t shared_bytes = 0;    // size of static shared memory, including reserved_bytes
  uint32_t reserved_begin = 0;  // value of %reserved_smem_offset_1 [bytes]
  uint32_t reserved_bytes = 0;
  uint32_t local_bytes = 0;  // local memory of a thread [bytes]
  uint32_t frame_bytes = 0;  // size of the kernel's own frame within local_bytes
  uint32_t frame = kNone;    // register that contains the start of each lane's current frame
  uint32_t parameter_bytes = 0;
  mutable std::shared_ptr<InstrumentedKernel> instrumented;  // created at the first use by a tool

  /// Visits every register of an operation, including the registers in its list.
  template <class Visit>
  void each_register(Operation* operation, const Visit& visit) {
    operation->each_register(visit);
    if (operation->more == kNone) return;
    for (uint32_t& item : lists[operation->more]) visit(&item);
  }
};

}  // namespace kernkit::simulator::ptx
