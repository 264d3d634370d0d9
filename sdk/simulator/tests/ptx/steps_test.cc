// SPDX-License-Identifier: Apache-2.0
// Both versions of a loop that is compiled twice produce the same bits, whatever the registers
// contain.
#include "ptx/simd/steps.h"
#include "ptx/simd/warpgroup.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/warp.h"
#include "ptx/parser/module.h"
#include "ptx/simd/fragment_layout.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr size_t kRegister = 256, kRegisters = 9;  // bytes
constexpr size_t kMemory = 1 << 14;

// The registers and the memory that a step of the simulator reads and changes.
struct State {
  alignas(64) unsigned char registers[kRegister * kRegisters];
  alignas(64) unsigned char memory[kMemory];
};

class PtxSteps : public ::testing::Test {
 protected:
  uint32_t random_word() {
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
      const uint32_t value = random_word();
      std::memcpy(state->registers + at, &value, 4);
    }
    std::memset(state->memory, static_cast<int>(random_word()), kMemory);
    // Register 8 holds addresses of 16-byte units, which have equal distances or are random.
    const uint64_t distance = uint64_t{random_() % 4} * 16;
    const bool in_order = random_() % 2 == 0;
    for (uint64_t l = 0; l < 32; ++l) {
      const uint64_t at = in_order ? l * distance : uint64_t{random_() % (kMemory / 16)} * 16;
      const uint64_t address = reinterpret_cast<uintptr_t>(state->memory) + at;
      std::memcpy(state->registers + kRegister * 8 + l * 8, &address, 8);
    }
    for (const size_t r : uniform_) {
      unsigned char* const lanes = state->registers + kRegister * r;
      for (size_t l = 1; l < 32; ++l) std::memcpy(lanes + 8 * l, lanes, 8);
    }
  }
  void run(ptx::Run step, const Operation& operation, uint32_t mask, State* state) {
    auto warp = std::make_unique<Warp>();
    warp->block = block_;
    Range range{reinterpret_cast<uintptr_t>(state->memory),
                reinterpret_cast<uintptr_t>(state->memory) + kMemory};
    warp->registers = state->registers;
    warp->mask = mask;
    warp->ranges = &range;
    step(*warp, operation);
  }
  // Runs the portable and the SIMD version of a step on the same registers and memory, and compares
  // the results.
  void expect_same(ptx::Run step, ptx::Run simd_step, const Operation& operation, uint32_t mask,
                   const char* name, size_t i) {
    // Both runs use the object state_, because the registers contain addresses of its memory.
    fill(&state_);
    const auto before = std::make_unique<State>(state_);
    run(step, operation, mask, &state_);
    const auto expected = std::make_unique<State>(state_);
    std::memcpy(&state_, before.get(), sizeof(state_));
    run(simd_step, operation, mask, &state_);
    ASSERT_EQ(std::memcmp(&state_, expected.get(), sizeof(state_)), 0) << name << ' ' << i;
  }
  // Compares the versions of all steps of a list on random lanes. Returns the number of steps with
  // two versions.
  size_t compare(Simd list, const char* name) {
    const Steps steps = steps_of(list);
    size_t num_versions = 0;
    for (size_t i = 0; i < steps.count; ++i) {
      const ptx::Run step = steps.all[i], simd_step = fastest(step, list);
      if (step == simd_step) continue;
      ++num_versions;
      for (int trial = 0; trial < 300 && !HasFatalFailure(); ++trial) {
        Operation operation;
        uint32_t* const operands[] = {
            &operation.src0,    &operation.src1,    &operation.src2,
            &operation.src3,    &operation.dst,     &operation.dst_predicate,
            &operation.list[0], &operation.list[1], &operation.address};
        for (uint32_t k = 0; k < kRegisters; ++k) *operands[k] = k * kRegister;
        operation.mode = static_cast<uint8_t>(random_());
        operation.negated = random_() % 2 == 0;
        operation.count = 2;
        operation.bytes = 16;
        operation.space = Space::kGlobal;
        operation.address_size = 8;
        const uint32_t mask = trial % 3 == 0 ? Warp::kAll : random_() | 1;
        expect_same(step, simd_step, operation, mask, name, i);
      }
    }
    return num_versions;
  }

  std::mt19937 random_{1};
  State state_;
  std::vector<size_t> uniform_;  // 64-bit registers with equal values in all lanes
  Block* block_ = nullptr;
};

struct List {
  Simd simd;
  const char* name;
};

class PtxStepsOfList : public PtxSteps, public ::testing::WithParamInterface<List> {};

TEST_P(PtxStepsOfList, SameBitsForEachProcessor) {
  const size_t num_versions = compare(GetParam().simd, GetParam().name);
  if (num_versions == 0)
    GTEST_SKIP() << "this build or this processor has only one version of each step";
  EXPECT_EQ(num_versions, steps_of(GetParam().simd).count);
}

INSTANTIATE_TEST_SUITE_P(, PtxStepsOfList,
                         ::testing::Values(List{Simd::kIntegers, "integers"},
                                           List{Simd::kReals, "reals"},
                                           List{Simd::kWarps, "warps"}),
                         [](const auto& each) { return std::string(each.param.name); });

class NoMemory : public DeviceMemory {
  Range range_of(uint64_t) const override { return {}; }
  std::string location_of(uint64_t) const override { return ""; }
};

// The steps of mma and wgmma give equal results in the version for every processor and in the SIMD
// version. The registers of the matrices are in Kernel::lists.
TEST_F(PtxSteps, SameProductsForEachProcessor) {
  const Steps steps = steps_of(Simd::kMatrices);
  if (fastest(steps.all[0], Simd::kMatrices) == steps.all[0]) {
    GTEST_SKIP() << "this build or this processor has only one version of each step";
  }
  // Shared memory is large enough for the matrix of every descriptor.
  constexpr uint32_t kSharedBytes = 1 << 20;
  Kernel kernel;
  kernel.lists.emplace_back();
  for (uint32_t k = 0; k < 2 * kRegisters; ++k) kernel.lists[0].push_back(k * kRegister / 2);
  const Module module;
  const NoMemory memory;
  Heap heap;
  const Launch launch{kernel,       module,  "",     {1, 1, 1}, {32, 1, 1}, {1, 1, 1},
                      kSharedBytes, nullptr, memory, 0,         nullptr,    heap};
  const Cluster cluster(launch);
  block_ = &cluster.block(0);
  for (unsigned char& byte : block_->shared) byte = static_cast<unsigned char>(random_());
  for (const auto& [a, c] :
       {std::pair(Element::kF16, Element::kF32), std::pair(Element::kF16, Element::kF16),
        std::pair(Element::kBF16, Element::kF32), std::pair(Element::kTF32, Element::kF32),
        std::pair(Element::kE4M3, Element::kF32)}) {
    Product product{};
    product.m = 16;
    product.n = 8;
    product.k = static_cast<uint8_t>(8 * elements_of_register(a));
    product.a = product.b = a;
    product.c = product.d = c;
    Operation operation;
    operation.offset = product.packed();
    operation.more = 0;
    uniform_.clear();
    for (int trial = 0; trial < 300 && !HasFatalFailure(); ++trial) {
      expect_same(matrix_steps::multiply_floats,
                  fastest(matrix_steps::multiply_floats, Simd::kMatrices), operation, Warp::kAll,
                  "mma", 0);
    }
    WarpgroupProduct of_warpgroup{};
    of_warpgroup.columns = 1;
    of_warpgroup.registers = c == Element::kF16 ? 2 : 4;
    of_warpgroup.a = of_warpgroup.b = a;
    of_warpgroup.d = c;
    operation.offset = of_warpgroup.packed();
    operation.src0 = kRegister * 6;
    operation.src1 = kRegister * 7;
    operation.src2 = kRegister * 5;
    uniform_ = {6, 7};  // matrix descriptors
    for (int trial = 0; trial < 300 && !HasFatalFailure(); ++trial) {
      expect_same(warpgroup_steps::multiply_floats,
                  fastest(warpgroup_steps::multiply_floats, Simd::kMatrices), operation, Warp::kAll,
                  "wgmma", 0);
    }
  }
}

}  // namespace
}  // namespace kernkit::simulator::ptx
