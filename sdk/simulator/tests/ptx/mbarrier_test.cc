// SPDX-License-Identifier: Apache-2.0
// mbarrier: phases, arrivals, transactions and waits. Thread 0 initialises the object `bar`; the
// threads of a kernel exchange words of shared memory.
#include "execution_fixture.h"

namespace kernkit::simulator {
namespace {

// Returns a kernel with shared memory: an mbarrier at %x1 that expects `count` arrivals, and words
// at %x2. %p0 is true in thread 0.
std::string with_mbarrier(const std::string& count, const std::string& body) {
  return kernel(
      "mov.u32 %x1, bar; mov.u32 %x2, tile; setp.eq.u32 %p0, %i, 0;\n"
      "@%p0 mbarrier.init.shared.b64 [%x1], " +
          count + ";\nbar.sync 0;\n" + body,
      ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 tile[1024];\n");
}

// Returns instructions that wait for the phase with a parity. The label must be unique.
std::string wait_for(const std::string& parity, const std::string& label = "wait") {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p1, [%x1], " + parity + ";\n@%p1 bra " +
         label + "_done;\nbra " + label + ";\n" + label + "_done:\n";
}

class PtxMbarrier : public PtxExecution {
 protected:
  std::vector<uint32_t> run_with(const std::string& count, const std::string& body, dim3 block = 64,
                                 const std::vector<uint32_t>& in = std::vector<uint32_t>(256)) {
    return run(with_mbarrier(count, body), in, 0, 1, block);
  }
};

// Instructions that store the number of thread i in word i of shared memory, and that load word 63
// - i.
const char* const kStoreOwn =
    "shl.b32 %x3, %i, 2; add.u32 %x4, %x2, %x3; st.shared.u32 [%x4], %i;\n";
const char* const kLoadOther =
    "xor.b32 %x5, %i, 63; shl.b32 %x5, %x5, 2; add.u32 %x5, %x2, %x5; ld.shared.u32 %r, [%x5];";

std::vector<uint32_t> reversed() {
  std::vector<uint32_t> all(64);
  for (uint32_t i = 0; i < 64; ++i) all[i] = 63 - i;
  return all;
}

TEST_F(PtxMbarrier, AWaitForAState) {
  const std::string arrive = "mbarrier.arrive.shared.b64 %y1, [%x1];\n";
  EXPECT_EQ(run_with("64", kStoreOwn + arrive +
                               "wait: mbarrier.try_wait.shared.b64 %p1, [%x1], %y1;\n@!%p1 bra "
                               "wait;\n" +
                               kLoadOther),
            reversed());
  EXPECT_EQ(run_with("64", kStoreOwn + arrive +
                               "wait: mbarrier.test_wait.acquire.cta.shared::cta.b64 %p1, [%x1], "
                               "%y1;\n@!%p1 bra wait;\n" +
                               kLoadOther),
            reversed());
}

TEST_F(PtxMbarrier, AWaitForAParity) {
  EXPECT_EQ(
      run_with("64", kStoreOwn +
                         std::string("mbarrier.arrive.release.cta.shared::cta.b64 _, [%x1];\n") +
                         wait_for("0") + kLoadOther),
      reversed());
  // The address of the mbarrier may be generic.
  EXPECT_EQ(run_with("64", kStoreOwn +
                               std::string("cvt.u64.u32 %y1, %x1; cvta.shared.u64 %y1, %y1;\n"
                                           "mbarrier.arrive.b64 %y2, [%y1];\n"
                                           "wait: mbarrier.test_wait.parity.b64 %p1, [%y1], 0;\n"
                                           "@!%p1 bra wait;\n") +
                               kLoadOther),
            reversed());
}

// A parity is complete if it is not the parity of the current phase: before the first phase
// completes, parity 1 is complete and parity 0 is not.
TEST_F(PtxMbarrier, ParitiesBeforeTheFirstPhase) {
  const std::string test =
      "mbarrier.test_wait.parity.shared.b64 %p1, [%x1], 0; selp.u32 %r, 1, 0, %p1;\n"
      "mbarrier.test_wait.parity.shared.b64 %p1, [%x1], 1; selp.u32 %x3, 2, 0, %p1;\n"
      "add.u32 %r, %r, %x3;";
  EXPECT_EQ(run_with("1", test), std::vector<uint32_t>(64, 2));
  EXPECT_EQ(run_with("1",
                     "mov.u32 %x3, -1; mbarrier.test_wait.parity.shared.b64 %p1, [%x1], %x3;\n"
                     "selp.u32 %r, 1, 0, %p1;"),
            std::vector<uint32_t>(64, 1));
  EXPECT_EQ(run_with("1", "@%p0 mbarrier.arrive.shared.b64 _, [%x1]; bar.sync 0;\n" + test),
            std::vector<uint32_t>(64, 1));
}

// A ring of two warps: in each of four rounds, one warp stores and the other loads.
TEST_F(PtxMbarrier, Phases) {
  const std::string body =
      "@%p0 mbarrier.init.shared.b64 [%x1+8], 32;\nbar.sync 0;\n"
      "and.b32 %x3, %i, 31; shl.b32 %x3, %x3, 2; add.u32 %x4, %x2, %x3; mov.u32 %r, 0;\n"
      "mov.u32 %x5, 0; setp.ge.u32 %p2, %i, 32;\n"
      "round: @%p2 bra consumer;\n"
      "xor.b32 %x6, %x5, 1; and.b32 %x6, %x6, 1;\n"
      "free: mbarrier.try_wait.parity.shared.b64 %p1, [%x1+8], %x6, 1000;\n@!%p1 bra free;\n"
      "mad.lo.u32 %x7, %x5, 100, %i; st.shared.u32 [%x4], %x7;\n"
      "mbarrier.arrive.shared.b64 _, [%x1];\nbra next;\n"
      "consumer: and.b32 %x6, %x5, 1;\n"
      "full: mbarrier.try_wait.parity.shared.b64 %p1, [%x1], %x6;\n@!%p1 bra full;\n"
      "ld.shared.u32 %x7, [%x4]; add.u32 %r, %r, %x7; mbarrier.arrive.shared.b64 _, [%x1+8];\n"
      "next: add.u32 %x5, %x5, 1; setp.lt.u32 %p3, %x5, 4;\n@%p3 bra round;";
  const std::string text = kernel(
      "mov.u32 %x1, bar; mov.u32 %x2, tile; setp.eq.u32 %p0, %i, 0;\n"
      "@%p0 mbarrier.init.shared.b64 [%x1], 32;\nbar.sync 0;\n" +
          body,
      ".shared .align 8 .b64 bar[2];\n.shared .align 16 .b8 tile[1024];\n");
  const std::vector<uint32_t> out = run(text, std::vector<uint32_t>(64));
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], 0u);
    EXPECT_EQ(out[32 + i], 600 + 4 * i) << i;
  }
}

TEST_F(PtxMbarrier, CountsOfArrivals) {
  // One thread arrives for all 64 threads.
  EXPECT_EQ(run_with("64", kStoreOwn +
                               std::string("bar.sync 0;\n@%p0 mbarrier.arrive.shared.b64 "
                                           "%y1, [%x1], 64;\n") +
                               wait_for("0") + kLoadOther),
            reversed());
}

// 40 threads drop out in the first phase, so the second phase expects 24 arrivals.
TEST_F(PtxMbarrier, DroppedArrivals) {
  EXPECT_EQ(
      run_with("64", kStoreOwn +
                         std::string("setp.lt.u32 %p2, %i, 40;\n"
                                     "@%p2 mbarrier.arrive_drop.release.cta.shared::cta.b64 "
                                     "_, [%x1];\n"
                                     "@!%p2 mbarrier.arrive.shared.b64 _, [%x1];\n") +
                         wait_for("0", "first") + "@!%p2 mbarrier.arrive.shared.b64 _, [%x1];\n" +
                         wait_for("1", "second") + kLoadOther),
      reversed());
}

// The state that an arrival returns contains the number of arrivals that were pending before the
// arrival.
TEST_F(PtxMbarrier, PendingCount) {
  EXPECT_EQ(run_with("5",
                     "@!%p0 bra end;\nmbarrier.arrive.noComplete.shared.b64 %y1, [%x1], 2;\n"
                     "mbarrier.arrive.shared.b64 %y2, [%x1];\n"
                     "mbarrier.pending_count.b64 %r, %y1; mbarrier.pending_count.b64 %x3, %y2;\n"
                     "mad.lo.u32 %r, %r, 10, %x3;\nend:\n@!%p0 mov.u32 %r, 0;")[0],
            53u);
}

// A phase completes when no arrival and no byte is pending.
TEST_F(PtxMbarrier, Transactions) {
  const std::string test =
      "mbarrier.test_wait.parity.shared.b64 %p1, [%x1], 0; selp.u32 %x3, 1, 0, %p1;\n"
      "mad.lo.u32 %r, %r, 10, %x3;\n";
  EXPECT_EQ(run_with("2",
                     "mov.u32 %r, 1;\n@!%p0 bra end;\n"
                     "mbarrier.arrive.expect_tx.shared.b64 %y1, [%x1], 48;\n" +
                         test + "mbarrier.arrive.shared.b64 %y1, [%x1];\n" + test +
                         "mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%x1], 32;\n" +
                         test + "mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%x1], 16;\n" +
                         test + "end:")[0],
            10001u);
  EXPECT_EQ(run_with("1",
                     "mov.u32 %r, 1;\n@!%p0 bra end;\n"
                     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%x1], 8;\n"
                     "mbarrier.arrive.shared.b64 _, [%x1];\n" +
                         test + "mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%x1], 8;\n" +
                         test + "end:")[0],
            101u);
}

// The arrival of cp.async.mbarrier.arrive occurs when the thread's earlier copies have completed.
TEST_F(PtxMbarrier, ArrivalsOfCopies) {
  std::vector<uint32_t> in(64);
  for (uint32_t i = 0; i < 64; ++i) in[i] = 1000 + i;
  std::vector<uint32_t> expected(64);
  for (uint32_t i = 0; i < 64; ++i) expected[i] = 1063 - i;
  const std::string copy =
      "shl.b32 %x3, %i, 2; add.u32 %x4, %x2, %x3; cp.async.ca.shared.global [%x4], [%in], 4;\n";
  EXPECT_EQ(run_with("64",
                     copy + "cp.async.mbarrier.arrive.noinc.shared.b64 [%x1];\n" + wait_for("0") +
                         kLoadOther,
                     64, in),
            expected);
  // Without .noinc, cp.async.mbarrier.arrive also increments the expected arrivals of the phase.
  EXPECT_EQ(run_with("64",
                     copy +
                         "cp.async.mbarrier.arrive.shared::cta.b64 [%x1];\n"
                         "mbarrier.arrive.shared.b64 _, [%x1];\n" +
                         wait_for("0") + kLoadOther,
                     64, in),
            expected);
}

// In one instruction, lanes 0 to 15 initialise one mbarrier, and lanes 16 to 31 initialise another
// mbarrier.
TEST_F(PtxMbarrier, LanesInitialiseAnObjectTogether) {
  const std::vector<uint32_t> pending = run_with("1",
                                                 "and.b32 %x3, %i, 16; add.u32 %x4, %x2, %x3;\n"
                                                 "mbarrier.init.shared.b64 [%x4], 32;\n"
                                                 "mbarrier.arrive.shared.b64 %y1, [%x4];\n"
                                                 "mbarrier.pending_count.b64 %r, %y1;",
                                                 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(pending[i], 32 - i % 16) << i;
}

TEST_F(PtxMbarrier, AnObjectIsInitialisedAgainAfterInval) {
  EXPECT_EQ(run_with("1",
                     "mov.u32 %r, 1;\n@!%p0 bra end;\nmbarrier.inval.shared.b64 [%x1];\n"
                     "st.shared.u64 [%x1], 77;\nmbarrier.init.shared::cta.b64 [%x1], 3;\n"
                     "mbarrier.arrive.shared.b64 %y1, [%x1];\nmbarrier.pending_count.b64 %r, "
                     "%y1;\nend:")[0],
            3u);
}

// setmaxnreg and proxy fences do not change results.
TEST_F(PtxMbarrier, FencesAndHints) {
  EXPECT_EQ(run(kernel("fence.mbarrier_init.release.cluster;\nfence.proxy.async;\n"
                       "fence.proxy.async.global;\nfence.proxy.async.shared::cta;\n"
                       "setmaxnreg.dec.sync.aligned.u32 24;\nsetmaxnreg.inc.sync.aligned.u32 "
                       "232;\nmov.u32 %r, %i;"),
                std::vector<uint32_t>(128), 0, 1, 128, 0, "sm_90a")[31],
            31u);
}

}  // namespace
}  // namespace kernkit::simulator
