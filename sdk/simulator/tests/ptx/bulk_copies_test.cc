// SPDX-License-Identifier: Apache-2.0
// Bulk copies between global and shared memory, of bytes and of boxes of tensors.
#include "bulk_copies_fixture.h"

namespace kernkit::simulator {
namespace {

TEST_F(PtxBulkCopies, Load) {
  std::vector<uint32_t> in(2048);
  std::iota(in.begin(), in.end(), 7u);
  uint32_t *a = memory(in), *b = memory<uint32_t>(2048);
  run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 8192;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 4096, [%b];\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%s+4096], "
      "[%a+4096], 4096, [%b], 0x12;\n",
      kWait + copy_out(), a, b);
  EXPECT_EQ(std::vector<uint32_t>(b, b + 2048), in);
}

TEST_F(PtxBulkCopies, Store) {
  uint32_t* b = memory<uint32_t>(2048);
  run("",
      fill(100) +
          "@%p0 bra end;\n"
          "cp.async.bulk.global.shared::cta.bulk_group [%b0], [%s], 4096;\n"
          "cp.async.bulk.commit_group;\n"
          "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%b0+4096], [%s+4096], 4096, "
          "0x12;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 1;\n"
          "cp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;\nend:",
      nullptr, b);
  for (uint32_t i = 0; i < 2048; ++i) EXPECT_EQ(b[i], 100 + i);
}

TEST_F(PtxBulkCopies, Reductions) {
  const auto test = [&](const std::string& form, auto apply) {
    using T = decltype(apply({}, {}));
    constexpr size_t kCount = 64 / sizeof(T);
    std::vector<T> first(kCount), second(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      first[i] = static_cast<T>(i % 5 + 3);
      second[i] = static_cast<T>(i % 7);
    }
    T *a = memory(second), *b = memory(first);
    run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 64;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 64, [%b];\n",
        std::string(kWait) + "@%p0 bra end;\ncp.reduce.async.bulk.global.shared::cta.bulk_group." +
            form +
            " [%b0], [%s], 64;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
            "end:",
        a, b);
    for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(b[i], apply(first[i], second[i])) << form;
  };
  const auto add = [](auto x, auto y) { return static_cast<decltype(x)>(x + y); };
  test("add.u32", [&](uint32_t x, uint32_t y) { return add(x, y); });
  test("add.s32", [&](int32_t x, int32_t y) { return add(x, y); });
  test("add.u64", [&](uint64_t x, uint64_t y) { return add(x, y); });
  test("add.f32", [&](float x, float y) { return add(x, y); });
  test("add.f64", [&](double x, double y) { return add(x, y); });
  test("min.u32", [](uint32_t x, uint32_t y) { return std::min(x, y); });
  test("min.s64", [](int64_t x, int64_t y) { return std::min(x, y); });
  test("max.s32", [](int32_t x, int32_t y) { return std::max(x, y); });
  test("max.u64", [](uint64_t x, uint64_t y) { return std::max(x, y); });
  test("inc.u32", [](uint32_t x, uint32_t y) { return x >= y ? 0 : x + 1; });
  test("dec.u32", [](uint32_t x, uint32_t y) { return x == 0 || x > y ? y : x - 1; });
  test("and.b32", [](uint32_t x, uint32_t y) { return x & y; });
  test("or.b64", [](uint64_t x, uint64_t y) { return x | y; });
  test("xor.b32", [](uint32_t x, uint32_t y) { return x ^ y; });
}

TEST_F(PtxBulkCopies, ReductionsOfHalves) {
  // 1.5 + 2.25 = 3.75 in float16 and in bfloat16.
  const auto test = [&](const std::string& form, uint16_t x, uint16_t y, uint16_t sum) {
    uint16_t *a = memory(std::vector<uint16_t>(8, y)), *b = memory(std::vector<uint16_t>(8, x));
    run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 16;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 16, [%b];\n",
        std::string(kWait) + "@%p0 bra end;\ncp.reduce.async.bulk.global.shared::cta.bulk_group." +
            form +
            " [%b0], [%s], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
            "end:",
        a, b);
    EXPECT_EQ(std::vector<uint16_t>(b, b + 8), std::vector<uint16_t>(8, sum)) << form;
  };
  test("add.noftz.f16", 0x3e00, 0x4080, 0x4380);
  test("add.noftz.bf16", 0x3fc0, 0x4010, 0x4070);
  test("max.f16", 0x3e00, 0x4080, 0x4080);
  test("min.bf16", 0x3fc0, 0x4010, 0x3fc0);
}

// Returns the element of a row-major tensor at coordinates; 0 outside of the tensor.
uint16_t element(const std::vector<uint16_t>& all, const TensorDescription& map,
                 const std::vector<int64_t>& at) {
  size_t index = 0;
  for (int d = map.dimensions; d-- > 0;) {
    if (at[d] < 0 || static_cast<uint64_t>(at[d]) >= map.sizes[d]) return 0;
    index = index * map.sizes[d] + static_cast<size_t>(at[d]);
  }
  return all[index];
}

// Loads boxes that are inside of a tensor or extend past one of its ends, with and without swizzles
// and traversal strides, and compares each element. A traversal stride of dimension 0 has no
// effect.
TEST_F(PtxBulkCopies, TensorLoads) {
  struct Case {
    std::vector<uint64_t> sizes;
    std::vector<uint16_t> box;
    std::vector<int> first;
    uint8_t swizzle;
    std::vector<uint8_t> steps;
  };
  const Case cases[] = {{{512}, {256}, {100}, 0, {}},
                        {{512}, {64}, {-30}, 0, {}},
                        {{512}, {64}, {500}, 0, {}},
                        {{64, 40}, {64, 32}, {0, 3}, 3, {}},
                        {{64, 40}, {32, 40}, {8, 5}, 2, {}},
                        {{64, 40}, {16, 64}, {56, -7}, 1, {}},
                        {{64, 40}, {64, 20}, {16, 30}, 0, {}},
                        {{64, 40}, {64, 32}, {0, 1}, 0, {1, 4}},
                        {{64, 40}, {64, 32}, {3, 0}, 0, {2, 1}},
                        {{32, 9, 7}, {32, 4, 3}, {0, 7, 5}, 2, {}},
                        {{16, 5, 4, 3}, {16, 2, 2, 2}, {8, 1, 2, 2}, 1, {}},
                        {{16, 5, 4, 3, 2}, {16, 3, 2, 2, 2}, {-8, 1, 2, 2, 1}, 0, {}}};
  int number = 0;
  for (const Case& c : cases) {
    size_t count = 1;
    for (const uint64_t size : c.sizes) count *= size;
    const std::vector<uint16_t> in = numbers(count);
    uint16_t *a = memory(in), *b = memory<uint16_t>(kTile / 2);
    const TensorDescription map = map_of(a, c.sizes, c.box, c.swizzle, c.steps);
    const int dimensions = map.dimensions;
    run(load_text(dimensions, c.first, map.box_bytes()), kWait + copy_out(), a, b, map);
    for (uint32_t i = 0; i < map.box_bytes() / 2; ++i) {
      std::vector<int64_t> at;
      uint32_t remaining = i;
      for (int d = 0; d < dimensions; ++d) {
        at.push_back(c.first[d] + int64_t{remaining % map.elements(d)} * map.step(d));
        remaining /= map.elements(d);
      }
      // The tile is aligned to 1024 bytes, so offsets are swizzled like addresses. The reference
      // combines the number of the 16-byte unit within its 128-byte line with bits of the line's
      // number.
      const uint32_t unit = 2 * i / 16, line = 2 * i / 128;
      const uint32_t units = 1u << c.swizzle;
      const uint32_t swizzled_unit = unit ^ (line % units);
      const uint32_t index = swizzled_unit * 8 + i % 8;
      ASSERT_EQ(b[index], element(in, map, at)) << "case " << number << ", element " << i;
    }
    ++number;
  }
}

// Returns the tf32 number that is nearest to a finite float32 number. Compares the bits as
// integers: between neighbouring tf32 numbers, the differences of the bits are proportional to the
// differences of the numbers.
uint32_t nearest_tf32(uint32_t bits) {
  const uint32_t below = bits & ~0x1fffu, above = below + 0x2000;
  const uint32_t to_below = bits - below, to_above = above - bits;
  if (to_below != to_above) return to_below < to_above ? below : above;
  return (below >> 13) % 2 == 0 ? below : above;
}

// A load with a tensor map of tf32 elements rounds float32 numbers to the nearest tf32 number, ties
// to even.
TEST_F(PtxBulkCopies, TensorLoadsRoundToTf32) {
  std::vector<uint32_t> numbers = {0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001,
                                   0x3f803000, 0xbf803000, 0xbf802fff, 0x7f7fffff,
                                   0x00000fff, 0x80001001, 0x00000000, 0x80000000,
                                   0x7f800000, 0xff800000, 0x42f6e979, 0x7fc00001};
  const uint32_t expected[] = {0x3f800000, 0x3f800000, 0x3f800000, 0x3f802000, 0x3f804000,
                               0xbf804000, 0xbf802000, 0x7f800000, 0x00000000, 0x80002000,
                               0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x42f6e000};
  for (const int type : {7, 11, 12}) {  // FLOAT32, TFLOAT32, TFLOAT32_FTZ
    const uint32_t* const a = memory(numbers);
    uint32_t* const b = memory<uint32_t>(kTile / 4);
    TensorDescription map = map_of(a, {16}, {16});
    map.type = type;
    map.element_bytes = 4;
    run(load_text(1, {0}, 64), kWait + copy_out(), const_cast<uint32_t*>(a), b, map);
    for (size_t i = 0; i < std::size(expected); ++i) {
      EXPECT_EQ(b[i], type == 7 ? numbers[i] : expected[i]) << type << ", " << i;
    }
    EXPECT_GT(b[15] & 0x7fffffff, 0x7f800000u) << type;  // NaN
  }
}

// A load with the fill mode NaN sets elements outside of the tensor to NaN in every floating-point
// format, also with a swizzle. NVIDIA's documentation does not specify the bits of the NaN.
TEST_F(PtxBulkCopies, TensorLoadsWithNans) {
  constexpr struct {
    int type;  // value of CUtensorMapDataType
    int bytes;
    uint64_t exponent;  // bits that are all ones in a NaN
  } kFormats[] = {
      {6, 2, 0x7c00},      {9, 2, 0x7f80},      {7, 4, 0x7f800000},        {10, 4, 0x7f800000},
      {11, 4, 0x7f800000}, {12, 4, 0x7f800000}, {8, 8, 0x7ff0000000000000}};
  for (const auto& format : kFormats) {
    const auto in = memory(numbers(512));  // 8 rows of 128 bytes
    uint16_t* const b = memory<uint16_t>(kTile / 2);
    const auto size = static_cast<uint32_t>(format.bytes), width = 128 / size;
    const bool is_tf32 = format.type == 11 || format.type == 12;
    TensorDescription map = map_of(in, {width, 8}, {static_cast<uint16_t>(width), 8}, 3);
    map.type = format.type;
    map.element_bytes = format.bytes;
    map.strides[0] = 128;
    map.fill = 1;
    // The first two columns and the last three rows of the box are outside of the tensor.
    run(load_text(2, {-2, 3}, 1024), kWait + copy_out(), in, b, map);
    for (uint32_t y = 0; y < 8; ++y) {
      for (uint32_t x = 0; x < width; ++x) {
        const uint32_t at = (y * 128 + x * size) ^ y * 16;
        uint64_t bits = 0, expected = 0;
        std::memcpy(&bits, reinterpret_cast<const unsigned char*>(b) + at, size);
        if (x >= 2 && y < 5) {
          std::memcpy(&expected,
                      reinterpret_cast<const unsigned char*>(in) + (y + 3) * 128 + (x - 2) * size,
                      size);
          if (is_tf32) expected = nearest_tf32(static_cast<uint32_t>(expected));
          ASSERT_EQ(bits, expected) << format.type << ": " << x << ", " << y;
        } else {
          ASSERT_EQ(bits & format.exponent, format.exponent)
              << format.type << ": " << x << ", " << y;
          const uint64_t lowest = format.exponent & (~format.exponent + 1);
          ASSERT_NE(bits & (lowest - 1), 0u) << format.type << ": " << x << ", " << y;
        }
      }
    }
  }
}

// A bulk copy of a box to a tensor stores only the elements inside of the tensor.
TEST_F(PtxBulkCopies, TensorStores) {
  for (const uint8_t swizzle : {uint8_t{0}, uint8_t{3}}) {
    uint16_t* b = memory(std::vector<uint16_t>(64 * 8, 5));
    const TensorDescription map = map_of(b, {64, 8}, {64, 4}, swizzle);
    run("",
        fill(0) +
            "@%p0 bra end;\n"
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%m, {16, 6}], [%s];\n"
            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nend:",
        nullptr, b, map);
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 64; ++x) {
        uint32_t expected = 5;
        if (y >= 6 && x >= 16) {
          const auto offset = static_cast<uint32_t>((y - 6) * 128 + (x - 16) * 2);
          const uint32_t at = swizzle == 0 ? offset : offset ^ (offset / 128 % 8) * 16;
          expected = at / 4 >> 16 * (at / 2 % 2) & 0xffff;  // fill() stored the index of each word
        }
        ASSERT_EQ(b[y * 64 + x], expected) << x << ' ' << y;
      }
    }
  }
}

TEST_F(PtxBulkCopies, TensorReductions) {
  uint32_t* b = memory(std::vector<uint32_t>(64, 1000));
  TensorDescription map = map_of(b, {16, 4}, {16, 4});
  map.type = 2;  // CU_TENSOR_MAP_DATA_TYPE_UINT32
  map.element_bytes = 4;
  map.strides[0] = 64;
  run("",
      fill(3) +
          "@%p0 bra end;\n"
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%m, {0, 0}], "
          "[%s];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nend:",
      nullptr, b, map);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(b[i], 1003 + i);
}

TEST_F(PtxBulkCopies, PrefetchesHaveNoEffect) {
  uint32_t* a = memory<uint32_t>(64);
  run("cp.async.bulk.prefetch.L2.global [%a], 64;\n"
      "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%m, {0, 0}];\n",
      "", a, a, map_of(a, {16, 8}, {16, 4}));
}

TEST_F(PtxBulkCopies, AChangedTensorMap) {
  const std::vector<uint16_t> values = numbers(64 * 40);
  uint16_t *a = memory(values), *b = memory<uint16_t>(4096 + 64);
  // The changed map describes a tensor that begins 1024 bytes later and has 4 rows with a stride of
  // 256 bytes.
  run("",
      load_by_changed_map(
          "add.u64 %y3, %a, 1024;\n"
          "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r5], %y3;\n"
          "mov.u32 %r6, 4;\n"
          "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r5], 1, %r6;\n"
          "mov.u64 %y3, 256;\n"
          "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r5], 0, %y3;\n"),
      a, b, map_of(a, {64, 8}, {64, 8}));
  for (size_t row = 0; row < 8; ++row) {
    for (size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(b[row * 64 + i], row < 4 ? values[512 + row * 128 + i] : 0) << row << ", " << i;
    }
  }
}

// An element_stride of dimension 0 that a kernel stores has no effect.
TEST_F(PtxBulkCopies, AChangedElementStride) {
  const std::vector<uint16_t> values = numbers(64 * 8);
  uint16_t *a = memory(values), *b = memory<uint16_t>(4096 + 64);
  run("",
      load_by_changed_map("mov.u32 %r6, 2;\n"
                          "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r5], 0, "
                          "%r6;\n"),
      a, b, map_of(a, {64, 8}, {64, 8}));
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(b[i], values[i]) << i;
}

// A kernel sets the fill mode of a map of float16 elements to NaN. A load by the map then fills the
// elements outside of the tensor with NaN.
TEST_F(PtxBulkCopies, AChangedFillMode) {
  const std::vector<uint16_t> values = numbers(64 * 8);
  uint16_t *a = memory(values), *b = memory<uint16_t>(4096 + 64);
  TensorDescription map = map_of(a, {64, 4}, {64, 8});
  map.type = 6;  // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
  run("", load_by_changed_map("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r5], 1;\n"),
      a, b, map);
  for (size_t i = 0; i < 512; ++i) {
    if (i < 256) {
      EXPECT_EQ(b[i], values[i]) << i;
    } else {
      EXPECT_GT(b[i] & 0x7fff, 0x7c00) << i;  // NaN
    }
  }
}

// A kernel stores all fields of a map of zeros, as Triton's kernels do, and loads a box by this
// map. Without elemtype, the elements are bytes.
class PtxMapOfAKernel : public PtxBulkCopies, public testing::WithParamInterface<bool> {};
TEST_P(PtxMapOfAKernel, HasTheStoredFields) {
  const std::vector<uint16_t> values = numbers(64 * 8);
  uint16_t *a = memory(values), *b = memory<uint16_t>(4096 + 64);
  std::string changes = kNoMap;
  for (const std::string& field : fields_of_a_map(GetParam())) changes += field;
  run("", load_by_changed_map(changes), a, b);
  for (size_t row = 0; row < 8; ++row) {
    for (size_t unit = 0; unit < 8; ++unit) {
      EXPECT_EQ(b[row * 64 + (unit ^ row) * 8], values[row * 64 + unit * 8]) << row << ", " << unit;
    }
  }
}
// In a map of zeros, the rank field 0 means one dimension. Triton's kernels rely on this and do not
// store a rank of 0.
TEST_F(PtxBulkCopies, AMapWithoutRank) {
  const std::vector<uint16_t> values = numbers(64);
  uint16_t *a = memory(values), *b = memory<uint16_t>(4096 + 64);
  std::string changes = kNoMap;
  for (const std::string& field : fields_of_a_map(false)) {
    const bool is_of_two = field.find("], 1, ") != std::string::npos ||
                           field.find("global_stride") != std::string::npos;
    if (!is_of_two && field.find(".rank.") == std::string::npos) changes += field;
  }
  std::string text = load_by_changed_map(changes);
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("tensor.2d", "tensor.1d");
  replace("{0, 0}", "{0}");
  replace("[%b], 1024", "[%b], 128");
  run("", text, a, b);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(b[i], values[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(Elements, PtxMapOfAKernel, testing::Bool());

}  // namespace
}  // namespace kernkit::simulator
