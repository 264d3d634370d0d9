// SPDX-License-Identifier: Apache-2.0
// Execution of kernels in PTX: memory, divergence, barriers, warps, atomics, calls.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "execution_fixture.h"

namespace kernkit::simulator {
namespace {

std::vector<uint32_t> numbers(uint32_t count) {
  std::vector<uint32_t> all(count);
  for (uint32_t i = 0; i < count; ++i) all[i] = i * 2654435761u;
  return all;
}

// Each lane i in a mask loads the word at kMiddle + i * distance and then stores i in this word.
// The tests use global and shared memory, and generic addresses too.
class AccessesAt : public PtxExecution, public ::testing::WithParamInterface<int> {
 protected:
  static constexpr int kMiddle = 40 * 32;  // bytes

  static std::string lanes(uint32_t mask) {
    return "shr.u32 %x2, " + std::to_string(mask) +
           ", %i;\nand.b32 %x2, %x2, 1;\nsetp.eq.u32 %p1, %x2, 1;\nmov.u32 %r, 4294967295;\n";
  }
  static std::string address_of_lane() {
    return "mul.lo.s32 %x3, %i, " + std::to_string(GetParam()) + ";\nadd.s32 %x3, %x3, " +
           std::to_string(kMiddle) + ";\n";
  }
  // Checks the lanes' results and the content of memory after the launch.
  void expect(const std::string& text, uint32_t mask) {
    const std::vector<uint32_t> in = numbers(2 * kMiddle / 4);
    std::vector<uint32_t> loaded(32, UINT32_MAX), stored = in;
    for (int l = 0; l < 32; ++l) {
      if ((mask >> l & 1) == 0) continue;
      const auto at = static_cast<size_t>((kMiddle + l * GetParam()) / 4);
      loaded[static_cast<size_t>(l)] = in[at];
      stored[at] = static_cast<uint32_t>(l);
    }
    EXPECT_EQ(run(text, in, 0, 1, 32), loaded) << mask;
    EXPECT_EQ(std::vector<uint32_t>(in_, in_ + in.size()), stored) << mask;
  }
};

constexpr uint32_t kMasks[] = {UINT32_MAX, 0x7f, 0x55555555, 1, 0x80000000, 0xffff0000, 0x00010100};

TEST_P(AccessesAt, GlobalMemory) {
  for (const uint32_t mask : kMasks) {
    expect(kernel(lanes(mask) + address_of_lane() +
                  "cvt.s64.s32 %y1, %x3;\nadd.s64 %y1, %first, %y1;\n"
                  "@%p1 ld.global.u32 %r, [%y1];\n@%p1 st.u32 [%y1], %i;\n"),
           mask);
  }
}
TEST_P(AccessesAt, SharedMemory) {
  const std::string bytes = std::to_string(2 * kMiddle);
  // Lane 0 copies the words to shared memory or back.
  const auto copy = [&](const std::string& label, const std::string& step) {
    return "setp.ne.u32 %p2, %i, 0;\n@%p2 bra " + label + "_END;\nmov.u32 %x4, 0;\n" + label +
           ":\ncvt.u64.u32 %y2, %x4;\nadd.u64 %y3, %first, %y2;\nadd.u32 %x5, %x6, %x4;\n" + step +
           "add.u32 %x4, %x4, 4;\nsetp.lt.u32 %p2, %x4, " + bytes + ";\n@%p2 bra " + label + ";\n" +
           label + "_END:\nbar.sync 0;\n";
  };
  for (const uint32_t mask : kMasks) {
    expect(
        kernel(lanes(mask) + "mov.u32 %x6, tile;\n" +
                   copy("IN", "ld.global.u32 %x7, [%y3];\nst.shared.u32 [%x5], %x7;\n") +
                   address_of_lane() + "add.u32 %x7, %x6, %x3;\n@%p1 ld.shared.u32 %r, [%x7];\n" +
                   "cvt.u64.u32 %y4, %x7;\ncvta.shared.u64 %y4, %y4;\n" +
                   "@%p1 st.u32 [%y4], %i;\nbar.sync 0;\n" +
                   copy("OUT", "ld.shared.u32 %x7, [%x5];\nst.global.u32 [%y3], %x7;\n"),
               ".shared .align 8 .b8 tile[" + bytes + "];\n"),
        mask);
  }
}
INSTANTIATE_TEST_SUITE_P(EachDistance, AccessesAt, ::testing::Values(4, 0, -4, 8, -12, 36));

TEST_F(PtxExecution, VectorsAtDistancesOfTheirOwn) {
  const std::vector<uint32_t> in = numbers(4 * 64 + 8);
  for (const uint32_t distance : {16u, 0u}) {  // bytes
    const std::vector<uint32_t> out = run(
        kernel("mul.wide.u32 %y1, %i, " + std::to_string(distance) +
               ";\nadd.u64 %y1, %first, %y1;\nld.global.v4.u32 {%x2, %x3, %x4, %x5}, [%y1+16];\n"
               "mul.lo.u32 %x3, %x3, 3;\nmul.lo.u32 %x4, %x4, 5;\nmul.lo.u32 %x5, %x5, 7;\n"
               "add.u32 %r, %x2, %x3;\nadd.u32 %r, %r, %x4;\nadd.u32 %r, %r, %x5;\n"),
        in);
    for (size_t i = 0; i < 64; ++i) {
      const size_t at = i * distance / 4 + 4;
      EXPECT_EQ(out[i], in[at] + 3 * in[at + 1] + 5 * in[at + 2] + 7 * in[at + 3]) << i;
    }
  }
}

TEST_F(PtxExecution, LoadsAndStoresOfEachSize) {
  const std::vector<uint32_t> in = numbers(256);
  const auto* bytes = reinterpret_cast<const unsigned char*>(in.data());
  auto r = run(kernel("ld.global.u8 %r, [%in+1];"), in);
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], bytes[4 * i + 1]);
  r = run(kernel("ld.global.s8 %r, [%in+1];"), in);
  for (uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(r[i], static_cast<uint32_t>(static_cast<int8_t>(bytes[4 * i + 1])));
  r = run(kernel("{ .reg .b16 h; ld.global.s16 h, [%in+2]; cvt.s32.s16 %r, h; }"), in);
  for (uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(r[i], static_cast<uint32_t>(static_cast<int16_t>(in[i] >> 16)));
  r = run(
      kernel(
          "shl.b32 %x2, %i, 4; cvt.u64.u32 %y1, %x2; add.u64 %y1, %first, %y1;"
          "ld.global.v4.u32 {%x3, _, %x4, %x5}, [%y1]; add.u32 %r, %x3, %x4; xor.b32 %r, %r, %x5;"),
      in);
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], (in[4 * i] + in[4 * i + 2]) ^ in[4 * i + 3]);
  r = run(kernel("{ .reg .b64 a; and.b64 %y1, %in, -8; ld.global.nc.b64 a, [%y1]; shr.u64 a, a, "
                 "24; cvt.u32.u64 %r, a; }"),
          in);
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], in[i & ~1u] >> 24 | in[i | 1] << 8);
}

TEST_F(PtxExecution, AlignmentOfDynamicSharedMemory) {
  const std::string before =
      ".extern .shared .align 1024 .b8 wide[];\n.extern .shared .align 4 .b8 narrow[];\n"
      ".shared .align 4 .b8 fixed[44];\n.extern .shared .align 4096 .b8 unused[];\n";
  // All dynamic arrays begin at the same address, and the last word of the dynamic shared memory is
  // accessible.
  const auto r = run(kernel("st.shared.u32 [fixed+40], %i; mov.u32 %r, wide; mov.u32 %x1, narrow; "
                            "sub.u32 %x1, %x1, %r; or.b32 %r, %r, %x1; st.shared.u32 [wide+96], "
                            "%i; ld.shared.u32 %x1, [narrow+96]; sub.u32 %x1, %x1, %i; "
                            "or.b32 %r, %r, %x1;",
                            before),
                     {}, 0, 1, 1, 100);
  EXPECT_EQ(r[0] % 1024, 0u);
  EXPECT_LT(r[0], 4096u);
}

TEST_F(PtxExecution, SpacesAndGenericAddresses) {
  // Loads and stores of static and dynamic shared memory and of local memory, also through generic
  // addresses.
  const std::string before = ".extern .shared .align 16 .b8 dynamic[];\n";
  const auto r = run(
      kernel(
          ".shared .align 4 .b8 tile[256]; .local .align 8 .b8 mine[16];\n"
          "ld.global.u32 %x2, [%in]; mov.u32 %x3, tile; mov.u32 %x7, %tid.x; shl.b32 %x4, %x7, 2;\n"
          "add.u32 %x3, %x3, %x4; st.shared.u32 [%x3], %x2;\n"
          "mov.u32 %x5, dynamic; add.u32 %x5, %x5, %x4; st.shared.u32 [%x5+8], %i;\n"
          "bar.sync 0;\n"
          "mov.u64 %y1, tile; cvta.shared.u64 %y1, %y1; ld.u32 %x6, [%y1+252];\n"
          "mov.u64 %y2, mine; st.local.u32 [mine+4], %x6; cvta.local.u64 %y3, %y2; ld.u32 %r, "
          "[%y3+4];\n"
          "isspacep.shared %p1, %y1; @!%p1 mov.u32 %r, 0; isspacep.global %p2, %y3; @%p2 mov.u32 "
          "%r, 0;\n"
          "xor.b32 %x8, %x4, 4; mov.u32 %x5, dynamic; add.u32 %x5, %x5, %x8; ld.shared.u32 %x6, "
          "[%x5+8];\n"
          "add.u32 %r, %r, %x6;",
          before),
      numbers(128), 0, 2, 64, 64 * 4 + 8);
  for (uint32_t i = 0; i < 128; ++i) ASSERT_EQ(r[i], numbers(128)[i / 64 * 64 + 63] + (i ^ 1)) << i;
}

TEST_F(PtxExecution, VariablesOfTheModule) {
  const std::string before =
      ".const .align 4 .u32 table[4] = {10, 20, 0x1e, 40};\n"
      ".global .align 4 .b8 other[8] = {1, 2, 3, 4, 5};\n"
      ".global .align 8 .u64 pointer = generic(other);\n";
  const auto r = run(kernel("and.b32 %x2, %i, 3; mul.wide.u32 %y1, %x2, 4; mov.u64 %y2, table; "
                            "add.u64 %y1, %y1, %y2;\n"
                            "ld.const.u32 %r, [%y1]; ld.global.u64 %y3, [pointer]; ld.u32 %x3, "
                            "[%y3]; add.u32 %r, %r, %x3;",
                            before),
                     {});
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], 10 * (i % 4 + 1) + 0x04030201);
}

// The initial value of a .f32 variable may be a literal of .f64 and vice versa; the value is
// converted to the variable's type.
TEST_F(PtxExecution, FirstValuesOfFloats) {
  const std::string before =
      ".global .align 4 .f32 single[2] = {0f3FC00000, 0fC0000000};\n"
      ".global .align 8 .f64 wide[2] = {0d3FF8000000000001, 0f40100000};\n";
  const auto load = [&](const std::string& which) {
    return run(
        kernel("and.b32 %x2, %i, 1; mul.wide.u32 %y1, %x2, 4; mov.u64 %y2, single; "
               "add.u64 %y2, %y2, %y1;\nmov.u64 %y3, wide; mad.wide.u32 %y3, %x2, 8, %y3;\n" +
                   which,
               before),
        {});
  };
  const auto singles = load("ld.global.u32 %r, [%y2];");
  const auto lower = load("ld.global.u32 %r, [%y3];"), upper = load("ld.global.u32 %r, [%y3+4];");
  for (uint32_t i = 0; i < 64; ++i) {
    ASSERT_EQ(singles[i], i % 2 == 0 ? 0x3fc00000 : 0xc0000000);
    ASSERT_EQ(lower[i], i % 2 == 0 ? 1 : 0);
    ASSERT_EQ(upper[i], i % 2 == 0 ? 0x3ff80000 : 0x40020000);  // 1.5 and 2.25
  }
}

// Divergent branches, loops of different lengths, and a table of branches.
TEST_F(PtxExecution, Divergence) {
  const auto r = run(
      kernel("mov.u32 %r, 0; and.b32 %x2, %i, 7; setp.lt.u32 %p1, %x2, 3; @%p1 bra few;\n"
             "more: add.u32 %r, %r, %x2; sub.u32 %x2, %x2, 1; setp.ne.u32 %p2, %x2, 0; @%p2 bra "
             "more;\n"
             "bra.uni join;\nfew: mov.u32 %r, 100;\njoin: activemask.b32 %x3; popc.b32 %x3, %x3;\n"
             "and.b32 %x4, %i, 3; t: .branchtargets a, b, c, a;\nbrx.idx %x4, t;\n"
             "a: add.u32 %r, %r, 1000; bra all;\nb: add.u32 %r, %r, 2000; bra all;\nc: add.u32 %r, "
             "%r, 3000;\n"
             "all: shl.b32 %x3, %x3, 16; or.b32 %r, %r, %x3;"),
      {});
  const uint32_t added[] = {1000, 2000, 3000, 1000};
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t x = i % 8;
    const uint32_t sum = (x < 3 ? 100 : x * (x + 1) / 2) + added[i % 4];
    ASSERT_EQ(r[i] & 0xffff, sum) << i;
    // In the simulator, all lanes have reconverged; PTX ISA does not guarantee this.
    ASSERT_TRUE(r[i] >> 16 == 32 || !execution_target::is_simulator()) << i;
  }
}

// Every lane acquires the lock, although the waiting lanes loop at a lower code address than the
// lane that holds the lock.
TEST_F(PtxExecution, LanesWaitForEachOther) {
  for (const unsigned seed : {0u, 1u, 2u}) {
    execution_target::set_seed(seed);
    run(kernel("again: atom.global.cas.b32 %x2, [%first], 0, 1; setp.ne.u32 %p1, %x2, 0; @%p1 bra "
               "again;\n"
               "ld.volatile.global.u32 %x3, [%first+4]; add.u32 %x3, %x3, 1; "
               "st.volatile.global.u32 [%first+4], %x3;\n"
               "membar.gl; atom.global.exch.b32 %x4, [%first], 0; mov.u32 %r, %x3;"),
        {0, 0}, 0, 3, 40);
    EXPECT_EQ(in_[1], 120u);
  }
}

// Each block waits for all blocks with higher numbers; the launch must end.
TEST_F(PtxExecution, BlocksWaitForEachOther) {
  run(kernel("mov.u32 %x2, %nctaid.x; sub.u32 %x2, %x2, 1; mov.u32 %x3, %ctaid.x; sub.u32 %x2, "
             "%x2, %x3;\n"
             "again: atom.global.add.u32 %x4, [%first], 0; setp.ne.u32 %p1, %x4, %x2; @%p1 bra "
             "again;\n"
             "atom.global.add.u32 %x4, [%first], 1; mov.u32 %r, 1;"),
      {0}, 0, 20, 1);
  EXPECT_EQ(in_[0], 20u);
}

TEST_F(PtxExecution, Barriers) {
  // Barriers with a reduction, and a barrier with a number and a count: only the second warp waits
  // at barrier 3.
  auto r = run(
      kernel(
          "mov.u32 %x2, %tid.x; setp.lt.u32 %p1, %x2, 20; bar.red.popc.u32 %x3, 0, %p1;\n"
          "setp.lt.u32 %p2, %x2, 64; bar.red.and.pred %p3, 0, %p2; bar.red.or.pred %p4, 0, !%p2;\n"
          "mov.u32 %r, %x3; @%p3 add.u32 %r, %r, 100; @%p4 add.u32 %r, %r, 1000;\n"
          "setp.lt.u32 %p5, %x2, 32; @%p5 bra first; barrier.sync 3, 32;\nadd.u32 %r, %r, "
          "1;\nfirst: bar.sync 0;"),
      {});
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], 120u + (i < 32 ? 0 : 1)) << i;
  // The first warp stores and arrives; the second warp waits at the barrier and loads.
  r = run(kernel(".shared .u32 there; mov.u32 %r, 5; setp.lt.u32 %p1, %i, 32; @!%p1 bra waits;\n"
                 "st.shared.u32 [there], 77; bar.arrive 1, 64; bra.uni end;\nwaits: bar.sync 1, "
                 "64; ld.shared.u32 %r, [there];\nend:"),
          {});
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], i < 32 ? 5u : 77u) << i;
  // `barrier` instead of `bar`: the lanes of a warp may arrive at `barrier` separately.
  r = run(kernel(".shared .u32 there; setp.lt.u32 %p1, %i, 20; barrier.red.popc.u32 %r, 0, %p1;\n"
                 "setp.lt.u32 %p2, %i, 64; barrier.red.and.pred %p3, 0, %p2;\n"
                 "barrier.red.or.pred %p4, 0, !%p2; @%p3 add.u32 %r, %r, 100;\n"
                 "@%p4 add.u32 %r, %r, 1000; setp.lt.u32 %p1, %i, 32; @!%p1 bra waits;\n"
                 "st.shared.u32 [there], 77; barrier.arrive 1, 64; bra.uni end;\n"
                 "waits: barrier.sync 1, 64; ld.shared.u32 %r, [there];\nend:"),
          {});
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], i < 32 ? 120u : 77u) << i;
}

TEST_F(PtxExecution, WarpFunctions) {
  const auto check_each = [&](const std::string& body,
                              const std::function<uint32_t(uint32_t lane)>& expected) {
    const auto r = run(kernel(body), {}, 0, 1, 32);
    for (uint32_t i = 0; i < 32; ++i) ASSERT_EQ(r[i], expected(i)) << body << i;
  };
  const std::string with = " mul.lo.u32 %x2, %i, 3; ";
  check_each(with + "shfl.sync.idx.b32 %r, %x2, 5, 0x181f, -1;",
             [](uint32_t i) { return 3 * (i / 8 * 8 + 5); });
  check_each(with + "shfl.sync.up.b32 %r|%p1, %x2, 2, 0, -1; @!%p1 mov.u32 %r, 7;",
             [](uint32_t i) { return i < 2 ? 7 : 3 * (i - 2); });
  check_each(with + "shfl.sync.down.b32 %r|%p1, %x2, 2, 31, -1; @!%p1 mov.u32 %r, 7;",
             [](uint32_t i) { return i > 29 ? 7 : 3 * (i + 2); });
  check_each(with + "shfl.sync.bfly.b32 %r, %x2, 16, 31, -1;",
             [](uint32_t i) { return 3 * (i ^ 16); });
  // Shuffles in which each lane has its own distance, and shuffles within segments of 8 lanes
  // (segment mask 0x18).
  const std::string prefix = with + "and.b32 %x3, %i, 3; ";
  const std::string or_seven = "@!%p1 mov.u32 %r, 7;";
  check_each(prefix + "shfl.sync.up.b32 %r|%p1, %x2, %x3, 0, -1;" + or_seven,
             [](uint32_t i) { return 3 * (i - i % 4); });
  check_each(prefix + "shfl.sync.down.b32 %r|%p1, %x2, %x3, 31, -1;" + or_seven,
             [](uint32_t i) { return i + i % 4 > 31 ? 7 : 3 * (i + i % 4); });
  check_each(prefix + "shfl.sync.bfly.b32 %r|%p1, %x2, %x3, 31, -1;" + or_seven,
             [](uint32_t i) { return 3 * (i ^ i % 4); });
  check_each(prefix + "shfl.sync.up.b32 %r|%p1, %x2, 3, 0x1800, -1;" + or_seven,
             [](uint32_t i) { return i % 8 < 3 ? 7 : 3 * (i - 3); });
  check_each(prefix + "shfl.sync.down.b32 %r|%p1, %x2, 3, 0x181f, -1;" + or_seven,
             [](uint32_t i) { return i % 8 > 4 ? 7 : 3 * (i + 3); });
  check_each(prefix + "shfl.sync.bfly.b32 %r|%p1, %x2, 9, 0x181f, -1;" + or_seven,
             [](uint32_t i) { return (i ^ 9) > (i | 7) ? 7 : 3 * (i ^ 9); });
  check_each("setp.gt.u32 %p1, %i, 20; vote.sync.ballot.b32 %r, %p1, -1;",
             [](uint32_t) { return 0xffe00000u; });
  check_each(
      "setp.gt.u32 %p1, %i, 30; vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, !%p1, -1; "
      "selp.u32 %r, 1, 0, %p2; @%p3 add.u32 %r, %r, 2;",
      [](uint32_t) { return 1u; });
  const struct {
    const char* votes;  // lanes in which %p1 is true
    uint32_t any, all, uni;
  } polls[] = {{"setp.lt.u32 %p1, %i, 0;", 0, 0, 1},
               {"setp.lt.u32 %p1, %i, 32;", 1, 1, 1},
               {"setp.lt.u32 %p1, %i, 31;", 1, 0, 0}};
  for (const auto& poll : polls) {
    const std::string votes = std::string(poll.votes) + " vote.sync.";
    const char* const result = ".pred %p2, %p1, -1; selp.u32 %r, 1, 0, %p2;";
    check_each(votes + "any" + result, [&](uint32_t) { return poll.any; });
    check_each(votes + "all" + result, [&](uint32_t) { return poll.all; });
    check_each(votes + "uni" + result, [&](uint32_t) { return poll.uni; });
  }
  check_each("and.b32 %x2, %i, 3; match.any.sync.b32 %r, %x2, -1;",
             [](uint32_t i) { return 0x11111111u << i % 4; });
  check_each("match.all.sync.b32 %r|%p1, %i, -1; @%p1 mov.u32 %r, 9;", [](uint32_t) { return 0u; });
  check_each("setp.gt.u32 %p1, %i, 20; vote.ballot.sync.b32 %r, %p1, -1;",
             [](uint32_t) { return 0xffe00000u; });
  check_each("{ .reg .b64 w; mul.wide.u32 w, %i, 0; match.all.sync.b64 %r|%p1, w, -1; }",
             [](uint32_t) { return ~0u; });
  check_each("redux.sync.add.u32 %r, %i, -1;", [](uint32_t) { return 496u; });
  check_each("redux.sync.add.s32 %r, %i, -1;", [](uint32_t) { return 496u; });
  check_each("sub.s32 %x2, %i, 40; redux.sync.max.s32 %r, %x2, -1;",
             [](uint32_t) { return static_cast<uint32_t>(-9); });
  check_each("sub.s32 %x2, %i, 5; redux.sync.min.s32 %r, %x2, -1;",
             [](uint32_t) { return static_cast<uint32_t>(-5); });
  check_each("redux.sync.xor.b32 %r, %i, -1;", [](uint32_t) { return 0u; });
  check_each("or.b32 %x2, %i, 64; redux.sync.and.b32 %r, %x2, -1;", [](uint32_t) { return 64u; });
  check_each("redux.sync.or.b32 %r, %i, -1;", [](uint32_t) { return 31u; });
  check_each("elect.sync %x2|%p1, -1; selp.u32 %r, 100, 0, %p1; add.u32 %r, %r, %x2;",
             [](uint32_t i) { return i == 0 ? 100u : 0u; });
  // redux in groups of four lanes; each group has a different mask.
  check_each(
      "and.b32 %x2, %i, 28; mov.u32 %x3, 15; shl.b32 %x3, %x3, %x2; redux.sync.add.u32 %r, %i, "
      "%x3;",
      [](uint32_t i) { return 4 * (i / 4 * 4) + 6; });
  // Lanes in two branches synchronise with the same mask, like __syncwarp() at two call sites.
  check_each(
      "mov.u32 %r, 1; setp.lt.u32 %p1, %i, 9; @%p1 bra a; bar.warp.sync -1; bra.uni b;\na: "
      "bar.warp.sync -1;\nb: add.u32 %r, %r, 1;",
      [](uint32_t) { return 2u; });
}

// redux of the floats of lanes 8 to 31. Lane 9 holds a NaN, a zero of the opposite sign or another
// number; the other lanes hold equal numbers.
TEST_F(PtxExecution, ReductionsOfFloats) {
  execution_target::end();
  const std::string why_not = execution_target::begin(100);
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  constexpr uint32_t kNan = 0x7fc00001, kMinusZero = 0x80000000, kCanonical = 0x7fffffff;
  const auto reduce = [&](const std::string& how, uint32_t all, uint32_t of_lane_9) {
    std::vector<uint32_t> in(32, all);
    in[0] = 0xff800000;  // lane 0 does not participate
    in[9] = of_lane_9;
    const auto r = run(kernel("mov.u32 %r, 5; setp.lt.u32 %p1, %i, 8; @%p1 bra end; "
                              "ld.global.u32 %x2, [%in]; redux.sync." +
                              how + ".f32 %r, %x2, 0xffffff00;\nend:"),
                       in, 0, 1, 32, 0, "sm_100a");
    for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r[i], i < 8 ? 5 : r[8]) << how;
    return r[8];
  };
  const uint32_t one = 0x3f800000, minus_two = 0xc0000000, two = 0x40000000;
  EXPECT_EQ(reduce("min", one, minus_two), minus_two);
  EXPECT_EQ(reduce("max", one, minus_two), one);
  EXPECT_EQ(reduce("max.abs", one, minus_two), two);
  EXPECT_EQ(reduce("min.abs", one, minus_two), one);
  EXPECT_EQ(reduce("min", 0, kMinusZero), kMinusZero);
  EXPECT_EQ(reduce("max", kMinusZero, 0), 0u);
  EXPECT_EQ(reduce("min", one, kNan), one);
  EXPECT_EQ(reduce("max.NaN", one, kNan), kCanonical);
  EXPECT_EQ(reduce("min.abs.NaN", one, kNan), kCanonical);
  EXPECT_EQ(reduce("max", kNan, kNan), kCanonical);
}

TEST_F(PtxExecution, Atomics) {
  const auto check_one = [&](const std::string& text, const std::vector<uint32_t>& before,
                             uint32_t after) {
    run(kernel(text + " mov.u32 %r, 0;"), before, 0, 4, 64);
    EXPECT_EQ(in_[0], after) << text;
  };
  check_one("red.global.add.u32 [%first], %i;", {7}, 7 + 255 * 128);
  check_one("atom.global.max.s32 %x2, [%first], %i;", {static_cast<uint32_t>(-5)}, 255);
  check_one("atom.global.min.u32 %x2, [%first], %i;", {9}, 0);
  check_one("atom.global.or.b32 %x2, [%first], %i;", {0}, 255);
  check_one("atom.global.and.b32 %x2, [%first], 0xf0;", {0xffff}, 0xf0);
  check_one(
      "again: ld.volatile.global.u32 %x3, [%first]; add.u32 %x4, %x3, 2; "
      "atom.cas.b32 %x2, [%first], %x3, %x4; setp.ne.u32 %p1, %x2, %x3; @%p1 bra again;",
      {1}, 513);
  check_one("red.global.max.s32 [%first], %i;", {static_cast<uint32_t>(-5)}, 255);
  check_one("red.global.or.b32 [%first], %i;", {0}, 255);
  check_one("red.global.inc.u32 [%first], 99;", {0}, 256 % 100);
  check_one("{ .reg .b32 h; mov.b32 h, 0x3c003c00; red.global.add.noftz.f16x2 [%first], h; }", {0},
            0x5c005c00);
  check_one("atom.global.inc.u32 %x2, [%first], 99;", {0}, 256 % 100);
  check_one("atom.global.dec.u32 %x2, [%first], 99;", {0}, 44);
  check_one("{ .reg .f32 f; atom.global.add.f32 f, [%first], 0f3F800000; }", {0}, 0x43800000);
  check_one("{ .reg .b32 h; mov.b32 h, 0x3c003c00; atom.global.add.noftz.f16x2 h, [%first], h; }",
            {0}, 0x5c005c00);
  const auto r = run(kernel("atom.global.add.u32 %r, [%first], 1;"), {0}, 0, 4, 64);
  std::vector<bool> is_present(256);
  for (const uint32_t value : r) is_present.at(value) = true;
  EXPECT_EQ(is_present, std::vector<bool>(256, true));
}

// In one thread, strong accesses of every scope have the same results as plain accesses, with and
// without fences.
TEST_F(PtxExecution, StrongAccessesAndFences) {
  const std::string body =
      "ld.acquire.cluster.global.u32 %r, [%in]; ld.acquire.cta.global.u32 %x3, [%in];\n"
      "add.u32 %r, %r, %x3; ld.acquire.sys.global.u32 %x3, [%in]; add.u32 %r, %r, %x3;\n"
      "ld.relaxed.gpu.global.u32 %x3, [%in]; add.u32 %r, %r, %x3;\n"
      "ld.relaxed.cta.global.u32 %x3, [%in]; add.u32 %r, %r, %x3;\n"
      "ld.volatile.global.u8 %x3, [%in]; add.u32 %r, %r, %x3;\n"
      "ld.volatile.global.v2.u32 {%x3, %x4}, [%first]; add.u32 %r, %r, %x4;\n"
      "mov.u32 %x5, tile; mad.lo.u32 %x5, %i, 4, %x5; st.relaxed.cta.shared.u32 [%x5], %r;\n"
      "ld.acquire.cta.shared.u32 %x6, [%x5]; st.release.cta.shared.u32 [%x5], %x6;\n"
      "ld.shared.u32 %r, [%x5]; st.relaxed.cta.global.u32 [%out], %r; fence.acq_rel.cluster;\n"
      "st.relaxed.gpu.global.u32 [%out], %r; fence.sc.sys; st.release.sys.global.u32 [%out], 0;\n"
      "membar.sys; atom.release.gpu.global.exch.b32 %x6, [%out], %r;\n"
      "red.relaxed.gpu.global.add.u32 [%out], 1; ld.global.u32 %r, [%out]; add.u32 %r, %r, %x6;";
  std::vector<uint32_t> in(64), expected(64);
  for (uint32_t i = 0; i < 64; ++i) in[i] = 250 + i;
  for (uint32_t i = 0; i < 64; ++i) expected[i] = 5 * in[i] + in[i] % 256 + in[1] + 1;
  EXPECT_EQ(run(kernel(body, ".shared .align 4 .b8 tile[256];\n"), in), expected);
}

TEST_F(PtxExecution, AsynchronousCopies) {
  const auto r = run(kernel(".shared .align 16 .b8 tile[256]; mov.u32 %x2, tile; shl.b32 %x3, %i, "
                            "2; add.u32 %x2, %x2, %x3;\n"
                            "setp.lt.u32 %p1, %i, 10; selp.u32 %x4, 0, 4, %p1;\n"
                            "cp.async.ca.shared.global [%x2], [%in], 4, %x4; "
                            "cp.async.commit_group; cp.async.wait_group 0;\n"
                            "bar.sync 0; ld.shared.u32 %r, [%x2];"),
                     numbers(64));
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], i < 10 ? 0 : numbers(64)[i]);
}

// A load returns the old content if the lane has not waited for its cp.async. cp.async.wait_group n
// leaves the last n groups pending.
TEST_F(PtxExecution, AsynchronousCopiesLandAtTheirWait) {
  const std::string start =
      ".shared .align 16 .b8 tile[512]; mov.u32 %x2, tile; shl.b32 %x3, %i, 3; "
      "add.u32 %x2, %x2, %x3; st.shared.u32 [%x2], 7; st.shared.u32 [%x2+4], 7;\n"
      "cp.async.ca.shared.global [%x2], [%in], 4; cp.async.commit_group; "
      "cp.async.ca.shared.global [%x2+4], [%in], 4; ";
  const struct {
    const char* wait;
    bool first, second;  // whether each copy is complete
  } all[] = {{"", false, false},
             {"cp.async.wait_group 1;", false, false},
             {"cp.async.wait_group 0;", true, false},
             {"cp.async.commit_group; cp.async.wait_group 1;", true, false},
             {"cp.async.commit_group; cp.async.wait_group 0;", true, true},
             {"cp.async.wait_all;", true, true}};
  for (const auto& row : all) {
    const auto r = run(kernel(start + row.wait +
                              " ld.shared.u32 %x4, [%x2]; ld.shared.u32 %x5, [%x2+4]; "
                              "shl.b32 %x5, %x5, 16; or.b32 %r, %x4, %x5;"),
                       std::vector<uint32_t>(64, 9));
    for (const uint32_t got : r) {  // on a GPU, a copy may complete early
      const auto is_right = [](uint32_t value, bool landed) {
        return value == (landed ? 9u : 7u) || (value == 9 && !execution_target::is_simulator());
      };
      EXPECT_TRUE(is_right(got & 0xffff, row.first)) << row.wait;
      EXPECT_TRUE(is_right(got >> 16, row.second)) << row.wait;
    }
  }
}

// cp.async of 16 bytes reads only as many bytes as its source size specifies, here the bytes inside
// the allocation.
TEST_F(PtxExecution, AsynchronousCopiesOfLess) {
  const auto r =
      run(kernel(".shared .align 16 .b8 tile[1024]; mov.u32 %x2, tile; shl.b32 %x3, %i, 4; "
                 "add.u32 %x2, %x2, %x3; and.b32 %x4, %i, 48; cvt.u64.u32 %y1, %x4; "
                 "add.u64 %y1, %first, %y1;\n"
                 "setp.lt.u32 %p1, %i, 48; selp.u32 %x5, 16, 4, %p1;\n"
                 "cp.async.cg.shared.global [%x2], [%y1], 16, %x5; cp.async.wait_all;\n"
                 "ld.shared.u32 %r, [%x2]; ld.shared.u32 %x6, [%x2+12]; "
                 "add.u32 %r, %r, %x6;"),
          {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], i < 48 ? 8 * (i / 16) + 5 : 13) << i;
}

// Each thread allocates memory in the heap, which the next launch reads and frees.
TEST_F(PtxExecution, Heap) {
  const auto stored =
      run(kernel("cvt.u64.u32 %y1, %i; add.u64 %y1, %y1, 5;\n" + std::string(kAllocate) +
                     "cvt.u64.u32 %y3, %i; add.u64 %y3, %y3, %y2; st.u8 [%y2], %i; "
                     "st.u8 [%y3+4], %i; mul.wide.u32 %y4, %i, 8; "
                     "add.u64 %y4, %first, %y4; st.global.u64 [%y4], %y2; "
                     "cvt.u32.u64 %x2, %y2; and.b32 %r, %x2, 15;",
                 kHeapFunctions),
          std::vector<uint32_t>(128));
  EXPECT_EQ(stored, std::vector<uint32_t>(64));  // all addresses are multiples of 16
  const std::vector<uint32_t> pointers(in_, in_ + 128);
  const auto r = run(kernel("mul.wide.u32 %y4, %i, 8; add.u64 %y4, %first, %y4; "
                            "ld.global.u64 %y2, [%y4]; cvt.u64.u32 %y3, %i; add.u64 %y3, %y3, %y2; "
                            "ld.u8 %r, [%y2]; ld.u8 %x2, [%y3+4]; add.u32 %r, %r, %x2;\n"
                            "{ .param .b64 a; st.param.b64 [a], %y2; call.uni free, (a); }\n",
                            kHeapFunctions),
                     pointers);
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], 2 * i);
}

// Function calls: a nested call, a predicated call, and a pointer to the caller's local memory.
TEST_F(PtxExecution, Calls) {
  const std::string before =
      ".func (.param .b32 result) twice(.param .b32 x)\n{\n.reg .b32 %r<3>; .reg .pred "
      "%p;\nld.param.u32 %r1, [x];\n"
      "setp.gt.u32 %p, %r1, 20; @%p ret;\nadd.u32 %r1, %r1, %r1; st.param.b32 [result], %r1; "
      "ret;\n}\n"
      ".func bump(.param .b64 where)\n{\n.reg .b64 %y<2>; .reg .b32 %r<3>;\nld.param.u64 %y1, "
      "[where]; ld.u32 %r1, [%y1];\n"
      "{ .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 q0; st.param.b32 [q0], 3; call (q0), "
      "twice, (p0); ld.param.b32 %r2, [q0]; }\n"
      "st.u32 [%y1], %r2; ret;\n}\n";
  const auto r = run(
      kernel(
          ".local .align 4 .b8 mine[4]; st.local.u32 [mine], %i; mov.u64 %y1, mine; cvta.local.u64 "
          "%y1, %y1;\n"
          "setp.ne.u32 %p1, %i, 5; { .param .b64 a; st.param.b64 [a], %y1; @%p1 call bump, (a); }\n"
          "ld.local.u32 %r, [mine];",
          before),
      {});
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], i == 5 ? 5 : i > 20 ? 3 : 2 * i) << i;
}

// Recursion: 1 + ... + x. Each call stores its term in local memory of its own stack frame and
// passes the term's address to the next call. The lanes of a warp recurse to different depths.
TEST_F(PtxExecution, CallsItself) {
  const std::string before =
      ".func (.param .b32 result) sum(.param .b32 x, .param .b64 last)\n{\n.local .align 8 .b8 "
      "mine[8]; .reg .b32 %r<5>; .reg .b64 %y<4>; .reg .pred %p;\n"
      "ld.param.u32 %r1, [x]; ld.param.u64 %y1, [last]; mov.u64 %y2, mine; st.local.u32 [%y2], "
      "%r1;\n"
      "mov.u32 %r3, 0; setp.eq.u32 %p, %r1, 0; @%p bra end; sub.u32 %r2, %r1, 1;\n"
      "cvta.local.u64 %y3, %y2; { .param .b32 p; .param .b64 q; .param .b32 s; st.param.b32 [p], "
      "%r2; "
      "st.param.b64 [q], %y3;\ncall (s), sum, (p, q); ld.param.b32 %r3, [s]; }\n"
      "ld.local.u32 %r4, [mine]; add.u32 %r3, %r3, %r4;\n"
      "end: ld.u32 %r2, [%y1]; add.u32 %r2, %r2, 1000; st.u32 [%y1], %r2;\n"
      "st.param.b32 [result], %r3; ret;\n}\n";
  const auto r = run(
      kernel(
          ".local .align 4 .b8 mine[4]; st.local.u32 [mine], 7; mov.u64 %y1, mine; "
          "cvta.local.u64 %y1, %y1; rem.u32 %x2, %i, 20; add.u32 %x3, %i, 100;\n"
          "setp.ne.u32 %p1, %i, 5; mov.u32 %x4, 0; { .param .b32 p; .param .b64 q; .param .b32 s; "
          "st.param.b32 [p], %x2; st.param.b64 [q], %y1;\n@%p1 call.uni (s), sum, (p, q); "
          "ld.param.b32 %x5, [s]; selp.b32 %x4, %x5, 0, %p1; }\n"
          "ld.local.u32 %r, [mine]; mad.lo.u32 %r, %r, 100000, %x4; mad.lo.u32 %r, %x3, 1000, %r;",
          before),
      {}, 0, 2, 48);
  // Each call adds 1000 to the value at the address that the caller passed: x terms are 1000
  // larger, and 7 becomes 1007.
  for (uint32_t i = 0; i < 96; ++i) {
    const uint32_t x = i % 20, sum = x * (x + 1) / 2 + 1000 * x;
    ASSERT_EQ(r[i], (i == 5 ? 7 : 1007) * 100000 + (i == 5 ? 0 : sum) + 1000 * (i + 100)) << i;
  }
}

// Calls through addresses in a register and in a variable. The addresses differ between lanes.
TEST_F(PtxExecution, CallsByAddress) {
  const std::string before =
      ".func (.param .b32 d) twice(.param .b32 x)\n;\n"
      ".func (.param .b32 d) square(.param .b32 x)\n;\n"
      ".global .align 8 .u64 table[2] = {twice, square};\n"
      ".func (.param .b32 d) twice(.param .b32 x)\n{\n.reg .b32 %r<3>; ld.param.u32 %r1, [x]; "
      "add.u32 %r1, %r1, %r1; st.param.b32 [d], %r1; ret;\n}\n"
      ".func (.param .b32 d) square(.param .b32 x)\n{\n.reg .b32 %r<3>; ld.param.u32 %r1, [x]; "
      "mul.lo.u32 %r1, %r1, %r1; st.param.b32 [d], %r1; ret;\n}\n";
  const auto r =
      run(kernel("and.b32 %x2, %i, 1; mul.wide.u32 %y1, %x2, 8; mov.u64 %y2, table; add.u64 %y2, "
                 "%y2, %y1; "
                 "ld.global.u64 %y3, [%y2]; mov.u64 %y4, square; setp.lt.u32 %p1, %i, 9; "
                 "@%p1 mov.u64 %y3, %y4;\n"
                 "{ .param .b32 p; .param .b32 s; st.param.b32 [p], %i; shape: .callprototype "
                 "(.param .b32 "
                 "_) _ (.param .b32 _);\ncall (s), %y3, (p), shape; ld.param.b32 %r, [s]; }",
                 before),
          {});
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(r[i], i < 9 || i % 2 == 1 ? i * i : 2 * i) << i;
}

// Threads or lanes with a number of at least `n` exit, before or while other threads wait at a
// barrier.
class PtxEndedThreads : public PtxExecution {
 protected:
  static constexpr uint32_t kCounts[] = {96, 64, 40, 33, 32, 31, 1};

  // Runs `end`, stores the threads' numbers in shared memory, runs `wait`, and returns %r of all
  // threads.
  std::vector<uint32_t> results(const std::string& end, const std::string& wait, uint32_t n) {
    return run(kernel("mov.u32 %r, 0; mov.u32 %x5, all; mul.lo.u32 %x6, %i, 4; add.u32 %x6, %x6, "
                      "%x5;\n" +
                          end + "st.shared.u32 [%x6], %i;\n" + wait,
                      ".shared .align 4 .b8 all[384];\n"),
               {}, n, 1, 96);
  }
  const std::string above_ = "setp.ge.u32 %p1, %i, %n; @%p1 ret;\n";
};
constexpr uint32_t PtxEndedThreads::kCounts[];

TEST_F(PtxEndedThreads, ABarrierWaitsForThreadsThatHaveNotEnded) {
  const std::string reversed =
      "bar.sync 0; sub.u32 %x7, %n, %i; sub.u32 %x7, %x7, 1; mul.lo.u32 %x7, %x7, 4; "
      "add.u32 %x7, %x7, %x5; ld.shared.u32 %r, [%x7]; add.u32 %r, %r, 1;";
  for (const uint32_t n : kCounts) {
    const auto r = results(above_, reversed, n);
    for (uint32_t i = 0; i < 96; ++i) ASSERT_EQ(r[i], i < n ? n - i : 0) << i << " of " << n;
  }
}
TEST_F(PtxEndedThreads, SoAreItsResults) {
  const std::string all =
      "setp.lt.u32 %p2, %i, 35; bar.red.popc.u32 %x1, 0, %p2; bar.red.and.pred %p3, 0, %p2; "
      "setp.ge.u32 %p2, %i, 95; bar.red.or.pred %p4, 0, %p2; selp.u32 %x2, 1000, 0, %p3; "
      "selp.u32 %x3, 2000, 0, %p4; add.u32 %r, %x1, %x2; add.u32 %r, %r, %x3;";
  for (const uint32_t n : kCounts) {
    const auto r = results(above_, all, n);
    const uint32_t expected = std::min(n, 35u) + (n <= 35 ? 1000 : 0) + (n == 96 ? 2000 : 0);
    for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(r[i], expected) << i << " of " << n;
  }
}
// A barrier opens if the missing threads exit while other threads already wait, in the same warp
// and in other warps.
TEST_F(PtxEndedThreads, ABarrierOpensAfterALateExit) {
  const std::string late =
      "setp.lt.u32 %p1, %i, %n; @%p1 bra come; mov.u32 %x1, 0;\nslow: add.u32 %x1, %x1, 1; "
      "setp.lt.u32 %p2, %x1, 5000; @%p2 bra slow; ret;\ncome:\n";
  for (const uint32_t n : kCounts) {
    const auto r = results(late, "bar.sync 0; add.u32 %r, %i, 1;", n);
    for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(r[i], i + 1) << n;
  }
}
// At a barrier with a count, each warp counts as 32 threads, even if some of its lanes have exited.
TEST_F(PtxEndedThreads, ACountIsOfWarps) {
  const std::string some = "and.b32 %x1, %i, 31; setp.ge.u32 %p1, %x1, %n; @%p1 ret;\n";
  for (const uint32_t n : {32u, 31u, 7u, 1u}) {
    const auto r = results(some,
                           "setp.lt.u32 %p2, %i, 32; @%p2 bra first; setp.ge.u32 %p2, %i, 64; "
                           "@%p2 bra end; bar.sync 3, 64; ld.shared.u32 %r, [all]; "
                           "add.u32 %r, %r, 7; bra end;\n"
                           "first: bar.arrive 3, 64; mov.u32 %r, 1;\nend: bar.sync 2, 96;",
                           n);
    for (uint32_t i = 0; i < 96; ++i) {
      const uint32_t expected = i % 32 >= n || i >= 64 ? 0 : i < 32 ? 1 : 7;
      ASSERT_EQ(r[i], expected) << i << " of " << n;
    }
  }
}
// Masks may contain lanes that have exited, including lanes that participated in earlier
// operations.
TEST_F(PtxEndedThreads, MasksMayNameThem) {
  const std::string meets =
      "bar.warp.sync -1; shfl.sync.idx.b32 %x1, %i, 0, 31, -1; vote.sync.ballot.b32 %x2, %p5, "
      "-1;\n";
  const std::string half = "and.b32 %x3, %i, 31; setp.lt.u32 %p1, %x3, %n; @!%p1 ret;\n";
  for (const uint32_t n : {32u, 20u, 16u, 1u}) {
    const auto r = results("setp.eq.u32 %p5, %i, %i;\n" + meets + half,
                           meets + "popc.b32 %x2, %x2; mad.lo.u32 %r, %x1, 100, %x2;", n);
    for (uint32_t i = 0; i < 96; ++i) {
      ASSERT_EQ(r[i], i % 32 < n ? i / 32 * 3200 + n : 0) << i << " of " << n;
    }
  }
}

// Two lanes that wait at bar.warp.sync with the mask of all lanes continue after all other lanes
// have exited without bar.warp.sync, as in a reduction of Numba.
TEST_F(PtxEndedThreads, LanesWaitUntilOtherLanesEnd) {
  const auto r =
      results("",
              "and.b32 %x3, %i, 31; setp.ge.u32 %p1, %x3, 2; @%p1 bra late;\n"
              "bar.warp.sync -1; add.u32 %r, %i, 1; bra done;\n"
              "late: mov.u32 %x4, 100; again: sub.u32 %x4, %x4, 1; setp.ne.u32 %p2, %x4, "
              "0; @%p2 bra again; ret;\ndone:",
              96);
  for (uint32_t i = 0; i < 96; ++i) ASSERT_EQ(r[i], i % 32 < 2 ? i + 1 : 0) << i;
}

TEST_F(PtxExecution, Prints) {
  PtxModule module(
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".global .align 1 .b8 format[] = {37, 100, 32, 37, 46, 50, 102, 32, 37, 115, 10, 0};\n"
      ".global .align 1 .b8 word[] = {97, 98, 0};\n"
      ".visible .entry k()\n{\n.local .align 8 .b8 depot[24]; .reg .b64 %y<9>;\nmov.u64 %y1, "
      "depot; cvta.local.u64 %y2, %y1;\n"
      "st.local.u32 [depot], -7; st.local.f64 [depot+8], 0d3FF4000000000000; mov.u64 %y3, word; "
      "st.local.u64 [depot+16], %y3;\n"
      "mov.u64 %y4, format; { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %y4; "
      "st.param.b64 [b], %y2;\n"
      "call.uni (r), vprintf, (a, b); }\nret;\n}\n");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(module.launch("k", 1, 2, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  struct stat file;
  ASSERT_EQ(fstat(STDOUT_FILENO, &file), 0);
  const std::string expected = "-7 1.25 ab\n-7 1.25 ab\n";
  EXPECT_EQ(static_cast<size_t>(file.st_size), expected.size());  // printf() output was flushed
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), expected);
  EXPECT_EQ(fault(), "none");
}
// Instructions with 16-bit operands read the lower halves of special registers: in version 1 of PTX
// ISA, special registers such as %tid have 16 bits.
TEST_F(PtxExecution, LowerHalvesOfSpecialRegisters) {
  const auto r = run(kernel("{ .reg .u16 %h<3>;\nmov.u16 %h1, %tid.x; cvt.u32.u16 %x1, %h1;\n"
                            "cvt.s32.u16 %x2, %ctaid.x; cvt.u32.u16 %x3, %nctaid.x; mov.u16 %h2, "
                            "%ntid.x; cvt.u32.u16 %x4, %h2;\nmad.lo.u32 %r, %x2, 256, %x1; "
                            "mad.lo.u32 %r, %x3, 65536, %r; mad.lo.u32 %r, %x4, 1000000, %r; }"),
                     {}, 0, 3, 40);
  for (uint32_t i = 0; i < r.size(); ++i) {
    EXPECT_EQ(r[i], 40 * 1000000 + 3 * 65536 + i / 40 * 256 + i % 40);
  }
}

TEST_F(PtxExecution, PrintingReturnsTheNumberOfArguments) {
  // "%d %s\n" has two arguments, "%%" has none; there is no text at address 0.
  const std::string before =
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".global .align 1 .b8 two[] = {37, 100, 32, 37, 115, 10, 0};\n"
      ".global .align 1 .b8 none[] = {37, 37, 10, 0};\n.global .align 1 .b8 word[1001];\n";
  const auto print = [](const std::string& format) {
    return "mov.u64 %y4, " + format +
           "; { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %y4; st.param.b64 "
           "[b], %y2;\ncall.uni (r), vprintf, (a, b); ld.param.b32 %x1, [r]; }\n"
           "mad.lo.s32 %r, %r, 10, %x1;\n";
  };
  ::testing::internal::CaptureStdout();
  const auto r =
      run(kernel("{ .local .align 8 .b8 depot[16]; mov.u64 %y1, depot; cvta.local.u64 %y2, %y1; "
                 "st.local.u32 [depot], 7; mov.u64 %y3, word; "
                 "st.local.u64 [depot+8], %y3;\nmov.u32 %x2, 0; mov.u32 %x3, 97;\n"
                 "fill: st.global.u8 [%y3], %x3; add.u64 %y3, %y3, 1; add.u32 %x2, %x2, 1; "
                 "setp.lt.u32 %p1, %x2, 1000; @%p1 bra fill;\nmov.u32 %r, 0;\n" +
                     print("two") + print("none") + print("0") + "}",
                 before),
          {}, 0, 1, 1);
  std::fflush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "7 " + std::string(1000, 'a') + "\n%\n");
  EXPECT_EQ(r[0], 200u - 1);
}

}  // namespace
}  // namespace kernkit::simulator
