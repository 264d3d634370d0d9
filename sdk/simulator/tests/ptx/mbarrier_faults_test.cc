// SPDX-License-Identifier: Apache-2.0
// Misuse of mbarrier, deadlocks at an mbarrier, and the order of accesses by mbarrier for racecheck
// and initcheck.
#include "kernkit/simulator/initcheck.h"
#include "kernkit/simulator/racecheck.h"
#include "ptx_fixture.h"
#include "simulator_target.h"

namespace kernkit::simulator {
namespace {

class PtxMbarrierFaults : public Ptx {
 protected:
  // Returns a kernel of 64 threads whose thread 0 initialises `bar` for two arrivals. %p0 is true
  // in thread 0.
  static std::string text(const std::string& body) {
    return ".file 1 \"/src/ring.cu\"\n.visible .entry ring(.param .u64 x)\n{\n"
           ".reg .b64 %x, %y<4>;\n.reg .b32 %i, %r<9>, %own, %other;\n.reg .pred %p<4>;\n"
           ".shared .align 8 .b64 bar[2];\n.shared .align 16 .b8 tile[256];\n"
           "ld.param.u64 %x, [x];\nmov.u32 %i, %tid.x;\nsetp.eq.u32 %p0, %i, 0;\n"
           "mov.u32 %own, tile; mad.lo.u32 %own, %i, 4, %own;\n"
           "xor.b32 %r1, %i, 32; mov.u32 %other, tile; mad.lo.u32 %other, %r1, 4, %other;\n"
           ".loc 1 5 3\n@%p0 mbarrier.init.shared.b64 [bar], 2;\nbar.sync 0;\n.loc 1 12 3\n" +
           body + "\nret;\n}\n";
  }
  void launch(const std::string& body, cudaError_t expected) {
    PtxModule module(text(body));
    EXPECT_EQ(module.launch("ring", 1, 64, 0, memory<int>(64)), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), expected);
  }
  // Returns the report of a kernel that fails, without its start "ring: block [0, 0, 0], ".
  std::string report(const std::string& body, cudaError_t expected = cudaErrorLaunchFailure) {
    launch(body, expected);
    const std::string sentence = fault(), start = "ring: block [0, 0, 0], ";
    return sentence.compare(0, start.size(), start) == 0 ? sentence.substr(start.size()) : sentence;
  }
};

TEST_F(PtxMbarrierFaults, UseOfAnObjectThatIsNotInitialised) {
  EXPECT_EQ(report("@%p0 mbarrier.arrive.shared.b64 _, [bar+8];"),
            "thread [0, 0, 0]: mbarrier.arrive.shared.b64: the mbarrier at byte 8 of shared memory "
            "is not initialised; expected mbarrier.init before this use (ring.cu:12)");
}
TEST_F(PtxMbarrierFaults, UseAfterInval) {
  EXPECT_EQ(report("@%p0 mbarrier.inval.shared.b64 [bar];\n.loc 1 14 3\n"
                   "@%p0 mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;"),
            "thread [0, 0, 0]: mbarrier.test_wait.parity.shared.b64: the mbarrier at byte 0 of "
            "shared memory is not initialised; expected mbarrier.init before this use "
            "(ring.cu:14)");
}
TEST_F(PtxMbarrierFaults, TwoInitialisations) {
  EXPECT_EQ(
      report("@%p0 mbarrier.init.shared.b64 [bar], 2;"),
      "thread [0, 0, 0]: mbarrier.init.shared.b64: the mbarrier at byte 0 of shared memory is "
      "initialised already; expected mbarrier.inval before this use (ring.cu:12)");
}
TEST_F(PtxMbarrierFaults, LanesWithDifferentCounts) {
  // One instruction may initialise different mbarriers with different counts.
  launch(
      "setp.lt.u32 %p1, %i, 2; mul.lo.u32 %r3, %i, 16; mov.u32 %r4, tile;\n"
      "add.u32 %r3, %r3, %r4; add.u32 %r2, %i, 1;\n"
      "@%p1 mbarrier.init.shared.b64 [%r3], %r2;",
      cudaSuccess);
  EXPECT_EQ(fault(), "none");
  EXPECT_EQ(report("setp.lt.u32 %p1, %i, 32; shr.u32 %r2, %i, 3; add.u32 %r2, %r2, 1;\n"
                   "@%p1 mbarrier.init.shared.b64 [bar+8], %r2;"),
            "thread [8, 0, 0]: mbarrier.init.shared.b64: lanes initialise the mbarrier at byte 8 "
            "of shared memory with the counts 1 and 2; expected one count (ring.cu:12)");
}

TEST_F(PtxMbarrierFaults, CountsOutOfRange) {
  EXPECT_EQ(report("@%p0 mbarrier.init.shared.b64 [bar+8], 0;"),
            "thread [0, 0, 0]: mbarrier.init.shared.b64: the count is 0; expected 1 to 1048575 "
            "(ring.cu:12)");
}
TEST_F(PtxMbarrierFaults, MoreArrivalsThanExpected) {
  EXPECT_EQ(report("@%p0 mbarrier.arrive.shared.b64 _, [bar], 3;"),
            "thread [0, 0, 0]: mbarrier.arrive.shared.b64: 3 arrivals at the mbarrier at byte 0 of "
            "shared memory, whose phase 0 expects 2 more of 2 arrivals (ring.cu:12)");
}
TEST_F(PtxMbarrierFaults, AnArrivalAtAPhaseThatOnlyLacksBytes) {
  EXPECT_EQ(report("@!%p0 bra end;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
                   "mbarrier.arrive.shared.b64 _, [bar];\nmbarrier.arrive.shared.b64 _, [bar];\n"
                   "end:"),
            "thread [0, 0, 0]: mbarrier.arrive.shared.b64: 1 arrival at the mbarrier at byte 0 of "
            "shared memory, whose phase 0 has 2 of 2 arrivals (16 bytes missing); expected a "
            "wait for this phase before the next arrival (ring.cu:12)");
}
TEST_F(PtxMbarrierFaults, TooManyBytes) {
  EXPECT_EQ(report("@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 0x100000;"),
            "thread [0, 0, 0]: mbarrier.expect_tx.relaxed.cta.shared::cta.b64: the tx-count of the "
            "mbarrier at byte 0 of shared memory becomes 1048576; expected at most 1048575 bytes "
            "(ring.cu:12)");
}
TEST_F(PtxMbarrierFaults, AnOverwrittenObject) {
  EXPECT_EQ(report("@%p0 st.shared.u32 [bar], 7;\n.loc 1 13 3\n"
                   "@%p0 mbarrier.arrive.shared.b64 _, [bar];"),
            "thread [0, 0, 0]: mbarrier.arrive.shared.b64: the mbarrier at byte 0 of shared memory "
            "was overwritten after mbarrier.init (ring.cu:13)");
}
TEST_F(PtxMbarrierFaults, NoCompleteThatCompletes) {
  EXPECT_EQ(report("@%p0 mbarrier.arrive.noComplete.shared.b64 %y1, [bar], 2;"),
            "thread [0, 0, 0]: mbarrier.arrive.noComplete.shared.b64: the arrival completes the "
            "phase, which .noComplete excludes (ring.cu:12)");
}
TEST_F(PtxMbarrierFaults, AStateOfAnEarlierPhase) {
  const std::string phase = "mbarrier.arrive.shared.b64 _, [bar], 2;\n";
  EXPECT_EQ(report("@!%p0 bra end;\nmbarrier.arrive.noComplete.shared.b64 %y1, [bar], 1;\n"
                   "mbarrier.arrive.shared.b64 _, [bar];\n" +
                   phase + "mbarrier.test_wait.shared.b64 %p1, [bar], %y1;\nend:"),
            "thread [0, 0, 0]: mbarrier.test_wait.shared.b64: the state is of an earlier phase; "
            "expected a state of the current or the preceding phase (ring.cu:12)");
}
TEST_F(PtxMbarrierFaults, AnObjectInGlobalMemory) {
  EXPECT_EQ(report("@%p0 mbarrier.arrive.b64 %y1, [%x];", cudaErrorIllegalAddress),
            "thread [0, 0, 0]: the mbarrier is not in shared memory (ring.cu:12)");
}

// A deadlock is reported immediately, with the number of arrivals that are missing in the phase.
TEST_F(PtxMbarrierFaults, DeadlockWithoutAnArrival) {
  const std::string wait =
      ".loc 1 20 3\nwait: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra wait;\n";
  EXPECT_EQ(report("@%p0 mbarrier.arrive.shared.b64 _, [bar];\n" + wait),
            "thread [0, 0, 0]: 64 of the block's 64 threads wait at "
            "mbarrier.try_wait.parity.shared.b64 for phase 0 of the mbarrier at byte 0 of shared "
            "memory (1 "
            "of 2 arrivals missing) (ring.cu:20)");
}
TEST_F(PtxMbarrierFaults, DeadlockWithoutBytes) {
  EXPECT_EQ(
      report("@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
             "@%p0 mbarrier.arrive.shared.b64 _, [bar];\n@!%p0 bra after;\n"
             ".loc 1 21 3\nwait: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n"
             "@%p1 bra after;\nbra wait;\nafter: .loc 1 25 3\nbar.sync 0;"),
      "thread [0, 0, 0]: 1 of the block's 64 threads wait at "
      "mbarrier.try_wait.parity.shared.b64 for phase 0 of the mbarrier at byte 0 of shared "
      "memory (16 "
      "bytes missing) (ring.cu:21) and thread [1, 0, 0] waits at __syncthreads() (ring.cu:25)");
}

// A program that ends after some failed waits is not a deadlock: try_wait returns false after its
// time limit.
TEST_F(PtxMbarrierFaults, AWaitEndsWithoutAPhase) {
  launch(
      "mov.u32 %r2, 0;\nwait: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0, 100;\n"
      "@%p1 bra end;\nadd.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 5;\n@%p2 bra wait;\nend:",
      cudaSuccess);
  EXPECT_EQ(fault(), "none");
}

const char* const kStoreAndArrive =
    "setp.ge.u32 %p2, %i, 32;\n@%p2 bra consumer;\n.loc 1 30 3\nst.shared.u32 [%own], %i;\n"
    "bar.warp.sync -1;\n@%p0 mbarrier.arrive.shared.b64 _, [bar], 2;\nbra end;\nconsumer:\n";
const char* const kWait =
    "wait: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra wait;\n";
const char* const kLoadAndEnd = ".loc 1 40 3\nld.shared.u32 %r2, [%other];\nend:";

TEST_F(PtxMbarrierFaults, RacecheckFollowsTheOrderOfAPhase) {
  const auto races = [&](const std::string& body) {
    const RaceCheck check(RaceLevel::kError);
    launch(body, cudaSuccess);
    return check.races().size();
  };
  EXPECT_EQ(races(std::string(kStoreAndArrive) + kWait + kLoadAndEnd), 0u);
  EXPECT_EQ(races(std::string(kStoreAndArrive) + kLoadAndEnd), 1u) << "no wait";
}

TEST_F(PtxMbarrierFaults, InitcheckKnowsTheBytesOfAnObjectAndOfCopies) {
  const auto uses = [&](const std::string& body) {
    const InitCheck check;
    launch(body, cudaSuccess);
    return check.uses().size();
  };
  EXPECT_EQ(uses(std::string(kStoreAndArrive) + kWait + kLoadAndEnd), 0u);
  const std::string copy =
      "cp.async.ca.shared.global [%own], [%x], 4;\ncp.async.mbarrier.arrive.shared.b64 [bar];\n"
      "@%p0 mbarrier.arrive.shared.b64 _, [bar], 2;\n" +
      std::string(kWait) + "ld.shared.u32 %r2, [%other];\nst.global.u32 [%x], %r2;\n";
  EXPECT_EQ(uses(copy), 0u);
}

}  // namespace
}  // namespace kernkit::simulator
