// SPDX-License-Identifier: Apache-2.0
// UndefinedBits: the undefined bits of the registers of a warp, and their origins. Each register
// has a state, so that the lanes of a fully defined register are not read.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

struct Kernel;

template <class Visit>
void each_of(uint32_t lanes, const Visit& visit) {
  for (uint32_t remaining = lanes; remaining != 0; remaining &= remaining - 1)
    visit(__builtin_ctz(remaining));
}

/// The undefined bits of a value in 32 lanes, at most 64 bits per lane, and the number of each
/// lane's origin; 0 means that the register itself is uninitialised.
struct Undefined {
  uint64_t bits[32] = {};
  uint32_t origins[32] = {};

  void add(const Undefined& other, uint32_t lanes);
};

class UndefinedBits {
 public:
  explicit UndefinedBits(const Kernel& kernel);

  /// Marks all registers as unwritten, except registers that are set before the kernel begins.
  void start();
  /// Returns whether a register may have undefined bits.
  bool any(uint32_t at) const { return at != kNone && states_[at / kLine] != kDefined; }
  /// Returns the lanes of `among` in which a register has undefined bits.
  uint32_t lanes(uint32_t at, uint32_t among) const;
  void read(uint32_t at, Undefined* to) const;
  void write(const Warp& warp, uint32_t at, const Undefined& from);
  /// Marks a register as defined in `lanes`; `live` is the mask of lanes that have not ended.
  void define(uint32_t at, uint32_t lanes, uint32_t live);
  /// Returns a mask of all bits of the register in one lane.
  uint64_t ones(uint32_t at) const;
  uint32_t size(uint32_t at) const { return sizes_[at / kLine]; }
  uint32_t origin(uint32_t at, int lane) const;
  /// Returns the undefined bits of a register in the layout of the warp's registers, for operations
  /// that run on the bits.
  void* raw(uint32_t at) { return &bits_[at]; }

 private:
  static constexpr uint32_t kLine = 64;  // size of a line, the granularity of registers [bytes]
  enum State : uint8_t { kDefined, kSome, kUninitialised };
  void begin_write(uint32_t at, uint32_t live);
  void end_write(uint32_t at, uint32_t live);

  std::vector<uint8_t> sizes_;  // size of each line's register [bytes per lane]; 0 for a predicate
  std::vector<uint8_t> states_, first_states_;
  std::vector<unsigned char> bits_;
  std::vector<uint32_t> origins_;  // origin of each lane, 32 for each line
};

}  // namespace kernkit::simulator::ptx
