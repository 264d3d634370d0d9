// SPDX-License-Identifier: Apache-2.0
// Type: the types of PTX ISA, "Fundamental Types" and "Packed Data Types".
#pragma once

#include <cstdint>
#include <string>

namespace kernkit::simulator::ptx {

enum class Type : uint8_t {
  kNone,
  kPred,
  kB8,
  kU8,
  kS8,
  kB16,
  kU16,
  kS16,
  kF16,
  kBF16,
  kB32,
  kU32,
  kS32,
  kF32,
  kF16x2,
  kBF16x2,
  kU16x2,
  kS16x2,
  kE4M3x2,
  kE5M2x2,
  kB64,
  kU64,
  kS64,
  kF64,
  kF32x2,
  kB128,
};

/// Returns the type for a name without the dot; kNone for an unknown name.
Type type_named(const std::string& name);
/// Returns the size of a type in memory [bytes]; 0 for a predicate.
uint32_t size_of(Type type);
inline bool is_signed(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
}

}  // namespace kernkit::simulator::ptx
