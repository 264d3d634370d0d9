// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/heap.h"

#include <cstring>

namespace kernkit::simulator::ptx {
namespace {

constexpr uint64_t kMaxFreedBytes = 1 << 20;  // freed memory kept to detect accesses [bytes]

}  // namespace

uint64_t Heap::allocate(uint64_t bytes, unsigned char poison) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > limit_ || used_ > limit_ - bytes) return 0;
  // Memory from new[] is aligned to 16 bytes.
  Piece piece{std::make_unique<unsigned char[]>(bytes + 1), bytes};
  std::memset(piece.memory.get(), poison, bytes);
  const auto address = reinterpret_cast<uint64_t>(piece.memory.get());
  pieces_[address] = std::move(piece);
  used_ += bytes;
  return address;
}

bool Heap::release(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto piece = pieces_.find(address);
  if (piece == pieces_.end() || piece->second.freed) return false;
  piece->second.freed = true;
  used_ -= piece->second.bytes;
  kept_bytes_ += piece->second.bytes;
  freed_.push_back(address);
  while (kept_bytes_ > kMaxFreedBytes) {
    const auto oldest = pieces_.find(freed_.front());
    kept_bytes_ -= oldest->second.bytes;
    pieces_.erase(oldest);
    freed_.pop_front();
  }
  return true;
}

std::map<uint64_t, Heap::Piece>::const_iterator Heap::around(uint64_t address) const {
  const auto above = pieces_.upper_bound(address);
  return above == pieces_.begin() ? pieces_.end() : std::prev(above);
}

Range Heap::range_of(uint64_t address) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto piece = around(address);
  if (piece == pieces_.end() || piece->second.freed) return {};
  if (address - piece->first >= piece->second.bytes) return {};
  return {piece->first, piece->first + piece->second.bytes};
}

std::string Heap::location_of(uint64_t address) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto piece = around(address);
  if (piece == pieces_.end()) return "";
  const uint64_t bytes = piece->second.bytes, at = address - piece->first;
  const std::string all = std::to_string(bytes) + " bytes that malloc() returned";
  if (at < bytes) {
    return "at byte " + std::to_string(at) + " of " + all +
           (piece->second.freed ? " and free() released" : "");
  }
  constexpr uint64_t kNear = 4096;
  return at - bytes < kNear ? std::to_string(at - bytes) + " bytes after " + all : "";
}

void Heap::set_limit(uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  limit_ = bytes;
}

uint64_t Heap::limit() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return limit_;
}

}  // namespace kernkit::simulator::ptx
