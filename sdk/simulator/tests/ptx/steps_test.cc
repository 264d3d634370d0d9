// SPDX-License-Identifier: Apache-2.0
// Loops that are compiled twice produce the same bits, whatever the registers contain.
#include "ptx/simd/steps.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <memory>
#include <random>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr size_t kRegister = 256, kRegisters = 9;  // bytes
constexpr size_t kMemory = 1 << 14;

// The registers and the memory that a step may read and change.
struct State {
  alignas(64) unsigned char registers[kRegister * kRegisters];
  alignas(64) unsigned char memory[kMemory];
};

class PtxSteps : public ::testing::Test {
 protected:
  uint32_t word() {
    static constexpr uint32_t kEdges[] = {
        0,          1,          31,         32,         33,         63,         64,
        255,        0x3c00,     0x7c00,     0x7e01fc00, 0x80008000, 0x7fc1ff80, 0x3f800000,
        0xbf800000, 0x7f800000, 0xff800000, 0x7fc01234, 0xffc00001, 0x7f800001, 0x80000000,
        0x7fffffff, 0xffffffff, 0x007fffff, 0x00800000, 0x80000001, 0x4f000000, 0xcf000000,
        0x33800000, 0x7f7fffff, 0x3ff00000, 0x7ff00000, 0xfff80000};
    const uint32_t random = random_();
    return (random & 1) == 0 ? random_() : kEdges[random / 2 % std::size(kEdges)];
  }
  void fill(State* state) {
    for (size_t at = 0; at < sizeof(state->registers); at += 4) {
      const uint32_t value = word();
      std::memcpy(state->registers + at, &value, 4);
    }
    std::memset(state->memory, static_cast<int>(word()), kMemory);
    // Addresses of 16 bytes each, at equal distances or random.
    const uint64_t distance = uint64_t{random_() % 4} * 16;
    const bool in_order = random_() % 2 == 0;
    for (uint64_t l = 0; l < 32; ++l) {
      const uint64_t at = in_order ? l * distance : uint64_t{random_() % (kMemory / 16)} * 16;
      const uint64_t address = reinterpret_cast<uintptr_t>(state->memory) + at;
      std::memcpy(state->registers + kRegister * 8 + l * 8, &address, 8);
    }
  }
  static void run(ptx::Run step, const Operation& operation, uint32_t mask, State* state) {
    auto warp = std::make_unique<Warp>();
    Range range{reinterpret_cast<uintptr_t>(state->memory),
                reinterpret_cast<uintptr_t>(state->memory) + kMemory};
    warp->registers = state->registers;
    warp->mask = mask;
    warp->ranges = &range;
    step(*warp, operation);
  }
  void expect_same(Steps steps) {
    for (size_t i = 0; i < steps.count; ++i) {
      const ptx::Run step = steps.all[i], other = fastest(step);
      if (step == other) continue;
      ++others_;
      for (int trial = 0; trial < 300; ++trial) {
        Operation operation;
        uint32_t* const places[] = {
            &operation.src0,    &operation.src1,    &operation.src2,
            &operation.src3,    &operation.dst,     &operation.dst_predicate,
            &operation.list[0], &operation.list[1], &operation.address};
        for (uint32_t k = 0; k < kRegisters; ++k) *places[k] = k * kRegister;
        operation.mode = static_cast<uint8_t>(random_());
        operation.negated = random_() % 2 == 0;
        operation.count = 2;
        operation.bytes = 16;
        operation.space = Space::kGlobal;
        operation.address_size = 8;
        const uint32_t mask = trial % 3 == 0 ? Warp::kAll : random_() | 1;
        // Both runs use the same object, because the registers contain addresses of its memory.
        fill(&state_);
        const auto before = std::make_unique<State>(state_);
        run(step, operation, mask, &state_);
        const auto expected = std::make_unique<State>(state_);
        std::memcpy(&state_, before.get(), sizeof(state_));
        run(other, operation, mask, &state_);
        ASSERT_EQ(std::memcmp(&state_, expected.get(), sizeof(state_)), 0)
            << "step " << i << ", trial " << trial;
      }
    }
  }

  std::mt19937 random_{1};
  State state_;
  size_t others_ = 0;
};

TEST_F(PtxSteps, SameBitsForEachProcessor) {
  expect_same(integers());
  expect_same(reals());
  expect_same(of_warps());
  if (others_ == 0) GTEST_SKIP() << "this build, or this processor, has one way only";
  EXPECT_EQ(others_, integers().count + reals().count + of_warps().count);
}

}  // namespace
}  // namespace kernkit::simulator::ptx
