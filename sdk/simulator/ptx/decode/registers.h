// SPDX-License-Identifier: Apache-2.0
// Registers: the numbers of a kernel's registers during decoding, then their offsets in a warp's
// memory. Registers that are not live at the same time share memory.
#pragma once

#include <vector>

#include "ptx/machine/kernel.h"
#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {

/// Size of a register [bytes per lane]; 0 for a predicate, which has a bit per lane. A register of
/// 16 bytes is two registers of 8 bytes with adjacent numbers, the lower half first.
inline uint32_t register_size(Type type) {
  return type == Type::kPred ? 0 : size_of(type) < 2 ? 2 : size_of(type);
}

class Registers {
 public:
  uint32_t add(Type type);
  /// Returns a register with the constant `bits` in every lane. `variable` is the index into
  /// Kernel::variables if the constant is the address of a variable.
  uint32_t constant(uint64_t bits, uint32_t size, Kernel* kernel, uint32_t variable = kNone);
  size_t count() const { return sizes_.size(); }
  /// Assigns memory to each register, and replaces register numbers in the kernel's operations by
  /// offsets.
  void assign_slots(Kernel* kernel) const;

 private:
  std::vector<uint32_t> sizes_;  // size of each register [bytes per lane]
};

}  // namespace kernkit::simulator::ptx
