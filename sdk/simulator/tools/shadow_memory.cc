// SPDX-License-Identifier: Apache-2.0
#include "tools/shadow_memory.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "platform/sanitizers.h"

namespace kernkit::simulator::ptx {

struct WrittenSteps {
  static void note(MemoryStep step, const void* at, size_t bytes, const void* from) {
    before(step, at, bytes, from);
    Written& all = Written::of_process();
    const auto address = reinterpret_cast<uint64_t>(at);
    switch (step) {
      case MemoryStep::kAllocated: return all.allocate(address, bytes);
      case MemoryStep::kFreed: all.pieces_.erase(address); return;
      case MemoryStep::kCopied: return all.copy(address, reinterpret_cast<uint64_t>(from), bytes);
      case MemoryStep::kFilled: return all.fill(address, bytes);
      default: return;
    }
  }
  static inline decltype(RuntimeHooks::memory) before = nullptr;  // the previous hook
};

Written& Written::of_process() {
  static auto& all = *new Written;
  return all;
}

void Written::keep() {
  if (WrittenSteps::before != nullptr) return;
  WrittenSteps::before = std::exchange(runtime_hooks.memory, WrittenSteps::note);
}

WrittenPiece Written::piece_around(uint64_t address) const {
  const auto next = pieces_.upper_bound(address);
  WrittenPiece piece{0, next == pieces_.end() ? UINT64_MAX : next->first, nullptr};
  if (next == pieces_.begin()) return piece;
  const auto& [begin, covering] = *std::prev(next);
  if (address >= covering.end) {
    piece.begin = covering.end;
    return piece;
  }
  return {begin, covering.end, covering.words.get()};
}

// Uses calloc(), whose large blocks take memory only for touched pages.
void Written::allocate(uint64_t address, uint64_t bytes) {
  auto* bits = static_cast<uint64_t*>(std::calloc((bytes + 63) / 64, sizeof(uint64_t)));
  if (bits == nullptr) return;
  pieces_.erase(address);
  pieces_.emplace(address, Bits{address + bytes, {bits, std::free}});
}

void Written::fill(uint64_t to, uint64_t bytes) {
  while (bytes != 0) {
    const WrittenPiece piece = piece_around(to);
    const uint64_t piece_bytes = std::min(bytes, piece.end - to);
    for (uint64_t written = 0; piece.bits != nullptr && written < piece_bytes;) {
      const uint64_t at = to + written - piece.begin,
                     remaining = std::min(64 - at % 64, piece_bytes - written);
      const uint64_t bits_set = remaining == 64 ? UINT64_MAX : (uint64_t{1} << remaining) - 1;
      piece.bits[at / 64] |= bits_set << at % 64;
      written += remaining;
    }
    to += piece_bytes;
    bytes -= piece_bytes;
  }
}

// Copies the state of each byte: a copy of an uninitialised byte is uninitialised.
void Written::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  const WrittenPiece source = piece_around(from);
  if (source.bits == nullptr) return fill(to, bytes);
  const WrittenPiece target = piece_around(to);
  if (target.bits == nullptr) return;
  bytes = std::min(bytes, std::min(source.end - from, target.end - to));
  const auto bit = [](const WrittenPiece& piece, uint64_t address) {
    const uint64_t at = address - piece.begin;
    return piece.bits[at / 64] >> at % 64 & 1;
  };
  for (uint64_t i = 0; i < bytes; ++i) {
    const bool is_word_aligned =
        (from + i - source.begin) % 64 == 0 && (to + i - target.begin) % 64 == 0;
    if (is_word_aligned && bytes - i >= 64) {
      target.bits[(to + i - target.begin) / 64] = source.bits[(from + i - source.begin) / 64];
      i += 63;
      continue;
    }
    const uint64_t at = to + i - target.begin, mask = uint64_t{1} << at % 64;
    uint64_t& word = target.bits[at / 64];
    word = bit(source, from + i) != 0 ? word | mask : word & ~mask;
  }
}

}  // namespace kernkit::simulator::ptx
