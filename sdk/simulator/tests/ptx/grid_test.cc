// SPDX-License-Identifier: Apache-2.0
// Properties of simulated devices that GPUs do not have: blocks run on the host's processors, and
// the heap's size is exact.
#include <algorithm>
#include <thread>

#include "execution_fixture.h"
#include "ptx/machine/grid.h"
#include "simulator_target.h"

extern "C" {
cudaError_t cudaDeviceSetLimit(int limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, int limit);
}

namespace kernkit::simulator {
namespace {

class PtxGrid : public PtxExecution {};

// A large grid runs on all processors without a seed, and with a seed if `spread` is true and
// blocks cannot observe each other.
TEST_F(PtxGrid, BlocksOverAllProcessors) {
  const unsigned all = std::max(1u, std::thread::hardware_concurrency());
  const auto processors = [&](const std::string& body, unsigned seed, bool spread) {
    execution_target::runtime().set_seed(seed, spread);
    const auto r = run(kernel(body + "xor.b32 %r, %i, 5;", ".shared .u32 there;\n"), {0}, 0, 8192);
    for (uint32_t i = 0; i < r.size(); ++i) EXPECT_EQ(r[i], i ^ 5);
    return ptx::processors_of_last_grid();
  };
  const char* const global = "atom.global.add.u32 %x4, [%first], 1;";
#if defined(__x86_64__)  // x86-64 keeps the order of stores
  EXPECT_EQ(processors(global, 0, false), all);
#else
  EXPECT_EQ(processors(global, 0, false), 1u);
#endif
  EXPECT_EQ(processors("", 7, false), 1u);
  EXPECT_EQ(processors("", 7, true), all);
  EXPECT_EQ(processors("atom.shared.add.u32 %x4, [there], 1; fence.acq_rel.cta;", 7, true), all);
  for (const char* body :
       {global, "red.global.add.u32 [%first], 1;", "membar.gl;", "fence.acq_rel.gpu;",
        "ld.volatile.global.u32 %x4, [%first];", "ld.acquire.gpu.global.u32 %x4, [%first];"}) {
    EXPECT_EQ(processors(body, 7, true), 1u) << body;
  }
}

// Blocks that cannot observe each other run one after the other, even if they run for a long time.
// Blocks that may wait for each other run in turns.
TEST_F(PtxGrid, IndependentBlocksTakeNoTurns) {
  const auto is_in_order = [&](const std::string& body) {
    const auto r = run(kernel("mov.u32 %x1, %clock;\n"
                              "mov.u32 %x2, 0;\n"
                              "again: add.u32 %x2, %x2, 1;\n" +
                              body +
                              "setp.lt.u32 %p1, %x2, 20000; @%p1 bra again;\n"
                              "mov.u32 %x3, %clock;\n"
                              "mov.u32 %x4, %tid.x; setp.eq.u32 %p1, %x4, 0;\n"
                              "selp.u32 %r, %x1, %x3, %p1;"),
                       {0}, 0, 4, 2);
    bool in_order = true;  // whether each block starts after the previous block ended
    for (size_t i = 2; i < r.size(); i += 2) in_order &= static_cast<int32_t>(r[i] - r[i - 1]) >= 0;
    return in_order;
  };
  EXPECT_TRUE(is_in_order(""));
  EXPECT_FALSE(is_in_order("ld.volatile.global.u32 %x4, [%first];"));
}

// malloc() returns null, without a fault, if the heap has too little memory. Freed memory can be
// allocated again.
TEST_F(PtxGrid, HeapOfASize) {
  const std::string text =
      kernel("mov.u64 %y1, 1000000;\n" + std::string(kAllocate) +
                 "setp.ne.u64 %p1, %y2, 0; selp.u32 %r, 1, 0, %p1; @!%p1 bra end;\n"
                 "{ .param .b64 a; st.param.b64 [a], %y2; @%p1 call free, (a); }\nend:",
             kHeapFunctions);
  const auto turns = run(text, {}, 0, 12, 1);
  EXPECT_EQ(turns, std::vector<uint32_t>(12, 1));
  const auto at_once = [&] {
    const auto got = run(text, {}, 0, 1, 12);
    return std::count(got.begin(), got.end(), 1u);
  };
  EXPECT_EQ(at_once(), 8);
  constexpr int kHeapSize = 2;  // cudaLimitMallocHeapSize
  EXPECT_EQ(cudaDeviceSetLimit(kHeapSize, 5500000), cudaSuccess);
  EXPECT_EQ(at_once(), 5);
  size_t limit = 0;
  EXPECT_EQ(cudaDeviceGetLimit(&limit, kHeapSize), cudaSuccess);
  EXPECT_EQ(limit, 5500000u);
  constexpr int kPendingLaunches = 4;  // cudaLimitDevRuntimePendingLaunchCount
  EXPECT_EQ(cudaDeviceGetLimit(&limit, kPendingLaunches), cudaSuccess);
  EXPECT_EQ(limit, 2048u);
  EXPECT_EQ(cudaDeviceSetLimit(kPendingLaunches, 4096), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetLimit(&limit, kPendingLaunches), cudaSuccess);
  EXPECT_EQ(limit, 4096u);
  EXPECT_EQ(cudaDeviceSetLimit(7, 1), 215);  // cudaErrorUnsupportedLimit
}

}  // namespace
}  // namespace kernkit::simulator
