// SPDX-License-Identifier: Apache-2.0
// wgmma: products of a warpgroup for each type, each layout of shared memory, and A in registers,
// compared with sums of the host. The elements are small integers, so all sums are exact.
#include <cmath>
#include <functional>

#include "ptx_fixture.h"

namespace kernkit::simulator {
namespace {

constexpr uint32_t kRows = 64, kBytesOfRow = 32;
// Offsets in shared memory of B and of the rows of A that a test loads into registers, and the size
// of shared memory [bytes]. A begins at offset 0.
constexpr uint32_t kStartOfB = 8192, kStartOfRows = 40960, kSharedBytes = 43008;

/// An element type: the name in PTX, the size [bits], and a function that returns the bits of a
/// small integer.
struct Elements {
  std::string name;
  uint32_t bits;
  std::function<uint32_t(int)> encode;
  int low, high;
};

uint32_t half_bits(int x) {
  const float value = static_cast<float>(x);
  uint32_t f;
  std::memcpy(&f, &value, 4);
  if (x == 0) return 0;
  const uint32_t exponent = (f >> 23 & 0xff) - 127 + 15;
  return f >> 31 << 15 | exponent << 10 | (f >> 13 & 0x3ff);
}
uint32_t float_bits(int x) {
  const float value = static_cast<float>(x);
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
// Returns a small integer as an 8-bit float with the exponent bias `bias` and `mantissa` mantissa
// bits.
uint32_t byte_bits(int x, uint32_t bias, uint32_t mantissa) {
  if (x == 0) return 0;
  const uint32_t f = float_bits(x);
  const uint32_t exponent = (f >> 23 & 0xff) - 127 + bias;
  return f >> 31 << 7 | exponent << mantissa | (f & 0x7fffff) >> (23 - mantissa);
}
const Elements kF16{"f16", 16, half_bits, -3, 3};
const Elements kBF16{"bf16", 16, [](int x) { return float_bits(x) >> 16; }, -3, 3};
const Elements kTF32{"tf32", 32, float_bits, -3, 3};
const Elements kE4M3{"e4m3", 8, [](int x) { return byte_bits(x, 7, 3); }, -3, 3};
const Elements kE5M2{"e5m2", 8, [](int x) { return byte_bits(x, 15, 2); }, -3, 3};
const Elements kS8{"s8", 8, [](int x) { return static_cast<uint32_t>(x) & 0xff; }, -128, 127};
const Elements kU8{"u8", 8, [](int x) { return static_cast<uint32_t>(x); }, 0, 255};

/// A layout of a matrix in shared memory: the swizzle in bytes (0, 32, 64, 128), and whether the
/// matrix is transposed: elements along m or n are contiguous instead of elements along k.
struct Layout {
  uint32_t swizzle;
  bool transposed = false;
};

// Returns the offset of byte `byte` of row `row` in a matrix of `rows` stored rows. A transposed
// matrix has one stored row for each k. An atom consists of the 16-byte units of eight rows.
uint32_t offset_of(const Layout& layout, uint32_t row, uint32_t byte, uint32_t rows) {
  const uint32_t unit = byte / 16, within = byte % 16, atom = row / 8, line = row % 8;
  if (layout.swizzle == 0) {  // core matrices of 8 rows of 16 bytes, ordered by unit
    return (unit * (rows / 8) + atom) * 128 + line * 16 + within;
  }
  const uint32_t width = layout.swizzle / 16;  // units in a row of an atom
  const uint32_t atoms = (unit / width) * (rows / 8) + atom;
  const uint32_t at = (atoms * 8 + line) * layout.swizzle + unit % width * 16 + within;
  const uint32_t phase = at / 128 % width;  // repeats every 128 * `width` bytes
  return at ^ phase * 16;
}

uint64_t descriptor_of(const Layout& layout, uint32_t start, uint32_t rows) {
  uint64_t leading, stride;
  if (layout.swizzle == 0) {
    // The distances between units, and between groups of eight rows. In the descriptor of a
    // transposed matrix the two distances are swapped.
    const uint64_t to_unit = rows / 8 * 128, to_rows = 128;
    leading = layout.transposed ? to_rows : to_unit;
    stride = layout.transposed ? to_unit : to_rows;
  } else {
    stride = uint64_t{8} * layout.swizzle;
    leading = layout.transposed ? uint64_t{rows} * layout.swizzle : 16;
  }
  const uint64_t mode = layout.swizzle == 0     ? 0
                        : layout.swizzle == 128 ? 1
                        : layout.swizzle == 64  ? 2
                                                : 3;
  return start / 16 | leading / 16 << 16 | stride / 16 << 32 | mode << 62;
}

struct Form {
  Elements a, b;
  std::string d = "f32";
  uint32_t n = 64;
  Layout layout_a{128}, layout_b{128};
  bool a_in_registers = false;
  bool keeps = true;  // scale-d
  int scale_a = 1, scale_b = 1;
  bool saturates = false;
};

class PtxWarpgroup : public Ptx {
 protected:
  static uint32_t random(uint32_t* state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
  }
  static int number(const Elements& elements, uint32_t* state) {
    const auto range = static_cast<uint32_t>(elements.high - elements.low + 1);
    return elements.low + static_cast<int>(random(state) % range);
  }
  static void put(std::vector<uint8_t>* shared, uint32_t at, uint32_t bits, uint32_t bytes) {
    std::memcpy(&(*shared)[at], &bits, bytes);
  }
  // Stores a row-major matrix of `rows` rows and `depth` columns in the layout.
  static void store(std::vector<uint8_t>* shared, uint32_t start, const Layout& layout,
                    const Elements& elements, const std::vector<int>& matrix, uint32_t rows,
                    uint32_t depth) {
    const uint32_t bytes = elements.bits / 8;
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t k = 0; k < depth; ++k) {
        const uint32_t at = layout.transposed ? offset_of(layout, k, row * bytes, depth)
                                              : offset_of(layout, row, k * bytes, rows);
        put(shared, start + at, elements.encode(matrix[row * depth + k]), bytes);
      }
    }
  }

  // Runs a product and compares each element of D with the sum that the host computes.
  void test(const Form& f) {
    SCOPED_TRACE(f.a.name + " " + f.b.name + " n " + std::to_string(f.n) + " swizzles " +
                 std::to_string(f.layout_a.swizzle) + " " + std::to_string(f.layout_b.swizzle));
    const uint32_t depth = kBytesOfRow * 8 / f.a.bits;
    uint32_t state = 77;
    std::vector<int> a(kRows * depth), b(f.n * depth), c(kRows * f.n);
    for (int& x : a) x = number(f.a, &state);
    for (int& x : b) x = number(f.b, &state);
    for (int& x : c) x = static_cast<int>(random(&state) % 15) - 7;
    if (f.saturates) c[0] = c[1] = 0x7fffffff;
    std::vector<uint8_t> shared(kSharedBytes, 0x55);
    const auto depth_rows = [&](const Layout& layout, uint32_t rows) {
      return layout.transposed ? depth : rows;
    };
    store(&shared, 0, f.layout_a, f.a, a, kRows, depth);
    store(&shared, kStartOfB, f.layout_b, f.b, b, f.n, depth);

    const bool is_half = f.d == "f16", is_integer = f.d == "s32";
    const uint32_t registers = f.n / (is_half ? 4 : 2);
    std::string text =
        ".visible .entry k(.param .u64 in, .param .u64 c, .param .u64 out)\n{\n"
        ".reg .b64 %in, %c, %out, %y<4>;\n.reg .b32 %i, %s, %n, %d<128>, %a<4>, %x<4>;"
        "\n.reg .pred %p, %q;\n.shared .align 1024 .b8 tile[43008];\n"
        "ld.param.u64 %in, [in]; ld.param.u64 %c, [c]; ld.param.u64 %out, [out];\n"
        "mov.u32 %i, %tid.x; mov.u32 %s, tile; mov.u32 %n, 0;\n"
        "shl.b32 %x0, %i, 2; add.u32 %s, %s, %x0; cvt.u64.u32 %y0, %x0;\n"
        "add.u64 %y1, %in, %y0;\n"
        "copy: ld.global.u32 %x1, [%y1]; st.shared.u32 [%s], %x1;\n"
        "add.u32 %s, %s, 512; add.u64 %y1, %y1, 512; add.u32 %n, %n, 1;\n"
        "setp.lt.u32 %p, %n, 84;\n@%p bra copy;\nfence.proxy.async;\nbar.sync 0;\n"
        "mul.wide.u32 %y2, %i, " +
        std::to_string(registers * 4) + ";\nadd.u64 %c, %c, %y2; add.u64 %out, %out, %y2;\n";
    std::string d;
    for (uint32_t r = 0; r < registers; ++r) {
      const std::string n = std::to_string(r);
      text += "ld.global.u32 %d" + n + ", [%c+" + std::to_string(4 * r) + "];\n";
      d += (r == 0 ? "%d" : ", %d") + n;
    }
    std::string matrix_a =
        std::to_string(descriptor_of(f.layout_a, 0, depth_rows(f.layout_a, kRows)));
    if (f.a_in_registers) {
      // Register j of lane l holds 4 bytes of row 16 * warp + l / 4 + j % 2 * 8, at byte l % 4 * 4
      // + j / 2 * 16.
      text +=
          "shr.u32 %x0, %i, 5; shl.b32 %x0, %x0, 4; bfe.u32 %x1, %i, 2, 3; add.u32 %x0, %x0, %x1;"
          "\nmul.lo.u32 %x0, %x0, 32; and.b32 %x1, %i, 3; mad.lo.u32 %x0, %x1, 4, %x0;\n"
          "mov.u32 %s, tile; add.u32 %x0, %x0, %s;\n"
          "ld.shared.u32 %a0, [%x0+40960]; ld.shared.u32 %a1, [%x0+41216];\n"
          "ld.shared.u32 %a2, [%x0+40976]; ld.shared.u32 %a3, [%x0+41232];\n";
      for (uint32_t row = 0; row < kRows; ++row) {
        for (uint32_t k = 0; k < depth; ++k) {
          put(&shared, kStartOfRows + row * kBytesOfRow + k * f.a.bits / 8,
              f.a.encode(a[row * depth + k]), f.a.bits / 8);
        }
      }
      matrix_a = "{%a0, %a1, %a2, %a3}";
    }
    const std::string matrix_b =
        std::to_string(descriptor_of(f.layout_b, kStartOfB, depth_rows(f.layout_b, f.n)));
    std::string scales;
    if (!is_integer) {
      scales = ", " + std::to_string(f.scale_a) + ", " + std::to_string(f.scale_b);
      if (f.a.bits == 16) {
        if (!f.a_in_registers) scales += f.layout_a.transposed ? ", 1" : ", 0";
        scales += f.layout_b.transposed ? ", 1" : ", 0";
      }
    }
    text += std::string("setp.eq.u32 %q, 1, ") + (f.keeps ? "1" : "0") +
            ";\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n" +
            std::to_string(f.n) + "k" + std::to_string(depth) +
            (f.saturates ? ".satfinite." : ".") + f.d + "." + f.a.name + "." + f.b.name + " {" + d +
            "}, " + matrix_a + ", " + matrix_b + ", %q" + scales +
            ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    for (uint32_t r = 0; r < registers; ++r) {
      text += "st.global.u32 [%out+" + std::to_string(4 * r) + "], %d" + std::to_string(r) + ";\n";
    }
    // Sum r of lane l is in row 16 * warp + l / 4 + r / 2 % 2 * 8 and column r / 4 * 8 + l % 4 * 2
    // + r % 2 of D. A register holds two sums of float16, or one float.
    const auto visit_sums = [&](const std::function<void(uint32_t, uint32_t, size_t, int)>& visit) {
      for (uint32_t thread = 0; thread < 128; ++thread) {
        for (uint32_t r = 0; r < f.n / 2; ++r) {
          const uint32_t row = thread / 32 * 16 + thread % 32 / 4 + r / 2 % 2 * 8;
          const uint32_t column = r / 4 * 8 + thread % 4 * 2 + r % 2;
          visit(row, column, size_t{thread} * registers + (is_half ? r / 2 : r),
                is_half ? r % 2 : 0);
        }
      }
    };
    std::vector<uint32_t> in(kSharedBytes / 4), initial(size_t{128} * registers);
    std::memcpy(in.data(), shared.data(), kSharedBytes);
    visit_sums([&](uint32_t row, uint32_t column, size_t at, int half) {
      const int value = c[row * f.n + column];
      initial[at] |= is_integer ? static_cast<uint32_t>(value)
                     : is_half  ? half_bits(value) << 16 * half
                                : float_bits(value);
    });
    PtxModule module(text + "ret;\n}\n", "sm_90a");
    uint32_t* out = memory<uint32_t>(initial.size());
    ASSERT_EQ(module.launch("k", 1, 128, 0, memory(in), memory(initial), out), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << fault();
    visit_sums([&](uint32_t row, uint32_t column, size_t at, int half) {
      int64_t sum = 0;
      for (uint32_t k = 0; k < depth; ++k) {
        sum += int64_t{a[row * depth + k]} * b[column * depth + k];
      }
      sum = sum * f.scale_a * f.scale_b + (f.keeps ? c[row * f.n + column] : 0);
      if (f.saturates) sum = std::min<int64_t>(sum, 0x7fffffff);
      const uint32_t expected = is_integer ? static_cast<uint32_t>(sum)
                                : is_half  ? half_bits(static_cast<int>(sum))
                                           : float_bits(static_cast<int>(sum));
      const uint32_t found = is_half ? out[at] >> 16 * half & 0xffff : out[at];
      ASSERT_EQ(found, expected) << row << ' ' << column;
    });
  }
};

TEST_F(PtxWarpgroup, Types) {
  test({kF16, kF16});
  test({kF16, kF16, "f16"});
  test({kBF16, kBF16});
  test({kTF32, kTF32});
  test({kE4M3, kE4M3});
  test({kE4M3, kE5M2});
  test({kE5M2, kE4M3, "f16"});
  test({kE5M2, kE5M2});
  test({kS8, kS8, "s32"});
  test({kS8, kU8, "s32"});
  test({kU8, kS8, "s32"});
  test({kU8, kU8, "s32"});
}

TEST_F(PtxWarpgroup, Shapes) {
  for (const uint32_t n : {8u, 16u, 24u, 96u, 128u, 256u}) {
    Form form{kF16, kF16};
    form.n = n;
    test(form);
  }
}

// K-major layouts with each swizzle, and layouts in which the elements of a column are contiguous.
TEST_F(PtxWarpgroup, Layouts) {
  for (const uint32_t a : {0u, 32u, 64u, 128u}) {
    for (const uint32_t b : {0u, 32u, 64u, 128u}) {
      Form form{kBF16, kBF16};
      form.layout_a = {a};
      form.layout_b = {b};
      test(form);
      form.layout_b.transposed = true;
      test(form);
      form.layout_a.transposed = true;
      test(form);
    }
  }
}

TEST_F(PtxWarpgroup, AInRegisters) {
  for (const Elements& elements : {kF16, kBF16, kTF32, kE4M3}) {
    Form form{elements, elements};
    form.a_in_registers = true;
    test(form);
  }
  Form integers{kS8, kU8, "s32"};
  integers.a_in_registers = true;
  test(integers);
}

TEST_F(PtxWarpgroup, Scales) {
  Form form{kF16, kF16};
  form.keeps = false;
  test(form);
  form.scale_a = -1;
  test(form);
  form.scale_b = -1;
  test(form);
  form.scale_a = 1;
  form.keeps = true;
  test(form);
  Form integers{kU8, kU8, "s32"};
  integers.saturates = true;
  test(integers);
}

// A product of one-bit elements counts the set bits of the logical and.
TEST_F(PtxWarpgroup, Bits) {
  std::vector<uint32_t> in(kSharedBytes / 4);
  uint32_t state = 5;
  for (uint32_t& word : in) word = random(&state) ^ random(&state) << 16;
  const Layout layout{0};
  const std::string text =
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %in, %out, %y<3>;\n"
      ".reg .b32 %i, %s, %n, %d<4>, %x<3>;\n.reg .pred %p;\n"
      ".shared .align 1024 .b8 tile[43008];\nld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
      "mov.u32 %i, %tid.x; mov.u32 %s, tile; mov.u32 %n, 0; shl.b32 %x0, %i, 2;\n"
      "add.u32 %s, %s, %x0; cvt.u64.u32 %y0, %x0; add.u64 %in, %in, %y0;\n"
      "copy: ld.global.u32 %x1, [%in]; st.shared.u32 [%s], %x1;\n"
      "add.u32 %s, %s, 512; add.u64 %in, %in, 512; add.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 84;\n"
      "@%p bra copy;\nfence.proxy.async;\nbar.sync 0;\nsetp.eq.u32 %p, 0, 1;\n"
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%d0, %d1, %d2, %d3}, " +
      std::to_string(descriptor_of(layout, 0, kRows)) + ", " +
      std::to_string(descriptor_of(layout, kStartOfB, 8)) +
      ", %p;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
      "mul.wide.u32 %y1, %i, 16; add.u64 %out, %out, %y1;\n"
      "st.global.v4.u32 [%out], {%d0, %d1, %d2, %d3};\nret;\n}\n";
  PtxModule module(text, "sm_90a");
  uint32_t* out = memory<uint32_t>(512);
  ASSERT_EQ(module.launch("k", 1, 128, 0, memory(in), out), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << fault();
  for (uint32_t i = 0; i < 512; ++i) {
    const uint32_t thread = i / 4, r = i % 4;
    const uint32_t row = thread / 32 * 16 + thread % 32 / 4 + r / 2 * 8,
                   column = thread % 4 * 2 + r % 2;
    uint32_t expected = 0;
    for (uint32_t k = 0; k < 8; ++k) {
      const uint32_t x = in[offset_of(layout, row, 4 * k, kRows) / 4];
      const uint32_t y = in[(kStartOfB + offset_of(layout, column, 4 * k, 8)) / 4];
      expected += static_cast<uint32_t>(__builtin_popcount(x & y));
    }
    ASSERT_EQ(out[i], expected) << i;
  }
}

}  // namespace
}  // namespace kernkit::simulator
