// SPDX-License-Identifier: Apache-2.0
// Races of warps in shared memory: which are found, and which accesses are ordered.
#include "kernkit/cuda_on_cpu/racecheck.h"

#include "ptx_fixture.h"

namespace kernkit::cuda_on_cpu {
namespace {

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
    std::string text;
    for (const Race& race : check.races()) {
      text += (text.empty() ? "" : "; ") + std::to_string(race.count) + ": " + race.sentence;
    }
    return text.empty() ? "none" : text;
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

}  // namespace
}  // namespace kernkit::cuda_on_cpu
