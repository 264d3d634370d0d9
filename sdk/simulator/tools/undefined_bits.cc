// SPDX-License-Identifier: Apache-2.0
#include "tools/undefined_bits.h"

#include <algorithm>

#include "ptx/machine/kernel.h"

namespace kernkit::simulator::ptx {

void Undefined::add(const Undefined& other, uint32_t lanes) {
  each_of(lanes, [&](int l) {
    if (bits[l] == 0) origins[l] = other.origins[l];
    bits[l] |= other.bits[l];
  });
}

UndefinedBits::UndefinedBits(const Kernel& kernel)
    : sizes_(kernel.register_bytes / kLine + 1),
      states_(sizes_.size()),
      first_states_(sizes_.size(), kUninitialised),
      bits_(kernel.register_bytes),
      origins_(32 * sizes_.size()) {
  for (const Slot& slot : kernel.slots) sizes_[slot.at / kLine] = static_cast<uint8_t>(slot.size);
  for (const Constant& item : kernel.constants) first_states_[item.at / kLine] = kDefined;
  for (const SpecialRegister& item : kernel.specials) first_states_[item.at / kLine] = kDefined;
  if (kernel.frame != kNone) first_states_[kernel.frame / kLine] = kDefined;
}

void UndefinedBits::start() { states_ = first_states_; }

uint64_t UndefinedBits::ones(uint32_t at) const {
  const uint32_t bytes = size(at);
  return bytes == 0 ? 1 : bytes == 8 ? UINT64_MAX : (uint64_t{1} << 8 * bytes) - 1;
}

void UndefinedBits::read(uint32_t at, Undefined* to) const {
  const uint8_t state = states_[at / kLine];
  if (state == kDefined) {
    *to = {};
    return;
  }
  if (state == kUninitialised) {
    std::fill_n(to->bits, 32, ones(at));
    std::fill_n(to->origins, 32, 0u);
    return;
  }
  const unsigned char* from = &bits_[at];
  for (int l = 0; l < 32; ++l) {
    switch (size(at)) {
      case 0: to->bits[l] = *reinterpret_cast<const uint32_t*>(from) >> l & 1; break;
      case 2: to->bits[l] = reinterpret_cast<const uint16_t*>(from)[l]; break;
      case 4: to->bits[l] = reinterpret_cast<const uint32_t*>(from)[l]; break;
      default: to->bits[l] = reinterpret_cast<const uint64_t*>(from)[l]; break;
    }
  }
  std::copy_n(&origins_[size_t{32} * (at / kLine)], 32, to->origins);
}

uint32_t UndefinedBits::origin(uint32_t at, int lane) const {
  return states_[at / kLine] == kSome ? origins_[32 * (at / kLine) + static_cast<uint32_t>(lane)]
                                      : 0;
}

uint32_t UndefinedBits::lanes(uint32_t at, uint32_t among) const {
  if (!any(at)) return 0;
  if (states_[at / kLine] == kUninitialised) return among;
  const unsigned char* from = &bits_[at];
  uint32_t lanes_found = 0;
  switch (size(at)) {
    case 0: return *reinterpret_cast<const uint32_t*>(from) & among;
    case 2:
      for (int l = 0; l < 32; ++l) {
        lanes_found |= reinterpret_cast<const uint16_t*>(from)[l] != 0 ? kLane[l] : 0;
      }
      return lanes_found & among;
    case 4:
      for (int l = 0; l < 32; ++l) {
        lanes_found |= reinterpret_cast<const uint32_t*>(from)[l] != 0 ? kLane[l] : 0;
      }
      return lanes_found & among;
    default:
      for (int l = 0; l < 32; ++l) {
        lanes_found |= reinterpret_cast<const uint64_t*>(from)[l] != 0 ? kLane[l] : 0;
      }
      return lanes_found & among;
  }
}

// Prepares a register for a write to some lanes. If states_ marks the whole register as defined or
// uninitialised, stores the undefined bits of each lane in bits_; ended lanes count as defined.
void UndefinedBits::begin_write(uint32_t at, uint32_t live) {
  const uint8_t state = states_[at / kLine];
  if (state == kSome) return;
  const uint32_t bytes = size(at);
  const size_t all = bytes == 0 ? sizeof(uint32_t) : size_t{32} * bytes;
  std::fill_n(&bits_[at], all, static_cast<unsigned char>(0));
  std::fill_n(&origins_[size_t{32} * (at / kLine)], 32, 0u);
  states_[at / kLine] = kSome;
  if (state == kDefined) return;
  if (bytes == 0) *reinterpret_cast<uint32_t*>(&bits_[at]) = live;
  for (uint32_t remaining = bytes == 0 ? 0 : live; remaining != 0; remaining &= remaining - 1) {
    std::fill_n(&bits_[at + static_cast<uint32_t>(__builtin_ctz(remaining)) * bytes], bytes,
                static_cast<unsigned char>(0xff));
  }
}

void UndefinedBits::end_write(uint32_t at, uint32_t live) {
  if (lanes(at, live) == 0) states_[at / kLine] = kDefined;
}

void UndefinedBits::define(uint32_t at, uint32_t lanes_here, uint32_t live) {
  if (!any(at)) return;
  if ((live & ~lanes_here) == 0) {
    states_[at / kLine] = kDefined;
    return;
  }
  begin_write(at, live);
  const uint32_t bytes = size(at);
  if (bytes == 0) *reinterpret_cast<uint32_t*>(&bits_[at]) &= ~lanes_here;
  for (uint32_t remaining = bytes == 0 ? 0 : lanes_here; remaining != 0;
       remaining &= remaining - 1) {
    std::fill_n(&bits_[at + static_cast<uint32_t>(__builtin_ctz(remaining)) * bytes], bytes,
                static_cast<unsigned char>(0));
  }
  end_write(at, live);
}

void UndefinedBits::write(const Warp& warp, uint32_t at, const Undefined& from) {
  if (at == kNone) return;
  uint64_t all = 0;
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1)
    all |= from.bits[__builtin_ctz(remaining)];
  if (all == 0) return define(at, warp.mask, warp.live);
  begin_write(at, warp.live);
  unsigned char* to = &bits_[at];
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int l = __builtin_ctz(remaining);
    const uint64_t bits = from.bits[l];
    switch (size(at)) {
      case 0: {
        auto& predicate = *reinterpret_cast<uint32_t*>(to);
        predicate = bits != 0 ? predicate | kLane[l] : predicate & ~kLane[l];
        break;
      }
      case 2: reinterpret_cast<uint16_t*>(to)[l] = static_cast<uint16_t>(bits); break;
      case 4: reinterpret_cast<uint32_t*>(to)[l] = static_cast<uint32_t>(bits); break;
      default: reinterpret_cast<uint64_t*>(to)[l] = bits; break;
    }
    origins_[32 * (at / kLine) + static_cast<uint32_t>(l)] = from.origins[l];
  }
  end_write(at, warp.live);
}

}  // namespace kernkit::simulator::ptx
