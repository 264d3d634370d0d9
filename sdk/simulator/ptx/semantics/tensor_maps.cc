// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "tensormap.replace" and "tensormap.cp_fenceproxy": changes of a tensor map by a kernel.
// A map whose bytes are all zero becomes a tensor map by its first change.
#include <cstddef>
#include <cstring>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/access.h"
#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/window.h"
#include "ptx/semantics/fragments.h"
#include "ptx/semantics/tensor_map_space.h"
#include "ptx/semantics/type_dispatch.h"
#include "tensor_map.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr uint32_t kMapSize = kTensorMapBytes, kAlignmentOfMap = 64;  // bytes

// Fields of tensormap.replace. Operation::mode contains the field.
enum MapField : uint8_t {
  kMapAddress,
  kMapRank,
  kMapBox,
  kMapSizes,
  kMapStrides,
  kMapSteps,
  kMapType,
  kMapInterleave,
  kMapSwizzle,
  kMapAtomicity,
  kMapFill
};
constexpr struct {
  std::string_view name;
  MapField field;
  uint32_t offset, bytes;  // position in TensorMap
  uint32_t count;          // number of valid ordinals; 0 for a field without ordinals
} kMapFields[] = {
    {"global_address", kMapAddress, offsetof(TensorMap, address), 8, 0},
    {"rank", kMapRank, offsetof(TensorMap, dimensions), 1, 0},
    {"box_dim", kMapBox, offsetof(TensorMap, box), 2, TensorMap::kMostDimensions},
    {"global_dim", kMapSizes, offsetof(TensorMap, sizes), 8, TensorMap::kMostDimensions},
    {"global_stride", kMapStrides, offsetof(TensorMap, strides), 8, TensorMap::kMostDimensions - 1},
    {"element_stride", kMapSteps, offsetof(TensorMap, steps), 1, TensorMap::kMostDimensions},
    {"elemtype", kMapType, offsetof(TensorMap, type), 1, 0},
    {"interleave_layout", kMapInterleave, offsetof(TensorMap, reserved), 1, 0},
    {"swizzle_mode", kMapSwizzle, offsetof(TensorMap, swizzle), 1, 0},
    {"swizzle_atomicity", kMapAtomicity, offsetof(TensorMap, reserved), 1, 0},
    {"fill_mode", kMapFill, offsetof(TensorMap, fill), 1, 0},
};
// For each value of elemtype: the value of CUtensorMapDataType, and the size [bytes].
constexpr uint8_t kElementTypes[][2] = {{0, 1}, {1, 2},  {2, 4}, {3, 4}, {4, 8},  {5, 8}, {6, 2},
                                        {7, 4}, {10, 4}, {8, 8}, {9, 2}, {11, 4}, {12, 4}};

[[noreturn]] void fail(const Warp& warp, int lane, const Operation& operation,
                       const std::string& why) {
  fault(warp, lane, operation, function_text(warp.block->launch.kernel, operation) + ": " + why);
}

// Checks the operand `value` of tensormap.replace. Returns the value to store in the field of
// TensorMap.
uint64_t checked_value(const Warp& warp, int lane, const Operation& operation, uint64_t value) {
  const auto need = [&](uint64_t least, uint64_t most) {
    if (value >= least && value <= most) return;
    fail(warp, lane, operation,
         "the value is " + std::to_string(value) + "; supported are " + std::to_string(least) +
             " to " + std::to_string(most));
  };
  const auto need_multiple_of_16 = [&] {
    if (value % 16 == 0) return;
    fail(warp, lane, operation,
         "the value is " + std::to_string(value) + "; expected a multiple of 16 bytes");
  };
  switch (operation.mode) {
    case kMapAddress:
    case kMapStrides: need_multiple_of_16(); break;
    case kMapRank: need(0, TensorMap::kMostDimensions - 1); return value + 1;
    case kMapBox: need(1, 256); break;
    case kMapSteps: need(1, 8); break;
    case kMapType: need(0, std::size(kElementTypes) - 1); break;
    case kMapSwizzle: need(0, 3); break;
    case kMapInterleave:
    case kMapAtomicity: need(0, 0); break;
    case kMapFill: need(TensorMap::kZeros, TensorMap::kNans); break;
    default: break;
  }
  return value;
}

// Executes tensormap.replace. The operation's address operand is the address of the field in the
// map; `target` is the offset of the field in the map [bytes].
void replace_field(Warp& warp, const Operation& operation) {
  alignas(64) uint64_t addresses[32];
  read_addresses(warp, operation, addresses);
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    uint64_t at = addresses[lane] - operation.target;
    if (operation.space == Space::kShared) at += kSharedWindow;
    unsigned char* const bytes =
        find_bytes(warp, lane, operation, at, kMapSize, kAlignmentOfMap, Touch::kStores);
    TensorMap map;
    std::memcpy(static_cast<void*>(&map), bytes, sizeof(map));
    if (map.magic == 0) {
      map = {};
      // A map that was all zeros gets one dimension and elements of one byte.
      map.element_bytes = kElementTypes[0][1];
      map.dimensions = 1;
    } else if (map.magic != TensorMap::kMagic) {
      fail(warp, lane, operation,
           "the memory has no tensor map; expected a map of cuTensorMapEncodeTiled(), or zeros");
    }
    const uint32_t source = operation.list[0];
    const uint64_t stored = operation.src1 == kNone ? warp.lanes<uint64_t>(source)[lane]
                                                    : warp.lanes<uint32_t>(source)[lane];
    const uint64_t value = checked_value(warp, lane, operation, stored);
    if (operation.mode == kMapType) {
      map.type = kElementTypes[value][0];
      map.element_bytes = kElementTypes[value][1];
    } else if (operation.mode <= kMapSteps || operation.mode == kMapSwizzle ||
               operation.mode == kMapFill) {
      std::memcpy(reinterpret_cast<unsigned char*>(&map) + operation.target, &value,
                  operation.bytes);
    }
    std::memcpy(bytes, &map, sizeof(map));
  }
}

// Decodes tensormap.replace.tile.field{.space}.b1024.type [map], {ordinal,} value.
Run decode_replace(Decoder& d) {
  const Space space = d.space();
  d.has("tile");
  d.has("b1024");
  for (const auto& item : kMapFields) {
    if (!d.has(item.name)) continue;
    const Type type = d.type();
    const bool has_ordinal = item.count != 0;
    d.need_operands(has_ordinal ? 3 : 2);
    uint64_t ordinal = 0;
    if (has_ordinal) {
      ordinal = d.operand(1).bits;
      if (d.operand(1).kind != Operand::kInteger || ordinal >= item.count)
        d.reject("expected an ordinal below " + std::to_string(item.count));
    }
    d.address(0, space);
    Operation& operation = d.operation;
    operation.mode = item.field;
    operation.bytes = static_cast<uint8_t>(item.bytes);
    operation.target = item.offset + static_cast<uint32_t>(ordinal) * item.bytes;
    operation.offset += operation.target;
    operation.count = 1;
    operation.list[0] = d.from(has_ordinal ? 2 : 1, type);
    // replace_field() reads a 32-bit value if src1 is set, and a 64-bit value otherwise.
    if (size_of(type) == 4) operation.src1 = operation.list[0];
    return replace_field;
  }
  return nullptr;
}

// Executes tensormap.cp_fenceproxy: copies a map from shared to global memory, at the addresses of
// lane 0.
void copy_map(Warp& warp, const Operation& operation) {
  need_full_warp(warp, operation);
  const int lane = 0;
  const uint64_t from = warp.lanes<uint64_t>(operation.src1)[lane];
  const unsigned char* const source = find_bytes(warp, lane, operation, kSharedWindow + from,
                                                 kMapSize, kAlignmentOfMap, Touch::kLoads);
  const uint64_t to = warp.lanes<uint64_t>(operation.src0)[lane];
  std::memcpy(find_bytes(warp, lane, operation, to, kMapSize, kAlignmentOfMap, Touch::kStores),
              source, kMapSize);
  if (warp.block->hooks == nullptr) return;
  const SharedLocation location = shared_location(warp, source);
  if (location.block == warp.block) {
    warp.block->hooks->copied_into_global(warp, lane, operation, to, kMapSize, location.at);
  }
}

Run decode_copy_of_map(Decoder& d) {
  begin_matrix(d);
  d.need_operands(3);
  if (d.operand(2).kind != Operand::kInteger || d.operand(2).bits != kMapSize) {
    d.reject("expected a size of 128 bytes");
  }
  d.operation.mode = kCopiesMap;
  d.operation.src0 = d.address_value(0, Space::kGlobal);
  d.operation.src1 = d.address_value(1, Space::kShared);
  return copy_map;
}

}  // namespace

void check_space_of_map(const Warp& warp, int lane, const Operation& operation, uint64_t address) {
  const Space space = located(address).space;
  if (space != Space::kLocal && space != Space::kShared) return;
  fail(warp, lane, operation,
       std::string("the tensor map is in ") + (space == Space::kLocal ? "local" : "shared") +
           " memory; expected a map in global or constant memory, or a kernel parameter declared "
           "__grid_constant__");
}

void check_space_of_maps(Warp& warp, const Operation& operation) {
  const auto* addresses = warp.lanes<uint64_t>(operation.src0);
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    check_space_of_map(warp, lane, operation, addresses[lane]);
  }
}

// Decodes prefetch.tensormap [map]. The form with generic addresses only checks the addresses; the
// forms with a state space have no effect.
Run prefetch_map(Decoder& d) {
  if (!d.one_of({"param", "const"}).empty()) return hint(d);
  d.need_operands(1);
  d.operation.src0 = d.address_value(0, Space::kGeneric);
  return check_space_of_maps;
}

Run tensor_map(Decoder& d) {
  if (d.has("replace")) return decode_replace(d);
  return d.has("cp_fenceproxy") ? decode_copy_of_map(d) : nullptr;
}

}  // namespace kernkit::simulator::ptx
