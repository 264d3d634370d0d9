// SPDX-License-Identifier: Apache-2.0
// Races in shared and global memory: which are found, and which accesses are ordered.
#include "kernkit/cuda_on_cpu/racecheck.h"

#include <functional>

#include "ptx_fixture.h"

namespace kernkit::cuda_on_cpu {
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
  // What is said of a kernel of 64 threads whose thread i has i in %i, in %mine the address of
  // element i of shared memory and in %other that of element 63 - i; "none" of one without races.
  std::string races(const std::string& body, dim3 grid = 1) {
    PtxModule module(
        ".file 1 \"/src/raced.cu\"\n.visible .entry raced()\n{\n"
        ".reg .b64 %y<4>;\n.reg .b32 %i, %mine, %other, %first, %r<9>;\n.reg .pred %p<4>, %lower;\n"
        ".shared .align 16 .b8 tile[256];\nmov.u32 %i, %tid.x;\nmov.u32 %first, tile;\n"
        "mad.lo.u32 %mine, %i, 4, %first;\nsub.u32 %r1, 63, %i;\n"
        "mad.lo.u32 %other, %r1, 4, %first;\nsetp.lt.u32 %lower, %i, 32;\n" +
        body + "\nret;\n}\n");
    const RaceCheck check;
    const cudaError_t error = module.launch("raced", grid, 64, 0);
    EXPECT_EQ(error != cudaSuccess ? error : cudaDeviceSynchronize(), cudaSuccess) << fault();
    return text_of(check);
  }
};

const std::string kStore = ".loc 1 5 3\nst.shared.u32 [%mine], %i;\n";
const std::string kLoad = ".loc 1 7 3\nld.shared.u32 %r2, [%other];\n";
const std::string kBarrier = "bar.sync 0;\n";

TEST_F(PtxRaces, LoadBehindAStore) {
  EXPECT_EQ(
      races(kStore + kLoad),
      "32: raced: block [0, 0, 0], thread [32, 0, 0]: stores byte 128 of shared memory "
      "(raced.cu:5), which thread [31, 0, 0] loaded (raced.cu:7), with nothing between that "
      "orders them; 32: raced: block [0, 0, 0], thread [32, 0, 0]: loads byte 124 of shared "
      "memory (raced.cu:7), which thread [31, 0, 0] stored (raced.cu:5), with nothing between "
      "that orders them");
  EXPECT_EQ(races(kStore + kBarrier + kLoad), "none");
}

TEST_F(PtxRaces, StoreBehindALoad) {
  const std::string twice = kStore + kBarrier + kLoad + "add.u32 %i, %i, 9;\n.loc 1 9 3\n";
  const std::string first = races(twice + "st.shared.u32 [%mine], %i;");
  EXPECT_NE(first.find("stores byte 0 of shared memory (raced.cu:9), which thread [63, 0, 0] "
                       "loaded (raced.cu:7)"),
            std::string::npos)
      << first;
  EXPECT_EQ(races(twice + kBarrier + "st.shared.u32 [%mine], %i;"), "none");
}

// All write one place: a race if the values differ.
TEST_F(PtxRaces, EqualValuesAreSilent) {
  EXPECT_EQ(races("mov.u32 %r3, 7;\nst.shared.u32 [%first], %r3;\nld.shared.u32 %r2, [%first];"),
            "none");
  const std::string different =
      races("shr.u32 %r3, %i, 5;\n.loc 1 5 3\nst.shared.u32 [%first], %r3;");
  EXPECT_NE(different.find("stores byte 0 of shared memory (raced.cu:5), which thread [31, 0, 0] "
                           "stored (raced.cu:5)"),
            std::string::npos)
      << different;
}

TEST_F(PtxRaces, LanesOfAWarpAreOrdered) {
  EXPECT_EQ(races("xor.b32 %r3, %i, 1;\nmad.lo.u32 %r3, %r3, 4, %first;\n" + kStore +
                  "ld.shared.u32 %r2, [%r3];"),
            "none");
}

// What one warp changes of a word, and what another reads of it, are different bytes.
TEST_F(PtxRaces, BytesAreApart) {
  EXPECT_EQ(races("add.u32 %r3, %first, %i;\nst.shared.u8 [%r3], %i;\nld.shared.u8 %r2, [%r3];"),
            "none");
}

TEST_F(PtxRaces, NumberedBarriers) {
  EXPECT_EQ(races(kStore + "bar.sync 3, 64;\n" + kLoad), "none");
  // The upper warp waits for the lower one, which goes on.
  const std::string one_way = "@!%lower bra consumer;\n" + kStore +
                              "bar.arrive 2, 64;\nbra end;\nconsumer:\n"
                              "bar.sync 2, 64;\n" +
                              kLoad + "end:";
  EXPECT_EQ(races(one_way), "none");
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
  // The lower warp stores, then counts; the upper one counts until it sees that.
  EXPECT_EQ(races("add.u32 %r4, %first, 128;\nst.shared.u32 [%r4], 0;\nbar.sync 0;\n"
                  "@!%lower bra wait;\n" +
                  kStore +
                  "membar.cta;\nred.shared.add.u32 [%r4], 1;\n"
                  "bra end;\nwait: atom.shared.add.u32 %r3, [%r4], 0;\nsetp.lt.u32 %p1, %r3, 32;\n"
                  "@%p1 bra wait;\n" +
                  kLoad + "end:"),
            "none");
}

// A block begins without what another one did in its shared memory.
TEST_F(PtxRaces, OfEachBlockForItself) {
  EXPECT_EQ(races(kStore, 300), "none");
  const std::string of_many = races(kStore + kLoad, 300);
  EXPECT_EQ(of_many.substr(0, 40), "9600: raced: block [0, 0, 0], thread [32");
}

TEST_F(PtxRaces, OnlyWhileItLives) {
  { const RaceCheck check; }
  EXPECT_EQ(races("ret;"), "none");
}

// What is said of a kernel whose thread i of all has i in %i, and in %mine and %other the addresses
// of elements i and n - 1 - i of global memory.
class PtxGlobalRaces : public Ptx {
 protected:
  static constexpr unsigned kCount = 128;

  std::string races(const std::string& body, unsigned grid = 2, unsigned block = 64) {
    const RaceCheck check;
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
  // `writes` stores in the first 32 elements, `reads` loads them.
  static std::string two_kernels() {
    std::string text = ".file 1 \"/src/raced.cu\"\n";
    for (const char* one : {"writes", "reads"}) {
      text += std::string(".visible .entry ") + one +
              "(.param .u64 x)\n{\n.reg .b64 %x, %y;\n.reg .b32 %t;\n"
              "ld.param.u64 %x, [x];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %y, %t, 4;\nadd.u64 %x, "
              "%x, %y;\n"
              "add.u32 %t, %t, 1;\n" +
              (one[0] == 'w' ? ".loc 1 5 3\nst.global.u32 [%x], %t;"
                             : ".loc 1 9 3\nld.global.u32 %t, [%x];") +
              "\nret;\n}\n";
    }
    return text;
  }

  // Behind what every kernel uses there is a counter.
  unsigned* x_ = memory<unsigned>(kCount + 8);
};

const std::string kStoreMine = ".loc 1 5 3\nadd.u32 %r3, %i, 1;\nst.global.u32 [%mine], %r3;\n";
const std::string kLoadOther = ".loc 1 7 3\nld.global.u32 %r4, [%other];\n";

TEST_F(PtxGlobalRaces, OfTwoBlocks) {
  EXPECT_EQ(
      races(kStoreMine + kLoadOther),
      "64: raced: block [1, 0, 0], thread [0, 0, 0]: stores byte 256 of 544 bytes of global "
      "memory (raced.cu:5), which block [0, 0, 0], thread [63, 0, 0] loaded (raced.cu:7), with "
      "nothing between that orders them; 64: raced: block [1, 0, 0], thread [0, 0, 0]: loads "
      "byte 252 of 544 bytes of global memory (raced.cu:7), which block [0, 0, 0], thread [63, "
      "0, 0] stored (raced.cu:5), with nothing between that orders them");
  EXPECT_EQ(races(kStoreMine + "ld.global.u32 %r4, [%mine];"), "none");
  // A barrier is of one block.
  EXPECT_NE(races(kStoreMine + "bar.sync 0;\n" + kLoadOther), "none");
}

TEST_F(PtxGlobalRaces, OfTwoWarps) {
  const std::string first = races(kStoreMine + kLoadOther, 1, 128);
  EXPECT_NE(first.find("raced: block [0, 0, 0], thread [64, 0, 0]: stores byte 256 of 544 bytes of "
                       "global memory "
                       "(raced.cu:5), which thread [63, 0, 0] loaded (raced.cu:7)"),
            std::string::npos)
      << first;
  EXPECT_EQ(races(kStoreMine + "bar.sync 0;\n" + kLoadOther, 1, 128), "none");
}

TEST_F(PtxGlobalRaces, EqualValuesAndAtomicsAreSilent) {
  EXPECT_EQ(races("st.global.u32 [%x], 7;\nld.global.u32 %r4, [%x];"), "none");
  EXPECT_NE(races("st.global.u32 [%x], %i;"), "none");
  EXPECT_EQ(races("red.global.add.u32 [%x], 1;\natom.global.add.u32 %r4, [%x], 1;"), "none");
  EXPECT_NE(races("red.global.add.u32 [%x], 1;\nld.global.u32 %r4, [%x];"), "none");
  EXPECT_NE(races("atom.relaxed.cta.global.add.u32 %r4, [%x], 1;"), "none");
}

// The last block to come reads what all have stored: as far as their fences reach.
TEST_F(PtxGlobalRaces, FencesAndACounter) {
  const auto of_last = [&](const std::string& fence,
                           const std::string& add = "atom.global.add.u32") {
    x_[kCount] = 0;
    return races(kStoreMine + "bar.sync 0;\n@!%p0 bra wait;\n" + fence + "\n" + add +
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
// One block waits for a flag of the other's.
TEST_F(PtxGlobalRaces, FencesAndAFlag) {
  const auto of_waiter = [&](const std::string& store, const std::string& load) {
    std::memset(x_, 0, (kCount + 8) * sizeof(*x_));
    return races("setp.eq.u32 %p1, %r1, 1;\n@%p1 bra waits;\n" + kStoreMine + "bar.sync 0;\n@%p0 " +
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

TEST_F(PtxGlobalRaces, OfTwoStreams) {
  cudaStream_t streams[2];
  for (cudaStream_t& one : streams) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
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
  EXPECT_EQ(
      both([] {}, 1),
      "32: reads: block [0, 0, 0], thread [0, 0, 0]: loads byte 0 of 512 bytes of global memory "
      "(raced.cu:9), which writes, block [0, 0, 0], thread [0, 0, 0] stored (raced.cu:5), with "
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
  for (cudaStream_t one : streams) cudaStreamDestroy(one);
  // The legacy stream waits for others, and they for it, unless they are non-blocking.
  cudaStreamCreate(&streams[1]);
  streams[0] = nullptr;
  EXPECT_EQ(both([] {}, 1), "none");
  cudaStreamDestroy(streams[1]);
  cudaEventDestroy(event);
}

}  // namespace
}  // namespace kernkit::cuda_on_cpu
