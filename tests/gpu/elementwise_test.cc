// SPDX-License-Identifier: Apache-2.0
// Tests the results of elementwise ops for every dtype, for sizes near the ends of tiles, for every
// alignment, in place, and for every value of the types of 8 and 16 bits.
#include <algorithm>
#include <limits>

#include "case.h"

namespace kernkit::gpu {
namespace {

template <class Op>
class GpuElementwise : public GpuTest {};
TYPED_TEST_SUITE(GpuElementwise, EveryOp, OpName);

// Tests sizes near the ends of tiles and packs. The number of elements of a tile is a power of two
// and at most 8192, so a multiple of 8192 is the end of a tile of every type. A pack has at most 16
// elements.
TYPED_TEST(GpuElementwise, TileEdges) {
  std::vector<int64_t> sizes;
  for (int64_t n = 1; n <= 67; ++n) sizes.push_back(n);
  for (const int64_t edge : {256, 1024, 2048, 4096, 6144, 8192}) {
    for (const int64_t past : {-17, -16, -15, -8, -4, -2, -1, 0, 1, 2, 4, 8, 15, 16, 17}) {
      sizes.push_back(edge + past);
    }
  }
  for (const int64_t edge : {16384, 32768}) {
    for (const int64_t past : {-1, 0, 1}) sizes.push_back(edge + past);
  }
  Case<TypeParam> c(*std::max_element(sizes.begin(), sizes.end()));
  for (const int64_t n : sizes) {
    ASSERT_EQ(c.run(n), "");
    ASSERT_EQ(c.run(n, 1, 1, 1), "");
    ASSERT_EQ(c.run(n, 0, 1, 0), "");
  }
}

TYPED_TEST(GpuElementwise, EveryAlignmentOfEveryPointer) {
  constexpr int64_t kAlignments = Case<TypeParam>::kAlignments;
  for (const int64_t n : {int64_t{21}, int64_t{2071}}) {
    Case<TypeParam> c(n);
    for (int64_t out = 0; out < kAlignments; ++out) {
      for (int64_t x = 0; x < kAlignments; ++x) {
        for (int64_t y = 0; y < (TypeParam::kBinary ? kAlignments : 1); ++y) {
          ASSERT_EQ(c.run(n, out, x, y), "");
        }
      }
    }
  }
}

// Results are correct if the output is x or y, or if all three tensors are the same tensor, so that
// a call reads and writes the same packs.
TYPED_TEST(GpuElementwise, InPlace) {
  using T = typename TypeParam::Element;
  constexpr int64_t kMost = 8192 + 4099;
  Case<TypeParam> c(kMost);
  const StreamGuard guard(c.stream.device(), c.stream.get());
  for (const int64_t n : {int64_t{5}, int64_t{4099}, kMost}) {
    for (int64_t first = 0; first < c.kAlignments; ++first) {
      SCOPED_TRACE(::testing::Message() << "n " << n << ", first " << first);
      c.place(n, 0, first, first);
      TypeParam::call(c.x.view("out"), c.x.view("x"), c.y.view("y"));
      ASSERT_EQ(c.x.wrong(c.expected(), c.stream), "") << "out is x";
      if (!TypeParam::kBinary) continue;
      c.place(n, 0, 0, first);
      TypeParam::call(c.y.view("out"), c.x.view("x"), c.y.view("y"));
      ASSERT_EQ(c.y.wrong(c.expected(), c.stream), "") << "out is y";
      c.place(n, 0, first, 0);
      TypeParam::call(c.x.view("out"), c.x.view("x"), c.x.view("y"));
      std::vector<T> doubled;
      for (const T value : c.x_values()) doubled.push_back(TypeParam::expected(value, value));
      ASSERT_EQ(c.x.wrong(doubled.data(), c.stream), "") << "all are one";
    }
  }
}

TYPED_TEST(GpuElementwise, EmptyTouchesNothing) {
  Case<TypeParam> c(16);
  c.place(0);
  c.call();
  EXPECT_EQ(c.out.wrong(nullptr, c.stream), "");
}

// Tests every value of the types with 2^8 or 2^16 values, on the vector path and on the scalar
// path, at two positions in a pack.
template <class Op>
class GpuEveryValue : public GpuTest {};
using SmallOps = ::testing::Types<ScaleOp<float16>, ScaleOp<bfloat16>, AddOp<float16>,
                                  AddOp<bfloat16>, AddOp<int8_t>, AddOp<int16_t>, AddOp<uint8_t>>;
TYPED_TEST_SUITE(GpuEveryValue, SmallOps, OpName);

TYPED_TEST(GpuEveryValue, OnBothPaths) {
  using T = typename TypeParam::Element;
  using Bits = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
  const auto element = [](int bits) { return testing::copy_bits<T>(static_cast<Bits>(bits)); };
  std::vector<T> values;
  if (sizeof(T) == 1) {
    for (int bits = 0; bits < 256; ++bits) values.push_back(element(bits));
  } else if (TypeParam::kBinary) {
    // Bits of zeros, ones, limits, infinities and NaN of the float types, and alternating bits.
    for (const int bits : {0x0000, 0x0001, 0x007f, 0x0080, 0x00ff, 0x0100, 0x0400, 0x3c00, 0x3f80,
                           0x5555, 0x7bff, 0x7c00, 0x7c01, 0x7f7f, 0x7f80, 0x7fff, 0x8000, 0x8001,
                           0xaaaa, 0xbc00, 0xbf80, 0xfbff, 0xfc00, 0xff7f, 0xff80, 0xffff}) {
      values.push_back(element(bits));
    }
  } else {
    values.push_back(T());
  }
  std::vector<T> x, y;
  for (const T& value_of_y : values) {
    for (int bits = 0; bits < (1 << 8 * sizeof(T)); ++bits) {
      x.push_back(element(bits));
      y.push_back(value_of_y);
    }
  }
  const auto n = static_cast<int64_t>(x.size());
  Case<TypeParam> c(std::move(x), std::move(y));
  ASSERT_EQ(c.run(n), "") << "16-byte packs";
  ASSERT_EQ(c.run(n, 1, 1, 1), "") << "packs after an odd element";
  ASSERT_EQ(c.run(n, 1, 0, 2), "") << "element by element";
}

template <class Op>
class GpuScaleFactors : public GpuTest {};
using ScaleOps =
    ::testing::Types<ScaleOp<float16>, ScaleOp<bfloat16>, ScaleOp<float>, ScaleOp<double>>;
TYPED_TEST_SUITE(GpuScaleFactors, ScaleOps, OpName);

TYPED_TEST(GpuScaleFactors, NarrowAsOnTheCpu) {
  using T = typename TypeParam::Element;
  constexpr int64_t kSize = 4099;
  const double inf = std::numeric_limits<double>::infinity();
  Case<TypeParam> c(kSize);
  const StreamGuard guard(c.stream.device(), c.stream.get());
  for (const double factor : {0.0, -0.0, 1.0, 0.1, 3.0, 0x1p-20, 1e30, 1e300, 1e-300, -inf,
                              std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<T> expected;
    for (const T value : c.x_values()) {
      expected.push_back(TypeParam::expected(value, value, factor));
    }
    c.place(kSize);
    TypeParam::call(c.out.view("y"), c.x.view("x"), c.y.view(""), factor);
    EXPECT_EQ(c.out.wrong(expected.data(), c.stream), "") << "factor " << factor;
  }
}

}  // namespace
}  // namespace kernkit::gpu
