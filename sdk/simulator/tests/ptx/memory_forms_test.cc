// SPDX-License-Identifier: Apache-2.0
// Each form of ld and st that occurs in real kernels: the bytes that the form moves, and their
// extension in a register.
#include <cmath>
#include <map>
#include <sstream>

#include "float_formats.h"
#include "ptx_fixture.h"

namespace kernkit::simulator {
namespace {

constexpr unsigned kThreads = 64, kBytes = 32;  // bytes per thread

struct Form {
  std::string text, space;
  unsigned count = 1, size = 0;  // number of elements, and size of an element [bytes]
  bool is_signed = false;
  unsigned in_register() const { return std::max(size, 2u); }
};

Form parsed(const std::string& text) {
  Form form{text, "global"};
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '.');) {
    if (part == "shared" || part == "param" || part == "const") form.space = part;
    if (part == "v2" || part == "v4") form.count = static_cast<unsigned>(part[1] - '0');
    static const std::map<std::string, unsigned> sizes = {
        {"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}};
    const auto size = sizes.find(part.substr(std::min<size_t>(part.size(), 1)));
    if (std::string("bsuf").find(part[0]) == std::string::npos || size == sizes.end()) continue;
    form.size = size->second;
    form.is_signed = part[0] == 's';
  }
  return form;
}

class PtxForms : public Ptx {
 protected:
  PtxForms() {
    for (unsigned i = 0; i < kThreads * kBytes; ++i)
      bytes_.push_back(static_cast<uint8_t>(i * 167 + i / 7));
  }
  // Returns a kernel in which %in and %out are the addresses of the thread's input and output, and
  // %mine is the address of the thread's part of shared memory.
  static std::string kernel(const Form& form, const std::string& body) {
    const std::string bits = std::to_string(8 * form.in_register());
    const std::string base = form.space == "shared" ? "%mine" : "%in";
    return ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
           ".shared .align 16 .b8 tile[" +
           std::to_string(kThreads * kBytes) +
           "];\n"
           ".reg .b32 %i; .reg .b64 %in, %out, %mine, %y, %w<4>; .reg .b" +
           bits +
           " %r<4>;\n"
           "mov.u32 %i, %tid.x; mul.wide.u32 %y, %i, " +
           std::to_string(kBytes) +
           ";\n"
           "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; add.u64 %in, %in, %y; "
           "add.u64 %out, %out, %y;\nmov.u64 %mine, tile; add.u64 %mine, %mine, %y;\n" +
           body + "\nret;\n}\n";
  }
  static std::string registers(const Form& form) {
    if (form.count == 1) return "%r0";
    return form.count == 2 ? "{%r0, %r1}" : "{%r0, %r1, %r2, %r3}";
  }
  // Returns instructions that copy the thread's kBytes bytes from `from` to `to`. `load` and
  // `store` are the beginnings of the instructions' names, without the type.
  static std::string copied(const std::string& load, const std::string& from,
                            const std::string& store, const std::string& to) {
    std::string text;
    for (unsigned at = 0; at < kBytes; at += 8) {
      const std::string w = "%w" + std::to_string(at / 8), at_offset = "+" + std::to_string(at);
      text += load + ".b64 " + w + ", [" + from + at_offset + "]; " + store + ".b64 [" + to +
              at_offset + "], " + w + ";\n";
    }
    return text;
  }
  std::vector<uint8_t> run(const std::string& text) {
    PtxModule module(text);
    uint8_t* out = memory<uint8_t>(kThreads * kBytes);
    std::memset(out, 0xee, kThreads * kBytes);
    EXPECT_EQ(module.launch("k", 1, kThreads, 0, out, memory(bytes_)), cudaSuccess) << text;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(fault(), "none") << text;
    return std::vector<uint8_t>(out, out + kThreads * kBytes);
  }
  std::vector<uint8_t> bytes_;
};

TEST_F(PtxForms, Loads) {
  for (const char* text : {"ld.global.b8",
                           "ld.global.s8",
                           "ld.global.u8",
                           "ld.global.u16",
                           "ld.global.s16",
                           "ld.global.s32",
                           "ld.global.u32",
                           "ld.global.f32",
                           "ld.global.u64",
                           "ld.global.f64",
                           "ld.global.v2.u16",
                           "ld.global.v2.u32",
                           "ld.global.v2.f32",
                           "ld.global.v2.u64",
                           "ld.global.v2.f64",
                           "ld.global.v4.u32",
                           "ld.global.v4.f32",
                           "ld.global.nc.u8",
                           "ld.global.nc.u16",
                           "ld.global.nc.u32",
                           "ld.global.nc.s32",
                           "ld.global.nc.f32",
                           "ld.global.nc.v2.u16",
                           "ld.global.nc.v2.u32",
                           "ld.global.nc.v2.f32",
                           "ld.global.nc.v2.u64",
                           "ld.global.nc.v4.u32",
                           "ld.global.nc.v4.f32",
                           "ld.global.ca.v4.u32",
                           "ld.global.cg.b32",
                           "ld.global.cs.b16",
                           "ld.global.cs.f32",
                           "ld.global.cs.v2.u32",
                           "ld.global.cs.v4.f32",
                           "ld.global.cs.v4.s32",
                           "ld.global.cs.v4.u32",
                           "ld.global.acquire.gpu.b32",
                           "ld.acquire.gpu.u32",
                           "ld.acquire.gpu.global.u32",
                           "ld.u32",
                           "ld.relaxed.gpu.v2.u32",
                           "ld.volatile.global.u32",
                           "ld.shared.u8",
                           "ld.shared.u16",
                           "ld.shared.u32",
                           "ld.shared.f32",
                           "ld.shared.u64",
                           "ld.shared.f64",
                           "ld.shared.v2.u16",
                           "ld.shared.v2.u32",
                           "ld.shared.v2.f32",
                           "ld.shared.v2.u64",
                           "ld.shared.v4.u16",
                           "ld.shared.v4.u32",
                           "ld.shared.v4.f32",
                           "ld.volatile.shared.u32",
                           "ld.f32",
                           "ld.u64",
                           "ld.v4.f32",
                           "ld.v4.u32",
                           "ld.global.nc.u64",
                           "ld.relaxed.gpu.v2.u64",
                           "ld.acquire.cta.b32",
                           "ld.relaxed.cta.b32",
                           "ld.shared.s32",
                           "ld.shared.v4.u8",
                           "ldu.global.u32"}) {
    const Form form = parsed(text);
    const bool shared = form.space == "shared";
    std::string body = copied("ld.global", "%in", "st.shared", "%mine") + form.text + " " +
                       registers(form) + ", [" + (shared ? "%mine" : "%in") + "];\n";
    const unsigned wide = form.in_register();
    for (unsigned k = 0; k < form.count; ++k) {
      body += "st.global.b" + std::to_string(8 * wide) + " [%out+" + std::to_string(wide * k) +
              "], %r" + std::to_string(k) + ";\n";
    }
    const std::vector<uint8_t> out = run(kernel(form, body));
    for (unsigned at = 0; at < kThreads * kBytes; ++at) {
      const unsigned thread = at / kBytes, k = at % kBytes / wide, byte = at % wide;
      const uint8_t* first = &bytes_[thread * kBytes + k * form.size];
      const uint8_t sign = form.is_signed && (first[form.size - 1] & 0x80) != 0 ? 0xff : 0;
      const uint8_t expected = k >= form.count ? 0xee : byte < form.size ? first[byte] : sign;
      ASSERT_EQ(out[at], expected) << text << ", byte " << at;
    }
  }
}

TEST_F(PtxForms, Stores) {
  for (const char* text : {"st.global.u8",
                           "st.global.u16",
                           "st.global.u32",
                           "st.global.f32",
                           "st.global.u64",
                           "st.global.f64",
                           "st.global.v2.u16",
                           "st.global.v2.u32",
                           "st.global.v2.f32",
                           "st.global.v2.u64",
                           "st.global.v2.f64",
                           "st.global.v4.u16",
                           "st.global.v4.u32",
                           "st.global.v4.f32",
                           "st.global.cg.v4.s32",
                           "st.global.cs.b16",
                           "st.global.cs.b32",
                           "st.global.cs.f32",
                           "st.global.cs.v4.s32",
                           "st.relaxed.gpu.v2.u32",
                           "st.volatile.global.u32",
                           "st.release.gpu.global.b32",
                           "st.release.gpu.global.u32",
                           "st.shared.u8",
                           "st.shared.u16",
                           "st.shared.u32",
                           "st.shared.f32",
                           "st.shared.u64",
                           "st.shared.f64",
                           "st.shared.v2.u8",
                           "st.shared.v2.u16",
                           "st.shared.v2.u32",
                           "st.shared.v2.f32",
                           "st.shared.v4.u8",
                           "st.shared.v4.u16",
                           "st.shared.v4.u32",
                           "st.shared.v4.f32",
                           "st.volatile.shared.u32",
                           "st.shared.v2.u64",
                           "st.u64",
                           "st.global.v2.u8",
                           "st.relaxed.cta.b32",
                           "st.relaxed.gpu.v2.u64"}) {
    const Form form = parsed(text);
    const bool shared = form.space == "shared";
    const unsigned wide = form.in_register();
    std::string body;
    for (unsigned k = 0; k < form.count; ++k) {
      body += "ld.global.b" + std::to_string(8 * wide) + " %r" + std::to_string(k) + ", [%in+" +
              std::to_string(wide * k) + "];\n";
    }
    if (shared) body += copied("ld.global", "%out", "st.shared", "%mine");
    body += form.text + " [" + (shared ? "%mine" : "%out") + "], " + registers(form) + ";\n";
    if (shared) body += copied("ld.shared", "%mine", "st.global", "%out");
    const std::vector<uint8_t> out = run(kernel(form, body));
    for (unsigned at = 0; at < kThreads * kBytes; ++at) {
      const unsigned thread = at / kBytes, k = at % kBytes / form.size, byte = at % form.size;
      const uint8_t expected = k >= form.count ? 0xee : bytes_[thread * kBytes + k * wide + byte];
      ASSERT_EQ(out[at], expected) << text << ", byte " << at;
    }
  }
}

TEST_F(PtxForms, Parameters) {
  for (const char* text :
       {"ld.param.u8", "ld.param.s8", "ld.param.s32", "ld.param.u32", "ld.param.b32",
        "ld.param.f32", "ld.param.u64", "ld.param.f64", "ld.param.v2.u32", "ld.param.v2.f32",
        "ld.param.v2.u8", "ld.param.v4.u8"}) {
    const Form form = parsed(text);
    const uint64_t argument = 0x8182838485868788;
    const std::string bits = std::to_string(8 * form.in_register());
    std::string body = form.text + " " + registers(form) + ", [given];\n";
    for (unsigned k = 0; k < form.count; ++k) {
      body += "st.global.b" + bits + " [%out+" + std::to_string(form.in_register() * k) + "], %r" +
              std::to_string(k) + ";\n";
    }
    PtxModule module(
        ".visible .entry k(.param .u64 out, .param .align 8 .b8 given[8])\n{\n.reg .b64 %out; "
        ".reg .b" +
        bits + " %r<4>;\nld.param.u64 %out, [out];\n" + body + "ret;\n}\n");
    uint64_t* out = memory<uint64_t>(1);
    EXPECT_EQ(module.launch("k", 1, 1, 0, out, argument), cudaSuccess) << text;
    EXPECT_EQ(fault(), "none") << text;
    uint64_t expected = 0;
    for (unsigned k = 0; k < form.count; ++k) {
      const unsigned unused = 64 - 8 * form.size;
      const uint64_t first = argument >> (8 * form.size * k) << unused;
      const uint64_t number = form.is_signed
                                  ? static_cast<uint64_t>(static_cast<int64_t>(first) >> unused)
                                  : first >> unused;
      const unsigned wide = 8 * form.in_register();
      expected |= (wide == 64 ? number : number & ((uint64_t{1} << wide) - 1)) << wide * k;
    }
    EXPECT_EQ(*out, expected) << text;
  }
}

// The address of a parameter can be read into a register of 32 or 64 bits.
TEST_F(PtxForms, AddressesOfParameters) {
  for (const char* address : {"mov.b64 %a, given;", "mov.b32 %r, given; cvt.u64.u32 %a, %r;"}) {
    PtxModule module(
        ".visible .entry k(.param .u64 out, .param .align 8 .b8 given[16])\n{\n"
        ".reg .b64 %out, %a, %w; .reg .b32 %r;\nld.param.u64 %out, [out];\n" +
        std::string(address) +
        "\ncvta.param.u64 %a, %a;\nld.b64 %w, [%a+8]; st.global.b64 [%out], %w;\nret;\n}\n");
    struct {
      uint64_t first = 1, second = 0x123456789abcdef;
    } argument;
    uint64_t* out = memory<uint64_t>(1);
    EXPECT_EQ(module.launch("k", 1, 1, 0, out, argument), cudaSuccess) << address;
    EXPECT_EQ(fault(), "none") << address;
    EXPECT_EQ(*out, argument.second) << address;
  }
}

TEST_F(PtxForms, Constants) {
  for (const char* text : {"ld.const.u32", "ld.const.f32"}) {
    PtxModule module(
        std::string(".const .align 4 .u32 table[2] = {7, 0x3f800001};\n"
                    ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %out; .reg .b32 %r;\n"
                    "ld.param.u64 %out, [out]; ") +
        text + " %r, [table+4]; st.global.b32 [%out], %r; ret;\n}\n");
    uint32_t* out = memory<uint32_t>(1);
    EXPECT_EQ(module.launch("k", 1, 1, 0, out), cudaSuccess);
    EXPECT_EQ(fault(), "none") << text;
    EXPECT_EQ(*out, 0x3f800001u) << text;
  }
}

// 64 threads access one cell with an atomic instruction; the test checks the cell's last value.
TEST_F(PtxForms, Atomics) {
  const struct {
    const char* text;
    const char* type;  // the operand's type
    uint64_t before, after;
    const char* operand = "%i";
  } all[] = {
      {"atom.shared.add.u32", "b32", 5, 5 + 64 * 63 / 2},
      {"atom.shared.add.f32", "b32", 0, 0x42800000, "0f3F800000"},  // 64.0
      {"atom.shared.min.s32", "b32", 9, 0},
      {"atom.shared.or.b32", "b32", 64, 127},
      {"atom.shared.add.u64", "b64", uint64_t{1} << 33, (uint64_t{1} << 33) + 64 * 63 / 2, "%w"},
      {"atom.cas.relaxed.cta.b32", "b32", 5, 77, "5, 77"},
      {"atom.global.add.u64", "b64", uint64_t{1} << 33, (uint64_t{1} << 33) + 64 * 63 / 2, "%w"},
      {"atom.global.min.s32", "b32", 9, 0},
      {"atom.global.and.b64", "b64", ~uint64_t{0}, 0, "%w"},
      {"atom.global.or.b64", "b64", uint64_t{1} << 40, (uint64_t{1} << 40) + 63, "%w"},
      {"atom.global.exch.b64", "b64", 5, uint64_t{77} << 32, "330712481792"},
      {"atom.global.xor.b32", "b32", 256, 256},
      {"atom.relaxed.gpu.global.add.s32", "b32", 1, 1 + 64 * 63 / 2},
      {"atom.relaxed.cta.global.add.u32", "b32", 1, 1 + 64 * 63 / 2},
      {"atom.acq_rel.gpu.global.add.u32", "b32", 1, 1 + 64 * 63 / 2},
      {"atom.add.release.gpu.u32", "b32", 1, 1 + 64 * 63 / 2},
      {"atom.add.noftz.bf16x2", "b32", 0, 0x42804280, "%ones"},
      {"red.relaxed.gpu.global.add.s32", "b32", 1, 1 + 64 * 63 / 2},
      {"red.relaxed.cta.global.add.u32", "b32", 1, 1 + 64 * 63 / 2},
      {"red.shared.add.u32", "b32", 5, 5 + 64 * 63 / 2},
  };
  for (const auto& row : all) {
    const std::string text = row.text;
    const bool shared = text.find(".shared") != std::string::npos, returns = text[0] == 'a';
    const std::string cell = shared ? "tile" : "%out", bits = row.type;
    PtxModule module(
        ".visible .entry k(.param .u64 out)\n{\n.shared .align 8 .b8 tile[8];\n"
        ".reg .b64 %out, %w; .reg .b32 %i, %ones; .reg ." +
        bits +
        " %r; .reg .pred %p;\n"
        "ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; cvt.u64.u32 %w, %i; "
        "mov.b32 %ones, 0x3f803f80; setp.ne.u32 %p, %i, 0; @%p bra wait;\n" +
        (shared ? "ld.global." + bits + " %r, [%out]; st.shared." + bits + " [tile], %r;\n" : "") +
        "wait: bar.sync 0;\n" + text + (returns ? " %r," : "") + " [" + cell + "], " + row.operand +
        ";\nbar.sync 0; @%p bra end;\n" +
        (shared ? "ld.shared." + bits + " %r, [tile]; st.global." + bits + " [%out], %r;\n" : "") +
        "end: ret;\n}\n");
    uint64_t* out = memory<uint64_t>(1);
    *out = row.before;
    EXPECT_EQ(module.launch("k", 1, kThreads, 0, out), cudaSuccess) << text;
    EXPECT_EQ(fault(), "none") << text;
    EXPECT_EQ(*out, row.after) << text;
  }
}

// Threads 0 to 39 exchange the halves of 16 bytes, and all threads add 1 to the upper half.
TEST_F(PtxForms, RegistersOf128Bits) {
  const struct {
    const char *load, *store;
    bool is_shared;
  } all[] = {
      {"ld.global.b128", "st.global.b128", false},
      {"ld.b128", "st.b128", false},
      {"ld.relaxed.gpu.global.b128", "st.relaxed.gpu.global.b128", false},
      {"ld.acquire.sys.global.L1::no_allocate.b128", "st.release.sys.b128", false},
      {"ld.volatile.global.b128", "st.volatile.global.b128", false},
      {"ld.global.nc.b128", "st.weak.global.b128", false},
      {"ld.shared.b128", "st.shared.b128", true},
      {"ld.relaxed.cta.shared.b128", "st.release.cta.shared.b128", true},
  };
  for (const auto& row : all) {
    const std::string load = row.load, store = row.store;
    PtxModule module(
        ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
        ".shared .align 16 .b8 tile[1024];\n.reg .b32 %i, %mine; .reg .pred %p;\n"
        ".reg .b64 %in, %out, %w<3>, %y; .reg .b128 %q<4>;\n"
        "mov.u32 %i, %tid.x; mul.wide.u32 %y, %i, 16; setp.ge.u32 %p, %i, 40;\n"
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; add.u64 %in, %in, %y;\n"
        "add.u64 %out, %out, %y; mov.u32 %mine, tile; mad.lo.u32 %mine, %i, 16, %mine;\n" +
        (row.is_shared
             ? "ld.global.b128 %q3, [%in]; " + store + " [%mine], %q3; " + load + " %q0, [%mine];\n"
             : load + " %q0, [%in];\n") +
        "mov.b128 {%w0, %w1}, %q0; mov.b128 %q1, {%w1, %w0}; mov.b128 %q2, %q1;\n"
        "@%p mov.b128 %q2, %q0; mov.b128 {_, %w2}, %q2; mov.b128 {%w1, _}, %q2;\n"
        "add.u64 %w2, %w2, 1; mov.b128 %q2, {%w1, %w2};\n" +
        (row.is_shared ? "st.global.b128" : store) + " [%out], %q2;\nret;\n}\n");
    std::vector<uint64_t> in;
    for (uint64_t i = 0; i < 2 * kThreads; ++i) in.push_back(~i << 7);
    uint64_t* out = memory<uint64_t>(2 * kThreads);
    EXPECT_EQ(module.launch("k", 1, kThreads, 0, out, memory(in)), cudaSuccess) << load;
    EXPECT_EQ(fault(), "none") << load;
    for (unsigned i = 0; i < kThreads; ++i) {
      const bool is_exchanged = i < 40;
      ASSERT_EQ(out[2 * i], in[2 * i + (is_exchanged ? 1 : 0)]) << load << ", thread " << i;
      ASSERT_EQ(out[2 * i + 1], in[2 * i + (is_exchanged ? 0 : 1)] + 1) << load << ", thread " << i;
    }
  }
}

// Threads of 8 blocks add 1 to a number of 128 bits by atom.cas, and exchange another number. The
// exchanged numbers have two halves whose sum is 7; each number must be read exactly once.
TEST_F(PtxForms, AtomicsOf128Bits) {
  constexpr unsigned kBlocks = 8;
  PtxModule module(
      ".visible .entry k(.param .u64 cells, .param .u64 out)\n{\n"
      ".shared .align 16 .b8 tile[1024];\n.reg .b32 %i, %r<3>; .reg .pred %p;\n"
      ".reg .b64 %cells, %out, %w<4>, %y; .reg .b128 %q<4>;\n"
      "mov.u32 %i, %tid.x; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x;\n"
      "mad.lo.u32 %i, %r0, %r1, %i; mul.wide.u32 %y, %i, 16;\n"
      "ld.param.u64 %cells, [cells]; ld.param.u64 %out, [out]; add.u64 %out, %out, %y;\n"
      "again: ld.relaxed.gpu.global.b128 %q0, [%cells]; mov.b128 {%w0, %w1}, %q0;\n"
      "add.cc.u64 %w0, %w0, 1; addc.u64 %w1, %w1, 0; mov.b128 %q1, {%w0, %w1};\n"
      "atom.relaxed.gpu.global.cas.b128 %q2, [%cells], %q0, %q1;\n"
      "mov.b128 {%w0, %w1}, %q0; mov.b128 {%w2, %w3}, %q2;\n"
      "setp.ne.u64 %p, %w0, %w2; @%p bra again; setp.ne.u64 %p, %w1, %w3; @%p bra again;\n"
      "cvt.u64.u32 %w0, %i; sub.u64 %w1, 7, %w0; mov.b128 %q0, {%w0, %w1};\n"
      "atom.global.exch.b128 %q1, [%cells+16], %q0; st.global.b128 [%out], %q1;\n"
      "mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 4; mov.u32 %r1, tile; add.u32 %r0, %r0, %r1;\n"
      "st.shared.b128 [%r0], %q0; atom.shared.exch.b128 _, [%r0], %q0;\n"
      "atom.shared.cas.b128 _, [%r0], %q1, %q1;\nret;\n}\n");
  const std::vector<uint64_t> cells = {~uint64_t{0} - 99, 5, 1000, uint64_t{7} - 1000};
  uint64_t *cell = memory(cells), *out = memory<uint64_t>(2 * kBlocks * kThreads);
  EXPECT_EQ(module.launch("k", kBlocks, kThreads, 0, cell, out), cudaSuccess);
  EXPECT_EQ(fault(), "none");
  EXPECT_EQ(cell[0], kBlocks * kThreads - 100);
  EXPECT_EQ(cell[1], 6u);
  std::vector<uint64_t> read = {cell[2]}, expected = {1000};
  EXPECT_EQ(cell[2] + cell[3], 7u);
  for (unsigned i = 0; i < kBlocks * kThreads; ++i) {
    read.push_back(out[2 * i]);
    expected.push_back(i);
    EXPECT_EQ(out[2 * i] + out[2 * i + 1], 7u);
  }
  std::sort(read.begin(), read.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(read, expected);
}

// Type of the elements of a vector that an atomic updates. An element contains one or two floats.
struct ElementType {
  const char* name;
  unsigned bytes;                // size of an element [bytes]
  int exponent, mantissa;        // widths of a float's exponent and mantissa [bits]
  std::vector<uint32_t> values;  // bit patterns of +0, -0, NaN and other floats
  unsigned number_bytes() const { return exponent + mantissa == 31 ? 4 : 2; }
  double decoded(uint32_t bits) const { return decoded_by_definition(bits, exponent, mantissa); }
  // Returns the bits of the result of operation `op` on two floats.
  uint32_t result(const std::string& op, uint32_t old, uint32_t operand) const {
    const double a = decoded(old), b = decoded(operand);
    double d = a + b;
    if (op != "add") {
      const bool is_less = a < b || (a == b && std::signbit(a));
      d = a != a ? b : b != b ? a : (op == "min") == is_less ? a : b;
    }
    return static_cast<uint32_t>(encoded_by_definition(d, exponent, mantissa));
  }
};

// Each thread updates a vector of its own, in which all pairs of values occur.
TEST_F(PtxForms, AtomicsOfVectors) {
  const std::vector<uint32_t> of_f16 = {0,      0x8000, 0x3c00, 0xbc00, 0x4000, 0x7c00,
                                        0xfc00, 0x7fff, 0x0001, 0x3555, 0xc900};
  const std::vector<uint32_t> of_bf16 = {0,      0x8000, 0x3f80, 0xbf80, 0x4000, 0x7f80,
                                         0xff80, 0x7fff, 0x0001, 0x3eab, 0xc123};
  std::vector<uint32_t> of_f32;
  for (const uint32_t bits : of_bf16) {
    if (bits != 1) of_f32.push_back(bits == 0x7fff ? 0x7fffffff : bits << 16 | (bits & 0x7f00));
  }
  const ElementType types[] = {{"f32", 4, 8, 23, of_f32},
                               {"f16", 2, 5, 10, of_f16},
                               {"bf16", 2, 8, 7, of_bf16},
                               {"f16x2", 4, 5, 10, of_f16},
                               {"bf16x2", 4, 8, 7, of_bf16}};
  const auto check = [&](const ElementType& type, const std::string& op, unsigned count,
                         bool returns) {
    const unsigned bytes = count * type.bytes, width = 8 * type.bytes;
    const std::string form = std::string(returns ? "atom" : "red") + ".global." + op +
                             (type.bytes == 4 && type.number_bytes() == 4 ? "" : ".noftz") + ".v" +
                             std::to_string(count) + "." + type.name;
    std::string loads, stores, operands, results;
    for (unsigned i = 0; i < count; ++i) {
      const std::string at = "+" + std::to_string(i * type.bytes) + "]", n = std::to_string(i);
      const std::string bits = ".b" + std::to_string(width);
      loads += "ld.global" + bits + " %a" + n + ", [%in" + at + ";\n";
      stores += "st.global" + bits + " [%old" + at + ", %b" + n + ";\n";
      operands += (i == 0 ? "%a" : ", %a") + n;
      results += (i == 0 ? "%b" : ", %b") + n;
    }
    PtxModule module(
        ".visible .entry k(.param .u64 cells, .param .u64 in, .param .u64 old)\n{\n"
        ".reg .b32 %i; .reg .b64 %cells, %in, %old, %y; .reg .b" +
        std::to_string(width) + " %a<8>, %b<8>;\nmov.u32 %i, %tid.x; mul.wide.u32 %y, %i, " +
        std::to_string(bytes) +
        ";\nld.param.u64 %cells, [cells]; ld.param.u64 %in, [in]; ld.param.u64 %old, [old];\n"
        "add.u64 %cells, %cells, %y; add.u64 %in, %in, %y; add.u64 %old, %old, %y;\n" +
        loads + form + (returns ? " {" + results + "}," : "") + " [%cells], {" + operands + "};\n" +
        (returns ? stores : "") + "ret;\n}\n");
    const unsigned number = type.number_bytes(), numbers = kThreads * bytes / number;
    std::vector<uint8_t> before(kThreads * bytes), in(before), expected(before);
    for (unsigned i = 0; i < numbers; ++i) {
      const size_t values = type.values.size();
      const uint32_t a = type.values[i % values], b = type.values[i / values % values];
      const uint32_t result = type.result(op, a, b);
      std::memcpy(&before[i * number], &a, number);
      std::memcpy(&in[i * number], &b, number);
      std::memcpy(&expected[i * number], &result, number);
    }
    uint8_t *cells = memory(before), *old = memory(in);
    EXPECT_EQ(module.launch("k", 1, kThreads, 0, cells, memory(in), old), cudaSuccess) << form;
    EXPECT_EQ(fault(), "none") << form;
    EXPECT_EQ(std::vector<uint8_t>(cells, cells + before.size()), expected) << form;
    EXPECT_EQ(std::vector<uint8_t>(old, old + in.size()), returns ? before : in) << form;
  };
  for (const ElementType& type : types) {
    const bool is_float = type.number_bytes() == 4;
    for (const char* op : {"add", "min", "max"}) {
      if (is_float && op != std::string("add")) continue;
      for (const unsigned count : {2u, 4u, 8u}) {
        if (count * type.bytes > 16) continue;
        check(type, op, count, true);
        check(type, op, count, false);
      }
    }
  }
}

// Instructions that order accesses, end threads or give hints do not change the kernel's results.
TEST_F(PtxForms, OrderAndEnd) {
  for (const char* text :
       {"fence.acq_rel.gpu",
        "fence.acq_rel.cta",
        "membar.cta",
        "membar.gl",
        "nanosleep.u32 5",
        "griddepcontrol.wait",
        "griddepcontrol.launch_dependents",
        "barrier.cluster.arrive; barrier.cluster.wait",
        "setp.eq.u32 %p, %i, 77; @%p exit",
        "setp.eq.u32 %p, %i, 77; @%p trap",
        "setp.eq.u32 %p, %i, 77; @%p brkpt",
        "fence.sc.cta",
        "prefetch.global.L2 [%out]",
        "prefetchu.L1 [%out]",
        "discard.global.L2 [%out], 128",
        "isspacep.local %p, %out; @%p exit",
        "mapa.u64 %out, %out, 0",
        ".local .align 4 .b8 mine[4]; .reg .b32 %f; st.local.u32 [mine], %i; mov.u32 %i, 0; "
        "ld.local.f32 %f, [mine]; mov.b32 %i, %f",
        "cvta.to.global.u64 %w, %out; cvta.global.u64 %out, %w",
        "setp.eq.u32 %p, %i, 0; @%p cp.async.cg.shared.global.L2::128B [tile], [%out], 16; "
        "cp.async.wait_all",
        "fence.proxy.alias",
        "membar.proxy.alias",
        "applypriority.global.L2::evict_normal [%out], 128",
        "createpolicy.fractional.L2::evict_last.b64 %w, 0.5",
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %w",
        "createpolicy.range.global.L2::evict_last.b64 %w, [%out], 0x1000, 0x2000",
        "mov.u64 %w, 0; createpolicy.cvt.L2.b64 %w, %w",
        "isspacep.param %p, %out; @%p exit",
        "pmevent 3",
        "pmevent.mask 5",
        ".reg .b32 %f; mov.u32 %f, %clock_hi; mov.u32 %f, %globaltimer_hi",
        "{.reg.b32 one,two;.reg.pred q; mov.u32 one, %i; mov.u32 two, one; mov.u32 %i, two; } "
        "mov.u32 %i, %i"}) {
    PtxModule module(
        std::string(".visible .entry k(.param .u64 out)\n{\n.shared .align 16 .b8 tile[16];\n"
                    ".reg .b64 %out, %w; .reg .b32 %i; .reg .pred %p;\n"
                    "ld.param.u64 %out, [out]; mov.u32 %i, %tid.x;\n") +
        text +
        ";\nmul.wide.u32 %w, %i, 4; add.u64 %w, %out, %w; st.global.u32 [%w], %i; ret;\n}\n");
    uint32_t* out = memory<uint32_t>(kThreads);
    EXPECT_EQ(module.launch("k", 1, kThreads, 0, out), cudaSuccess) << text;
    EXPECT_EQ(fault(), "none") << text;
    for (uint32_t i = 0; i < kThreads; ++i) ASSERT_EQ(out[i], i) << text;
  }
}

// Cache policies, eviction priorities and sizes of prefetches change no value.
TEST_F(PtxForms, CacheHints) {
  const std::string policy = ".L2::cache_hint", priority = ".L1::evict_last";
  const std::vector<std::string> loads = {
      "ld.global" + policy + ".b32 %r, [%in], %policy", "ld.global" + priority + ".b32 %r, [%in]",
      "ld.global.nc" + priority + policy + ".L2::256B.b32 %r, [%in], %policy",
      "ld.global.b32 %r, [%in].unified"};
  const std::vector<std::string> stores = {
      "st.global" + policy + ".b32 [%out], %r, %policy",
      "st.global.L1::no_allocate.b32 [%out], %r",
      "st.global.cs" + policy + ".v2.b32 [%out], {%r, %r}, %policy",
      "red.global.add" + policy + ".u32 [%out], %r, %policy",
      "atom.global.add" + policy + ".u32 %old, [%out], %r, %policy",
      "atom.global.exch" + policy + ".b32 %old, [%out], %r, %policy"};
  for (const std::string& load : loads) {
    for (const std::string& store : stores) {
      PtxModule module(
          ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .b64 %out, %in, %w, "
          "%policy; .reg .b32 %i, %r, %old;\nld.param.u64 %out, [out]; ld.param.u64 %in, [in]; "
          "mov.u32 %i, %tid.x; mul.wide.u32 %w, %i, 8; add.u64 %out, %out, %w; add.u64 %in, %in, "
          "%w; createpolicy.fractional.L2::evict_first.b64 %policy, 1.0;\n" +
          load + ";\n" + store + ";\nret;\n}\n");
      std::vector<uint64_t> in;
      for (uint32_t i = 0; i < kThreads; ++i) in.push_back(1000 + i);
      uint64_t* out = memory<uint64_t>(kThreads);
      EXPECT_EQ(module.launch("k", 1, kThreads, 0, out, memory(in)), cudaSuccess) << load << store;
      EXPECT_EQ(fault(), "none") << load << store;
      for (uint32_t i = 0; i < kThreads; ++i) {
        ASSERT_EQ(static_cast<uint32_t>(out[i]), 1000 + i) << load << ", " << store;
      }
    }
  }
}

// cp.async with a policy, with a number of source bytes, and with a predicate that makes all bytes
// zero. The predicate is true in a third of the threads.
TEST_F(PtxForms, AsyncCopiesWithMoreOperands) {
  const struct {
    const char* text;
    int source_bytes;  // bytes copied if the predicate is true
  } all[] = {
      {"cp.async.ca.shared.global.L2::cache_hint [%mine], [%in], 16, %policy", 16},
      {"cp.async.cg.shared.global.L2::cache_hint.L2::128B [%mine], [%in], 16, %n, %policy", 4},
      {"cp.async.cg.shared.global [%mine], [%in], 16, %p", 0},
      {"cp.async.ca.shared.global.L2::cache_hint [%mine], [%in], 16, %p, %policy", 0}};
  for (const auto& row : all) {
    PtxModule module(
        std::string(
            ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.shared .align 16 .b8 "
            "tile[1024];\n.reg .b64 %out, %in, %w, %policy; .reg .b32 %i, %n, %mine, %r<4>; "
            ".reg .pred %p;\nld.param.u64 %out, [out]; ld.param.u64 %in, [in];\n"
            "createpolicy.fractional.L2::evict_first.b64 %policy, 1.0;\n"
            "mov.u32 %i, %tid.x; mul.wide.u32 %w, %i, 16; add.u64 %out, %out, %w; add.u64 "
            "%in, %in, %w; mov.u32 %mine, tile; mad.lo.u32 %mine, %i, 16, %mine;\n"
            "rem.u32 %n, %i, 3; setp.eq.u32 %p, %n, 0; selp.b32 %n, 4, 16, %p;\n"
            "mov.u32 %r0, -1; st.shared.v4.b32 [%mine], {%r0, %r0, %r0, %r0};\n") +
        row.text +
        ";\ncp.async.wait_all; ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%mine];\n"
        "st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};\nret;\n}\n");
    std::vector<uint32_t> in;
    for (uint32_t i = 0; i < 4 * kThreads; ++i) in.push_back(77 + i);
    uint32_t* out = memory<uint32_t>(4 * kThreads);
    EXPECT_EQ(module.launch("k", 1, kThreads, 0, out, memory(in)), cudaSuccess) << row.text;
    EXPECT_EQ(fault(), "none") << row.text;
    for (uint32_t i = 0; i < 4 * kThreads; ++i) {
      const bool is_copied = i / 4 % 3 != 0 || static_cast<int>(i % 4 * 4) < row.source_bytes;
      ASSERT_EQ(out[i], is_copied ? in[i] : 0) << row.text << ", word " << i;
    }
  }
}

}  // namespace
}  // namespace kernkit::simulator
