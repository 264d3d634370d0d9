// SPDX-License-Identifier: Apache-2.0
#include "tools/undefined_memory.h"

#include <algorithm>
#include <cstring>

#include "ptx/machine/access.h"
#include "ptx/machine/matrix_descriptor.h"
#include "ptx/machine/window.h"
#include "ptx/simd/fragment_layout.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr const char* kStores = "Uninitialized bits written to ";
constexpr const char* kUpdates = "Uninitialized bits in an atomic at ";

bool any_of(const uint8_t* bits, uint32_t bytes) {
  uint64_t words[4] = {};
  std::memcpy(words, bits, bytes);
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

// Calls visit(offset, bytes) for pieces of a range that do not cross an address that is a multiple
// of 16, so that the bits of a piece are in one word.
template <class Visit>
void each_unit(uint64_t address, uint32_t bytes, const Visit& visit) {
  for (uint32_t i = 0; i < bytes;) {
    const uint32_t count = std::min(16 - static_cast<uint32_t>((address + i) % 16), bytes - i);
    visit(i, count);
    i += count;
  }
}

}  // namespace

void UndefinedMemory::Bits::start() {
  if (!changed) return;
  std::fill(bits.begin(), bits.end(), static_cast<uint8_t>(0xff));
  std::fill(origins.begin(), origins.end(), 0u);
  changed = false;
}

UndefinedMemory::UndefinedMemory(Block& block, UndefinedUses* uses)
    : block_(block),
      uses_(*uses),
      has_frames_(!block.launch.kernel.functions.empty()),
      pieces_(block.launch.kernel.code.size()),
      pending_(block.warps.size()) {
  const auto sized = [](size_t bytes) {
    Bits all;
    all.bits.resize(bytes);
    all.origins.resize((bytes + 3) / 4);
    return all;
  };
  shared_ = sized(block.shared.size());
  const size_t bytes = has_frames_ ? 0 : size_t{32} * block.launch.kernel.local_bytes;
  local_.assign(block.warps.size(), sized(bytes));
}

void UndefinedMemory::start() {
  shared_.start();
  std::fill_n(shared_.bits.data() + block_.launch.kernel.reserved_begin,
              block_.launch.kernel.reserved_bytes, static_cast<uint8_t>(0));
  for (Bits& item : local_) item.start();
  for (Pending& item : pending_) {
    item.bits.clear();
    item.origins.clear();
  }
}

// Returns the definedness bits of the accessed memory, and stores the index of the first byte in
// `*index`; null if the memory is treated as initialised or the access is out of bounds.
UndefinedMemory::Bits* UndefinedMemory::bits_of(Space space, const Warp& warp, int lane,
                                                uint64_t at, uint32_t bytes, uint64_t* index) {
  if (space != Space::kShared && (space != Space::kLocal || has_frames_)) return nullptr;
  const uint64_t size =
      space == Space::kShared ? shared_.bits.size() : block_.launch.kernel.local_bytes;
  if (at > size || size - at < bytes) return nullptr;
  if (space == Space::kShared) {
    *index = at;
    return &shared_;
  }
  *index = static_cast<uint64_t>(lane) * size + at;
  return &local_[warp.number];
}

const WrittenPiece& UndefinedMemory::piece(const Operation& operation, uint64_t address,
                                           uint32_t bytes) {
  WrittenPiece& last = pieces_[operation.number];
  if (!last.holds(address, bytes)) last = Written::of_process().piece_around(address);
  static const WrittenPiece none;
  return last.holds(address, bytes) && address % bytes == 0 ? last : none;
}

bool UndefinedMemory::read(const Warp& warp, const Operation& operation, Space space, int lane,
                           uint64_t at, uint32_t bytes, Lane* to) {
  if (space == Space::kGlobal) {
    const uint32_t undefined = piece(operation, at, bytes).undefined(at, bytes);
    if (undefined == 0) return false;
    for (uint32_t i = 0; i < bytes; ++i) to->bits[i] = (undefined >> i & 1) != 0 ? 0xff : 0;
    const auto first = static_cast<uint64_t>(__builtin_ctz(undefined));
    to->origin = uses_.origin(warp, lane, operation, space, at + first);
    return true;
  }
  uint64_t index = 0;
  const Bits* all = bits_of(space, warp, lane, at, bytes, &index);
  if (all == nullptr || !any_of(&all->bits[index], bytes)) return false;
  std::memcpy(to->bits, &all->bits[index], bytes);
  uint32_t first = 0;
  while (to->bits[first] == 0) ++first;
  to->origin = all->origins[(index + first) / 4];
  if (to->origin == 0) to->origin = uses_.origin(warp, lane, operation, space, at + first);
  return true;
}

void UndefinedMemory::write(const Warp& warp, const Operation& operation, Space space, int lane,
                            uint64_t at, uint32_t bytes, const Lane& from, const char* message) {
  const bool any = any_of(from.bits, bytes);
  if (space == Space::kGlobal) {
    uint32_t first = 0;
    while (any && from.bits[first] == 0) ++first;
    if (any) uses_.add_at(warp, lane, operation, message, from.origin, at + first);
    piece(operation, at, bytes).write(at, bytes);
    return;
  }
  uint64_t index = 0;
  Bits* all = bits_of(space, warp, lane, at, bytes, &index);
  if (all == nullptr) return;
  all->changed = true;
  std::memcpy(&all->bits[index], from.bits, bytes);
  for (uint64_t i = index; any && i < index + bytes; ++i) all->origins[i / 4] = from.origin;
}

void UndefinedMemory::load(const BitPlan& plan, Warp& warp, const Operation& operation,
                           UndefinedBits* bits) {
  Touched touched[kMostTouched];
  Lane lanes[32];
  uint32_t lanes_found = 0;
  const int count = find_touched(warp, operation, touched);
  for (int i = 0; i < count; ++i) {
    const Touched& part = touched[i];
    each_of(part.lanes, [&](int l) {
      const bool any = read(warp, operation, part.space, l, part.at[l], operation.bytes, &lanes[l]);
      lanes_found |= any ? kLane[l] : 0;
    });
  }
  const uint32_t size = operation.bytes / operation.count;
  for (uint32_t k = 0; k < operation.count; ++k) {
    const uint32_t to = operation.list[k];
    if (to == kNone) continue;
    Undefined result;
    each_of(lanes_found, [&](int l) {
      const unsigned char* bytes = &lanes[l].bits[size_t{k} * size];
      std::memcpy(&result.bits[l], bytes, size);
      const bool top = (bytes[size - 1] & 0x80) != 0;
      if (plan.is_signed && top) result.bits[l] |= UINT64_MAX << (8 * size - 1);
      result.bits[l] &= bits->ones(to);
      result.origins[l] = lanes[l].origin;
    });
    bits->write(warp, to, result);
  }
}

void UndefinedMemory::store(Warp& warp, const Operation& operation, UndefinedBits* bits) {
  Touched touched[kMostTouched];
  Lane lanes[32];
  const uint32_t size = operation.bytes / operation.count;
  each_of(warp.mask, [&](int l) { std::memset(&lanes[l], 0, sizeof(Lane)); });
  for (uint32_t k = 0; k < operation.count; ++k) {
    if (!bits->any(operation.list[k])) continue;
    Undefined undefined;
    bits->read(operation.list[k], &undefined);
    each_of(warp.mask, [&](int l) {
      if (undefined.bits[l] == 0) return;
      std::memcpy(&lanes[l].bits[size_t{k} * size], &undefined.bits[l], size);
      lanes[l].origin = undefined.origins[l];
    });
  }
  const int count = find_touched(warp, operation, touched);
  for (int i = 0; i < count; ++i) {
    const Touched& part = touched[i];
    each_of(part.lanes, [&](int l) {
      write(warp, operation, part.space, l, part.at[l], operation.bytes, lanes[l], kStores);
    });
  }
}

// Executes an atomic lane by lane, since several lanes may update the same address.
void UndefinedMemory::update(const BitPlan& plan, Warp& warp, const Operation& operation,
                             UndefinedBits* bits) {
  // Undefined bits of the operands and of the result: element 0 for the lower 8 bytes, element 1
  // for the upper 8 bytes of a 16-byte atomic.
  Undefined operand[2], result[2];
  const uint32_t parts = operation.bytes > 8 ? 2 : 1, size = operation.bytes / parts;
  for (uint32_t part = 0; part < parts; ++part) {
    for (const uint32_t source : part == 0 ? plan.sources : plan.upper_sources) {
      if (!bits->any(source)) continue;
      Undefined undefined;
      bits->read(source, &undefined);
      operand[part].add(undefined, warp.mask);
    }
  }
  Touched touched[kMostTouched];
  const int count = find_touched(warp, operation, touched);
  for (int i = 0; i < count; ++i) {
    const Touched& part = touched[i];
    each_of(part.lanes, [&](int l) {
      Lane now{}, next{};
      const bool any = read(warp, operation, part.space, l, part.at[l], operation.bytes, &now);
      bool depends = any && !plan.exchanges;
      next.origin = now.origin;
      for (uint32_t part = 0; part < parts; ++part) {
        if (any) std::memcpy(&result[part].bits[l], now.bits + part * size, size);
        result[part].origins[l] = now.origin;
        if (plan.exchanges) std::memcpy(next.bits + part * size, &operand[part].bits[l], size);
        if (operand[part].bits[l] == 0) continue;
        depends = true;
        next.origin = operand[part].origins[l];
      }
      if (depends && !plan.exchanges) std::memset(next.bits, 0xff, operation.bytes);
      write(warp, operation, part.space, l, part.at[l], operation.bytes, next, kUpdates);
    });
  }
  for (const uint32_t to : plan.results) bits->write(warp, to, result[0]);
  for (const uint32_t to : plan.upper_results) bits->write(warp, to, result[1]);
}

// cp.async: reads the undefined bits of the source when the copy is issued. The bits are stored
// when the lane waits for the copy.
void UndefinedMemory::copy(Warp& warp, const Operation& operation) {
  const Operation source = source_of(operation);
  const uint32_t bytes = operation.bytes, mask = warp.mask;
  alignas(64) uint64_t from[32], to[32];
  read_addresses(warp, source, from);
  read_addresses(warp, operation, to);
  const auto* sizes = operation.src1 != kNone ? warp.lanes<uint32_t>(operation.src1) : nullptr;
  Pending& pending = pending_[warp.number];
  each_of(mask, [&](int l) {
    if (to[l] % bytes != 0 || to[l] > shared_.bits.size() || shared_.bits.size() - to[l] < bytes) {
      return;
    }
    const uint32_t size = sizes != nullptr ? std::min(sizes[l], bytes) : bytes;
    Lane source_lane{};
    // Reads `bytes` bytes even if fewer are copied, since the bits of an aligned access are in one
    // word.
    const bool any =
        size != 0 && read(warp, operation, Space::kGlobal, l, from[l], bytes, &source_lane);
    pending.bits.add(l, &shared_.bits[to[l]], source_lane.bits, bytes, size);
    shared_.changed = true;
    if (!any) return;
    uint32_t origins[4];
    std::fill_n(origins, 4, source_lane.origin);
    pending.origins.add(l, reinterpret_cast<unsigned char*>(&shared_.origins[to[l] / 4]),
                        reinterpret_cast<const unsigned char*>(origins), bytes, bytes);
  });
}

void UndefinedMemory::change(const BitPlan& plan, Warp& warp, const Operation& operation) {
  Pending& pending = pending_[warp.number];
  if (plan.rule == Definedness::kReturn) {
    if (operation.bytes == 0) return;
    const Lane defined{};
    each_of(warp.mask, [&](int l) {
      write(warp, operation, Space::kLocal, l, operation.target, operation.bytes, defined, kStores);
    });
    return;
  }
  // The bytes of earlier cp.async copies count as written from cp.async.mbarrier.arrive on,
  // although the copies complete later.
  const bool all = plan.rule == Definedness::kWaitAll || plan.rule == Definedness::kArrive;
  if (all || plan.rule == Definedness::kCommit) {
    pending.bits.commit(warp.mask);
    pending.origins.commit(warp.mask);
  }
  if (plan.rule == Definedness::kCommit) return;
  const uint64_t remaining = all ? 0 : static_cast<uint64_t>(operation.offset);
  pending.bits.wait(warp.mask, remaining);
  pending.origins.wait(warp.mask, remaining);
}

void UndefinedMemory::copy_into_shared(uint32_t at, uint32_t bytes, uint64_t from) {
  const WrittenPiece source = from != 0 ? Written::of_process().piece_around(from) : WrittenPiece{};
  shared_.changed = true;
  each_unit(from, bytes, [&](uint32_t i, uint32_t count) {
    const uint32_t undefined =
        source.holds(from + i, count) ? source.undefined(from + i, count) : 0;
    for (uint32_t k = 0; k < count; ++k) {
      shared_.bits[at + i + k] = (undefined >> k & 1) != 0 ? 0xff : 0;
      shared_.origins[(at + i + k) / 4] = 0;
    }
  });
}

// All bytes that a bulk copy stores count as written, including reported uninitialised bytes.
void UndefinedMemory::copy_into_global(const Warp& warp, int lane, const Operation& operation,
                                       uint64_t at, uint32_t bytes, uint32_t from) {
  const WrittenPiece target = Written::of_process().piece_around(at);
  each_unit(at, bytes, [&](uint32_t i, uint32_t count) {
    Lane source{};
    if (read(warp, operation, Space::kShared, lane, from + i, count, &source)) {
      uint32_t first = 0;
      while (source.bits[first] == 0) ++first;
      uses_.add_at(warp, lane, operation, kStores, source.origin, at + i + first);
    }
    const bool reduces = (operation.mode & kReductionBits) != 0 && target.holds(at + i, count);
    if (const uint32_t old = reduces ? target.undefined(at + i, count) : 0; old != 0) {
      const uint64_t first = at + i + static_cast<uint64_t>(__builtin_ctz(old));
      const uint32_t origin = uses_.origin(warp, lane, operation, Space::kGlobal, first);
      uses_.add_at(warp, lane, operation, kUpdates, origin, first);
    }
    if (target.holds(at + i, count)) target.write(at + i, count);
  });
}

// wgmma.mma_async: an element of D becomes undefined if any bit of its row of A, of its column of B
// or, with scale-d, of its old value is undefined.
void UndefinedMemory::warpgroup(Warp& warp, const Operation& operation, UndefinedBits* bits) {
  if (warp.mask != Warp::kAll) return;  // the operation reports a fault
  constexpr uint32_t kRows = 16, kMostColumns = 256;
  const auto p = WarpgroupProduct::unpack(operation.offset);
  const uint32_t* const registers = block_.launch.kernel.lists[operation.more].data();
  struct Line {
    bool is_undefined = false;
    uint32_t origin = 0;
  };
  Line rows[kRows], columns[kMostColumns];
  const auto read_tile = [&](uint32_t descriptor, bool transposed, uint32_t first, uint32_t count,
                             Line* lines) {
    each_unit(MatrixDescriptor(warp.lanes<uint64_t>(descriptor)[0]), transposed, first, count,
              [&](uint32_t at, uint32_t line, uint32_t byte) {
                Lane unit{};
                if (!read(warp, operation, Space::kShared, 0, at, MatrixDescriptor::kUnit, &unit))
                  return;
                if (!transposed) {
                  lines[line - first] = {true, unit.origin};
                  return;
                }
                for (uint32_t i = 0; i < 8; ++i) {
                  if ((unit.bits[2 * i] | unit.bits[2 * i + 1]) == 0) continue;
                  lines[byte / 2 - first + i] = {true, unit.origin};
                }
              });
  };
  if (p.a_in_registers != 0) {
    for (uint32_t r = 0; r < 4; ++r) {
      const uint32_t at = registers[p.registers + r];
      if (!bits->any(at)) continue;
      Undefined undefined;
      bits->read(at, &undefined);
      for (uint32_t l = 0; l < 32; ++l) {
        if (undefined.bits[l] != 0) rows[l / 4 + r % 2 * 8] = {true, undefined.origins[l]};
      }
    }
  } else {
    read_tile(operation.src0, p.a_transposed != 0, warp.number % kWarpsOfGroup * kRows, kRows,
              rows);
  }
  read_tile(operation.src1, p.b_transposed != 0, 0, 8u * p.columns, columns);
  const uint32_t scale = warp.predicate(operation.src2);
  const bool keeps = ((operation.negated ? ~scale : scale) & 1) != 0;
  const uint32_t halves = p.d == Element::kF16 ? 2 : 1;  // elements of D in a register
  for (uint32_t r = 0; r < p.registers; ++r) {
    Undefined sums;
    if (keeps && bits->any(registers[r])) bits->read(registers[r], &sums);
    for (uint32_t l = 0; l < 32; ++l) {
      for (uint32_t half = 0; half < halves; ++half) {
        const uint32_t element = halves * r + half;
        const Line& row = rows[l / 4 + element / 2 % 2 * 8];
        const Line& column = columns[element / 4 * 8 + l % 4 * 2 + element % 2];
        const uint64_t ones = halves == 1 ? UINT32_MAX : uint64_t{0xffff} << 16 * half;
        if ((sums.bits[l] & ones) != 0) sums.bits[l] |= ones;
        if (!row.is_undefined && !column.is_undefined) continue;
        if (sums.bits[l] == 0) sums.origins[l] = row.is_undefined ? row.origin : column.origin;
        sums.bits[l] |= ones;
      }
    }
    bits->write(warp, registers[r], sums);
  }
}

// ldmatrix and stmatrix: each lane provides the address of a row, and holds two elements of each
// matrix, see matrix.cc.
void UndefinedMemory::matrix(const BitPlan& plan, Warp& warp, const Operation& operation,
                             UndefinedBits* bits) {
  if (warp.mask != Warp::kAll) return;  // with fewer lanes, the operation reports a fault
  Touched touched[kMostTouched];
  Lane rows[32] = {};
  const int count = find_touched(warp, operation, touched);
  const auto each_row = [&](const auto& visit) {
    for (int i = 0; i < count; ++i) {
      each_of(touched[i].lanes, [&](int l) { visit(touched[i].space, l, touched[i].at[l]); });
    }
  };
  const auto element = [&](uint32_t m, uint32_t l, uint32_t i, Lane** row) {
    const uint32_t across = l / 4, along = l % 4 * 2 + i;
    *row = &rows[8 * m + (plan.transposes ? along : across)];
    return &(*row)->bits[size_t{2} * (plan.transposes ? across : along)];
  };
  if (!plan.stores) {
    each_row([&](Space space, int l, uint64_t at) {
      if (!read(warp, operation, space, l, at, operation.bytes, &rows[l])) rows[l] = {};
    });
  }
  for (uint32_t m = 0; m < operation.count; ++m) {
    const uint32_t at = operation.list[m];
    if (at == kNone) continue;
    Undefined all;
    if (plan.stores) bits->read(at, &all);
    for (uint32_t l = 0; l < 32; ++l) {
      for (uint32_t i = 0; i < 2; ++i) {
        Lane* row = nullptr;
        uint8_t* of_row = element(m, l, i, &row);
        uint16_t half = static_cast<uint16_t>(all.bits[l] >> 16 * i);
        if (plan.stores) {
          std::memcpy(of_row, &half, 2);
          if (half != 0) row->origin = all.origins[l];
          continue;
        }
        std::memcpy(&half, of_row, 2);
        all.bits[l] |= uint64_t{half} << 16 * i;
        if (half != 0) all.origins[l] = row->origin;
      }
    }
    if (!plan.stores) bits->write(warp, at, all);
  }
  if (!plan.stores) return;
  each_row([&](Space space, int l, uint64_t at) {
    write(warp, operation, space, l, at, operation.bytes, rows[l], kStores);
  });
}

// wmma.load and wmma.store: each_access() in wmma.cc defines the layout of the fragments.
void UndefinedMemory::fragment(const BitPlan& plan, Warp& warp, const Operation& operation,
                               UndefinedBits* bits) {
  if (warp.mask != Warp::kAll) return;  // with fewer lanes, the operation reports a fault
  const Fragment f = Fragment::unpack(operation.target);
  Undefined all[8];
  for (uint32_t r = 0; plan.stores && r < f.registers(); ++r)
    bits->read(operation.list[r], &all[r]);
  for (uint32_t access = 0; access < f.accesses(); ++access) {
    alignas(64) uint64_t addresses[32];
    read_addresses(warp, operation, access, addresses);
    const uint32_t number = access * f.at_once();
    Undefined& undefined = all[number / f.of_register()];
    const uint32_t shift = 8 * operation.bytes * (number % f.of_register());
    for (int l = 0; l < 32; ++l) {
      const Located target = operation.space == Space::kGeneric
                                 ? located(addresses[l])
                                 : Located{operation.space, addresses[l]};
      Lane lane{};
      uint64_t value = undefined.bits[l] >> shift;
      if (plan.stores) {
        std::memcpy(lane.bits, &value, operation.bytes);
        lane.origin = undefined.origins[l];
        write(warp, operation, target.space, l, target.at, operation.bytes, lane, kStores);
      } else if (read(warp, operation, target.space, l, target.at, operation.bytes, &lane)) {
        value = 0;
        std::memcpy(&value, lane.bits, operation.bytes);
        undefined.bits[l] |= value << shift;
        undefined.origins[l] = lane.origin;
      }
    }
  }
  for (uint32_t r = 0; !plan.stores && r < operation.count; ++r) {
    bits->write(warp, operation.list[r], all[r % f.registers()]);
  }
}

void UndefinedMemory::access(const BitPlan& plan, Warp& warp, const Operation& operation,
                             UndefinedBits* bits) {
  switch (plan.rule) {
    case Definedness::kLoad: return load(plan, warp, operation, bits);
    case Definedness::kStore: return store(warp, operation, bits);
    case Definedness::kAtomic: return update(plan, warp, operation, bits);
    case Definedness::kMatrix: return matrix(plan, warp, operation, bits);
    case Definedness::kFragment: return fragment(plan, warp, operation, bits);
    case Definedness::kArrive: return change(plan, warp, operation);
    case Definedness::kSums: return warpgroup(warp, operation, bits);
    default: return copy(warp, operation);
  }
}

}  // namespace kernkit::simulator::ptx
