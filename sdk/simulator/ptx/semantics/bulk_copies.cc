// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Non-tensor copies" and "Tensor copies" of "Asynchronous Data Movement": cp.async.bulk,
// cp.reduce.async.bulk and their tensor forms. A copy reads and stores its bytes when the copy
// completes.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/access.h"
#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/window.h"
#include "ptx/semantics/bulk_reduction.h"
#include "ptx/semantics/tensor_map_space.h"
#include "tensor_map.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr uint32_t kUnit = 16;           // alignment and granularity of bulk copies [bytes]
constexpr uint32_t kBoxAlignment = 128;  // alignment of a tensor's box in shared memory [bytes]
constexpr uint32_t kMapAlignment = 64, kMapBytes = kTensorMapBytes;
constexpr uint32_t kMbarrierBytes = 8;

// Indices into Operation::list. The registers have 64 bits, except the coordinates.
enum Operands : size_t { kShared, kGlobal, kMbarrier, kCoordinates };

unsigned thread_of(const Warp& warp, int lane) {
  return warp.number * 32 + static_cast<unsigned>(lane);
}
uint64_t value(Warp& warp, uint32_t at, int lane) { return warp.lanes<uint64_t>(at)[lane]; }

/// A bulk copy by one lane: the lane and the operation that issued the copy, and the mbarrier that
/// counts the copy's bytes.
struct BulkCopy {
  Warp& warp;
  const Operation& operation;
  int lane;
  SharedLocation mbarrier{nullptr, 0};

  Block& block() const { return *warp.block; }
  unsigned thread() const { return thread_of(warp, lane); }
  [[noreturn]] void fail(const std::string& why, cudaError_t error = cudaErrorLaunchFailure) const {
    fault(warp, lane, operation, function_text(block().launch.kernel, operation) + ": " + why,
          error);
  }
  // Finds the memory at the shared address in register `at` of the lane.
  SharedLocation shared(uint32_t at, uint32_t bytes, uint32_t alignment, Touch touch) const {
    const uint64_t address = kSharedWindow + (value(warp, at, lane) & UINT32_MAX);
    return shared_location(warp,
                           find_bytes(warp, lane, operation, address, bytes, alignment, touch));
  }
  BlockHooks* hooks() const { return block().hooks.get(); }
  // Counts `bytes` bytes that the copy stored in the shared memory of the block `to`. The mbarrier
  // that counts the bytes is in the block `target`, at the offset of the copy's mbarrier.
  void complete_bytes(uint64_t number, const Block& to, Block& target, uint32_t bytes) const {
    if (hooks() != nullptr) {
      hooks()->lands(number, to, {target, mbarrier.at, target.mbarriers.phases(mbarrier.at)});
    }
    const std::string why = target.mbarriers.complete(mbarrier.at, bytes);
    if (!why.empty()) fail(why);
    if (target.hooks != nullptr) target.hooks->counted(mbarrier.at);
  }
};

BulkCopy copy_of(Warp& warp, const Operation& operation, int lane) {
  BulkCopy copy{warp, operation, lane};
  if (operation.list[kMbarrier] != kNone) {
    copy.mbarrier =
        copy.shared(operation.list[kMbarrier], kMbarrierBytes, kMbarrierBytes, Touch::kUpdates);
    MbarrierState state;
    const std::string why = copy.mbarrier.block->mbarriers.read(copy.mbarrier.at, &state);
    if (!why.empty()) copy.fail(why);
  }
  return copy;
}

template <class Visit>
void each_copy(Warp& warp, const Operation& operation, const Visit& visit) {
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    visit(copy_of(warp, operation, __builtin_ctz(remaining)));
  }
}

/// A block whose shared memory receives a copy, and the block whose mbarrier counts the bytes.
struct Target {
  Block *to, *counts;
};

// Returns the blocks that receive a load: one block or, with .multicast::cluster, the blocks of a
// mask.
std::vector<Target> targets_of(const BulkCopy& copy, const SharedLocation& to) {
  const Operation& operation = copy.operation;
  if (operation.src2 == kNone) return {{to.block, copy.mbarrier.block}};
  const Cluster& cluster = *copy.block().cluster;
  const uint32_t mask = copy.warp.lanes<uint16_t>(operation.src2)[copy.lane];
  if (mask == 0 || mask >> cluster.size() != 0) {
    copy.fail("the mask of blocks is " + std::to_string(mask) + " in " + cluster.text());
  }
  std::vector<Target> targets;
  for (uint32_t rank = 0; rank < cluster.size(); ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    Block& block = cluster.block(rank);
    if (block.has_ended()) {
      copy.fail(
          "the copy is for block " + std::to_string(rank) + " of the cluster, which has ended",
          cudaErrorIllegalAddress);
    }
    targets.push_back({&block, &block});
  }
  return targets;
}

// Informs the tools of a copy. `each(visit)` calls visit(offset in shared memory, address in global
// memory or 0, bytes) for each piece of the copy; `shared` lists the blocks whose shared memory the
// copy accesses, `map` is the address of the tensor map, or 0, and `source` is the location of the
// source of a copy between shared memories.
template <class Each>
void issue(const BulkCopy& copy, uint64_t number, const std::vector<Block*>& shared, bool in_group,
           CopiedBytes::Kind of_shared, CopiedBytes::Kind of_global, const Each& each,
           uint64_t map = 0, const SharedLocation& source = {nullptr, 0}) {
  if (copy.hooks() == nullptr) return;
  const bool is_generic = copy.operation.list[kGlobal] == kNone;
  IssuedCopy issued{number, copy.lane, in_group, is_generic, copy.mbarrier.at, map, {}};
  for (Block* block : shared) {
    each([&](uint32_t at, uint64_t, uint32_t bytes) {
      issued.bytes.push_back({of_shared, block, at, bytes});
      if (source.block != nullptr)
        issued.bytes.push_back({CopiedBytes::kReads, source.block, source.at, bytes});
    });
  }
  each([&](uint32_t, uint64_t address, uint32_t bytes) {
    if (address != 0) issued.bytes.push_back({of_global, nullptr, address, bytes});
  });
  copy.hooks()->issues(copy.warp, copy.operation, issued);
}
std::vector<Block*> blocks_of(const std::vector<Target>& targets) {
  std::vector<Block*> blocks;
  blocks.reserve(targets.size());
  for (const Target& target : targets) blocks.push_back(target.to);
  return blocks;
}
CopiedBytes::Kind kind_of_store(const Operation& operation) {
  return (operation.mode & kReductionBits) != 0 ? CopiedBytes::kReduces : CopiedBytes::kWrites;
}

uint32_t size_of_copy(const BulkCopy& copy) {
  const uint32_t bytes = copy.warp.lanes<uint32_t>(copy.operation.src1)[copy.lane];
  if (bytes % kUnit != 0) {
    copy.fail("the size is " + std::to_string(bytes) + " bytes; expected a multiple of 16 bytes",
              cudaErrorMisalignedAddress);
  }
  return bytes;
}

// Executes cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], size,
// [mbarrier]. With kFromShared, the source is in shared memory, and the operation may be a
// cp.reduce.async.bulk.
template <bool kFromShared>
void load_bulk(Warp& warp, const Operation& operation) {
  each_copy(warp, operation, [&](const BulkCopy& copy) {
    const uint32_t bytes = size_of_copy(copy);
    if (bytes == 0) return;
    const SharedLocation to = copy.shared(operation.list[kShared], bytes, kUnit, Touch::kStores);
    const unsigned char* source;
    SharedLocation from{nullptr, 0};
    if (kFromShared) {
      from = copy.shared(operation.list[kGlobal], bytes, kUnit, Touch::kLoads);
      source = from.block->shared.data() + from.at;
    } else {
      source =
          find_bytes(warp, copy.lane, operation, value(warp, operation.list[kGlobal], copy.lane),
                     bytes, kUnit, Touch::kLoads);
    }
    const std::vector<Target> targets = targets_of(copy, to);
    const uint64_t number = copy.block().asynchronous.next_number();
    const uint64_t in_global = kFromShared ? 0 : reinterpret_cast<uint64_t>(source);
    issue(
        copy, number, blocks_of(targets), false, kind_of_store(operation), CopiedBytes::kReads,
        [&](const auto& visit) { visit(to.at, in_global, bytes); }, 0, from);
    copy.block().asynchronous.add([copy, bytes, to, source, targets, number] {
      for (const Target& target : targets) {
        reduce(copy.operation.mode, target.to->shared.data() + to.at, source, bytes);
        if (target.to->hooks != nullptr) {
          target.to->hooks->copied_into_shared(
              to.at, bytes, kFromShared ? 0 : reinterpret_cast<uint64_t>(source));
        }
        copy.complete_bytes(number, *target.to, *target.counts, bytes);
      }
    });
  });
}

// Executes cp.async.bulk.global.shared::cta.bulk_group [to], [from], size, and
// cp.reduce.async.bulk.
void store_bulk(Warp& warp, const Operation& operation) {
  each_copy(warp, operation, [&](const BulkCopy& copy) {
    const uint32_t bytes = size_of_copy(copy);
    if (bytes == 0) return;
    const uint64_t to = value(warp, operation.list[kGlobal], copy.lane);
    const SharedLocation from = copy.shared(operation.list[kShared], bytes, kUnit, Touch::kLoads);
    unsigned char* target =
        find_bytes(warp, copy.lane, operation, to, bytes, kUnit, Touch::kStores);
    issue(copy, 0, {from.block}, true, CopiedBytes::kReads, kind_of_store(operation),
          [&](const auto& visit) { visit(from.at, reinterpret_cast<uint64_t>(target), bytes); });
    copy.block().asynchronous.add_to_group(copy.thread(), [copy, bytes, target, from] {
      reduce(copy.operation.mode, target, from.block->shared.data() + from.at, bytes);
      if (from.block->hooks != nullptr) {
        from.block->hooks->copied_into_global(copy.warp, copy.lane, copy.operation,
                                              reinterpret_cast<uint64_t>(target), bytes, from.at);
      }
    });
  });
}

/// A box of a tensor: the tensor map, and the coordinates of the box's first element.
struct Box {
  TensorMap map;
  int32_t first[TensorMap::kMostDimensions];

  bool contains(int dimension, int64_t coordinate) const {
    return coordinate >= 0 && static_cast<uint64_t>(coordinate) < map.sizes[dimension];
  }
  // Calls visit(offset, address, begin, end) for each row of the box: the row's offset in the box
  // [bytes], the address of its first element, and the range of its elements that are in the
  // tensor, which is empty for a row outside of the tensor.
  template <class Visit>
  void each_row(const Visit& visit) const {
    const uint32_t length = map.elements(0);
    uint32_t begin = 0, end = length;
    while (begin < end && !contains(0, first[0] + int64_t{begin})) ++begin;
    while (end > begin && !contains(0, first[0] + int64_t{end} - 1)) --end;
    uint32_t rows = 1;
    for (int d = 1; d < map.dimensions; ++d) rows *= map.elements(d);
    for (uint32_t row = 0; row < rows; ++row) {
      bool is_inside = true;
      int64_t address = static_cast<int64_t>(map.address) + int64_t{first[0]} * map.element_bytes;
      uint32_t remaining = row;
      for (int d = 1; d < map.dimensions; ++d) {
        const int64_t coordinate = first[d] + int64_t{remaining % map.elements(d)} * map.step(d);
        remaining /= map.elements(d);
        is_inside = is_inside && contains(d, coordinate);
        address += coordinate * static_cast<int64_t>(map.strides[d - 1]);
      }
      visit(row * length * map.element_bytes, static_cast<uint64_t>(address),
            is_inside ? begin : length, is_inside ? end : length);
    }
  }
};

uint64_t address_of_map(const BulkCopy& copy) {
  return value(copy.warp, copy.operation.list[kGlobal], copy.lane);
}

Box read_box(const BulkCopy& copy) {
  const Operation& operation = copy.operation;
  const uint64_t at = address_of_map(copy);
  check_space_of_map(copy.warp, copy.lane, operation, at);
  const unsigned char* bytes =
      find_bytes(copy.warp, copy.lane, operation, at, kMapBytes, kMapAlignment, Touch::kLoads);
  Box box;
  std::memcpy(static_cast<void*>(&box.map), bytes, sizeof(box.map));
  if (box.map.magic != TensorMap::kMagic) {
    copy.fail("the tensor map was not encoded by cuTensorMapEncodeTiled()");
  }
  const int dimensions = operation.count;
  if (box.map.dimensions != dimensions) {
    copy.fail("the tensor map has " + std::to_string(box.map.dimensions) +
              " dimensions; expected " + std::to_string(dimensions));
  }
  if (!box.map.is_complete()) {
    copy.fail(
        "the tensor map is incomplete; expected tensormap.replace for each global_dim, box_dim and "
        "element_stride");
  }
  if (box.map.fill != TensorMap::kZeros && !box.map.has_floats()) {
    copy.fail(
        "the tensor map fills elements out of bounds with NaN, and its elements are integers; "
        "expected fill_mode 0 or a floating-point elemtype");
  }
  for (int d = 0; d < dimensions; ++d) {
    box.first[d] = copy.warp.lanes<int32_t>(operation.list[kCoordinates + d])[copy.lane];
  }
  return box;
}

// Finds the bytes of a box in shared memory. The size of a swizzled box is rounded up to
// kBoxAlignment.
SharedLocation find_box(const BulkCopy& copy, const Box& box, Touch touch) {
  uint32_t bytes = box.map.box_bytes();
  if (box.map.swizzle != 0) bytes = (bytes + kBoxAlignment - 1) / kBoxAlignment * kBoxAlignment;
  return copy.shared(copy.operation.list[kShared], bytes, kBoxAlignment, touch);
}

// Checks that a copy may access the elements of the box that are in the tensor.
void check_elements(const BulkCopy& copy, const Box& box, Touch touch) {
  uint64_t low = UINT64_MAX, high = 0;
  const uint64_t size = box.map.element_bytes;
  box.each_row([&](uint32_t, uint64_t address, uint32_t begin, uint32_t end) {
    if (begin >= end) return;
    low = std::min(low, address + begin * size);
    high = std::max(high, address + end * size);
  });
  if (low >= high) return;
  find_bytes(copy.warp, copy.lane, copy.operation, low, high - low, 1, touch);
}

// Calls visit(offset in shared memory, address in global memory, bytes) for the pieces of a box. A
// piece consists of adjacent elements of a 16-byte unit. The address of a piece outside of the
// tensor is 0.
template <class Visit>
void each_piece(uint32_t start, const Box& box, const Visit& visit) {
  const TensorMap& map = box.map;
  const uint32_t size = map.element_bytes;
  box.each_row([&](uint32_t offset, uint64_t address, uint32_t begin, uint32_t end) {
    const uint32_t length = map.elements(0);
    for (uint32_t i = 0; i < length;) {
      const uint32_t at = start + offset + i * size;
      const bool is_inside = i >= begin && i < end;
      // Adjacent elements that are all in the tensor or all outside.
      const uint32_t limit = is_inside ? end : i < begin ? begin : length;
      const uint32_t count = std::min((kUnit - at % kUnit) / size, limit - i);
      visit(swizzled(at, map.swizzle), is_inside ? address + uint64_t{i} * size : 0, count * size);
      i += count;
    }
  });
}

// Fills elements that are outside of the tensor with zeros or NaNs, as the tensor map specifies.
void fill(const TensorMap& map, unsigned char* to, uint32_t bytes) {
  if (map.fill == TensorMap::kZeros) {
    std::memset(to, 0, bytes);
    return;
  }
  constexpr uint16_t kBits = TensorMap::kNanBits;
  for (uint32_t at = 0; at < bytes; at += sizeof(kBits))
    std::memcpy(to + at, &kBits, sizeof(kBits));
}

// Rounds float32 numbers to the nearest tf32 number, ties to even. NVIDIA's documentation does not
// describe the rounding; Triton's test of a descriptor with round_f32_to_tf32 requires these bits.
// Infinities and NaNs remain unchanged.
void round_to_tf32(unsigned char* numbers, uint32_t bytes) {
  constexpr uint32_t kExponent = 0x7f800000, kLost = 0x1fff;  // bits that tf32 lacks
  for (uint32_t at = 0; at < bytes; at += sizeof(float)) {
    uint32_t bits;
    std::memcpy(&bits, numbers + at, sizeof(bits));
    if ((bits & kExponent) == kExponent) continue;
    bits = (bits + kLost / 2 + (bits >> 13 & 1)) & ~kLost;
    std::memcpy(numbers + at, &bits, sizeof(bits));
  }
}

// Executes cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [to], [map,
// {x, y}], [mbarrier]. Elements outside of the tensor are zero or NaN.
void load_tensor(Warp& warp, const Operation& operation) {
  each_copy(warp, operation, [&](const BulkCopy& copy) {
    const Box box = read_box(copy);
    const SharedLocation to = find_box(copy, box, Touch::kStores);
    check_elements(copy, box, Touch::kLoads);
    const std::vector<Target> targets = targets_of(copy, to);
    const uint64_t number = copy.block().asynchronous.next_number();
    issue(
        copy, number, blocks_of(targets), false, CopiedBytes::kWrites, CopiedBytes::kReads,
        [&](const auto& visit) { each_piece(to.at, box, visit); }, address_of_map(copy));
    copy.block().asynchronous.add([copy, box, to, targets, number] {
      for (const Target& target : targets) {
        unsigned char* const shared = target.to->shared.data();
        each_piece(to.at, box, [&](uint32_t at, uint64_t from, uint32_t count) {
          if (from == 0) {
            fill(box.map, shared + at, count);
          } else {
            std::memcpy(shared + at, reinterpret_cast<const unsigned char*>(from), count);
            if (box.map.rounds_to_tf32()) round_to_tf32(shared + at, count);
          }
          if (target.to->hooks != nullptr) target.to->hooks->copied_into_shared(at, count, from);
        });
        copy.complete_bytes(number, *target.to, *target.counts, box.map.box_bytes());
      }
    });
  });
}

// Executes cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map, {x, y}], [from], and
// cp.reduce.async.bulk.tensor. Elements outside of the tensor are not stored.
void store_tensor(Warp& warp, const Operation& operation) {
  each_copy(warp, operation, [&](const BulkCopy& copy) {
    const Box box = read_box(copy);
    const SharedLocation from = find_box(copy, box, Touch::kLoads);
    check_elements(copy, box, Touch::kStores);
    issue(
        copy, 0, {from.block}, true, CopiedBytes::kReads, kind_of_store(operation),
        [&](const auto& visit) { each_piece(from.at, box, visit); }, address_of_map(copy));
    copy.block().asynchronous.add_to_group(copy.thread(), [copy, box, from] {
      const unsigned char* const shared = from.block->shared.data();
      const uint8_t reduction = reduction_of(copy.operation.mode, box.map.type);
      each_piece(from.at, box, [&](uint32_t at, uint64_t to, uint32_t count) {
        if (to == 0) return;
        reduce(reduction, reinterpret_cast<unsigned char*>(to), shared + at, count);
        if (from.block->hooks != nullptr) {
          from.block->hooks->copied_into_global(copy.warp, copy.lane, copy.operation, to, count,
                                                at);
        }
      });
    });
  });
}

// Executes st.async and red.async: reads the values of a lane's registers, which are stored in
// shared memory of a block of the cluster when the asynchronous work completes. Operation::target
// is the size of all values [bytes], Operation::offset the size of a register [bytes], and
// Operation::count the number of registers.
void store_registers(Warp& warp, const Operation& operation) {
  each_copy(warp, operation, [&](const BulkCopy& copy) {
    const uint32_t bytes = operation.target;
    const auto size = static_cast<size_t>(operation.offset);
    const SharedLocation to = copy.shared(operation.list[kShared], bytes, bytes, Touch::kStores);
    if (to.block != copy.mbarrier.block) {
      copy.fail("the mbarrier is in another block of the cluster than the destination");
    }
    std::array<unsigned char, kUnit> values{};
    for (size_t i = 0; i < operation.count; ++i) {
      const uint32_t at = operation.list[kCoordinates + i];
      std::memcpy(values.data() + i * size,
                  warp.lanes<unsigned char>(at) + size * static_cast<size_t>(copy.lane), size);
    }
    const uint64_t number = copy.block().asynchronous.next_number();
    issue(copy, number, {to.block}, false, kind_of_store(operation), CopiedBytes::kReads,
          [&](const auto& visit) { visit(to.at, 0, bytes); });
    copy.block().asynchronous.add([copy, number, to, values, bytes] {
      reduce(copy.operation.mode, to.block->shared.data() + to.at, values.data(), bytes);
      if (to.block->hooks != nullptr) to.block->hooks->copied_into_shared(to.at, bytes, 0);
      copy.complete_bytes(number, *to.block, *copy.mbarrier.block, bytes);
    });
  });
}

void commit_groups(Warp& warp, const Operation&) {
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    warp.block->asynchronous.commit_group(thread_of(warp, __builtin_ctz(remaining)));
  }
}
// Executes cp.async.bulk.wait_group. The modifier .read makes no difference, since a copy reads and
// stores its bytes at the same time.
void wait_for_bulk_groups(Warp& warp, const Operation& operation) {
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    warp.block->asynchronous.complete_groups(thread_of(warp, __builtin_ctz(remaining)),
                                             static_cast<uint64_t>(operation.offset));
  }
}

// Decodes operand i, [map, {coordinates}]: sets the registers of the map's address and of the
// coordinates, and the number of dimensions.
void take_box(Decoder& d, size_t i) {
  static constexpr std::string_view kDimensions[] = {"1d", "2d", "3d", "4d", "5d"};
  uint8_t count = 0;
  for (uint8_t n = 0; n < 5; ++n) {
    if (d.has(kDimensions[n])) count = static_cast<uint8_t>(n + 1);
  }
  const Operand& box = d.operand(i);
  if (box.kind != Operand::kAddress || box.parts.size() != 1 ||
      box.parts[0].parts.size() != count) {
    d.reject("expected a tensor map and " + std::to_string(count) + " coordinates");
  }
  d.operation.list[kGlobal] = d.address_value(i, Space::kGeneric);
  for (size_t n = 0; n < count; ++n) {
    d.operation.list[kCoordinates + n] = d.from(box.parts[0].parts[n], Type::kS32);
  }
  d.operation.count = count;
}

Run decode_group(Decoder& d) {
  if (d.has("commit_group")) {
    d.need_operands(0);
    return commit_groups;
  }
  if (!d.has("wait_group")) return nullptr;
  d.need_operands(1);
  d.operation.offset = static_cast<int64_t>(d.operand(0).bits);
  d.operation.mode = d.has("read") ? kOnlyReads : 0;
  return d.operand(0).kind == Operand::kInteger ? wait_for_bulk_groups : nullptr;
}

Run decode_load(Decoder& d, bool is_tensor, bool from_shared) {
  const size_t barrier = is_tensor ? 2 : 3;
  const bool is_multicast = d.has("multicast::cluster");
  d.need_operands_and_policy(barrier + (is_multicast ? 2 : 1));
  d.operation.list[kShared] = d.address_value(0, Space::kShared);
  d.operation.list[kMbarrier] = d.address_value(barrier, Space::kShared);
  if (is_multicast) d.operation.src2 = d.from(barrier + 1, Type::kU16);
  if (is_tensor) {
    take_box(d, 1);
    return load_tensor;
  }
  d.operation.list[kGlobal] = d.address_value(1, from_shared ? Space::kShared : Space::kGlobal);
  d.operation.src1 = d.from(2, Type::kU32);
  return from_shared ? load_bulk<true> : load_bulk<false>;
}

Run decode_store(Decoder& d, bool is_tensor) {
  d.need_operands_and_policy(is_tensor ? 2 : 3);
  d.operation.list[kShared] = d.address_value(1, Space::kShared);
  if (is_tensor) {
    take_box(d, 0);
    return store_tensor;
  }
  d.operation.list[kGlobal] = d.address_value(0, Space::kGlobal);
  d.operation.src1 = d.from(2, Type::kU32);
  return store_bulk;
}

}  // namespace

Run bulk_copy(Decoder& d) {
  d.has("async");
  d.has("bulk");
  const bool is_tensor = d.has("tensor");
  const bool reduces = d.has("reduce");
  const bool has_global = d.has("global");
  const bool to_shared = !d.one_of({"shared::cluster", "shared::cta"}).empty();
  if (!has_global && !to_shared) return decode_group(d);
  if (reduces) {
    const std::string_view name = d.one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
    d.has("noftz");
    const Type type = is_tensor ? Type::kNone : d.type();
    d.operation.mode = reduction_named(name, type);
    if (d.operation.mode == kNoReduction && !is_tensor) return nullptr;
  }
  if (d.has("bulk_group")) return decode_store(d, is_tensor);
  return decode_load(d, is_tensor, !has_global);
}

// Decodes st.async.mbarrier::complete_tx::bytes.v2.b32 [to], {a, b}, [mbarrier] and
// red.async.add.u32 [to], a, [mbarrier].
Run async_store(Decoder& d) {
  d.has("async");
  d.has("weak");
  d.has("shared::cluster");
  d.need_operands(3);
  Operation& operation = d.operation;
  const bool reduces = d.name() == "red";
  const std::string_view name =
      reduces ? d.one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor"}) : "";
  const std::string_view vector = d.one_of({"v2", "v4"});
  const Type type = d.type();
  if (reduces) {
    operation.mode = reduction_named(name, type);
    if (operation.mode == kNoReduction) return nullptr;
  }
  const Operand& value = d.operand(1);
  const size_t count = vector.empty() ? 1 : static_cast<size_t>(vector[1] - '0');
  const std::vector<Operand> single = {value};
  const std::vector<Operand>& parts = value.kind == Operand::kVector ? value.parts : single;
  if (parts.size() != count || count * size_of(type) > kUnit) return nullptr;
  operation.count = static_cast<uint8_t>(count);
  operation.target = static_cast<uint32_t>(count) * size_of(type);
  for (size_t i = 0; i < count; ++i) {
    operation.list[kCoordinates + i] = d.from(parts[i], type);
  }
  operation.list[kShared] = d.address_value(0, Space::kShared);
  operation.list[kMbarrier] = d.address_value(2, Space::kShared);
  operation.offset = size_of(type);
  return store_registers;
}

}  // namespace kernkit::simulator::ptx
