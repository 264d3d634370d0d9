// SPDX-License-Identifier: Apache-2.0
#include "ptx/semantics/bulk_reduction.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "ptx/semantics/updates.h"
#include "ptx/simd/half_formats.h"

namespace kernkit::simulator::ptx {
namespace {

// A value of type uint8_t identifies a reduction: a BulkOperation in the lower four bits, and an
// ElementType in the upper four bits.
enum BulkOperation : uint8_t { kStore, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };
// Values of CUtensorMapDataType.
enum ElementType : uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBF16,
  kF32Flushed,
  kTF32,
  kTF32Flushed,
  kTypeOfMap = 15
};

constexpr std::string_view kNames[] = {"", "add", "min", "max", "inc", "dec", "and", "or", "xor"};

ElementType element_type(Type type) {
  switch (type) {
    case Type::kB32:
    case Type::kU32: return kU32;
    case Type::kS32: return kS32;
    case Type::kB64:
    case Type::kU64: return kU64;
    case Type::kS64: return kS64;
    case Type::kF16: return kF16;
    case Type::kBF16: return kBF16;
    case Type::kF32: return kF32;
    case Type::kF64: return kF64;
    default: return kTypeOfMap;
  }
}

template <class T>
T applied(uint8_t operation, T old, T other) {
  if constexpr (std::is_integral_v<T>) {
    switch (operation) {
      case kAdd: return Add::apply(old, other, other);
      case kMin: return Min::apply(old, other, other);
      case kMax: return Max::apply(old, other, other);
      case kInc: return Inc::apply(old, other, other);
      case kDec: return Dec::apply(old, other, other);
      case kAnd: return And::apply(old, other, other);
      case kOr: return Or::apply(old, other, other);
      default: return Xor::apply(old, other, other);
    }
  } else {
    switch (operation) {
      case kAdd: return old + other;
      case kMin: return std::min(old, other);
      default: return std::max(old, other);
    }
  }
}

template <class T>
void reduce_elements(uint8_t operation, unsigned char* to, const unsigned char* from,
                     uint32_t bytes) {
  for (uint32_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T old, other;
    std::memcpy(&old, to + i, sizeof(T));
    std::memcpy(&other, from + i, sizeof(T));
    old = applied(operation, old, other);
    std::memcpy(to + i, &old, sizeof(T));
  }
}

template <class H>
void reduce_halves(uint8_t operation, unsigned char* to, const unsigned char* from,
                   uint32_t bytes) {
  for (uint32_t i = 0; i + 2 <= bytes; i += 2) {
    H old, other;
    std::memcpy(&old.bits, to + i, 2);
    std::memcpy(&other.bits, from + i, 2);
    old = H::from(applied(operation, old.value(), other.value()));
    std::memcpy(to + i, &old.bits, 2);
  }
}

// The lock of all reductions: blocks on several OS threads may reduce into the same memory.
std::mutex& reductions() {
  static auto& mutex = *new std::mutex;  // never destroyed, like the runtime's state
  return mutex;
}

}  // namespace

uint8_t reduction_named(std::string_view name, Type type) {
  const auto* position = std::find(std::begin(kNames) + 1, std::end(kNames), name);
  if (position == std::end(kNames)) return kNoReduction;
  const auto operation = static_cast<uint8_t>(position - std::begin(kNames));
  if (type == Type::kNone) return static_cast<uint8_t>(operation | kTypeOfMap << 4);
  return reduction_of(operation, element_type(type));
}

uint8_t reduction_of(uint8_t reduction, uint8_t type_of_map) {
  const auto operation = static_cast<uint8_t>(reduction & 15);
  if (operation == kStore || type_of_map > kBF16) return kNoReduction;
  const bool is_integer = type_of_map <= kS64, is_real = !is_integer;
  if (type_of_map < kU32) return kNoReduction;
  if (is_real && operation >= kInc) return kNoReduction;
  if ((operation == kInc || operation == kDec) && type_of_map != kU32) return kNoReduction;
  return static_cast<uint8_t>(operation | type_of_map << 4);
}

void reduce(uint8_t reduction, unsigned char* to, const unsigned char* from, uint32_t bytes) {
  if (reduction == kNoReduction) {
    std::memcpy(to, from, bytes);
    return;
  }
  const std::lock_guard<std::mutex> lock(reductions());
  const auto operation = static_cast<uint8_t>(reduction & 15);
  switch (reduction >> 4) {
    case kU32: return reduce_elements<uint32_t>(operation, to, from, bytes);
    case kS32: return reduce_elements<int32_t>(operation, to, from, bytes);
    case kU64: return reduce_elements<uint64_t>(operation, to, from, bytes);
    case kS64: return reduce_elements<int64_t>(operation, to, from, bytes);
    case kF16: return reduce_halves<Half>(operation, to, from, bytes);
    case kBF16: return reduce_halves<BHalf>(operation, to, from, bytes);
    case kF32: return reduce_elements<float>(operation, to, from, bytes);
    default: return reduce_elements<double>(operation, to, from, bytes);
  }
}

}  // namespace kernkit::simulator::ptx
