// SPDX-License-Identifier: Apache-2.0
// Memory of arguments: layout, contents, and search for stray writes.
#pragma once

#include <algorithm>

#include "kernkit/testing/contract/call.h"

namespace kernkit::testing::contract {

inline void Call::prepare() {
  release();
  memories_.resize(arguments.size());
  // Size of the space before and after a tensor [bytes], so that an access with a wider dtype stays
  // in the allocation.
  int64_t guard = 256;
  for (const Argument& argument : arguments) {
    if (!argument.is_tensor) continue;
    const auto bytes = static_cast<int64_t>(bytes_of(argument.dtype, argument.numel()));
    guard = std::max(guard, std::min<int64_t>(8 * bytes, 1 << 20) / 256 * 256 + 256);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (!argument.is_tensor || argument.shares >= 0) continue;
    int64_t low = 0, high = 0;
    for (const int64_t offset : argument.offsets()) {
      low = std::min(low, offset);
      high = std::max(high, offset + argument.unit());
    }
    Memory& memory = memories_[i];
    memory.target = argument.stays_on_cpu ? &cpu_target() : target_;
    memory.origin = guard + (255 - low) / 256 * 256 + argument.first * argument.unit();
    const auto size = static_cast<size_t>(memory.origin + high + guard);
    memory.data = static_cast<unsigned char*>(memory.target->allocate(size));
    memory.before.assign(size, around_);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (!argument.is_tensor || argument.shares < 0) continue;
    memories_[i].origin = memory_of(i).origin + argument.shift * argument.unit();
  }
  // Fills outputs first, so that memory shared by an output and an input holds the input.
  for (const bool written : {true, false}) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].is_tensor && arguments[i].is_written == written) fill(i);
    }
  }
  for (Memory& memory : memories_) memory.after = memory.before;
  upload();
}

inline void Call::fill(size_t i) {
  const Argument& argument = arguments[i];
  std::vector<unsigned char>& bytes = const_cast<Memory&>(memory_of(i)).before;
  const Elements contents = argument.contents.has_value()
                                ? *argument.contents
                                : make_elements(argument.dtype, argument.numel(), argument.values);
  const auto unit = static_cast<size_t>(argument.unit());
  const unsigned char* from = contents.bytes.data();
  for (const int64_t offset : argument.offsets()) {
    std::memcpy(&bytes[static_cast<size_t>(memories_[i].origin + offset)], from, unit);
    from += unit;
  }
}

inline Elements Call::elements(size_t i, const std::vector<unsigned char>& bytes) const {
  const Argument& argument = arguments[i];
  Elements read{argument.dtype, {}};
  for (const int64_t offset : argument.offsets()) {
    const unsigned char* unit = &bytes[static_cast<size_t>(memories_[i].origin + offset)];
    read.bytes.insert(read.bytes.end(), unit, unit + argument.unit());
  }
  return read;
}

inline std::vector<Call::Owner> Call::owners(const Memory& memory) const {
  std::vector<Owner> owner(memory.before.size(), kNoTensor);
  for (const bool written : {false, true}) {
    for (size_t k = 0; k < arguments.size(); ++k) {
      const Argument& argument = arguments[k];
      if (!argument.is_tensor || &memory_of(k) != &memory) continue;
      if (argument.is_written != written) continue;
      for (const int64_t offset : argument.offsets()) {
        const int64_t begin = memories_[k].origin + offset;
        std::fill_n(owner.begin() + begin, argument.unit(), written ? kWritten : kRead);
      }
    }
  }
  return owner;
}

inline void Call::poison_around() {
  for (const Memory& memory : memories_) {
    if (memory.data == nullptr) continue;
    const std::vector<Owner> owner = owners(memory);
    for (auto begin = owner.begin(); begin != owner.end();) {
      const auto end = std::find_if(begin, owner.end(), [](Owner o) { return o != kNoTensor; });
      memory.target->poison(memory.data + (begin - owner.begin()),
                            static_cast<size_t>(end - begin));
      begin = std::find(end, owner.end(), kNoTensor);
    }
  }
}

inline void Call::unpoison_around() {
  for (const Memory& memory : memories_) {
    if (memory.data != nullptr) memory.target->unpoison(memory.data, memory.before.size());
  }
}

inline std::string Call::stray_write(bool inside) const {
  for (size_t i = 0; i < memories_.size(); ++i) {
    const Memory& memory = memories_[i];
    if (memory.data == nullptr) continue;
    const std::vector<Owner> owner = owners(memory);
    for (size_t b = 0; b < owner.size(); ++b) {
      if (memory.before[b] == memory.after[b] || owner[b] != (inside ? kRead : kNoTensor)) continue;
      const std::string byte = std::to_string(static_cast<int64_t>(b) - memory.origin);
      return "byte " + byte + " from the first element of " + contract_->name_of(i);
    }
  }
  return "";
}

inline std::string Call::unwritten() const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (!argument.is_tensor || !contract_->is_result(i) || argument.numel() == 0) continue;
    const Memory& memory = memory_of(i);
    if (elements(i, memory.before).bytes == elements(i, memory.after).bytes) {
      return contract_->name_of(i);
    }
  }
  return "";
}

}  // namespace kernkit::testing::contract
