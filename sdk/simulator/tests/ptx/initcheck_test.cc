// SPDX-License-Identifier: Apache-2.0
// initcheck: which bits of an instruction's result are uninitialised, and which uses of these bits
// are reported.
#include "kernkit/simulator/initcheck.h"

#include <string>
#include <vector>

#include "kernkit/simulator/stream_work.h"
#include "ptx_fixture.h"
#include "simulator_target.h"

namespace kernkit::simulator {
namespace {

std::string text_of(const InitCheck& check) {
  std::string text;
  for (const UndefinedUse& use : check.uses()) {
    text += (text.empty() ? "" : "; ") + std::to_string(use.count) + ": " + use.sentence;
  }
  return text.empty() ? "none" : text;
}

const std::string kHead =
    ".file 1 \"/src/used.cu\"\n.visible .entry used(.param .u64 x, .param .u64 y, .param .u32 m)\n"
    "{\n.reg .b64 %x, %y, %l, %k, %mine;\n.reg .b32 %u, %v, %h, %t, %r, %m, %i, %q<9>;\n"
    ".reg .b16 %s, %w, %n<3>;\n.reg .f32 %f, %g;\n.reg .pred %p, %pu, %true, %false;\n"
    ".shared .align 16 .b8 tile[1024];\n.local .align 8 .b8 own[16];\n"
    "ld.param.u64 %x, [x];\nld.param.u64 %y, [y];\nld.param.u32 %m, [m];\nmov.u32 %i, %tid.x;\n"
    "mad.wide.u32 %mine, %i, 4, %y;\nsetp.eq.u32 %true, 1, 1;\nsetp.eq.u32 %false, 0, 1;\n"
    ".loc 1 5 3\nld.global.u32 %u, [%x+128];\nld.global.u32 %v, [%x];\n.loc 1 6 3\n"
    "and.b32 %h, %u, 0xffff;\nand.b32 %t, %u, 0xff00;\ncvt.u16.u32 %s, %u;\nmov.b16 %w, 7;\n"
    "mov.b32 %f, %u;\nmov.f32 %g, 0f3F800000;\nsetp.ne.u32 %pu, %u, 0;\n";

class PtxInit : public Ptx {
 protected:
  // x_ points to 32 initialised words, followed by 32 uninitialised words; y_ points to 64 words
  // for results.
  explicit PtxInit(int capability = 90, const char* target = "sm_90")
      : Ptx(capability), target_(target) {
    cudaMalloc(&x_, 256);
    cudaMalloc(&y_, 256);
    const std::vector<uint32_t> values(32, 0x0f0f1234);
    cudaMemcpy(x_, values.data(), 128, cudaMemcpyHostToDevice);
  }
  ~PtxInit() override {
    cudaFree(x_);
    cudaFree(y_);
  }

  // Returns the reports about a kernel in which %u was loaded from uninitialised memory and %v is
  // 0x0f0f1234.
  std::string uses(const std::string& body, unsigned threads = 32) {
    PtxModule module(kHead + body + "\nret;\n}\n", target_);
    const InitCheck check;
    run(&module, threads, 0);
    return text_of(check);
  }
  // Returns the uninitialised bits of %r after the body.
  uint32_t bits(const std::string& body) {
    PtxModule module(kHead + body + "\nand.b32 %r, %r, %m;\nst.global.u32 [%y], %r;\nret;\n}\n",
                     target_);
    uint32_t undefined = 0;
    for (int bit = 0; bit < 32; ++bit) {
      const InitCheck check;
      run(&module, 32, uint32_t{1} << bit);
      if (!check.uses().empty()) undefined |= uint32_t{1} << bit;
    }
    return undefined;
  }
  bool is_undefined(const std::string& predicate) {
    return bits(predicate + "\nselp.u32 %r, 1, 0, %p;") != 0;
  }

  void run(PtxModule* module, unsigned threads, uint32_t mask) {
    const cudaError_t error = module->launch("used", 1, threads, 0, x_, y_, mask);
    EXPECT_EQ(error != cudaSuccess ? error : cudaDeviceSynchronize(), cudaSuccess) << fault();
  }

  const char* target_;
  InitCheck all_;  // constructed before x_ and y_ are allocated
  uint32_t *x_ = nullptr, *y_ = nullptr;
};

struct Rule {
  const char* body;
  uint32_t undefined;
};

// In the 128-bit register %o, the upper word of the upper half and the lower two bytes of the lower
// half are uninitialised.
TEST_F(PtxInit, BitsOf128BitRegisters) {
  const std::string lower = "\nmov.b128 {%k, %l}, %o2;\nmov.b64 {%r, %q1}, %k;";
  const std::string upper = "\nmov.b128 {%k, %l}, %o2;\nmov.b64 {%q1, %r}, %l;";
  const std::string defined = "mov.b64 %k, {%v, %v};\nmov.b128 %o2, {%k, %k};\n";
  const struct {
    std::string body;
    uint32_t of_lower, of_upper;
  } all[] = {
      {"mov.b128 %o2, %o;", 0xffff, UINT32_MAX},
      {"mov.b128 %o2, {%l, %k};", 0, 0},
      {"st.shared.b128 [%q3], %o;\nld.shared.b128 %o2, [%q3];", 0xffff, UINT32_MAX},
      {"st.relaxed.cta.shared.b128 [%q3], %o;\nld.relaxed.cta.shared.b128 %o2, [%q3];", 0xffff,
       UINT32_MAX},
      {"st.shared.b128 [%q3], %o;\nmov.u32 %q2, 0;\nst.shared.u32 [%q3+12], %q2;\n"
       "ld.shared.b128 %o2, [%q3];",
       0xffff, 0},
      {"st.shared.b128 [%q3], %o;\n" + defined + "atom.shared.exch.b128 %o2, [%q3], %o2;", 0xffff,
       UINT32_MAX},
      {defined + "st.shared.b128 [%q3], %o2;\natom.shared.exch.b128 %o2, [%q3], %o;", 0, 0},
      {defined + "st.shared.b128 [%q3], %o2;\natom.shared.exch.b128 _, [%q3], %o;\n"
                 "ld.shared.b128 %o2, [%q3];",
       0xffff, UINT32_MAX},
      {defined + "st.shared.b128 [%q3], %o2;\natom.shared.cas.b128 _, [%q3], %o2, %o;\n"
                 "ld.shared.b128 %o2, [%q3];",
       UINT32_MAX, UINT32_MAX},
  };
  const std::string head =
      ".reg .b128 %o, %o2;\nmov.b64 %k, {%h, %v};\nmov.b64 %l, {%v, %u};\n"
      "mov.b128 %o, {%k, %l};\nmov.u32 %q3, tile;\nmad.lo.u32 %q3, %i, 16, %q3;\n";
  for (const auto& row : all) {
    EXPECT_EQ(bits(head + row.body + lower), row.of_lower) << row.body;
    EXPECT_EQ(bits(head + row.body + upper), row.of_upper) << row.body;
  }
}

TEST_F(PtxInit, BitsOfResults) {
  const Rule rules[] = {
      {"mov.u32 %r, %u;", UINT32_MAX},
      {"mov.u32 %r, %v;", 0},
      {"and.b32 %r, %u, 0x00ff00ff;", 0x00ff00ff},
      {"and.b32 %r, 0x00ff00ff, %u;", 0x00ff00ff},
      {"or.b32 %r, %u, 0x00ff00ff;", 0xff00ff00},
      {"xor.b32 %r, %h, %v;", 0xffff},
      {"not.b32 %r, %h;", 0xffff},
      {"lop3.b32 %r, %u, 255, %v, 0xc0;", 0xff},        // a & b
      {"lop3.b32 %r, %v, 255, %u, 0xfe;", 0xf0f0ed00},  // a | b | c
      {"lop3.b32 %r, %h, %v, %v, 0x96;", 0xffff},       // a ^ b ^ c
      {"lop3.b32 %r, %u, %v, %v, 0x0f;", UINT32_MAX},   // ~a
      {"lop3.b32 %r, %u, %v, %v, 0x33;", 0},            // ~b
      {"shl.b32 %r, %h, 8;", 0x00ffff00},
      {"shr.u32 %r, %h, 8;", 0xff},
      {"shl.b32 %q1, %u, 31;\nshr.s32 %r, %q1, 3;", 0xf0000000},
      {"shl.b32 %r, %v, %u;", UINT32_MAX},
      {"bfe.u32 %r, %h, 12, 8;", 0xf},
      {"bfe.s32 %r, %h, 8, 8;", UINT32_MAX},
      {"bfi.b32 %r, %h, %v, 4, 8;", 0xff0},
      {"bfi.b32 %r, %v, %h, 4, 8;", 0xf00f},
      {"prmt.b32 %r, %h, %v, 0x4107;", 0x00ffff00},
      {"prmt.b32.ecl %r, %h, %v, 1;", 0xffff},
      {"prmt.b32.rc16 %r, %h, %v, 1;", 0},
      {"lop3.or.b32 %r|%p, %h, %v, %v, 0x96, %true;", UINT32_MAX},
      {"setp.lt.u32 %p, %i, 4;\nselp.b32 %q1, %u, %v, %p;\n"
       "movmatrix.sync.aligned.m8n8.trans.b16 %r, %q1;",
       0xffff},
      {"brev.b32 %r, %h;", 0xffff0000},
      {"shf.l.wrap.b32 %r, %v, %h, 8;", 0x00ffff00},
      {"shf.r.clamp.b32 %r, %h, %v, 8;", 0xff},
      {"add.u32 %r, %t, %v;", 0xffffff00},
      {"sub.u32 %r, %v, %t;", 0xffffff00},
      {"mul.lo.u32 %r, %t, %v;", 0xffffff00},
      {"mad.lo.u32 %r, %v, %v, %t;", 0xffffff00},
      {"neg.s32 %r, %t;", 0xffffff00},
      {"add.sat.s32 %r, %t, %v;", UINT32_MAX},
      {"mul.hi.u32 %r, %t, %v;", UINT32_MAX},
      {"min.u32 %r, %t, %v;", UINT32_MAX},
      {"popc.b32 %r, %t;", UINT32_MAX},
      {"mul.wide.u32 %l, %t, %v;\nmov.b64 {%r, %q1}, %l;", 0xffffff00},
      {"mul.wide.u32 %l, %t, %v;\nmov.b64 {%q1, %r}, %l;", UINT32_MAX},
      {"add.cc.u32 %q1, %t, %v;\naddc.u32 %r, 0, 0;", UINT32_MAX},
      {"add.f16x2 %r, %h, %v;", 0xffff},
      {"fma.rn.bf16x2 %r, %v, %v, %h;", 0xffff},
      {"add.f32 %f, %f, %g;\nmov.b32 %r, %f;", UINT32_MAX},
      {"add.f32 %f, %g, %g;\nmov.b32 %r, %f;", 0},
      {"cvt.rn.f16x2.f32 %r, %f, %g;", 0xffff0000},
      {"cvt.rn.f16x2.f32 %r, %g, %f;", 0xffff},
      {"cvt.rn.satfinite.e4m3x2.f32 %n1, %f, %g;\ncvt.u32.u16 %r, %n1;", 0xff00},
      {"and.b16 %n1, %s, 255;\ncvt.rn.f16x2.e4m3x2 %r, %n1;", 0xffff},
      {"cvt.u32.u16 %r, %s;", 0xffff},
      {"cvt.s32.s16 %r, %s;", UINT32_MAX},
      {"cvt.u32.u8 %r, %s;", 0xff},
      {"cvt.u16.u32 %n1, %v;\ncvt.u32.u16 %r, %n1;", 0},
      {"cvt.rn.f32.s32 %f, %h;\nmov.b32 %r, %f;", UINT32_MAX},
      {"mov.b32 %r, {%s, %w};", 0xffff},
      {"mov.b32 %r, {%w, %s};", 0xffff0000},
      {"mov.b32 {%n1, %n2}, %h;\ncvt.u32.u16 %r, %n2;", 0},
      {"mov.b32 {%n1, %n2}, %h;\ncvt.u32.u16 %r, %n1;", 0xffff},
      {"selp.b32 %r, %u, %v, %true;", UINT32_MAX},
      {"selp.b32 %r, %u, %v, %false;", 0},
      {"selp.b32 %r, 5, 6, %pu;", 3},
      {"selp.b32 %r, 5, 5, %pu;", 0},
      {"selp.b32 %r, %h, 0, %pu;", 0xffff},
      {"cvta.shared.u64 %l, %x;\ncvt.u32.u64 %r, %l;", 0},
      {"div.u32 %r, %v, %t;", UINT32_MAX},
      {"ex2.approx.f32 %f, %f;\nmov.b32 %r, %f;", UINT32_MAX},
  };
  for (const Rule& rule : rules) EXPECT_EQ(bits(rule.body), rule.undefined) << rule.body;
}

TEST_F(PtxInit, Predicates) {
  const std::pair<const char*, bool> rules[] = {
      {"setp.eq.u32 %p, %u, 5;", true},
      {"setp.eq.u32 %p, %v, 5;", false},
      {"setp.eq.u32 %p, %h, 0x10000;", false},  // not equal, whatever the undefined bits
      {"setp.eq.u32 %p, %h, 5;", true},
      {"setp.lt.u32 %p, %h, 0x10000;", false},  // true for every value of %h
      {"setp.le.u32 %p, %h, 0xfffe;", true},
      {"setp.gt.u32 %p, %h, 0xffff;", false},
      {"setp.ge.u32 %p, %h, 0;", false},
      {"setp.lt.s32 %p, %h, 0;", false},
      {"setp.lt.s32 %p, %u, 0;", true},
      {"setp.gt.s32 %p, %t, -1;", false},
      {"setp.lt.f32 %p, %f, %g;", true},
      {"setp.lt.f32 %p, %g, %g;", false},
      {"setp.eq.and.u32 %p, %u, 5, %false;", false},
      {"setp.eq.and.u32 %p, %u, 5, %true;", true},
      {"setp.eq.or.u32 %p, %u, 5, %true;", false},
      {"setp.eq.and.u32 %p, %v, 5, %pu;", true},
      {"and.pred %p, %pu, %false;", false},
      {"and.pred %p, %pu, %true;", true},
      {"or.pred %p, %true, %pu;", false},
      {"xor.pred %p, %true, %pu;", true},
      {"not.pred %p, %pu;", true},
      {"mov.pred %p, %pu;", true},
      {"mov.pred %p, %true;", false},
      {"setp.eq.u32 %p|%pu, %u, 5;", true},
      {"testp.finite.f32 %p, %f;", true},
      {"isspacep.global %p, %x;", false},
  };
  for (const auto& [body, undefined] : rules) EXPECT_EQ(is_undefined(body), undefined) << body;
}

// Checks which bits of results of shuffles and votes are uninitialised if only lane 3 has
// uninitialised values.
TEST_F(PtxInit, LanesOfAWarp) {
  const std::string lane =
      "setp.eq.u32 %p, %i, 3;\nselp.b32 %q1, %u, 6, %p;\nselp.b32 %q2, %u, 0, %p;\n"
      "setp.ne.u32 %pu, %q2, 0;\nsetp.ne.u32 %false, %i, %i;\nor.pred %true, %pu, %false;\n";
  const Rule rules[] = {
      {"shfl.sync.idx.b32 %r, %q1, 3, 31, -1;", UINT32_MAX},
      {"shfl.sync.idx.b32 %r, %q1, 2, 31, -1;", 0},
      {"shfl.sync.idx.b32 %r, 9, %q1, 31, -1;", UINT32_MAX},
      {"vote.sync.ballot.b32 %r, %pu, -1;", 8},
      {"vote.sync.any.pred %p, %pu, -1;\nselp.u32 %r, 1, 0, %p;", 1},
      {"setp.eq.or.u32 %pu, %i, 5, %pu;\nvote.sync.any.pred %p, %pu, -1;\nselp.u32 %r, 1, 0, %p;",
       0},
      {"vote.sync.all.pred %p, %pu, -1;\nselp.u32 %r, 1, 0, %p;", 0},  // %pu is false in lane 0
      {"vote.sync.uni.pred %p, %pu, -1;\nselp.u32 %r, 1, 0, %p;", 1},
      {"match.any.sync.b32 %r, %q1, -1;", UINT32_MAX},
      {"redux.sync.add.u32 %r, %q1, -1;", UINT32_MAX},
      {"redux.sync.add.u32 %r, %v, -1;", 0},
      {"activemask.b32 %r;", 0},
      {"elect.sync %r|%p, -1;", 0},
  };
  for (const Rule& rule : rules) {
    EXPECT_EQ(bits(lane + rule.body), rule.undefined) << rule.body;
  }
  EXPECT_EQ(bits(lane + "shfl.sync.bfly.b32 %r, %q1, 1, 31, -1;\nsetp.eq.u32 %p, %i, 2;\n"
                        "selp.b32 %r, 0, %r, %p;"),
            0u);
}

// initcheck reports the result of a shuffle whose source lane has exited, does not exist in the
// block, or is not in the mask.
TEST_F(PtxInit, ShufflesFromLanesThatTakeNoPart) {
  const std::string ends = "setp.ge.u32 %p, %i, 16;\n@%p ret;\n.loc 1 8 3\n",
                    use = "\n.loc 1 9 3\nst.global.u32 [%mine], %r;";
  const auto sentence_of = [](int count, int thread, int lane) {
    return std::to_string(count) + ": used: block [0, 0, 0], thread [" + std::to_string(thread) +
           ", 0, 0]: Uninitialized bits written to byte " + std::to_string(4 * thread) +
           " of 256 bytes of global memory (used.cu:9), from lane " + std::to_string(lane) +
           ", which takes no part in the shuffle (used.cu:8)";
  };
  const std::string down = "shfl.sync.down.b32 %r|%p, %v, 5, 31, -1;";
  EXPECT_EQ(uses(ends + down + use), sentence_of(5, 11, 16));
  EXPECT_EQ(uses(".loc 1 8 3\n" + down + use, 16), sentence_of(5, 11, 16));
  EXPECT_EQ(uses(ends + "shfl.sync.bfly.b32 %r, %v, 16, 31, -1;" + use), sentence_of(16, 0, 16));
  EXPECT_EQ(uses(ends + "shfl.sync.idx.b32 %r, %v, 31, 31, -1;" + use), sentence_of(16, 0, 31));
  EXPECT_EQ(uses("setp.ge.u32 %p, %i, 16;\n@%p bra end;\n.loc 1 8 3\n"
                 "shfl.sync.up.b32 %r, %v, 1, 0, 0xffff;\nshfl.sync.idx.b32 %q1, %v, 16, 31, "
                 "0xffff;\nadd.u32 %r, %r, %q1;" +
                 use + "\nend:"),
            sentence_of(16, 0, 16));
  // These shuffles are not reported: a lane whose source is past the end of the segment gets its
  // own value, or the result is unused.
  const std::string dropped =
      "shfl.sync.down.b32 %q1, %v, 5, 31, -1;\nsetp.lt.u32 %p, %i, 11;\n"
      "selp.b32 %r, %q1, %v, %p;";
  const std::string harmless[] = {"shfl.sync.bfly.b32 %r, %v, 8, 31, -1;",
                                  "shfl.sync.down.b32 %r, %v, 5, 0x100f, -1;",
                                  "shfl.sync.down.b32 %r, %v, 5, 15, -1;", dropped};
  for (const std::string& text : harmless) EXPECT_EQ(uses(ends + text + use), "none") << text;
  // The shuffle initialises its result predicate even if the source lane does not participate.
  EXPECT_EQ(uses("selp.b32 %q1, %v, %u, %true;\n" + ends +
                 "shfl.sync.down.b32 %q2|%p, %q1, 5, 31, -1;\nselp.u32 %r, 1, 0, %p;" + use),
            "none");
}

TEST_F(PtxInit, UsesThatAreReported) {
  const std::string from = ", read from byte 128 of 256 bytes of global memory (used.cu:5)";
  const std::string begin = "32: used: block [0, 0, 0], thread [0, 0, 0]: ";
  EXPECT_EQ(uses("mov.u32 %r, %u;"), "none");
  EXPECT_EQ(uses(".loc 1 9 3\n@%pu bra end;\nend:"),
            begin + "Uninitialized bits decide a branch (used.cu:9)" + from);
  EXPECT_EQ(uses(".loc 1 9 3\n@%pu st.global.u32 [%mine], %v;"),
            begin + "Uninitialized bits decide a branch (used.cu:9)" + from);
  EXPECT_EQ(uses("and.b32 %q1, %u, 12;\nmov.u32 %q2, tile;\nadd.u32 %q1, %q1, %q2;\n.loc 1 9 3\n"
                 "ld.shared.u32 %r, [%q1];"),
            begin + "Uninitialized address of a read (used.cu:9)" + from);
  EXPECT_EQ(uses("and.b32 %q1, %u, 12;\nmov.u32 %q2, tile;\nadd.u32 %q1, %q1, %q2;\n.loc 1 9 3\n"
                 "st.shared.u32 [%q1], %v;"),
            begin + "Uninitialized address of a write (used.cu:9)" + from);
  EXPECT_EQ(uses(".loc 1 9 3\nst.global.u32 [%mine], %u;"),
            begin +
                "Uninitialized bits written to byte 0 of 256 bytes of global memory (used.cu:9)" +
                from);
  EXPECT_EQ(uses("and.b32 %r, %u, 0;\nst.global.u32 [%mine], %r;"), "none");
  EXPECT_EQ(
      uses("setp.eq.u32 %p, %i, 7;\nselp.b32 %r, %u, 1, %p;\n.loc 1 9 3\n"
           "st.global.u32 [%mine], %r;"),
      "1: used: block [0, 0, 0], thread [7, 0, 0]: Uninitialized bits written to byte 28 of 256 "
      "bytes of global memory (used.cu:9)" +
          from);
  EXPECT_EQ(uses("or.b32 %q1, %u, -1;\nand.b32 %q2, %u, 0;\n.loc 1 9 3\nbar.warp.sync %q1;"),
            "none");
  EXPECT_EQ(
      uses("add.u32 %q1, %u, %v;\nsub.u32 %q1, %q1, %q1;\nor.b32 %q1, %q1, 1;\n"
           "not.b32 %q1, %q1;\nneg.s32 %q1, %q1;\nmov.u32 %q2, 0;\n.loc 1 9 3\nbar.sync %q2;"),
      "none");
  const std::string number =
      "and.b32 %q1, %u, 0;\nadd.u32 %q2, %u, 0;\nsub.u32 %q2, %q2, %u;\n.loc 1 9 3\n";
  EXPECT_EQ(uses(number + "bar.sync %q1;"), "none");
  EXPECT_EQ(uses(number + "bar.sync %q2;"),
            begin + "Uninitialized operand of a barrier (used.cu:9)" + from);
}

// Shared memory that is reserved for cooperative groups is zero and initialised when the kernel
// starts. The kernel's own shared memory is uninitialised.
TEST_F(PtxInit, ReservedSharedMemory) {
  const std::string load = "ld.shared.u32 %r, [%q1];\nst.global.u32 [%mine], %r;";
  EXPECT_EQ(uses("mov.u32 %q1, %reserved_smem_offset_1;\n" + load), "none");
  EXPECT_NE(uses("mov.u32 %q2, %reserved_smem_offset_1;\nmov.u32 %q1, tile;\n" + load), "none");
}

// Each uninitialised value is reported only once, since the value counts as initialised after the
// report.
TEST_F(PtxInit, AValueIsReportedOnce) {
  EXPECT_EQ(uses("@%pu bra a;\na: @%pu bra b;\nb: @%pu bra c;\nc:").find("; "), std::string::npos);
}

TEST_F(PtxInit, SharedAndLocalMemory) {
  const std::string use = "\n.loc 1 9 3\nst.global.u32 [%mine], %r;";
  const std::string addresses =
      "mov.u32 %q1, tile;\nmad.lo.u32 %q1, %i, 4, %q1;\nmov.u64 %l, own;\n";
  EXPECT_EQ(
      uses(addresses + ".loc 1 7 3\nld.shared.u32 %r, [%q1];" + use),
      "32: used: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits written to byte 0 of 256 "
      "bytes of global memory (used.cu:9), read from byte 0 of shared memory "
      "(used.cu:7)");
  EXPECT_EQ(
      uses(addresses + ".loc 1 7 3\nld.local.u32 %r, [%l+4];" + use),
      "32: used: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits written to byte 0 of 256 "
      "bytes of global memory (used.cu:9), read from byte 4 of local memory "
      "(used.cu:7)");
  for (const std::string space : {"shared.u32", "local.u32"}) {
    const std::string at = space[0] == 's' ? "[%q1]" : "[%l]";
    const std::string load = "\nld." + space + " %r, " + at + ";";
    EXPECT_EQ(uses(addresses + "st." + space + " " + at + ", %v;" + load + use), "none");
    const std::string carried = uses(addresses + "st." + space + " " + at + ", %u;" + load + use);
    EXPECT_NE(carried.find("(used.cu:9), read from byte 128 of 256 bytes of global"),
              std::string::npos)
        << carried;
  }
  // Each byte and each bit of memory is tracked separately.
  EXPECT_EQ(bits(addresses + "st.shared.u8 [%q1+1], %v;\nld.shared.u32 %r, [%q1];"), 0xffff00ff);
  EXPECT_EQ(bits(addresses + "st.shared.u32 [%q1], %t;\nld.shared.u8 %r, [%q1];"), 0u);
  EXPECT_EQ(bits(addresses + "st.shared.u32 [%q1], %t;\nld.shared.s16 %r, [%q1];"), 0xffffff00);
  EXPECT_EQ(
      bits(addresses + "st.shared.v2.u32 [tile], {%v, %u};\nld.shared.v2.u32 {%q2, %r}, [tile];"),
      UINT32_MAX);
  EXPECT_EQ(
      bits(addresses + "st.shared.v2.u32 [tile], {%v, %u};\nld.shared.v2.u32 {%r, %q2}, [tile];"),
      0u);
  EXPECT_EQ(
      bits(addresses + "st.shared.v2.u32 [tile], {%v, %u};\nld.shared.v2.u32 {_, %r}, [tile];"),
      UINT32_MAX);
  EXPECT_EQ(
      bits(addresses + "st.shared.v2.u32 [tile], {%v, %u};\nld.shared.v2.u32 {%r, _}, [tile];"),
      0u);
  // Local memory is accessed through a generic address.
  EXPECT_EQ(bits(addresses + "cvta.local.u64 %l, %l;\nst.u32 [%l], %h;\nld.u32 %r, [%l];"),
            0xffffu);
}

TEST_F(PtxInit, ABlockBeginsAnew) {
  PtxModule module(kHead +
                   "mov.u32 %q1, %ctaid.x;\nsetp.ne.u32 %p, %q1, 0;\nmov.u32 %q2, tile;\n"
                   "@%p bra second;\nst.shared.u32 [%q2], 5;\nsecond: ld.shared.u32 %r, [%q2];\n"
                   ".loc 1 9 3\nst.global.u32 [%y], %r;\nret;\n}\n");
  const InitCheck check;
  EXPECT_EQ(module.launch("used", 2, 1, 0, x_, y_, 0u), cudaSuccess);
  EXPECT_EQ(text_of(check).substr(0, 56),
            "1: used: block [1, 0, 0], thread [0, 0, 0]: Uninitialize");
}

// The use of a register that was never written is reported, unless the simulator stored another
// register in the same place before.
TEST_F(PtxInit, RegistersWithoutAValue) {
  const auto finding_of = [&](const std::string& body) {
    PtxModule module(
        ".file 1 \"/src/used.cu\"\n.visible .entry used(.param .u64 y)\n{\n.reg .b64 %y;\n"
        ".reg .b32 %r, %q, %i;\n.reg .pred %p;\nmov.u32 %i, %tid.x;\nld.param.u64 %y, [y];\n" +
        body + "\n.loc 1 9 3\nst.global.u32 [%y], %r;\nst.global.u32 [%y], %i;\nret;\n}\n");
    const InitCheck check;
    EXPECT_EQ(module.launch("used", 1, 32, 0, y_), cudaSuccess);
    return text_of(check);
  };
  EXPECT_EQ(
      finding_of(""),
      "32: used: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits written to byte 0 of 256 "
      "bytes of global memory (used.cu:9), in a register that was never written");
  // Lanes 0 to 15 write the register, and a shuffle reads the register of one lane.
  const std::string half = "setp.lt.u32 %p, %i, 16;\n@!%p bra behind;\nmov.u32 %q, 3;\nbehind:\n";
  EXPECT_EQ(finding_of(half + "shfl.sync.idx.b32 %r, %q, 5, 31, -1;"), "none");
  EXPECT_NE(finding_of(half + "shfl.sync.idx.b32 %r, %q, 20, 31, -1;"), "none");
}

TEST_F(PtxInit, Atomics) {
  const std::string from = ", read from byte 128 of 256 bytes of global memory (used.cu:5)";
  EXPECT_EQ(
      uses(".loc 1 9 3\nred.global.add.u32 [%x+192], 1;"),
      "1: used: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits in an atomic at byte 192 of "
      "256 "
      "bytes of "
      "global memory (used.cu:9), read from byte 192 of 256 bytes of global memory (used.cu:9)");
  EXPECT_EQ(uses("red.global.add.u32 [%x+64], 1;"), "none");
  EXPECT_EQ(uses("atom.global.exch.b32 %r, [%x+200], 1;"), "none");
  EXPECT_EQ(uses(".loc 1 9 3\natom.global.exch.b32 %r, [%x+64], %u;"),
            "32: used: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits in an atomic at byte "
            "64 of 256 "
            "bytes of global memory (used.cu:9)" +
                from);
  const std::string shared = "mov.u32 %q1, tile;\nmad.lo.u32 %q1, %i, 4, %q1;\n";
  EXPECT_EQ(bits(shared + "atom.shared.add.u32 %r, [%q1], 1;"), UINT32_MAX);
  EXPECT_EQ(bits(shared + "st.shared.u32 [%q1], 0;\natom.shared.add.u32 %r, [%q1], %u;"), 0u);
  EXPECT_EQ(
      bits(shared +
           "st.shared.u32 [%q1], 0;\nred.shared.add.u32 [%q1], %u;\nld.shared.u32 %r, [%q1];"),
      UINT32_MAX);
}

// Bytes that cp.async copies count as initialised only after the lane has waited for the copy.
TEST_F(PtxInit, AsynchronousCopies) {
  const std::string copy =
      "mov.u32 %q1, tile;\ncp.async.ca.shared.global [%q1], [%x], 16;\ncp.async.commit_group;\n";
  const std::string wait = "cp.async.wait_group 0;\n", load = "ld.shared.u32 %r, [%q1+8];";
  EXPECT_EQ(bits(copy + wait + load), 0u);
  EXPECT_EQ(bits(copy + load), UINT32_MAX);
  EXPECT_EQ(bits(copy + "cp.async.wait_group 1;\n" + load), UINT32_MAX);
  EXPECT_EQ(bits(copy + "cp.async.wait_all;\n" + load), 0u);
  const std::string undefined =
      "mov.u32 %q1, tile;\n.loc 1 7 3\ncp.async.ca.shared.global [%q1], [%x+160], 16;\n"
      "cp.async.wait_all;\n.loc 1 8 3\n" +
      load;
  EXPECT_EQ(
      uses(undefined + "\n.loc 1 9 3\nst.global.u32 [%mine], %r;"),
      "32: used: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits written to byte 0 of 256 "
      "bytes of global memory (used.cu:9), read from byte 160 of 256 bytes of global memory "
      "(used.cu:7)");
  // cp.async fills the bytes past its source size with zeros.
  EXPECT_EQ(bits("mov.u32 %q1, tile;\ncp.async.ca.shared.global [%q1], [%x+160], 16, 0;\n"
                 "cp.async.wait_all;\n" +
                 load),
            0u);
}

// Counts the lanes with uninitialised results of matrix instructions, which read a tile of 8 rows
// of 16 bytes. Only rows 0 to 3 of the tile are initialised.
TEST_F(PtxInit, Matrices) {
  const std::string rows =
      "mov.u32 %q1, tile;\nmad.lo.u32 %q2, %i, 4, %q1;\nsetp.lt.u32 %p, %i, 16;\n"
      "@!%p bra behind;\nst.shared.u32 [%q2], 0;\nbehind: bar.warp.sync -1;\n"
      "and.b32 %q3, %i, 7;\nmad.lo.u32 %q3, %q3, 16, %q1;\n";
  const auto count = [&](const std::string& body) {
    const std::string text = uses(rows + body + "\n.loc 1 9 3\nst.global.u32 [%mine], %r;");
    return text.substr(0, text.find(':'));
  };
  EXPECT_EQ(count("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r}, [%q3];"), "16");
  // Transposed: half of the lanes hold elements of rows 4 to 7, which are uninitialised.
  EXPECT_EQ(count("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r}, [%q3];"), "16");
  EXPECT_EQ(count("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%q4}, [%q3];\n"
                  "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%q3+512], {%q4};\n"
                  "ld.shared.u32 %r, [%q2+512];"),
            "16");
  // Rows 4 to 7 of A are uninitialised: half of the lanes hold these rows of D, in two of four
  // registers.
  const std::string load =
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%q4}, [%q3];\nmov.u32 %q5, 0;\n";
  const std::string d = "{%r, %q6, %q7, %q8}, ";
  const std::string zero = "{%q5, %q5, %q5, %q5}";
  const std::string mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ";
  EXPECT_EQ(count(load + mma + d + "{%q4, %q5, %q5, %q5}, {%q5, %q5}, " + zero + ";"), "16");
  EXPECT_EQ(
      count(load + mma + "{%q6, %q7, %r, %q8}, {%q4, %q5, %q5, %q5}, {%q5, %q5}, " + zero + ";"),
      "none");
  // Columns 4 to 7 of B are uninitialised: lanes 2 and 3 of every four lanes hold these columns of
  // D.
  EXPECT_EQ(count(load + mma + d + "{%q5, %q5, %q5, %q5}, {%q4, %q5}, " + zero + ";"), "16");
  EXPECT_EQ(count(load + mma + d + "{%q5, %q5, %q5, %q5}, {%q5, %q5}, {%q4, %q5, %q5, %q5};"),
            "16");
}

// In lanes 16 to 31 one byte of an operand is uninitialised. In A, this affects rows 4 to 7 of D;
// in B, columns 4 to 7 of D; in C, one element per lane.
TEST_F(PtxInit, ProductsOfOtherTypes) {
  const struct {
    const char* mma;
    int of_a, of_b;  // registers
  } all[] = {{"m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2},
             {"m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1},
             {"m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2},
             {"m16n8k16.row.col.s32.s8.s8.s32", 2, 1},
             {"m16n8k32.row.col.s32.s8.u8.s32", 4, 2},
             {"m16n8k16.row.col.f32.e4m3.e4m3.f32", 2, 1},
             {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 2},
             {"m16n8k32.row.col.s32.s4.u4.s32", 2, 1},
             {"m16n8k64.row.col.s32.u4.u4.s32", 4, 2},
             {"m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1}};
  const std::string operands[] = {"{%q1}, ", "{%q1, %q5}, ", "", "{%q1, %q5, %q5, %q5}, "};
  const std::string zeros[] = {"{%q5}, ", "{%q5, %q5}, ", "", "{%q5, %q5, %q5, %q5}, "};
  for (const auto& row : all) {
    const auto undefined = [&](const std::string& d, const std::string& a, const std::string& b,
                               const std::string& c) {
      const std::string text = uses(
          "setp.lt.u32 %p, %i, 16;\nand.b32 %q1, %u, 0xff;\nselp.u32 %q1, 0, %q1, %p;\n"
          "mov.u32 %q5, 0;\nmma.sync.aligned." +
          std::string(row.mma) + " " + d + a + b + c + ";\nst.global.u32 [%mine], %r;");
      return text.substr(0, text.find(':'));
    };
    const std::string upper = "{%q2, %r, %q3, %q4}, ", lower = "{%q2, %q3, %q4, %r}, ";
    const std::string &a = operands[row.of_a - 1], &no_a = zeros[row.of_a - 1];
    const std::string &b = operands[row.of_b - 1], &no_b = zeros[row.of_b - 1];
    const std::string c = "{%q5, %q1, %q5, %q5}", no_c = "{%q5, %q5, %q5, %q5}";
    EXPECT_EQ(undefined(upper, no_a, no_b, no_c), "none") << row.mma;
    EXPECT_EQ(undefined(upper, a, no_b, no_c), "16") << row.mma;
    EXPECT_EQ(undefined(lower, a, no_b, no_c), "none") << row.mma;
    EXPECT_EQ(undefined(upper, no_a, b, no_c), "16") << row.mma;
    EXPECT_EQ(undefined(lower, no_a, b, no_c), "16") << row.mma;
    EXPECT_EQ(undefined(upper, no_a, no_b, c), "16") << row.mma;
    EXPECT_EQ(undefined(lower, no_a, no_b, c), "none") << row.mma;
  }
}

// The first four lanes hold row 0 of A, which is uninitialised, and row 0 of D.
TEST_F(PtxInit, ProductsOfDoubles) {
  const std::string before =
      "mov.b64 %k, 0;\nmov.b64 %l, {%u, %u};\nsetp.lt.u32 %p, %i, 4;\nselp.b64 %l, %l, %k, %p;\n";
  const std::string after = "mov.b64 {%r, %q1}, %l;\nst.global.u32 [%mine], %r;";
  const std::string mma = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%l, %k}, ";
  const auto count = [&](const std::string& factors) {
    const std::string text = uses(before + mma + factors + ", {%k, %k};\n" + after);
    return text.substr(0, text.find(':'));
  };
  EXPECT_EQ(count("{%l}, {%k}"), "4");
  // The first four lanes hold column 0 of B; lanes 0, 4, 8 and so on hold column 0 of D.
  EXPECT_EQ(count("{%k}, {%l}"), "8");
  EXPECT_EQ(count("{%k}, {%k}"), "none");
}

// The uninitialised bits of the two floats in a 64-bit register are tracked separately.
class PtxInit100 : public PtxInit {
 protected:
  PtxInit100() : PtxInit(100, "sm_100") {}
};

TEST_F(PtxInit100, PairsOfFloats) {
  const std::string add = "mov.b64 %k, {%h, %v};\nadd.rn.f32x2 %k, %k, %k;\n";
  EXPECT_EQ(bits(add + "mov.b64 {%r, %q1}, %k;"), UINT32_MAX);
  EXPECT_EQ(bits(add + "mov.b64 {%q1, %r}, %k;"), 0u);
}

TEST_F(PtxInit, Fragments) {
  const std::string load =
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%q1, %q2, %q3, %q4, %q5, %q6, %q7, %r}, ";
  EXPECT_EQ(bits(load + "[tile], 16;"), UINT32_MAX);
  EXPECT_EQ(bits("mov.u32 %q1, tile;\nmad.lo.u32 %q1, %i, 32, %q1;\nmov.u32 %q2, 0;\n"
                 "st.shared.v4.u32 [%q1], {%q2, %q2, %q2, %q2};\nst.shared.v4.u32 [%q1+16], {%q2, "
                 "%q2, %q2, %q2};\n"
                 "bar.warp.sync -1;\n" +
                 load + "[tile], 16;"),
            0u);
  const std::string store =
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [tile], {%v, %v, %v, %v, %v, %v, %v, "
      "%u}, 16;\n";
  EXPECT_EQ(bits(store + "ld.shared.u32 %r, [tile];"), 0u);
  EXPECT_EQ(bits(store + "mov.u32 %q1, tile;\nld.shared.u32 %r, [%q1+1020];"), UINT32_MAX);
}

// An uninitialised element in row 5 of A makes row 5 of D uninitialised, and no other row.
// Likewise, an element in column 5 of B affects column 5 of D only.
TEST_F(PtxInit, ProductsOfFragments) {
  const struct {
    const char *shape, *of_ab, *mma;
    int bytes, k, registers;
  } all[] = {{"m16n16k16", "f16", "f32.f32", 2, 16, 8},
             {"m16n16k16", "bf16", "f32.bf16.bf16.f32", 2, 16, 4},
             {"m16n16k16", "s8", "s32.s8.s8.s32", 1, 16, 2},
             {"m16n16k8", "tf32", "f32.tf32.tf32.f32", 4, 8, 4}};
  const auto list = [](const char* name, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "{" : ", ") + (name + std::to_string(i));
    return text + "}";
  };
  for (const auto& test_case : all) {
    const std::string of_d = test_case.of_ab == std::string("s8") ? "s32" : "f32";
    const auto undefined = [&](int matrix, int row, int column) {
      const auto load = [&](const char* operand, int at) {
        return "add.u32 %q8, %q1, " + std::to_string(at) + ";\nwmma.load." + operand + "." +
               test_case.shape + ".shared." + test_case.of_ab + " " +
               list(at == 0 ? "%a" : "%b", test_case.registers) + ", [%q8], " +
               std::to_string(test_case.k) + ";\n";
      };
      const int at = 512 * matrix + (5 * test_case.k + 3) * test_case.bytes;
      return bits(
          ".reg .b32 %a<8>, %b<8>, %d<8>, %z;\nmov.u32 %z, 0;\nmov.u32 %q1, tile;\n"
          "mad.lo.u32 %q2, %i, 32, %q1;\nst.shared.v4.u32 [%q2], {%z, %z, %z, %z};\n"
          "st.shared.v4.u32 [%q2+16], {%z, %z, %z, %z};\nbar.warp.sync -1;\n"
          "st.shared.u8 [%q1+" +
          std::to_string(at) + "], %s;\nbar.warp.sync -1;\n" + load("a.sync.aligned.row", 0) +
          load("b.sync.aligned.col", 512) + "wmma.mma.sync.aligned.row.col." + test_case.shape +
          "." + test_case.mma + " " + list("%d", 8) + ", " + list("%a", test_case.registers) +
          ", " + list("%b", test_case.registers) + ", {%z, %z, %z, %z, %z, %z, %z, %z};\n" +
          "bar.warp.sync -1;\nwmma.store.d.sync.aligned.row." + test_case.shape + ".shared." +
          of_d + " [%q1], " + list("%d", 8) + ", 16;\nbar.warp.sync -1;\n" +
          "ld.shared.u32 %r, [%q1+" + std::to_string(64 * row + 4 * column) + "];");
    };
    EXPECT_EQ(undefined(0, 5, 9), UINT32_MAX) << test_case.of_ab;
    EXPECT_EQ(undefined(0, 6, 9), 0u) << test_case.of_ab;
    EXPECT_EQ(undefined(1, 9, 5), UINT32_MAX) << test_case.of_ab;
    EXPECT_EQ(undefined(1, 9, 6), 0u) << test_case.of_ab;
  }
}

TEST_F(PtxInit, ResultsOfFunctionsOfTheDevice) {
  PtxModule module(
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".extern .func (.param .b64 r) malloc(.param .b64 bytes);\n"
      ".extern .func free(.param .b64 address);\n"
      ".global .align 1 .b8 text[] = {37, 37, 8, 0};\n"
      ".visible .entry used(.param .u64 x, .param .u64 y, .param .u32 m)\n{\n"
      ".local .align 8 .b8 own[8]; .reg .b32 %r<4>; .reg .b64 %y<4>;\nld.param.u64 %y1, [y];\n"
      "{ .param .b64 a; .param .b64 b; .param .b32 r; mov.u64 %y2, text; st.param.b64 [a], %y2; "
      "st.param.b64 [b], 0; call.uni (r), vprintf, (a, b); ld.param.b32 %r1, [r]; "
      "st.global.u32 [%y1], %r1; }\n"
      "{ .param .b64 s; .param .b64 r; st.param.b64 [s], 8; call.uni (r), malloc, (s); "
      "ld.param.b64 %y2, [r]; st.global.u64 [%y1+8], %y2; }\n"
      "{ .param .b64 a; st.param.b64 [a], %y2; call.uni free, (a); }\n"
      "ld.local.u32 %r1, [own]; st.global.u32 [%y1], %r1;\nret;\n}\n");
  const InitCheck check;
  ::testing::internal::CaptureStdout();
  run(&module, 1, 0);
  std::fflush(stdout);
  (void)::testing::internal::GetCapturedStdout();
  EXPECT_EQ(
      text_of(check),
      "1: used: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits written to byte 0 of 256 "
      "bytes of global memory, read from byte 0 of local memory");
}

TEST_F(PtxInit, WhatTheHostWrites) {
  const auto is_silent = [&](uint32_t* memory) {
    PtxModule module(kHead + "ld.global.u32 %r, [%x+4];\nst.global.u32 [%y+4], %r;\nret;\n}\n");
    const InitCheck check;
    EXPECT_EQ(module.launch("used", 1, 1, 0, memory, y_, 0u), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return check.uses().empty();
  };
  const auto allocated = [] {
    uint32_t* memory = nullptr;
    cudaMalloc(&memory, 256);
    return memory;
  };
  uint32_t* memory = allocated();
  EXPECT_FALSE(is_silent(memory));
  EXPECT_FALSE(is_silent(memory)) << "a load writes nothing";
  cudaMemset(memory, 0, 4);
  EXPECT_FALSE(is_silent(memory));
  cudaMemset(memory + 1, 0, 4);
  EXPECT_TRUE(is_silent(memory));
  uint32_t* computed = allocated();
  const auto nothing = [](void*) -> const char* { return nullptr; };
  kernkit_memory_access access{computed + 1, 4, 0};
  const kernkit_stream_work by_host{"work::of_host", nullptr, nothing, nullptr,
                                    nullptr,         &access, 1};
  EXPECT_EQ(kernkit_enqueue_work(nullptr, &by_host), cudaSuccess);
  EXPECT_FALSE(is_silent(computed)) << "work of the host that reads";
  access.writes = 1;
  EXPECT_EQ(kernkit_enqueue_work(nullptr, &by_host), cudaSuccess);
  EXPECT_TRUE(is_silent(computed));
  cudaFree(computed);
  uint32_t* copied = allocated();
  cudaMemcpy(copied, memory, 256, cudaMemcpyDeviceToDevice);
  EXPECT_TRUE(is_silent(copied));
  cudaMemcpyAsync(copied, memory + 8, 40, cudaMemcpyDeviceToDevice, nullptr);
  EXPECT_FALSE(is_silent(copied)) << "the copy of uninitialised memory is uninitialised";
  const std::vector<uint32_t> host(4);
  cudaMemcpy(copied, host.data(), 16, cudaMemcpyHostToDevice);
  EXPECT_TRUE(is_silent(copied));
  cudaFree(memory);
  memory = allocated();  // may get the address of the freed allocation
  EXPECT_FALSE(is_silent(memory));
  cudaFree(memory);
  cudaFree(copied);
  uint32_t* managed = nullptr;
  cudaMallocManaged(&managed, 256);
  EXPECT_TRUE(is_silent(managed));
  cudaFree(managed);
}

// Every InitCheck that exists during the launch reports the use: here the InitCheck in uses() and
// all_.
TEST_F(PtxInit, ReportsOnlyDuringItsLifetime) {
  EXPECT_NE(uses("st.global.u32 [%mine], %u;"), "none");
  EXPECT_EQ(all_.uses().size(), 1u);
}

// No use is reported after a launch of which only some blocks ran: the other blocks might have
// written the memory.
TEST_F(PtxInit, OnlyWhereAllBlocksRun) {
  execution_target::runtime().sample_blocks(1000, 18);
  PtxModule module(kHead + "st.global.u32 [%mine], %u;\nret;\n}\n");
  for (const unsigned blocks : {2000u, 2u}) {
    const InitCheck check;
    EXPECT_EQ(module.launch("used", blocks, 32, 0, x_, y_, 0u), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(text_of(check), "none");
  }
}

}  // namespace
}  // namespace kernkit::simulator
