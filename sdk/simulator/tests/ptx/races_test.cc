// SPDX-License-Identifier: Apache-2.0
// Concurrency in the simulator and in the runtime, which this program compiles with
// ThreadSanitizer: grids on all processors, streams, modules that are loaded and unloaded.
#include <atomic>
#include <thread>

#include "execution_fixture.h"
#include "ptx/machine/grid.h"
#include "simulator_target.h"

namespace kernkit::simulator {
namespace {

class PtxThreads : public PtxExecution {
 protected:
  // Without a seed each large grid runs on all processors.
  PtxThreads() { execution_target::runtime().set_seed(0); }

  std::vector<uint32_t> run_large(const std::string& text, uint32_t first = 0) {
    const auto r = run(text, {first}, 0, 8192);
    EXPECT_EQ(ptx::processors_of_last_grid(), std::max(1u, std::thread::hardware_concurrency()));
    return r;
  }
};

TEST_F(PtxThreads, BlocksThatAdd) {
  run_large(kernel("atom.global.add.u32 %r, [%first], 1;"));
  EXPECT_EQ(in_[0], 8192u * 64);
}

// The block that increments the counter last adds the values that all blocks stored. Exactly one
// thread returns the sum.
TEST_F(PtxThreads, BlocksThatWaitForAll) {
  const auto r = run_large(kernel(
      "st.global.u32 [%out], 1;\nmembar.gl;\nbar.sync 0;\nmov.u32 %x1, %tid.x;\n"
      "setp.ne.u32 %p1, %x1, 0;\nmov.u32 %r, 1;\n@%p1 bra end;\n"
      "atom.global.add.u32 %x2, [%first], 1;\nmembar.gl;\nmov.u32 %x3, %nctaid.x;\n"
      "sub.u32 %x3, %x3, 1;\nsetp.ne.u32 %p2, %x2, %x3;\n@%p2 bra end;\n"
      "ld.param.u64 %y1, [out];\nmov.u32 %r, 0;\nmov.u32 %x4, 0;\n"
      "again: ld.volatile.global.u32 %x5, [%y1];\nadd.u32 %r, %r, %x5;\nadd.u64 %y1, %y1, 256;\n"
      "add.u32 %x4, %x4, 1;\nsetp.lt.u32 %p3, %x4, %nctaid.x;\n@%p3 bra again;\nend:"));
  EXPECT_EQ(std::count(r.begin(), r.end(), 8192u), 1);
}

TEST_F(PtxThreads, BlocksThatAllocate) {
  const auto r = run_large(kernel("mov.u64 %y1, 16;\n" + std::string(kAllocate) +
                                      "st.u32 [%y2], %i;\nld.u32 %r, [%y2];\n"
                                      "{ .param .b64 a; st.param.b64 [a], %y2; call free, (a); }\n",
                                  kHeapFunctions));
  for (uint32_t i = 0; i < r.size(); ++i) ASSERT_EQ(r[i], i);
}

TEST_F(PtxThreads, BlocksThatFail) {
  PtxModule module(kernel("setp.eq.u32 %p1, %i, 70000;\n@%p1 trap;\nmov.u32 %r, 1;"));
  auto* out = memory<uint32_t>(4096 * 64);
  (void)module.launch("k", 4096, 64, 0, out, out, 0u);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_NE(fault().find("block [1093, 0, 0], thread [48, 0, 0]"), std::string::npos) << fault();
}

// Several host threads load modules, launch kernels and enqueue host functions between the kernels
// at the same time, each host thread in its own stream.
TEST_F(PtxThreads, ThreadsThatLaunch) {
  std::atomic<int> called{0}, wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      cudaStream_t stream = nullptr;
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      uint32_t* out = nullptr;
      cudaMallocManaged(&out, 256 * sizeof(*out));
      for (int turn = 0; turn < 5; ++turn) {
        PtxModule module(kernel("add.u32 %r, %i, " + std::to_string(number) + ";"));
        wrong += module.launch_on(stream, "k", 4, 64, 0, out, out, 0u) != cudaSuccess;
        cudaLaunchHostFunc(
            stream, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &called);
        wrong += cudaStreamSynchronize(stream) != cudaSuccess;
        for (uint32_t i = 0; i < 256; ++i) wrong += out[i] != i + number;
      }
      cudaFree(out);
      cudaStreamDestroy(stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(called, 20);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace kernkit::simulator
