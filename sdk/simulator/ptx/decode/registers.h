// SPDX-License-Identifier: Apache-2.0
// Registers: numbers for the registers of a kernel while it is decoded, then their places in a
// warp's memory. What is not needed at the same time shares a place.
#pragma once

#include <vector>

#include "ptx/machine/kernel.h"
#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {

/// Bytes a lane in a warp: a predicate has a bit a lane, 0 bytes.
inline uint32_t register_size(Type type) {
  return type == Type::kPred ? 0 : size_of(type) < 2 ? 2 : size_of(type);
}

class Registers {
 public:
  uint32_t add(Type type);
  /// One that holds a number in every lane, or the address of a variable of the kernel.
  uint32_t constant(uint64_t bits, uint32_t size, Kernel* kernel, uint32_t variable = kNone);
  size_t count() const { return sizes_.size(); }
  /// Gives each its place, and puts that into the kernel's operations.
  void place(Kernel* kernel) const;

 private:
  std::vector<uint32_t> sizes_;  // bytes a lane
};

}  // namespace kernkit::simulator::ptx
