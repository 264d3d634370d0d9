// SPDX-License-Identifier: Apache-2.0
// Watch: what a tool sees of a launch. Where none is on, the machine asks for nothing: with one a
// kernel runs whose operations come to it first, see tools/watched_kernel.h.
#pragma once

#include <cstdint>
#include <memory>

#include "ptx/machine/operation.h"

namespace kernkit::simulator::ptx {

struct Block;
struct Warp;

/// Of a block of the machine: of one block of the grid after another.
class BlockWatch {
 public:
  virtual ~BlockWatch() = default;
  virtual void starts() {}
  /// The warp's mask says which lanes do it.
  virtual void before(Warp& /*warp*/, const Operation& /*operation*/) {}
  virtual void after(Warp& /*warp*/, const Operation& /*operation*/) {}
  /// Before an operation that decides what is next; `lanes`: those that do it.
  virtual void decides(Warp& /*warp*/, const Operation& /*operation*/, uint32_t /*lanes*/) {}
  /// Lanes of a warp met at __syncwarp().
  virtual void meets(const Warp& /*warp*/, uint32_t /*lanes*/) {}
  /// Lanes of a warp came to a barrier; `only`: they do not wait for the others.
  virtual void arrives(const Warp& /*warp*/, uint32_t /*barrier*/, bool /*only*/) {}
  /// All who were expected there have come.
  virtual void opens(uint32_t /*barrier*/) {}
};

class Watch {
 public:
  virtual ~Watch() = default;
  /// Asked by several OS threads, as its block watches end.
  virtual std::unique_ptr<BlockWatch> of(Block& block) = 0;
  /// Whether blocks run one after the other, on one processor.
  virtual bool needs_order() const { return false; }
};

}  // namespace kernkit::simulator::ptx
