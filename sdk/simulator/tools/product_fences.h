// SPDX-License-Identifier: Apache-2.0
// ProductFences: accesses to the registers of a wgmma.mma_async that no wgmma.fence orders before
// the product (PTX ISA, "wgmma.fence"). An instruction that only moves bits moves the state of its
// source with the value: a compiler may place such instructions between a fence and a product.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/machine/kernel.h"

namespace kernkit::simulator::ptx {

class ProductFences {
 public:
  /// The reason why a wgmma.mma_async needs a wgmma.fence that is missing.
  enum class Lack : uint8_t {
    kNothing,
    kAnyFence,  // the warp has executed no fence
    kWrite,     // an instruction wrote a register of the product
    kShape,     // a product of another shape wrote a register of D
    kSums,      // a register of A is a sum of an earlier product
    kRead       // an instruction read a register of D
  };
  struct Missing {
    Lack lack = Lack::kNothing;
    uint32_t earlier = kNone;  // number of the operation that accessed the register
  };
  /// The accesses of a warp to registers since its last wgmma.fence.
  class State {
   public:
    /// Removes all accesses. Called when a block starts.
    void start() { *this = State(); }

   private:
    friend class ProductFences;
    // For each tracked register: 1 plus the number of the last operation that wrote the value
    // (writers) or read the register (readers); 0 without such an operation.
    std::vector<uint32_t> writers, readers;
    bool is_fenced = false;
  };
  explicit ProductFences(const Kernel& kernel);

  /// Returns whether follow() must be called for an operation. False in kernels without products.
  bool concerns(uint32_t operation) const {
    return !steps_.empty() && steps_[operation].kind != Step::kNone;
  }
  /// Records in *state the accesses of an operation that the lanes of the mask `lanes` execute. If
  /// the operation is a wgmma.mma_async, returns the reason why a fence is missing, or kNothing.
  Missing follow(const Operation& operation, uint32_t lanes, State* state) const;

 private:
  // The accesses of an operation to tracked registers, which are identified by index.
  struct Step {
    enum Kind : uint8_t { kNone, kFence, kProduct, kMove, kAccess } kind = kNone;
    // Read and written registers; for a product, the registers of A and of D.
    std::vector<uint32_t> read, written;
  };
  Missing lack_of(const Step& product, const Operation& operation, const State& state) const;
  uint32_t shape_of(uint32_t operation) const;

  const Kernel& kernel_;
  std::vector<Step> steps_;  // one entry for each operation; empty in kernels without products
  uint32_t tracked_ = 0;     // number of tracked registers
};

}  // namespace kernkit::simulator::ptx
