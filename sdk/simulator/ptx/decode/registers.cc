// SPDX-License-Identifier: Apache-2.0
#include "ptx/decode/registers.h"

#include <algorithm>

namespace kernkit::simulator::ptx {
namespace {

constexpr uint32_t kLine = 64;  // alignment of registers [bytes]

uint32_t bytes_of_warp(uint32_t size) { return size == 0 ? 4 : 32 * size; }

// The live range of a register: from the first operation that uses the register to the last. The
// registers of a wgmma.mma_async count as used until the next wgmma.wait_group 0: no other register
// may share their memory, since racecheck reports accesses to that memory.
struct Life {
  uint32_t first = kNone, last = 0;
  void add(uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

std::vector<Life> lives_of(Kernel& kernel, size_t registers) {
  std::vector<Life> lives(registers);
  std::vector<uint32_t> of_products;  // registers of wgmma products that are still pending
  for (uint32_t at = 0; at < kernel.code.size(); ++at) {
    const bool issues = kernel.origins[at].has_effect(Effect::kIssuesProducts);
    kernel.each_register(&kernel.code[at], [&](const uint32_t* item) {
      if (*item == kNone) return;
      // A register of a wgmma.mma_async that no earlier operation uses, such as an uninitialised
      // sum, is live from the start: its memory then never contains a value of another register.
      if (issues && lives[*item].first == kNone) lives[*item].add(0);
      lives[*item].add(at);
      if (issues) of_products.push_back(*item);
    });
    if (!kernel.origins[at].has_effect(Effect::kWaitsForProducts) || kernel.code[at].offset != 0) {
      continue;
    }
    for (const uint32_t number : of_products) lives[number].add(at);
    of_products.clear();
  }
  for (const uint32_t number : of_products) {
    lives[number].add(static_cast<uint32_t>(kernel.code.size()));
  }
  // A register that is used in a loop is live throughout the loop.
  std::vector<std::pair<uint32_t, uint32_t>> loops;
  const auto add_loop = [&](uint32_t from, uint32_t to) {
    if (to <= from) loops.emplace_back(to, from);
  };
  for (const Operation& operation : kernel.code) {
    if (operation.flow == Flow::kBranch) add_loop(operation.number, operation.target);
    if (operation.flow != Flow::kTable) continue;
    for (const uint32_t target : kernel.tables[operation.target])
      add_loop(operation.number, target);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [begin, end] : loops) {
      for (Life& life : lives) {
        if (life.first == kNone || life.last < begin || life.first > end) continue;
        if (life.first <= begin && life.last >= end) continue;
        life.add(begin);
        life.add(end);
        changed = true;
      }
    }
  }
  return lives;
}

}  // namespace

uint32_t Registers::add(Type type) {
  const auto number = static_cast<uint32_t>(sizes_.size());
  const uint32_t size = register_size(type);
  sizes_.insert(sizes_.end(), size > 8 ? size / 8 : 1, std::min(size, 8u));
  return number;
}

uint32_t Registers::constant(uint64_t bits, uint32_t size, Kernel* kernel, uint32_t variable) {
  for (const Constant& item : kernel->constants) {
    if (item.bits == bits && item.size == size && item.variable == variable) return item.at;
  }
  sizes_.push_back(size);
  const auto number = static_cast<uint32_t>(sizes_.size() - 1);
  kernel->constants.push_back({number, size, bits, variable});
  return number;
}

void Registers::assign_slots(Kernel* kernel) const {
  std::vector<Life> lives = lives_of(*kernel, sizes_.size());
  // Registers that are set before the kernel starts are live throughout the kernel.
  const auto end = static_cast<uint32_t>(kernel->code.size());
  const auto keep = [&](uint32_t number) { lives[number] = {0, end}; };
  for (const Constant& constant : kernel->constants) keep(constant.at);
  for (const SpecialRegister& special : kernel->specials) keep(special.at);
  if (kernel->frame != kNone) keep(kernel->frame);

  std::vector<uint32_t> order(sizes_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
    return lives[x].first != lives[y].first ? lives[x].first < lives[y].first : x < y;
  });
  // A free slot, and the last operation that uses the slot. Each heap in `free` contains the slots
  // of one register size; the slot with the earliest last use is at the top of the heap.
  struct FreeSlot {
    uint32_t last_use, at;
    bool operator<(const FreeSlot& other) const { return last_use > other.last_use; }
  };
  std::vector<FreeSlot> free[9];
  std::vector<uint32_t> slots(sizes_.size(), kNone);
  uint32_t bytes = 0;
  for (const uint32_t number : order) {
    const Life& life = lives[number];
    if (life.first == kNone) continue;
    auto& same_size = free[sizes_[number]];
    if (!same_size.empty() && same_size.front().last_use < life.first) {
      slots[number] = same_size.front().at;
      std::pop_heap(same_size.begin(), same_size.end());
      same_size.pop_back();
    } else {
      slots[number] = bytes;
      const uint32_t size = bytes_of_warp(sizes_[number]);
      bytes += (size + kLine - 1) / kLine * kLine;
      kernel->slots.push_back({slots[number], sizes_[number]});
    }
    same_size.push_back({life.last, slots[number]});
    std::push_heap(same_size.begin(), same_size.end());
  }
  kernel->register_bytes = bytes;
  for (Operation& operation : kernel->code) {
    kernel->each_register(&operation, [&](uint32_t* register_at) {
      if (*register_at != kNone) *register_at = slots[*register_at];
    });
  }
  if (kernel->frame != kNone) kernel->frame = slots[kernel->frame];
  for (Constant& constant : kernel->constants) constant.at = slots[constant.at];
  for (SpecialRegister& special : kernel->specials) special.at = slots[special.at];
}

}  // namespace kernkit::simulator::ptx
