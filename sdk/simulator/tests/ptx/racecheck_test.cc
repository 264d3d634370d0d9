// SPDX-License-Identifier: Apache-2.0
// Races in shared and global memory: which are found, and which accesses are ordered.
#include "kernkit/simulator/racecheck.h"

#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "kernkit/simulator/stream_work.h"
#include "platform/sanitizers.h"
#include "ptx_fixture.h"
#include "simulator_target.h"

extern "C" cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                      size_t size);

namespace kernkit::simulator {
namespace {

std::string text_of(const RaceCheck& check) {
  std::string text;
  for (const Race& race : check.races()) {
    text += (text.empty() ? "" : "; ") + std::to_string(race.count) + ": " + race.sentence;
  }
  return text.empty() ? "none" : text;
}

class PtxRaces : public Ptx {
 protected:
  // Returns the reports about a kernel of 64 threads, or "none". In thread i, %i is i, %mine is the
  // address of element i of shared memory, and %other is the address of element 63 - i.
  std::string races(const std::string& body, dim3 grid = 1, RaceLevel level = RaceLevel::kError) {
    PtxModule module(
        ".file 1 \"/src/raced.cu\"\n.visible .entry raced()\n{\n"
        ".reg .b64 %y<4>;\n.reg .b32 %i, %mine, %other, %first, %r<9>;\n.reg .pred %p<4>, %lower;\n"
        ".shared .align 16 .b8 tile[256];\nmov.u32 %i, %tid.x;\nmov.u32 %first, tile;\n"
        "mad.lo.u32 %mine, %i, 4, %first;\nsub.u32 %r1, 63, %i;\n"
        "mad.lo.u32 %other, %r1, 4, %first;\nsetp.lt.u32 %lower, %i, 32;\n" +
        body + "\nret;\n}\n");
    const RaceCheck check(level);
    const cudaError_t error = module.launch("raced", grid, 64, 0);
    EXPECT_EQ(error != cudaSuccess ? error : cudaDeviceSynchronize(), cudaSuccess) << fault();
    return text_of(check);
  }
};

const std::string kStore = ".loc 1 5 3\nst.shared.u32 [%mine], %i;\n";
const std::string kLoad = ".loc 1 7 3\nld.shared.u32 %r2, [%other];\n";
const std::string kBarrier = "bar.sync 0;\n";

TEST_F(PtxRaces, LoadAfterAStore) {
  EXPECT_EQ(
      races(kStore + kLoad),
      "32: raced: block [0, 0, 0], thread [32, 0, 0]: Race reported between Write access at byte "
      "128 of shared memory "
      "(raced.cu:5) and Read access by thread [31, 0, 0] (raced.cu:7), with no barrier between "
      "that "
      "orders them; 32: raced: block [0, 0, 0], thread [32, 0, 0]: Race reported between Read "
      "access at byte 124 of shared "
      "memory (raced.cu:7) and Write access by thread [31, 0, 0] (raced.cu:5), with no barrier "
      "between "
      "that orders them");
  EXPECT_EQ(races(kStore + kBarrier + kLoad), "none");
}

TEST_F(PtxRaces, StoreAfterALoad) {
  const std::string twice = kStore + kBarrier + kLoad + "add.u32 %i, %i, 9;\n.loc 1 9 3\n";
  const std::string first = races(twice + "st.shared.u32 [%mine], %i;");
  EXPECT_NE(first.find("Race reported between Write access at byte 0 of shared memory (raced.cu:9) "
                       "and Read access by thread [63, 0, 0] (raced.cu:7)"),
            std::string::npos)
      << first;
  EXPECT_EQ(races(twice + kBarrier + "st.shared.u32 [%mine], %i;"), "none");
}

// The lanes of warp 0 store adjacent elements of 8 bytes, and warp 1 loads words of 4 bytes. Each
// report names the thread that stored the word.
TEST_F(PtxRaces, WordsOfAdjacentElements) {
  const std::string store =
      "mad.lo.u32 %r3, %i, 8, %first;\ncvt.u64.u32 %y1, %i;\n.loc 1 5 3\n"
      "@%lower st.shared.u64 [%r3], %y1;\n";
  const std::string load = ".loc 1 7 3\n@!%lower ld.shared.u32 %r4, [%other";
  const std::string end = " (raced.cu:5), with no barrier between that orders them";
  const std::string start = "32: raced: block [0, 0, 0], thread [32, 0, 0]: Race reported between ";
  EXPECT_EQ(races(store + load + "];"),
            start +
                "Read access at byte 124 of shared memory (raced.cu:7) and Write access by "
                "thread [15, 0, 0]" +
                end);
  EXPECT_EQ(races(store + load + "+128];"),
            start +
                "Read access at byte 252 of shared memory (raced.cu:7) and Write access by "
                "thread [31, 0, 0]" +
                end);
  EXPECT_EQ(races(store + kBarrier + load + "];"), "none");
  // A kernel in which each word is stored, loaded by another warp, and then stored twice by the
  // same lane.
  const std::string again = store + kBarrier + load + "];\n" + kBarrier + store + store;
  EXPECT_EQ(races(again), "none");
  EXPECT_NE(races(again + load + "];").find("by thread [15, 0, 0]" + end), std::string::npos);
}

// All threads store the same word and load it. The stores are an error only if the values differ.
TEST_F(PtxRaces, StoresOfOneValue) {
  const std::string same =
      "mov.u32 %r3, 7;\nst.shared.u32 [%first], %r3;\nld.shared.u32 %r2, [%first];";
  EXPECT_EQ(races(same), "none");
  EXPECT_NE(
      races(same, 1, RaceLevel::kInfo)
          .find("Race reported between Write access at byte 0 of shared memory and Write access "
                "by thread [31, 0, 0], with no barrier between that orders them; all stores "
                "write the same value"),
      std::string::npos)
      << races(same, 1, RaceLevel::kInfo);
  const std::string different =
      races("shr.u32 %r3, %i, 5;\n.loc 1 5 3\nst.shared.u32 [%first], %r3;");
  EXPECT_NE(different.find("Race reported between Write access at byte 0 of shared memory "
                           "(raced.cu:5) and Write access by thread [31, 0, 0] (raced.cu:5)"),
            std::string::npos)
      << different;
}

TEST_F(PtxRaces, LanesOfAWarpAreOrdered) {
  EXPECT_EQ(races("xor.b32 %r3, %i, 1;\nmad.lo.u32 %r3, %r3, 4, %first;\n" + kStore +
                  "ld.shared.u32 %r2, [%r3];"),
            "none");
}

// In CUDA, only __syncwarp() and barriers order the lanes of a warp; shuffles and votes do not.
TEST_F(PtxRaces, LanesOfAWarpAtTheLevelOfWarnings) {
  const auto of_lanes = [&](const std::string& between, const std::string& after = "") {
    return races(".loc 1 5 3\nst.shared.u32 [%mine], %i;\n" + between +
                     "xor.b32 %r3, %i, 1;\nmad.lo.u32 %r3, %r3, 4, %first;\n.loc 1 7 3\n"
                     "ld.shared.u32 %r2, [%r3];\n" +
                     after,
                 1, RaceLevel::kWarn);
  };
  const std::string text =
      "64: raced: block [0, 0, 0], thread [0, 0, 0]: Race reported between Read access at byte 4 "
      "of shared memory (raced.cu:7) and Write access by thread [1, 0, 0] (raced.cu:5), with no "
      "__syncwarp() between that orders them";
  EXPECT_EQ(of_lanes(""), text);
  EXPECT_EQ(of_lanes("shfl.sync.bfly.b32 %r4, %i, 1, 31, -1;\n"), text);
  EXPECT_EQ(of_lanes("vote.sync.any.pred %p1, %lower, -1;\n"), text);
  EXPECT_EQ(of_lanes("bar.warp.sync -1;\n"), "none");
  EXPECT_EQ(of_lanes("bar.sync 0;\n"), "none");
  // Masks of __syncwarp(): half of the lanes, the pairs of lanes that exchange data, and other
  // pairs.
  EXPECT_EQ(of_lanes("and.b32 %r4, %i, 16;\nshl.b32 %r4, 65535, %r4;\nbar.warp.sync %r4;\n"),
            "none");
  EXPECT_EQ(of_lanes("and.b32 %r4, %i, 30;\nshl.b32 %r4, 3, %r4;\nbar.warp.sync %r4;\n"), "none");
  EXPECT_EQ(of_lanes("and.b32 %r4, %i, 29;\nshl.b32 %r4, 5, %r4;\nbar.warp.sync %r4;\n"), text);
  // Even and odd lanes wait in different branches.
  EXPECT_EQ(of_lanes("and.b32 %r4, %i, 1;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra even;\n"
                     "bar.warp.sync -1;\nbra both;\neven: bar.warp.sync -1;\nboth:\n"),
            "none");
  // Each lane stores to its word again, after another lane has loaded the word. The lanes must
  // synchronise between the load and this store.
  const std::string again = "add.u32 %r4, %i, 9;\n.loc 1 9 3\nst.shared.u32 [%mine], %r4;\n";
  EXPECT_NE(of_lanes("bar.warp.sync -1;\n", again)
                .find("Race reported between Write access at byte 0 of shared memory (raced.cu:9) "
                      "and Read access by thread [1, 0, 0] "
                      "(raced.cu:7), with no __syncwarp()"),
            std::string::npos);
  EXPECT_EQ(of_lanes("bar.warp.sync -1;\n", "bar.warp.sync -1;\n" + again), "none");
  // All threads read one word, and one thread stores this word. The report must name another thread
  // as the reader.
  const auto of_one = [&](const std::string& lane) {
    return races("ld.shared.u32 %r2, [%first];\nsetp.eq.u32 %p1, %i, " + lane +
                     ";\n@%p1 st.shared.u32 [%first], 7;",
                 1, RaceLevel::kWarn);
  };
  EXPECT_NE(of_one("0").find("Read access by thread [31, 0, 0]"), std::string::npos) << of_one("0");
  EXPECT_NE(of_one("31").find("Read access by thread [0, 0, 0]"), std::string::npos)
      << of_one("31");
}

// A store that does not change the word also races with a load by another thread.
TEST_F(PtxRaces, AStoreThatChangesNothing) {
  const std::string zero = "st.shared.u32 [%mine], 0;\nbar.sync 0;\n",
                    other_word = "mad.lo.u32 %r3, %i, 4, %first;\nxor.b32 %r3, %r3, 128;\n";
  const std::string text = races(zero + ".loc 1 5 3\nst.shared.u32 [%mine], 0;\n" + other_word +
                                 ".loc 1 7 3\nld.shared.u32 %r2, [%r3];\n");
  EXPECT_NE(text.find("Race reported between Write access at byte 0 of shared memory (raced.cu:5) "
                      "and Read access by thread [32, 0, 0] (raced.cu:7)"),
            std::string::npos)
      << text;
  EXPECT_NE(races(zero + other_word + "ld.shared.u32 %r2, [%r3];\nst.shared.u32 [%mine], 0;\n"),
            "none");
}

// Threads that access different bytes do not race.
TEST_F(PtxRaces, BytesAreApart) {
  EXPECT_EQ(races("add.u32 %r3, %first, %i;\nst.shared.u8 [%r3], %i;\nld.shared.u8 %r2, [%r3];"),
            "none");
}

TEST_F(PtxRaces, NumberedBarriers) {
  EXPECT_EQ(races(kStore + "bar.sync 3, 64;\n" + kLoad), "none");
  // The lower warp stores and arrives at the barrier without a wait; the upper warp waits at the
  // barrier and loads.
  const std::string one_direction = "@!%lower bra consumer;\n" + kStore +
                                    "bar.arrive 2, 64;\nbra end;\nconsumer:\n"
                                    "bar.sync 2, 64;\n" +
                                    kLoad + "end:";
  EXPECT_EQ(races(one_direction), "none");
  const std::string late = "@!%lower bra consumer;\nbar.arrive 2, 64;\n" + kStore +
                           "bra end;\nconsumer:\n"
                           "bar.sync 2, 64;\n" +
                           kLoad + "end:";
  EXPECT_NE(races(late), "none");
}

TEST_F(PtxRaces, AtomicsOrder) {
  const std::string zero = "st.shared.u32 [%first], 0;\nbar.sync 0;\n";
  EXPECT_EQ(races(zero + "red.shared.add.u32 [%first], 1;"), "none");
  EXPECT_NE(races(zero + "red.shared.add.u32 [%first], 1;\nld.shared.u32 %r2, [%first];"), "none");
  // The lower warp stores and then increments a counter; the upper warp reads the counter until all
  // increments are visible.
  EXPECT_EQ(races("add.u32 %r4, %first, 128;\nst.shared.u32 [%r4], 0;\nbar.sync 0;\n"
                  "@!%lower bra wait;\n" +
                  kStore +
                  "membar.cta;\nred.shared.add.u32 [%r4], 1;\n"
                  "bra end;\nwait: atom.shared.add.u32 %r3, [%r4], 0;\nsetp.lt.u32 %p1, %r3, 32;\n"
                  "@%p1 bra wait;\n" +
                  kLoad + "end:"),
            "none");
}

// Shared-memory accesses of different blocks do not race, since each block has its own shared
// memory.
TEST_F(PtxRaces, OfEachBlockForItself) {
  EXPECT_EQ(races(kStore, 300), "none");
  const std::string of_many = races(kStore + kLoad, 300);
  EXPECT_EQ(of_many.substr(0, 40), "9600: raced: block [0, 0, 0], thread [32");
}

TEST_F(PtxRaces, ReportsOnlyDuringItsLifetime) {
  const auto hook = runtime_hooks.order;
  {
    const RaceCheck check;
    { const RaceCheck second; }
    EXPECT_NE(runtime_hooks.order, ignore_order);
  }
  EXPECT_EQ(runtime_hooks.order, hook);  // the runtime's hook is restored
  EXPECT_EQ(races("ret;"), "none");
}

// Races in global memory. In thread i of a grid of n threads, %i is i, %mine is the address of
// element i of global memory, and %other is the address of element n - 1 - i.
class PtxGlobalRaces : public Ptx {
 protected:
  static constexpr unsigned kCount = 128;

  std::string races(const std::string& body, unsigned grid = 2, unsigned block = 64,
                    RaceLevel level = RaceLevel::kError) {
    const RaceCheck check(level);
    PtxModule module(
        ".file 1 \"/src/raced.cu\"\n.visible .entry raced(.param .u64 x)\n{\n"
        ".reg .b64 %x, %y<4>, %mine, %other;\n.reg .b32 %i, %t, %r<9>;\n.reg .pred %p<4>;\n"
        ".shared .align 4 .b8 last[4];\n"
        "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %t, %tid.x;\n"
        "mad.lo.u32 %i, %r1, %r2, %t;\nld.param.u64 %x, [x];\nmul.wide.u32 %y1, %i, 4;\n"
        "add.u64 %mine, %x, %y1;\nsub.u64 %other, %x, %y1;\nadd.u64 %other, %other, 508;\n"
        "setp.eq.u32 %p0, %t, 0;\n" +
        body + "\nret;\n}\n");
    const cudaError_t error = module.launch("raced", grid, block, 0, x_);
    EXPECT_EQ(error != cudaSuccess ? error : cudaDeviceSynchronize(), cudaSuccess) << fault();
    return text_of(check);
  }
  // Returns two kernels: `writes` stores the first 32 elements, and `reads` loads these elements.
  static std::string two_kernels() {
    std::string text = ".file 1 \"/src/raced.cu\"\n";
    for (const char* name : {"writes", "reads"}) {
      text += std::string(".visible .entry ") + name +
              "(.param .u64 x)\n{\n.reg .b64 %x, %y;\n.reg .b32 %t;\n"
              "ld.param.u64 %x, [x];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %y, %t, 4;\nadd.u64 %x, "
              "%x, %y;\n"
              "add.u32 %t, %t, 1;\n" +
              (name[0] == 'w' ? ".loc 1 5 3\nst.global.u32 [%x], %t;"
                              : ".loc 1 9 3\nld.global.u32 %t, [%x];") +
              "\nret;\n}\n";
    }
    return text;
  }

  // Memory of the kernels: kCount elements, followed by a counter.
  unsigned* x_ = memory<unsigned>(kCount + 8);
};

const std::string kStoreOwn = ".loc 1 5 3\nadd.u32 %r3, %i, 1;\nst.global.u32 [%mine], %r3;\n";
const std::string kLoadOther = ".loc 1 7 3\nld.global.u32 %r4, [%other];\n";

TEST_F(PtxGlobalRaces, OfTwoBlocks) {
  EXPECT_EQ(races(kStoreOwn + kLoadOther),
            "64: raced: block [1, 0, 0], thread [0, 0, 0]: Race reported between Write access at "
            "byte 256 of 544 bytes of global "
            "memory (raced.cu:5) and Read access by block [0, 0, 0], thread [63, 0, 0] "
            "(raced.cu:7), with "
            "nothing between that orders them; 64: raced: block [1, 0, 0], thread [0, 0, 0]: Race "
            "reported between Read access at byte 252 of 544 bytes of global memory (raced.cu:7) "
            "and Write access by block [0, 0, 0], thread [63, "
            "0, 0] (raced.cu:5), with nothing between that orders them");
  EXPECT_EQ(races(kStoreOwn + "ld.global.u32 %r4, [%mine];"), "none");
  // A barrier orders only the threads of one block.
  EXPECT_NE(races(kStoreOwn + "bar.sync 0;\n" + kLoadOther), "none");
}

TEST_F(PtxGlobalRaces, OfTwoWarps) {
  const std::string first = races(kStoreOwn + kLoadOther, 1, 128);
  EXPECT_NE(first.find("raced: block [0, 0, 0], thread [64, 0, 0]: Race reported between Write "
                       "access at byte 256 of 544 bytes of "
                       "global memory "
                       "(raced.cu:5) and Read access by thread [63, 0, 0] (raced.cu:7)"),
            std::string::npos)
      << first;
  EXPECT_EQ(races(kStoreOwn + "bar.sync 0;\n" + kLoadOther, 1, 128), "none");
}

TEST_F(PtxGlobalRaces, OfTwoLanes) {
  const auto of_lanes = [&](const std::string& between, RaceLevel level) {
    return races(kStoreOwn + between + ".loc 1 7 3\nld.global.u32 %r4, [%x+4];\n", 1, 32, level);
  };
  EXPECT_EQ(of_lanes("", RaceLevel::kError), "none");
  EXPECT_EQ(of_lanes("", RaceLevel::kWarn),
            "31: raced: block [0, 0, 0], thread [0, 0, 0]: Race reported between Read access at "
            "byte 4 of 544 bytes of global "
            "memory (raced.cu:7) and Write access by thread [1, 0, 0] (raced.cu:5), with no "
            "__syncwarp() between that orders them");
  EXPECT_EQ(of_lanes("bar.warp.sync -1;\n", RaceLevel::kWarn), "none");
  for (const std::string lane : {"0", "31"}) {
    const std::string text = races("ld.global.u32 %r4, [%x];\nsetp.eq.u32 %p1, %i, " + lane +
                                       ";\n@%p1 st.global.u32 [%x], 7777;",
                                   1, 32, RaceLevel::kWarn);
    EXPECT_NE(
        text.find("thread [" + lane + ", 0, 0]: Race reported between Write access at byte 0"),
        std::string::npos)
        << text;
    x_[0] = 0;
  }
}

// The rules of release and acquire patterns. Block 0 stores element 0, then stores to a flag after
// `release`; block 1 waits for the flag and loads element 0 after `acquire`.
class PtxMemoryModel : public PtxGlobalRaces {
 protected:
  std::string passes(const std::string& release, const std::string& read,
                     const std::string& acquire, RaceLevel level = RaceLevel::kError,
                     const std::string& load = "ld.global.u32 %r4, [%x];",
                     const std::string& store = "st.global.u32 [%x], 7;") {
    std::memset(x_, 0, (kCount + 8) * sizeof(*x_));
    return races("@!%p0 bra end;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra waits;\n.loc 1 5 3\n" + store +
                     "\n" + release + "\nbra end;\nwaits:\nagain: " + read +
                     " %r5, [%x+512];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra again;\n" + acquire +
                     "\n.loc 1 9 3\n" + load + "\nend:",
                 2, 64, level);
  }
  // Returns the end of the only report, which describes the missing order.
  std::string reason(const std::string& release, const std::string& read,
                     const std::string& acquire, RaceLevel level = RaceLevel::kError) {
    const std::string text = passes(release, read, acquire, level);
    const size_t at = text.find("(raced.cu:5)");
    return at == std::string::npos ? text : text.substr(at + 12);
  }
};

TEST_F(PtxMemoryModel, ReleaseAndAcquirePatterns) {
  const std::string relaxed = "st.relaxed.gpu.global.u32 [%x+512], 1;";
  for (const std::string release :
       {"st.release.gpu.global.u32 [%x+512], 1;",
        "fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 "
        "[%x+512], 1;",
        "fence.sc.sys;\nst.volatile.global.u32 [%x+512], 1;",
        "membar.gl;\nred.global.add.u32 [%x+512], 1;",
        "atom.release.gpu.global.exch.b32 %r6, "
        "[%x+512], 1;",
        "st.release.gpu.global.u32 [%x+512], 0;\nst.relaxed.gpu.global.u32 "
        "[%x+512], 1;",
        "fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%x+512], 1;\n"
        "red.relaxed.gpu.global.add.u32 [%x+512], 1;"}) {
    EXPECT_EQ(passes(release, "ld.acquire.gpu.global.u32", ""), "none") << release;
    EXPECT_EQ(passes(release, "ld.relaxed.gpu.global.u32", "fence.acq_rel.gpu;", RaceLevel::kWarn),
              "none")
        << release;
    EXPECT_EQ(passes(release, "ld.volatile.global.u32", "membar.sys;", RaceLevel::kWarn), "none")
        << release;
    EXPECT_EQ(reason(release, "ld.relaxed.gpu.global.u32", ""), "none") << release;
    EXPECT_EQ(reason(release, "ld.relaxed.gpu.global.u32", "", RaceLevel::kWarn),
              ", with no acquire fence between that orders them")
        << release;
  }
  const std::string nothing = ", with nothing between that orders them";
  EXPECT_EQ(reason(relaxed, "ld.acquire.gpu.global.u32", ""), nothing);
  // A fence after the store to the flag does not release the store of element 0, and a weak store
  // to the flag is not a release.
  EXPECT_EQ(reason(relaxed + "\nfence.acq_rel.gpu;", "ld.acquire.gpu.global.u32", ""), nothing);
  EXPECT_NE(
      passes("fence.acq_rel.gpu;\nst.global.u32 [%x+512], 1;", "ld.acquire.gpu.global.u32", "")
          .find("Read access at byte 0 of 544"),
      std::string::npos);
  // Proxy fences are not memory fences.
  EXPECT_EQ(reason("fence.proxy.alias;\n" + relaxed, "ld.acquire.gpu.global.u32", ""), nothing);
}

TEST_F(PtxMemoryModel, Scopes) {
  const std::string wide = "st.release.gpu.global.u32 [%x+512], 1;",
                    acquire = "ld.acquire.gpu.global.u32",
                    of_fence =
                        ", with a fence of scope cta between, and the threads are in "
                        "different blocks";
  EXPECT_EQ(passes("st.release.sys.global.u32 [%x+512], 1;", "ld.acquire.sys.global.u32", ""),
            "none");
  EXPECT_EQ(reason("fence.acq_rel.cta;\nst.relaxed.gpu.global.u32 [%x+512], 1;", acquire, ""),
            of_fence);
  // The cluster has only one block, so a fence of scope cluster does not include the other block.
  EXPECT_EQ(reason("fence.acq_rel.cluster;\nst.relaxed.gpu.global.u32 [%x+512], 1;", acquire, ""),
            of_fence);
  EXPECT_NE(reason(wide, "ld.acquire.cta.global.u32", ""), "none");
  EXPECT_NE(reason(wide, "ld.acquire.cluster.global.u32", ""), "none");
  EXPECT_EQ(reason(wide, "ld.relaxed.gpu.global.u32", "fence.acq_rel.cta;", RaceLevel::kWarn),
            ", with no acquire fence between that orders them");
  EXPECT_NE(passes("st.relaxed.cta.global.u32 [%x+512], 1;", "ld.relaxed.gpu.global.u32", "")
                .find("with scope cta, and the threads are in different blocks"),
            std::string::npos);
}

// A strong load that has read a strong store orders the store before later accesses to the same
// word (PTX ISA, sections 8.9.2 and 8.9.5), without a release and an acquire pattern.
TEST_F(PtxMemoryModel, Observations) {
  const auto accesses = [&](const std::string& store, const std::string& read,
                            const std::string& access) {
    return passes(store + " [%x+512], 1;", read, "", RaceLevel::kWarn, access, "");
  };
  const std::string store = "st.relaxed.gpu.global.u32", relaxed = "ld.relaxed.gpu.global.u32",
                    load = "ld.global.u32 %r4, [%x+512];";
  EXPECT_EQ(accesses(store, relaxed, load), "none");
  EXPECT_EQ(accesses(store, "ld.acquire.gpu.global.u32", load), "none");
  EXPECT_EQ(accesses(store, "ld.volatile.global.u32", "st.global.u32 [%x+512], 2;"), "none");
  EXPECT_EQ(accesses(store, relaxed, "ld.global.u8 %r4, [%x+513];"), "none");
  // The load does not order the store unless both are strong and each scope includes the other
  // thread ("morally strong" in PTX ISA).
  EXPECT_NE(accesses(store, "ld.global.u32", load), "none");
  EXPECT_NE(accesses(store, "ld.relaxed.cta.global.u32", load), "none");
  EXPECT_NE(accesses("st.global.u32", relaxed, load), "none");
  EXPECT_NE(accesses("st.relaxed.cta.global.u32", relaxed, load), "none");
  // An access to a word other than the observed word is not ordered.
  EXPECT_NE(passes(store + " [%x+512], 1;", relaxed, ""), "none");
  // After a barrier, the observed store also precedes accesses by other threads of the block.
  const auto other_warp = [&](const std::string& barrier) {
    std::memset(x_, 0, (kCount + 8) * sizeof(*x_));
    return races(
        "setp.eq.u32 %p1, %r1, 1;\n@%p1 bra waits;\n"
        "@%p0 st.relaxed.gpu.global.u32 [%x+512], 1;\nbra end;\nwaits:\n@!%p0 bra go;\n"
        "again: ld.relaxed.gpu.global.u32 %r5, [%x+512];\nsetp.eq.u32 %p2, %r5, 0;\n"
        "@%p2 bra again;\ngo: " +
        barrier + "\nsetp.ne.u32 %p2, %t, 32;\n@%p2 bra end;\nld.global.u32 %r4, [%x+512];\nend:");
  };
  EXPECT_EQ(other_warp("bar.sync 0;"), "none");
  EXPECT_NE(other_warp(""), "none");
}

// A release pattern is a fence and a write by the same thread (PTX ISA, section 8.8). At the level
// `error` only, the fence of a thread before a barrier also counts for the thread that writes after
// the barrier.
TEST_F(PtxMemoryModel, FencesBeforeABarrier) {
  const auto publishes = [&](const std::string& before, const std::string& after, RaceLevel level) {
    std::memset(x_, 0, (kCount + 8) * sizeof(*x_));
    return races("setp.eq.u32 %p1, %r1, 1;\n@%p1 bra waits;\n" + kStoreOwn + before +
                     "bar.sync 0;\n@!%p0 bra end;\n" + after +
                     "st.relaxed.gpu.global.u32 [%x+512], 1;\nbra end;\nwaits:\n"
                     "again: ld.acquire.gpu.global.u32 %r5, [%x+512];\nsetp.eq.u32 %p2, %r5, 0;\n"
                     "@%p2 bra again;\n" +
                     kLoadOther + "end:",
                 2, 64, level);
  };
  const std::string fence = "fence.acq_rel.gpu;\n";
  EXPECT_EQ(publishes(fence, "", RaceLevel::kError), "none");
  EXPECT_NE(publishes(fence, "", RaceLevel::kWarn)
                .find("with a fence before a barrier only, and no fence of the thread that "
                      "publishes after the barrier"),
            std::string::npos);
  EXPECT_EQ(publishes("", fence, RaceLevel::kWarn), "none");
  EXPECT_EQ(publishes(fence, fence, RaceLevel::kWarn), "none");
  EXPECT_NE(publishes("", "", RaceLevel::kError), "none");
}

// `red` reads no value, so no acquire pattern begins with `red`.
TEST_F(PtxMemoryModel, ReductionsDoNotAcquire) {
  const auto of_two = [&](const std::string& update) {
    std::memset(x_, 0, (kCount + 8) * sizeof(*x_));
    return races(
        "@!%p0 bra end;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra second;\nst.global.u32 [%x], "
        "7;\nst.release.gpu.global.u32 [%x+512], 1;\nbra end;\nsecond:\n" +
        update + "\nfence.acq_rel.gpu;\nld.global.u32 %r4, [%x];\nend:");
  };
  EXPECT_EQ(of_two("atom.global.add.u32 %r5, [%x+512], 1;"), "none");
  EXPECT_NE(of_two("red.global.add.u32 [%x+512], 1;"), "none");
}

// Unordered strong accesses to one word are reported at the level `info` only, unless their sizes
// differ.
TEST_F(PtxMemoryModel, StrongAccesses) {
  const auto strong = [&](const std::string& load, RaceLevel level) {
    return passes("st.relaxed.gpu.global.u32 [%x+512], 1;", "ld.relaxed.gpu.global.u32", "", level,
                  load, "st.volatile.global.u32 [%x], 7;");
  };
  EXPECT_EQ(strong("ld.volatile.global.u32 %r4, [%x];", RaceLevel::kWarn), "none");
  EXPECT_NE(
      strong("ld.volatile.global.u32 %r4, [%x];", RaceLevel::kInfo)
          .find("Read access at byte 0 of 544 bytes of global memory (raced.cu:9) and Write "
                "access by block [0, 0, 0], thread [0, 0, 0] (raced.cu:5), with nothing between "
                "that orders them; both are strong accesses"),
      std::string::npos);
  EXPECT_NE(strong("ld.global.u32 %r4, [%x];", RaceLevel::kError), "none");
  EXPECT_NE(strong("ld.volatile.global.u8 %r4, [%x];", RaceLevel::kError)
                .find("which overlap in part: no access is atomic for the other"),
            std::string::npos);
  // Each element of a vector is a separate access.
  EXPECT_EQ(strong("ld.volatile.global.v2.u32 {%r4, %r6}, [%x];", RaceLevel::kWarn), "none");
}

// cp.async is ordered with its thread's other accesses only after a wait for its group.
TEST_F(PtxMemoryModel, AsynchronousCopies) {
  const auto copies = [&](const std::string& after) {
    return races(
        "mov.u32 %r6, last;\n@!%p0 bra end;\n.loc 1 5 3\n"
        "cp.async.ca.shared.global [%r6], [%x], 4;\n" +
            after + ".loc 1 7 3\nld.shared.u32 %r2, [%r6];\nend:",
        1, 32);
  };
  EXPECT_NE(copies("").find("Race reported between Read access at byte 0 of shared memory "
                            "(raced.cu:7) and Async copy access by thread [0, 0, 0] (raced.cu:5), "
                            "with no wait for the asynchronous copy between"),
            std::string::npos)
      << copies("");
  EXPECT_NE(copies("cp.async.commit_group;\ncp.async.wait_group 1;\n"), "none");
  EXPECT_EQ(copies("cp.async.commit_group;\ncp.async.wait_group 0;\n"), "none");
  EXPECT_EQ(copies("cp.async.wait_all;\n"), "none");
}

// A release and an acquire in shared memory order accesses to global memory.
TEST_F(PtxMemoryModel, StateSpaces) {
  const auto guarded = [&](const std::string& release) {
    std::memset(x_, 0, (kCount + 8) * sizeof(*x_));
    return races(
        "mov.u32 %r6, last;\nst.shared.u32 [%r6], 0;\nbar.sync 0;\nsetp.ne.u32 %p2, %t, 32;\n"
        "@%p0 bra first;\n@%p2 bra end;\nagain: ld.acquire.cta.shared.u32 %r5, [%r6];\n"
        "setp.eq.u32 %p3, %r5, 0;\n@%p3 bra again;\nld.global.u32 %r4, [%x];\nbra end;\n"
        "first: st.global.u32 [%x], 7;\n" +
            release + "\nend:",
        1, 64);
  };
  EXPECT_EQ(guarded("st.release.cta.shared.u32 [%r6], 1;"), "none");
  EXPECT_NE(guarded("st.relaxed.cta.shared.u32 [%r6], 1;"), "none");
}

// Thread 0 of each of two blocks takes a lock with `cas` and adds 1 to element 0. The additions
// race if no fence that includes both blocks precedes the release of the lock. If only the fence
// after `cas` is missing, the race has the level `warn`.
TEST_F(PtxMemoryModel, Locks) {
  const auto locked = [&](const std::string& acquire, const std::string& release, RaceLevel level,
                          unsigned seed) {
    std::memset(x_, 0, (kCount + 8) * sizeof(*x_));
    execution_target::runtime().set_seed(seed);
    return races(
        "@!%p0 bra end;\nagain: atom.global.cas.b32 %r5, [%x+512], 0, 1;\n"
        "setp.ne.u32 %p1, %r5, 0;\n@%p1 bra again;\n" +
            acquire +
            "\nld.global.u32 %r4, [%x];\nadd.u32 %r4, %r4, 1;\n"
            "st.global.u32 [%x], %r4;\n" +
            release + "\natom.global.exch.b32 %r5, [%x+512], 0;\nend:",
        2, 64, level);
  };
  for (const unsigned seed : {0u, 1u, 2u, 3u}) {
    EXPECT_EQ(locked("membar.gl;", "membar.gl;", RaceLevel::kInfo, seed), "none");
    EXPECT_EQ(locked("", "membar.gl;", RaceLevel::kError, seed), "none");
    EXPECT_NE(locked("", "membar.gl;", RaceLevel::kWarn, seed), "none");
    EXPECT_NE(locked("membar.gl;", "", RaceLevel::kError, seed), "none");
    EXPECT_NE(locked("membar.gl;", "membar.cta;", RaceLevel::kError, seed), "none");
  }
  execution_target::runtime().set_seed(0);
}

// An invalid access ends neither its thread nor the kernel, so races of later accesses are found.
// cudaDeviceSynchronize() returns the error.
TEST_F(PtxGlobalRaces, AfterAnInvalidAccess) {
  PtxModule module(
      ".file 1 \"/src/raced.cu\"\n.visible .entry raced(.param .u64 x)\n{\n.reg .b64 %x, %y;\n"
      ".reg .b32 %r<4>;\nld.param.u64 %x, [x];\nadd.u64 %y, %x, 544;\nmov.u32 %r1, %ctaid.x;\n"
      ".loc 1 5 3\nst.global.u32 [%y], %r1;\n.loc 1 6 3\nld.global.u32 %r2, [%y];\n"
      ".loc 1 7 3\nst.global.u32 [%x], %r1;\nret;\n}\n");
  const RaceCheck check;
  (void)module.launch("raced", 2, 1, 0, x_);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_NE(
      fault().find("raced: block [0, 0, 0], thread [0, 0, 0]: Invalid __global__ write of size "
                   "4 bytes, 0 bytes after an allocation of 544 bytes (raced.cu:5)"),
      std::string::npos)
      << fault();
  const std::string text = text_of(check);
  EXPECT_NE(text.find("Write access at byte 0 of 544 bytes of global memory (raced.cu:7) and Write "
                      "access by block [0, 0, 0], thread [0, 0, 0] (raced.cu:7)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Write access to global memory (raced.cu:5) and Write access by block [0, 0, "
                      "0], thread [0, 0, 0] (raced.cu:5)"),
            std::string::npos)
      << text;
}

// A thread continues after each of 10000 invalid accesses. A further invalid access ends the
// kernel.
class PtxInvalidRaces : public PtxGlobalRaces {
 protected:
  // Returns the value that a kernel stores after `count` invalid loads.
  unsigned stored_after(unsigned count) {
    PtxModule module(
        ".visible .entry k(.param .u64 x)\n{\n.reg .b64 %x;\n.reg .b32 %r<3>;\n.reg .pred %p;\n"
        "ld.param.u64 %x, [x];\nmov.u32 %r1, 0;\nagain: ld.global.u32 %r2, [%x+544];\n"
        "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p, %r1, " +
        std::to_string(count) + ";\n@%p bra again;\nst.global.u32 [%x], 7;\nret;\n}\n");
    const RaceCheck check;
    (void)module.launch("k", 1, 1, 0, x_);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return x_[0];
  }
};

TEST_F(PtxInvalidRaces, AllowedNumber) { EXPECT_EQ(stored_after(10000), 7u); }
TEST_F(PtxInvalidRaces, TooMany) { EXPECT_NE(stored_after(10001), 7u); }

TEST_F(PtxGlobalRaces, EqualValuesAndAtomics) {
  EXPECT_EQ(races("st.global.u32 [%x], 7;\nld.global.u32 %r4, [%x];"), "none");
  EXPECT_NE(races("st.global.u32 [%x], 7;", 2, 64, RaceLevel::kInfo)
                .find("all stores write the same value"),
            std::string::npos);
  EXPECT_NE(races("st.global.u32 [%x], %i;"), "none");
  // The report names the byte in which the values differ.
  const std::string second = races(
      "mov.u32 %r3, %ctaid.x;\nshl.b32 %r3, %r3, 8;\nadd.u32 %r3, %r3, 255;\n"
      "st.global.u32 [%x], %r3;");
  EXPECT_NE(second.find("Write access at byte 1 of 544 bytes of global memory"), std::string::npos)
      << second;
  EXPECT_EQ(races("red.global.add.u32 [%x], 1;\natom.global.add.u32 %r4, [%x], 1;"), "none");
  EXPECT_NE(races("red.global.add.u32 [%x], 1;\nld.global.u32 %r4, [%x];"), "none");
  EXPECT_NE(races("atom.relaxed.cta.global.add.u32 %r4, [%x], 1;"), "none");
}

// The last block that increments the counter loads the elements that another block stored. The
// stores are ordered before the loads if the counter's atomic, or a fence before and after the
// atomic, releases and acquires with a scope that includes both blocks.
TEST_F(PtxGlobalRaces, FencesAndACounter) {
  const auto of_last = [&](const std::string& fence,
                           const std::string& add = "atom.global.add.u32") {
    x_[kCount] = 0;
    return races(kStoreOwn + "bar.sync 0;\n@!%p0 bra wait;\n" + fence + "\n" + add +
                     " %r5, [%x+512], 1;\nst.shared.u32 [last], %r5;\nwait: bar.sync 0;\n"
                     "ld.shared.u32 %r5, [last];\nsetp.ne.u32 %p1, %r5, 3;\n@%p1 bra end;\n" +
                     kLoadOther + "end:",
                 4, 32);
  };
  EXPECT_EQ(of_last("membar.gl;"), "none");
  EXPECT_EQ(of_last("fence.acq_rel.gpu;"), "none");
  EXPECT_EQ(of_last("", "atom.acq_rel.gpu.global.add.u32"), "none");
  EXPECT_NE(of_last(""), "none");
  EXPECT_NE(of_last("membar.cta;"), "none");
  EXPECT_NE(of_last("membar.gl;", "atom.relaxed.cta.global.add.u32"), "none");
}
// The block that increments the counter last resets the counter by a store. The block's atomic has
// read the results of the other blocks' atomics, directly or through other atomics, so all atomics
// are ordered before the store (PTX ISA, "Observation Order" and "Causality Order").
TEST_F(PtxGlobalRaces, TheLastBlockResetsTheCounter) {
  const auto of_last = [&](const std::string& add, const std::string& last = "3") {
    x_[kCount] = 0;
    return races("@!%p0 bra end;\n" + add + "\nsetp.ne.u32 %p1, %r5, " + last +
                     ";\n@%p1 bra end;\n.loc 1 9 3\nst.global.u32 [%x+512], 0;\nend:",
                 4, 32);
  };
  const std::string takes = "atom.global.add.u32 %r5, [%x+512], 1;";
  EXPECT_EQ(of_last(takes), "none");
  EXPECT_NE(of_last(takes, "1"),
            "none");  // the atomics of the third and fourth block are unordered
  EXPECT_NE(of_last("atom.relaxed.cta.global.add.u32 %r5, [%x+512], 1;"), "none");
  // `red` reads no value, so the earlier atomics are not observed.
  EXPECT_NE(of_last("red.global.add.u32 [%x+512], 1;\nmov.u32 %r5, %r1;"), "none");
}
// One block stores elements and then a flag; the other block waits for the flag and loads the
// elements. A release and an acquire order the loads after the stores; volatile accesses to the
// flag do not.
TEST_F(PtxGlobalRaces, FencesAndAFlag) {
  const auto of_waiter = [&](const std::string& store, const std::string& load) {
    std::memset(x_, 0, (kCount + 8) * sizeof(*x_));
    return races("setp.eq.u32 %p1, %r1, 1;\n@%p1 bra waits;\n" + kStoreOwn + "bar.sync 0;\n@%p0 " +
                 store + "\nbra end;\nwaits:\n@!%p0 bra go;\nagain: " + load +
                 "\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra again;\ngo: bar.sync 0;\n" + kLoadOther +
                 "end:");
  };
  EXPECT_EQ(of_waiter("st.release.gpu.global.u32 [%x+512], 1;",
                      "ld.acquire.gpu.global.u32 %r5, [%x+512];"),
            "none");
  EXPECT_NE(
      of_waiter("st.volatile.global.u32 [%x+512], 1;", "ld.volatile.global.u32 %r5, [%x+512];"),
      "none");
}

// Atomics of unordered launches do not race if their scopes include both launches.
TEST_F(PtxGlobalRaces, AtomicsInTwoStreams) {
  const auto both = [&](const std::string& first, const std::string& second) {
    std::string text = ".file 1 \"/src/raced.cu\"\n";
    for (const auto& [name, does] : {std::pair{"first", first}, {"second", second}}) {
      text += std::string(".visible .entry ") + name +
              "(.param .u64 x)\n{\n.reg .b64 %x;\n.reg .b32 %r;\nld.param.u64 %x, [x];\n"
              "mov.u32 %r, 3;\n" +
              does + "\nret;\n}\n";
    }
    PtxModule module(text);
    const RaceCheck check;
    unsigned* x = memory<unsigned>(1);
    for (const char* name : {"first", "second"}) {
      cudaStream_t stream = nullptr;
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      EXPECT_EQ(module.launch_on(stream, name, 1, 32, 0, x), cudaSuccess);
    }
    cudaDeviceSynchronize();
    return text_of(check);
  };
  const std::string adds = "red.global.add.u32 [%x], 1;",
                    takes = "atom.global.inc.u32 %r, [%x], 9;";
  EXPECT_EQ(both(adds, adds), "none");
  EXPECT_EQ(both(adds, takes), "none");
  EXPECT_EQ(both("st.release.gpu.global.u32 [%x], 1;", "ld.acquire.gpu.global.u32 %r, [%x];"),
            "none");
  EXPECT_NE(both(adds, "ld.global.u32 %r, [%x];"), "none");
  EXPECT_NE(both("st.global.u32 [%x], %r;", adds), "none");
  EXPECT_NE(both(adds, "red.relaxed.cta.global.add.u32 [%x], 1;"), "none");
}

TEST_F(PtxGlobalRaces, OfTwoStreams) {
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  const auto both = [&](const std::function<void()>& between, int second) {
    const RaceCheck check;
    PtxModule module(two_kernels());
    unsigned* x = memory<unsigned>(kCount);
    EXPECT_EQ(module.launch_on(streams[0], "writes", 1, 32, 0, x), cudaSuccess);
    between();
    EXPECT_EQ(module.launch_on(streams[second], "reads", 1, 32, 0, x), cudaSuccess);
    cudaDeviceSynchronize();
    return text_of(check);
  };
  EXPECT_EQ(both([] {}, 1),
            "32: reads: block [0, 0, 0], thread [0, 0, 0]: Race reported between Read access at "
            "byte 0 of 512 bytes of global memory "
            "(raced.cu:9) and Write access by writes, block [0, 0, 0], thread [0, 0, 0] "
            "(raced.cu:5), with "
            "nothing between that orders them");
  EXPECT_EQ(both([] {}, 0), "none");
  EXPECT_EQ(both([&] { cudaStreamSynchronize(streams[0]); }, 1), "none");
  EXPECT_EQ(both([&] { cudaDeviceSynchronize(); }, 1), "none");
  const auto record = [&] { cudaEventRecord(event, streams[0]); };
  EXPECT_EQ(both(
                [&] {
                  record();
                  cudaStreamWaitEvent(streams[1], event, 0);
                },
                1),
            "none");
  EXPECT_EQ(both(
                [&] {
                  record();
                  cudaEventSynchronize(event);
                },
                1),
            "none");
  EXPECT_NE(both(record, 1), "none");
  for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  // The legacy stream and blocking streams wait for each other.
  cudaStreamCreate(&streams[1]);
  streams[0] = nullptr;
  EXPECT_EQ(both([] {}, 1), "none");
  cudaStreamDestroy(streams[1]);
  cudaEventDestroy(event);
}

// Tests of programmatic dependent launches: a kernel may begin while the previous kernel of the
// stream still runs.
class PtxDependentLaunches : public PtxGlobalRaces {
 protected:
  PtxDependentLaunches() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
  ~PtxDependentLaunches() override { cudaStreamDestroy(stream_); }

  // Returns a kernel in which %x and %y are the addresses of element i of x and of y in thread i.
  static std::string kernel(const char* name, const std::string& body) {
    return std::string(".visible .entry ") + name +
           "(.param .u64 x, .param .u64 y)\n{\n.reg .b64 %x, %y, %z;\n.reg .b32 %t, %r<4>;\n"
           ".reg .pred %p;\nld.param.u64 %x, [x];\nld.param.u64 %y, [y];\nmov.u32 %t, %tid.x;\n"
           "mul.wide.u32 %z, %t, 4;\nadd.u64 %x, %x, %z;\nadd.u64 %y, %y, %z;\n"
           "setp.eq.u32 %p, %t, 0;\nadd.u32 %t, %t, 1;\n" +
           body + "\nret;\n}\n";
  }
  // Returns the reports about races between the kernels `first`, which stores x by default, and
  // `second`, which is launched after the calls `between`.
  std::string race_of(
      const std::string& second, const std::string& first = kStoreX,
      const std::function<void()>& between = [] {}, bool dependent = true) {
    PtxModule module(".file 1 \"/src/dependent.cu\"\n" + kernel("first", first) +
                     kernel("second", second));
    cudaDeviceSynchronize();
    std::memset(x_, 0, kCount * sizeof(*x_));
    const RaceCheck check;
    launch(module, "first", false);
    between();
    launch(module, "second", dependent);
    cudaDeviceSynchronize();
    return text_of(check);
  }
  void launch(const PtxModule& module, const char* name, bool dependent, unsigned* x = nullptr) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = dependent ? 1 : 0;
    cudaLaunchConfig_t config{};
    config.gridDim = 1;
    config.blockDim = 64;
    config.stream = stream_;
    config.attrs = &attribute;
    config.numAttrs = 1;
    EXPECT_EQ(module.launch_by(config, name, x != nullptr ? x : x_, y_), cudaSuccess);
  }
  static std::string early(const std::string& access, const std::string& earlier) {
    return "64: second: block [0, 0, 0], thread [0, 0, 0]: Race reported between " + access +
           " access at byte 0 of 544 bytes of global memory (dependent.cu:9) and " + earlier +
           " access by first, block [0, 0, 0], thread [0, 0, 0] (dependent.cu:5), with no "
           "cudaGridDependencySynchronize() between that orders them";
  }

  static constexpr const char* kStoreX =
      "griddepcontrol.launch_dependents;\n.loc 1 5 3\nst.global.u32 [%x], %t;\n";
  static constexpr const char* kLoadX = ".loc 1 9 3\nld.global.u32 %r1, [%x];\n";
  static constexpr const char* kWait = "griddepcontrol.wait;\n";
  cudaStream_t stream_ = nullptr;
  unsigned* y_ = memory<unsigned>(kCount);
};

TEST_F(PtxDependentLaunches, AccessesBeforeTheWait) {
  EXPECT_EQ(race_of(kLoadX), early("Read", "Write"));
  EXPECT_EQ(race_of(std::string(kLoadX) + kWait), early("Read", "Write"));
  EXPECT_EQ(race_of(std::string(kWait) + kLoadX), "none");
  // griddepcontrol.launch_dependents does not order accesses.
  EXPECT_EQ(race_of(std::string("griddepcontrol.launch_dependents;\n") + kLoadX + kWait),
            early("Read", "Write"));
  // The accesses race even without griddepcontrol.launch_dependents in the first kernel.
  EXPECT_EQ(race_of(kLoadX, ".loc 1 5 3\nst.global.u32 [%x], %t;"), early("Read", "Write"));
  const std::string store = ".loc 1 9 3\nadd.u32 %t, %t, 9; st.global.u32 [%x], %t;\n";
  EXPECT_EQ(race_of(store + kWait), early("Write", "Write"));
  EXPECT_EQ(race_of(store + kWait, ".loc 1 5 3\nld.global.u32 %r1, [%x];"), early("Write", "Read"));
  EXPECT_EQ(race_of(kWait + store), "none");
  // Accesses to other memory, and two loads, do not race.
  EXPECT_EQ(race_of(".loc 1 9 3\nst.global.u32 [%y], %t;\n" + std::string(kWait) + kLoadX), "none");
  EXPECT_EQ(race_of(kLoadX, ".loc 1 5 3\nld.global.u32 %r1, [%x];"), "none");
}
TEST_F(PtxDependentLaunches, WhereStreamsLag) {
  for (unsigned seed = 1; seed < 6; ++seed) {
    execution_target::runtime().set_seed(seed);
    EXPECT_NE(race_of(kLoadX).find("with no cudaGridDependencySynchronize() between"),
              std::string::npos)
        << seed;
    EXPECT_EQ(race_of(std::string(kWait) + kLoadX), "none") << seed;
    EXPECT_EQ(race_of(kLoadX, kStoreX, [&] { cudaStreamSynchronize(stream_); }), "none") << seed;
  }
}
TEST_F(PtxDependentLaunches, OneThreadWaitsForAll) {
  const std::string first_warp = std::string("@%p ") + kWait;
  EXPECT_EQ(race_of(first_warp + "bar.sync 0;\n" + kLoadX), "none");
  EXPECT_NE(race_of(first_warp + kLoadX), "none");  // the second warp does not wait
}
TEST_F(PtxDependentLaunches, LaunchesThatDoNotOverlap) {
  EXPECT_EQ(race_of(
                kLoadX, kStoreX, [] {}, false),
            "none");
  EXPECT_EQ(race_of(kLoadX, kStoreX, [&] { cudaStreamSynchronize(stream_); }), "none");
  EXPECT_EQ(race_of(kLoadX, kStoreX, [] { cudaDeviceSynchronize(); }), "none");
  // Other work in the stream between the launches orders the launches.
  EXPECT_EQ(race_of(kLoadX, kStoreX, [&] { cudaMemsetAsync(y_, 0, 4, stream_); }), "none");
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  EXPECT_EQ(race_of(kLoadX, kStoreX,
                    [&] {
                      cudaEventRecord(event, stream_);
                      cudaStreamWaitEvent(stream_, event, 0);
                    }),
            "none");
  cudaEventDestroy(event);
  // Work on the legacy stream orders the launches too, because a blocking stream waits for that
  // work.
  cudaStreamDestroy(stream_);
  cudaStreamCreate(&stream_);
  EXPECT_NE(race_of(kLoadX), "none");
  EXPECT_EQ(race_of(kLoadX, kStoreX, [&] { cudaMemsetAsync(y_, 0, 4, nullptr); }), "none");
}
// The third of three kernels may overlap the first kernel, unless the second kernel waits for the
// first kernel before griddepcontrol.launch_dependents.
TEST_F(PtxDependentLaunches, Three) {
  const auto third = [&](const std::string& second, bool dependent = true) {
    PtxModule module(".file 1 \"/src/dependent.cu\"\n" + kernel("first", kStoreX) +
                     kernel("middle", second) + kernel("second", kLoadX + std::string(kWait)));
    const RaceCheck check;
    launch(module, "first", false);
    launch(module, "middle", dependent, y_);
    launch(module, "second", true);
    launch(module, "first", false);  // ordered after the third launch
    cudaDeviceSynchronize();
    return text_of(check);
  };
  const std::string trigger = "griddepcontrol.launch_dependents;\n";
  EXPECT_EQ(third(kWait + trigger), "none");
  EXPECT_EQ(third(std::string(kWait)), "none");
  EXPECT_EQ(third(trigger, false), "none");
  EXPECT_EQ(third(trigger + kWait), early("Read", "Write"));
  EXPECT_EQ(third(trigger), early("Read", "Write"));
  EXPECT_EQ(third(""), early("Read", "Write"));
}

// Tests of two operations on two streams, each a kernel, a copy or a fill, with other calls between
// them.
class PtxCallRaces : public PtxGlobalRaces {
 protected:
  using Work = std::function<void(cudaStream_t)>;

  void SetUp() override {
    PtxGlobalRaces::SetUp();
    for (cudaStream_t& created : streams_)
      cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event_, cudaEventDisableTiming);
    cudaMalloc(reinterpret_cast<void**>(&d_), kBytes);
    cudaMalloc(reinterpret_cast<void**>(&other_), kBytes);
    cudaMallocHost(reinterpret_cast<void**>(&host_), kBytes);
    std::memset(host_, 7, kBytes);
    module_ = std::make_unique<PtxModule>(two_kernels());
    work["writes"] = launch("writes");
    work["reads"] = launch("reads");
    work["copies to it"] = [&](cudaStream_t stream) {
      cudaMemcpyAsync(d_, host_, kBytes, cudaMemcpyHostToDevice, stream);
    };
    work["copies from it"] = [&](cudaStream_t stream) {
      cudaMemcpyAsync(host_, d_, kBytes, cudaMemcpyDeviceToHost, stream);
    };
    work["fills it"] = [&](cudaStream_t stream) { cudaMemsetAsync(d_, 5, kBytes, stream); };
    work["copies within"] = [&](cudaStream_t stream) {
      cudaMemcpyAsync(other_, d_ + 8, 32, cudaMemcpyDeviceToDevice, stream);
    };
  }
  void TearDown() override {
    cudaDeviceSynchronize();
    for (cudaStream_t created : streams_) cudaStreamDestroy(created);
    cudaEventDestroy(event_);
    cudaFree(d_), cudaFree(other_), cudaFreeHost(host_);
    PtxGlobalRaces::TearDown();
  }
  Work launch(const char* name) {
    return [this, name](cudaStream_t stream) { module_->launch_on(stream, name, 1, 32, 0, d_); };
  }
  std::string race_of(
      const std::string& first, const std::string& second,
      const std::function<void(cudaStream_t, cudaStream_t)>& between = [](auto, auto) {}) {
    cudaMemset(d_, 0, kBytes);
    cudaDeviceSynchronize();
    const RaceCheck check;
    work.at(first)(streams_[0]);
    between(streams_[0], streams_[1]);
    work.at(second)(streams_[1]);
    cudaDeviceSynchronize();
    return text_of(check);
  }
  static std::string unordered(const std::string& text) {
    return "1: " + text + ", with nothing between that orders them";
  }

  static constexpr size_t kBytes = 5 * 4096;  // five pages
  std::map<std::string, Work> work;
  cudaStream_t streams_[2];
  cudaEvent_t event_;
  unsigned *d_, *other_, *host_;
  std::unique_ptr<PtxModule> module_;
};

TEST_F(PtxCallRaces, OfAKernelAndACall) {
  const std::string bytes = " at byte 0 of 20480 bytes of global memory";
  const std::string stored =
      " and Write access by writes, block [0, 0, 0], thread [0, 0, 0] (raced.cu:5)";
  const std::string loaded =
      " and Read access by reads, block [0, 0, 0], thread [0, 0, 0] (raced.cu:9)";
  EXPECT_EQ(race_of("writes", "copies from it"),
            unordered("cudaMemcpyAsync() on stream 2: Race reported between Read access" + bytes +
                      stored));
  EXPECT_EQ(race_of("reads", "copies to it"),
            unordered("cudaMemcpyAsync() on stream 2: Race reported between Write access" + bytes +
                      loaded));
  EXPECT_EQ(race_of("reads", "fills it"),
            unordered("cudaMemsetAsync() on stream 2: Race reported between Write access" + bytes +
                      loaded));
  EXPECT_EQ(race_of("writes", "copies within"),
            unordered("cudaMemcpyAsync() on stream 2: Race reported between Read access at byte 32 "
                      "of 20480 bytes of global "
                      "memory and Write access by writes, block [0, 0, 0], thread [8, 0, 0] "
                      "(raced.cu:5)"));
  EXPECT_EQ(race_of("copies to it", "reads"),
            "32: reads: block [0, 0, 0], thread [0, 0, 0]: Race reported between Read access at "
            "byte 0 of 20480 bytes of global "
            "memory (raced.cu:9) and Write access by cudaMemcpyAsync() on stream 1, with nothing "
            "between that orders them");
  EXPECT_EQ(
      race_of("copies from it", "writes"),
      "32: writes: block [0, 0, 0], thread [0, 0, 0]: Race reported between Write access at byte 0 "
      "of 20480 bytes of "
      "global memory (raced.cu:5) and Read access by cudaMemcpyAsync() on stream 1, with nothing "
      "between that orders them");
  EXPECT_EQ(race_of("copies from it", "reads"), "none");
}

TEST_F(PtxCallRaces, OfTwoCalls) {
  EXPECT_EQ(race_of("copies to it", "copies from it"),
            unordered("cudaMemcpyAsync() on stream 2: Race reported between Write access at byte 0 "
                      "of 20480 bytes of global "
                      "memory and Read access by cudaMemcpyAsync() on stream 1") +
                "; " +
                unordered("cudaMemcpyAsync() on stream 2: Race reported between Read access at "
                          "byte 0 of 20480 bytes of global "
                          "memory and Write access by cudaMemcpyAsync() on stream 1"));
  EXPECT_EQ(race_of("fills it", "fills it"),
            unordered("cudaMemsetAsync() on stream 2: Race reported between Write access at byte 0 "
                      "of 20480 bytes of global "
                      "memory and Write access by cudaMemsetAsync() on stream 1"));
  EXPECT_EQ(race_of("copies within", "copies within").substr(0, 87),
            "1: cudaMemcpyAsync() on stream 2: Race reported between Write access at byte 0 of "
            "20480");  // the reported race is on other_
}

TEST_F(PtxCallRaces, OfWorkOfTheHost) {
  const auto by_host = [this](bool writes) -> Work {
    return [this, writes](cudaStream_t stream) {
      const kernkit_memory_access access{d_, kBytes, writes};
      const auto nothing = [](void*) -> const char* { return nullptr; };
      const kernkit_stream_work enqueued{writes ? "work::write" : "work::read",
                                         writes ? "work.py:14" : nullptr,
                                         nothing,
                                         nullptr,
                                         nullptr,
                                         &access,
                                         1};
      EXPECT_EQ(kernkit_enqueue_work(stream, &enqueued), cudaSuccess);
    };
  };
  work["host writes"] = by_host(true);
  work["host reads"] = by_host(false);
  EXPECT_EQ(race_of("writes", "host reads"),
            unordered("work::read() on stream 2: Race reported between Read access at byte 0 of "
                      "20480 bytes of global memory and Write access by writes, block [0, 0, 0], "
                      "thread [0, 0, 0] (raced.cu:5)"));
  EXPECT_EQ(race_of("host writes", "host reads"),
            unordered("work::read() on stream 2: Race reported between Read access at byte 0 of "
                      "20480 bytes of global memory and Write access by work::write() on stream 1 "
                      "(work.py:14)"));
  EXPECT_EQ(race_of("host reads", "host writes"),
            unordered("work::write() on stream 2 (work.py:14): Race reported between Write access "
                      "at byte 0 of 20480 bytes of global memory and Read access by work::read() "
                      "on stream 1"));
  EXPECT_EQ(race_of("host reads", "host reads"), "none");
  EXPECT_EQ(race_of("host reads", "reads"), "none");
  EXPECT_EQ(race_of("host writes", "reads",
                    [&](auto first_stream, auto second_stream) {
                      cudaEventRecord(event_, first_stream);
                      cudaStreamWaitEvent(second_stream, event_);
                    }),
            "none");
}

// Later work in the first stream does not order the first stream's access before the second
// stream's access; a wait by the host for the first stream does.
TEST_F(PtxCallRaces, AfterOtherWorkOfTheStream) {
  const auto more_work = [&](auto first_stream, auto) {
    cudaMemsetAsync(other_, 0, kBytes, first_stream);
    cudaMemsetAsync(other_, 0, kBytes, first_stream);
  };
  for (const char* first : {"writes", "copies to it", "fills it"}) {
    EXPECT_NE(race_of(first, "reads", more_work), "none") << first;
    EXPECT_EQ(race_of(first, "reads",
                      [&](auto first_stream, auto second_stream) {
                        more_work(first_stream, second_stream);
                        cudaStreamSynchronize(first_stream);
                      }),
              "none")
        << first;
  }
}

// Accesses to different bytes of a page do not race.
TEST_F(PtxCallRaces, BytesAreApart) {
  work["copies other bytes"] = [&](cudaStream_t stream) {
    cudaMemcpyAsync(d_ + 32, host_ + 32, kBytes - 128, cudaMemcpyHostToDevice, stream);
  };
  EXPECT_EQ(race_of("writes", "copies other bytes"), "none");
  EXPECT_EQ(race_of("copies other bytes", "writes"), "none");
}

// Work that a host thread has waited for is also ordered before later work that is launched by
// threads that the thread creates, or by threads that join the thread.
TEST_F(PtxCallRaces, ThreadsOfTheHost) {
  const auto in_thread = [](const auto& call) { std::thread(call).join(); };
  EXPECT_EQ(race_of("writes", "fills it",
                    [](auto first_stream, auto) { cudaStreamSynchronize(first_stream); }),
            "none");
  const Work fills = work["fills it"], writes = work["writes"];
  work["fills in a thread"] = [&](cudaStream_t stream) { in_thread([&] { fills(stream); }); };
  work["writes in a thread"] = [&](cudaStream_t stream) { in_thread([&] { writes(stream); }); };
  for (const char* second : {"fills in a thread", "writes in a thread"}) {
    EXPECT_EQ(race_of("copies to it", second,
                      [](auto first_stream, auto) { cudaStreamSynchronize(first_stream); }),
              "none");
    EXPECT_EQ(race_of("copies to it", second,
                      [&](auto first_stream, auto) {
                        in_thread([&] { cudaStreamSynchronize(first_stream); });
                      }),
              "none");
    EXPECT_NE(race_of("copies to it", second), "none");
  }
}

TEST_F(PtxCallRaces, WhatOrdersThem) {
  for (const auto& [first, second] : {std::pair{"writes", "copies from it"},
                                      {"fills it", "reads"},
                                      {"copies to it", "fills it"}}) {
    EXPECT_NE(race_of(first, second), "none");
    EXPECT_NE(race_of(first, second,
                      [&](auto first_stream, auto) { cudaEventRecord(event_, first_stream); }),
              "none");
    EXPECT_EQ(race_of(first, second,
                      [&](auto first_stream, auto second_stream) {
                        cudaEventRecord(event_, first_stream);
                        cudaStreamWaitEvent(second_stream, event_, 0);
                      }),
              "none");
    EXPECT_EQ(race_of(first, second,
                      [](auto first_stream, auto) { cudaStreamSynchronize(first_stream); }),
              "none");
    EXPECT_EQ(race_of(first, second, [](auto, auto) { cudaDeviceSynchronize(); }), "none");
    EXPECT_EQ(race_of(first, second, [](auto, auto) { cudaFree(nullptr); }), "none");
    // A query that returns cudaSuccess orders work like a wait.
    EXPECT_EQ(race_of(first, second,
                      [](auto first_stream, auto) {
                        while (cudaStreamQuery(first_stream) != cudaSuccess) {
                        }
                      }),
              "none");
    EXPECT_EQ(race_of(first, second,
                      [&](auto first_stream, auto) {
                        cudaEventRecord(event_, first_stream);
                        while (cudaEventQuery(event_) != cudaSuccess) {
                        }
                      }),
              "none");
  }
}

// A copy between devices is ordered with all work of both devices.
TEST(PtxPeers, ACopyWaitsForBothDevices) {
  for (const unsigned seed : {0u, 1u, 2u, 3u}) {
    CudaRuntime runtime({CudaDevice(), CudaDevice()});
    runtime.run_kernels(true);
    runtime.set_seed(seed);
    constexpr size_t kBytes = 1024;
    char* memory[2];
    cudaStream_t streams[2];
    for (const int device : {0, 1}) {
      cudaSetDevice(device);
      cudaStreamCreateWithFlags(&streams[device], cudaStreamNonBlocking);
      cudaMalloc(reinterpret_cast<void**>(&memory[device]), kBytes);
    }
    const RaceCheck check;
    cudaMemsetAsync(memory[0], 1, kBytes, streams[0]);
    EXPECT_EQ(cudaMemcpyPeer(memory[1], 1, memory[0], 0, kBytes), cudaSuccess);
    cudaMemsetAsync(memory[0], 2, kBytes, streams[0]);
    char result[kBytes] = {};
    cudaMemcpyAsync(result, memory[1], kBytes, cudaMemcpyDeviceToHost, streams[1]);
    for (const int device : {0, 1}) {
      cudaSetDevice(device);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    }
    EXPECT_EQ(result[kBytes - 1], 1) << "seed " << seed;
    EXPECT_TRUE(check.races().empty()) << check.races()[0].sentence;
  }
}

// A copy is ordered before later work in other streams only if its call waits until the copy has
// ended.
TEST_F(PtxCallRaces, SynchronousCalls) {
  std::vector<unsigned> pageable(kBytes / 4);
  const auto after = [&](const Work& call) {
    work["call"] = call;
    return race_of("call", "writes");
  };
  EXPECT_EQ(after([&](auto) { cudaMemcpy(d_, pageable.data(), kBytes, cudaMemcpyHostToDevice); }),
            "none");
  EXPECT_EQ(after([&](auto) { cudaMemcpy(pageable.data(), d_, kBytes, cudaMemcpyDeviceToHost); }),
            "none");
  EXPECT_EQ(after([&](auto stream) {  // waits, because the memory is pageable
              cudaMemcpyAsync(pageable.data(), d_, kBytes, cudaMemcpyDeviceToHost, stream);
            }),
            "none");
  EXPECT_NE(after([&](auto stream) {
              cudaMemcpyAsync(d_, pageable.data(), kBytes, cudaMemcpyHostToDevice, stream);
            }),
            "none");
  EXPECT_NE(after([&](auto) { cudaMemset(d_, 1, kBytes); }), "none");
  EXPECT_NE(after([&](auto) { cudaMemcpy(d_, other_, kBytes, cudaMemcpyDeviceToDevice); }), "none");
}

TEST_F(PtxCallRaces, TheLegacyStream) {
  for (cudaStream_t& created : streams_) cudaStreamDestroy(created), created = nullptr;
  cudaStreamCreate(&streams_[1]);
  EXPECT_EQ(race_of("copies to it", "reads"), "none");
  std::swap(streams_[0], streams_[1]);
  EXPECT_EQ(race_of("copies to it", "reads"), "none");
  cudaStreamCreateWithFlags(&streams_[1], cudaStreamNonBlocking);
  cudaStreamDestroy(streams_[0]);
  streams_[0] = nullptr;
  const std::string text = race_of("copies to it", "reads");
  EXPECT_NE(text.find("Write access by cudaMemcpyAsync() on the default stream"), std::string::npos)
      << text;
  cudaStreamCreate(&streams_[0]);
}

// Two branches of a graph are unordered. Nodes after a join, and work after the graph, are ordered.
TEST_F(PtxCallRaces, NodesOfAGraph) {
  const auto of_graph = [&](const std::string& first, const std::string& second, bool joined) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t joins;
    cudaEventCreateWithFlags(&joins, cudaEventDisableTiming);
    cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeGlobal);
    if (joined) work[first](streams_[0]);
    cudaEventRecord(event_, streams_[0]);
    cudaStreamWaitEvent(streams_[1], event_, 0);
    if (!joined) work[first](streams_[0]);
    work[second](streams_[1]);
    cudaEventRecord(joins, streams_[1]);
    cudaStreamWaitEvent(streams_[0], joins, 0);
    EXPECT_EQ(cudaStreamEndCapture(streams_[0], &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    const RaceCheck check;
    cudaGraphLaunch(exec, streams_[0]);
    work["copies to it"](streams_[0]);
    cudaGraphLaunch(exec, streams_[0]);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph), cudaEventDestroy(joins);
    return text_of(check);
  };
  EXPECT_EQ(of_graph("fills it", "copies from it", true), "none");
  EXPECT_EQ(of_graph("fills it", "reads", true), "none");
  EXPECT_EQ(of_graph("writes", "reads", true), "none");
  const std::string kernels = of_graph("writes", "reads", false);
  EXPECT_NE(kernels.find("64: reads: block [0, 0, 0], thread [0, 0, 0]: Race reported between Read "
                         "access at byte 0"),
            std::string::npos)
      << kernels;
  EXPECT_EQ(
      of_graph("fills it", "copies from it", false),
      "2: cudaMemcpyAsync() captured on stream 2: Race reported between Read access at byte 0 of "
      "20480 bytes of global "
      "memory and Write access by cudaMemsetAsync() captured on stream 1, with nothing between "
      "that orders them");
  EXPECT_NE(of_graph("fills it", "reads", false), "none");
}

// Stream-ordered memory may be accessed only between its allocation and its deallocation.
TEST_F(PtxCallRaces, MemoryOfAStream) {
  const auto allocates = [&](cudaStream_t stream) {
    cudaMallocAsync(reinterpret_cast<void**>(&d_), kBytes, stream);
  };
  unsigned* const allocated = d_;
  const auto frees = [&](cudaStream_t stream) {
    cudaFreeAsync(std::exchange(d_, allocated), stream);
  };
  const auto waits = [&](auto first_stream, auto second_stream) {
    cudaEventRecord(event_, first_stream);
    cudaStreamWaitEvent(second_stream, event_, 0);
  };
  work["allocates"] = allocates;
  work["frees"] = frees;
  EXPECT_EQ(race_of("allocates", "writes"),
            "32: writes: block [0, 0, 0], thread [0, 0, 0]: Race reported between Write access at "
            "byte 0 of 20480 bytes of "
            "global memory (raced.cu:5) and Allocation by cudaMallocAsync() on stream 1, with "
            "nothing between that orders them");
  EXPECT_EQ(race_of("reads", "frees"),
            unordered("cudaFreeAsync() on stream 2: Race reported between Deallocation at byte 0 "
                      "of 20480 bytes of global memory and Read access by reads, block [0, 0, 0], "
                      "thread [0, 0, 0] (raced.cu:9)"));
  EXPECT_EQ(race_of("allocates", "writes", waits), "none");
  EXPECT_EQ(race_of("reads", "frees", waits), "none");
  // A new allocation at the same address does not race with accesses to the old allocation.
  allocates(streams_[0]);
  work["allocates again"] = [&](cudaStream_t stream) {
    frees(streams_[0]);
    allocates(stream);
    launch("writes")(stream);
  };
  EXPECT_EQ(race_of("reads", "allocates again"), "none");
  frees(streams_[1]);
}

}  // namespace
}  // namespace kernkit::simulator
