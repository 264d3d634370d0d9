// SPDX-License-Identifier: Apache-2.0
// ProductRegisters: accesses to the registers of a wgmma.mma_async before the wgmma.wait_group that
// completes the product. Until then no other instruction may read or write the registers of D, or
// write the registers of A (PTX ISA, "wgmma.mma_async"). An instruction that only moves bits from a
// register of D does not count, since compilers place copies between a product and the wait; its
// result then counts as a register of D.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/machine/kernel.h"

namespace kernkit::simulator::ptx {

class ProductRegisters {
 public:
  /// A product that a warp has issued.
  struct Issued {
    const Operation* product;
    uint32_t group;                // number of the product's group in the warp
    std::vector<uint32_t> copies;  // further registers that hold sums of the product
    bool missed_wait = false;      // whether a wgmma.wait_group ran before the group's commit
  };
  explicit ProductRegisters(const Kernel& kernel);

  /// Returns whether the kernel has products.
  bool any() const { return !accesses_.empty(); }
  /// Returns whether an operation names a register of a product. Requires any().
  bool names(uint32_t operation) const { return !accesses_[operation].empty(); }
  /// Returns a product whose registers the operation must not access, among the products that the
  /// warp has not waited for; null if the operation is valid. Records the copies of sums.
  const Issued* find(const Operation& operation, std::vector<Issued>* issued) const;

 private:
  struct Registers {
    std::vector<uint32_t> read, written;
    bool is_move = false;
    bool empty() const { return read.empty() && written.empty(); }
  };

  const Kernel& kernel_;
  // The registers of products, and of copies of sums, that each operation names.
  std::vector<Registers> accesses_;
};

}  // namespace kernkit::simulator::ptx
