// SPDX-License-Identifier: Apache-2.0
#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {
namespace {

struct NamedType {
  const char* name;
  Type type;
  uint32_t size;
};

constexpr NamedType kTypes[] = {
    {"pred", Type::kPred, 0},     {"b8", Type::kB8, 1},         {"u8", Type::kU8, 1},
    {"s8", Type::kS8, 1},         {"b16", Type::kB16, 2},       {"u16", Type::kU16, 2},
    {"s16", Type::kS16, 2},       {"f16", Type::kF16, 2},       {"bf16", Type::kBF16, 2},
    {"b32", Type::kB32, 4},       {"u32", Type::kU32, 4},       {"s32", Type::kS32, 4},
    {"f32", Type::kF32, 4},       {"f16x2", Type::kF16x2, 4},   {"bf16x2", Type::kBF16x2, 4},
    {"e4m3x2", Type::kE4M3x2, 2}, {"e5m2x2", Type::kE5M2x2, 2}, {"b64", Type::kB64, 8},
    {"u64", Type::kU64, 8},       {"s64", Type::kS64, 8},       {"f64", Type::kF64, 8},
    {"f32x2", Type::kF32x2, 8},   {"u16x2", Type::kU16x2, 4},   {"s16x2", Type::kS16x2, 4},
    {"b128", Type::kB128, 16},
};

}  // namespace

Type type_named(const std::string& name) {
  for (const NamedType& row : kTypes) {
    if (name == row.name) return row.type;
  }
  return Type::kNone;
}

uint32_t size_of(Type type) {
  for (const NamedType& row : kTypes) {
    if (type == row.type) return row.size;
  }
  return 0;
}

}  // namespace kernkit::simulator::ptx
