// SPDX-License-Identifier: Apache-2.0
// GlobalCells: who touched each byte of global memory last, in this launch and in those before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/machine/block.h"
#include "ptx/tools/order.h"
#include "ptx/tools/watched_kernel.h"

namespace kernkit::cuda_on_cpu::ptx {

/// What a warp knows of those of other blocks: by block and warp, see key_of(), the time.
using Known = std::map<uint64_t, uint32_t>;
inline uint64_t key_of(uint64_t block, unsigned warp) { return block << 5 | warp; }
inline void hear(Known* to, const Known& from) {
  for (const auto& [who, time] : from) (*to)[who] = std::max((*to)[who], time);
}

/// An instruction that a warp ran.
struct Instruction {
  uint32_t launch, operation;
  uint64_t block;
  uint32_t time;
  uint8_t warp;
  Reach ordered;
};

struct LaunchSeen {
  std::string kernel;
  std::shared_ptr<const WatchedKernel> watched;
  WorkId work;
  dim3 grid, block;
};

/// Of a byte. A number is that of an instruction and of a lane; 0: nobody.
struct GlobalCell {
  uint32_t written = 0, first_read = 0, last_read = 0;
  bool written_alike = false;  // by others too, who stored what was there
};

class GlobalCells {
 public:
  static GlobalCells& of_process();

  uint32_t begin(LaunchSeen launch);
  const LaunchSeen& launch(uint32_t number) const { return launches_[number]; }
  uint32_t add(const Instruction& instruction);
  static uint32_t with_lane(uint32_t instruction, int lane) {
    return instruction << 5 | static_cast<uint32_t>(lane);
  }
  const Instruction& instruction(uint32_t seen) const { return instructions_[seen >> 5]; }
  GlobalCell& at(uint64_t address);

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr size_t kMostPages = 1 << 14, kMostInstructions = 1 << 26;
  void forget_accesses();

  std::vector<LaunchSeen> launches_;
  std::vector<Instruction> instructions_{1};
  std::unordered_map<uint64_t, std::unique_ptr<GlobalCell[]>> pages_;
  uint64_t last_number_ = 0;
  GlobalCell* last_ = nullptr;
};

}  // namespace kernkit::cuda_on_cpu::ptx
