// SPDX-License-Identifier: Apache-2.0
// UndefinedBits: the undefined bits of the registers of a warp, and their origins. A register
// without undefined bits is found without a look at its lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

struct Kernel;

template <class Visit>
void each_of(uint32_t lanes, const Visit& visit) {
  for (uint32_t left = lanes; left != 0; left &= left - 1) visit(__builtin_ctz(left));
}

/// The undefined bits of 32 lanes, up to 64 each, and the number of their origin; 0: an
/// uninitialised register.
struct Undefined {
  uint64_t bits[32] = {};
  uint32_t origins[32] = {};

  void add(const Undefined& other, uint32_t lanes);
};

class UndefinedBits {
 public:
  explicit UndefinedBits(const Kernel& kernel);

  /// Nobody wrote a register, but those that are there before the kernel begins.
  void start();
  /// Whether a register may have some.
  bool any(uint32_t at) const { return at != kNone && states_[at / kLine] != kDefined; }
  /// The lanes of these in which it has.
  uint32_t lanes(uint32_t at, uint32_t among) const;
  void read(uint32_t at, Undefined* to) const;
  void write(const Warp& warp, uint32_t at, const Undefined& from);
  /// Marks a register of some lanes as defined; `live`: all lanes that have not ended.
  void define(uint32_t at, uint32_t lanes, uint32_t live);
  /// All ones, as far as the register has bits.
  uint64_t ones(uint32_t at) const;
  uint32_t size(uint32_t at) const { return sizes_[at / kLine]; }
  uint32_t origin(uint32_t at, int lane) const;
  /// The bits as the machine has registers, for operations that run on them.
  void* raw(uint32_t at) { return &bits_[at]; }

 private:
  static constexpr uint32_t kLine = 64;  // bytes, of which a register is a multiple
  enum State : uint8_t { kDefined, kSome, kNobodyWrote };
  void begin_write(uint32_t at, uint32_t live);
  void end_write(uint32_t at, uint32_t live);

  std::vector<uint8_t> sizes_;  // of each line: bytes a lane, 0 a predicate
  std::vector<uint8_t> states_, first_states_;
  std::vector<unsigned char> bits_;
  std::vector<uint32_t> origins_;  // of each line, 32
};

}  // namespace kernkit::simulator::ptx
