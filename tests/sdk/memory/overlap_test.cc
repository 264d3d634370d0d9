// SPDX-License-Identifier: Apache-2.0
#include "kernkit/memory/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "kernkit/expect.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using testing::error_of;

// A tensor with any address, sizes and strides. The memory is never read.
struct Geometry {
  Geometry(uintptr_t address, std::vector<int64_t> tensor_sizes,
           std::vector<int64_t> tensor_strides = {}, DLDataType dtype = dl_float32)
      : sizes(std::move(tensor_sizes)), strides(std::move(tensor_strides)) {
    dl.data = reinterpret_cast<void*>(address);
    dl.device = {kDLCPU, 0};
    dl.ndim = static_cast<int32_t>(sizes.size());
    dl.dtype = dtype;
    dl.shape = sizes.data();
    dl.strides = strides.empty() ? nullptr : strides.data();
    dl.byte_offset = 0;
  }
  Geometry(const Geometry&) = delete;
  operator TensorView() const { return TensorView(&dl, "x"); }  // NOLINT(runtime/explicit)

  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  DLTensor dl{};
};

constexpr uintptr_t kBase = 0x10000;

bool overlap(const TensorView& a, const TensorView& b) {
  const bool result = overlaps(a, b);
  EXPECT_EQ(overlaps(b, a), result) << "overlap is symmetric";
  return result;
}

template <class Check>
bool rejects(Check&& check) {
  return error_of(check).find("overlap") != std::string::npos;
}

TEST(Overlap, DenseIsExactToTheByte) {
  const Geometry x(kBase, {4, 8});  // 128 bytes
  EXPECT_TRUE(overlap(x, x));
  EXPECT_FALSE(overlap(x, Geometry(kBase + 128, {4})));
  EXPECT_TRUE(overlap(x, Geometry(kBase + 127, {4})));
  EXPECT_FALSE(overlap(x, Geometry(kBase - 16, {4})));
  EXPECT_TRUE(overlap(x, Geometry(kBase - 15, {4})));
  EXPECT_TRUE(overlap(x, Geometry(kBase + 64, {1})));
  EXPECT_TRUE(overlap(x, Geometry(kBase - 64, {1000})));
  EXPECT_FALSE(overlap(x, Geometry(kBase + 128, {1}, {}, dl_int8)));
  EXPECT_TRUE(overlap(x, Geometry(kBase + 127, {1}, {}, dl_int8)));
}

TEST(Overlap, RankZeroIsOneElement) {
  const Geometry scalar(kBase, {});
  EXPECT_TRUE(overlap(scalar, scalar));
  EXPECT_TRUE(overlap(scalar, Geometry(kBase + 3, {1}, {}, dl_int8)));
  EXPECT_FALSE(overlap(scalar, Geometry(kBase + 4, {1}, {}, dl_int8)));
}

TEST(Overlap, ByteOffsetCounts) {
  const Geometry x(kBase, {4});
  Geometry y(kBase, {4});
  y.dl.byte_offset = 15;
  EXPECT_TRUE(overlap(x, y));
  y.dl.byte_offset = 16;
  EXPECT_FALSE(overlap(x, y));
}

TEST(Overlap, EmptySharesNothing) {
  const Geometry x(kBase, {4, 8});
  EXPECT_FALSE(overlap(x, Geometry(kBase, {0})));
  EXPECT_FALSE(overlap(x, Geometry(kBase + 4, {3, 0, 2})));
  EXPECT_FALSE(overlap(Geometry(kBase, {0}), Geometry(kBase, {0})));
  EXPECT_FALSE(overlap(x, Geometry(0, {0, 5}, {-100, 3})));
  EXPECT_FALSE(overlap(x, Geometry(kBase, {int64_t{1} << 62, int64_t{1} << 62, 0})));
}

TEST(Overlap, OtherDevicesShareNothing) {
  const Geometry x(kBase, {4});
  Geometry y(kBase, {4});
  y.dl.device = {kDLCUDA, 0};
  EXPECT_FALSE(overlap(x, y));
  Geometry z(kBase, {4});
  z.dl.device = {kDLCUDA, 1};
  EXPECT_FALSE(overlap(y, z));
  z.dl.device = y.dl.device;
  EXPECT_TRUE(overlap(y, z));
}

TEST(Overlap, PositiveStrides) {
  const Geometry x(kBase, {3}, {4});  // float32 at bytes 0, 16 and 32: bytes 0 to 35
  EXPECT_TRUE(overlap(x, Geometry(kBase + 35, {1}, {}, dl_int8)));
  EXPECT_FALSE(overlap(x, Geometry(kBase + 36, {1}, {}, dl_int8)));
  EXPECT_FALSE(overlap(x, Geometry(kBase - 1, {1}, {}, dl_int8)));
}

// The result is exact for column blocks of one matrix, which may share no byte although their
// address ranges intersect.
TEST(Overlap, InterleavedRowsOfOnePitchAreExact) {
  const Geometry even(kBase, {4}, {2}), odd(kBase + 4, {4}, {2});
  EXPECT_FALSE(overlap(even, odd));
  EXPECT_TRUE(overlap(even, Geometry(kBase + 8, {4}, {2})));
  EXPECT_TRUE(overlap(even, Geometry(kBase + 2, {4}, {2})));
  EXPECT_TRUE(overlap(even, Geometry(kBase + 6, {4}, {2})));
  const Geometry left(kBase, {4, 8}, {20, 1});  // 8 of 20 elements in rows of 80 bytes
  for (int columns = 0; columns <= 20; ++columns) {
    SCOPED_TRACE(columns);
    const Geometry right(kBase + 4 * static_cast<uintptr_t>(columns), {4, 8}, {20, 1});
    EXPECT_EQ(overlap(left, right), columns < 8 || columns > 12);
    EXPECT_EQ(overlap(left, Geometry(kBase + 4 * static_cast<uintptr_t>(columns), {8}, {1})),
              columns < 8 || columns > 12);
  }
  const Geometry heads(kBase, {4, 2, 3}, {20, 4, 1}), between(kBase + 12, {4, 2, 1}, {20, 4, 1});
  EXPECT_FALSE(overlap(heads, between));
  EXPECT_TRUE(overlap(heads, Geometry(kBase + 16, {4, 2, 1}, {20, 4, 1})));
}

// For other interleaved tensors the result may be true although the tensors share no byte.
TEST(Overlap, InterleavedErrsOnTheSafeSide) {
  EXPECT_TRUE(overlap(Geometry(kBase, {4}, {2}), Geometry(kBase + 4, {2}, {4}, dl_int32)));
  EXPECT_TRUE(overlap(Geometry(kBase, {3}, {6}), Geometry(kBase + 4, {5}, {4})));
}

// Returns the addresses of all bytes of a tensor with elements of 2 bytes.
std::set<int64_t> bytes_of(const TensorView& x) {
  std::set<int64_t> all;
  for (int64_t i = 0; i < x.numel(); ++i) {
    int64_t remaining = i, offset = 0;
    for (int32_t d = x.ndim() - 1; d >= 0; remaining /= x.size(d--)) {
      offset += remaining % x.size(d) * x.stride(d);
    }
    for (int64_t byte = 0; byte < 2; ++byte) {
      all.insert(reinterpret_cast<intptr_t>(x.data_ptr()) + 2 * offset + byte);
    }
  }
  return all;
}

TEST(Overlap, NoSharedByteIsMissed) {
  std::mt19937 random(1);
  const auto any = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  int apart = 0, shared = 0, spared = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto make = [&](uintptr_t address) {
      return Geometry(address, {any(1, 3), any(1, 3), any(1, 3)},
                      {4 * any(-3, 3), any(-5, 5), any(-2, 2)}, dl_int16);
    };
    const Geometry a = make(kBase), b = make(kBase + static_cast<uintptr_t>(any(0, 24)));
    const TensorView x = a, y = b;
    const std::set<int64_t> x_bytes = bytes_of(x), y_bytes = bytes_of(y);
    const bool share = std::any_of(x_bytes.begin(), x_bytes.end(),
                                   [&](int64_t byte) { return y_bytes.count(byte) != 0; });
    const bool twice = x_bytes.size() < 2 * static_cast<size_t>(x.numel());
    ASSERT_TRUE(overlap(x, y) || !share) << x.sizes()[0];
    ASSERT_TRUE(detail::may_overlap_itself(x.get()) || !twice);
    shared += share, apart += !share, spared += !overlap(x, y);
  }
  EXPECT_GT(shared, 1000);
  EXPECT_GT(apart, 1000);
  EXPECT_GT(spared, apart / 2) << "most pairs that share no byte should not be reported";
}

TEST(Overlap, NegativeStrides) {
  const Geometry x(kBase, {3}, {-2});  // float32 at bytes 0, -8 and -16: bytes -16 to 3
  EXPECT_TRUE(overlap(x, Geometry(kBase + 3, {1}, {}, dl_int8)));
  EXPECT_FALSE(overlap(x, Geometry(kBase + 4, {1}, {}, dl_int8)));
  EXPECT_TRUE(overlap(x, Geometry(kBase - 16, {1}, {}, dl_int8)));
  EXPECT_FALSE(overlap(x, Geometry(kBase - 17, {1}, {}, dl_int8)));
}

TEST(Overlap, MixedStrides) {
  const Geometry x(kBase, {2, 3}, {10, -1}, dl_int8);  // bytes -2 to 10
  EXPECT_TRUE(overlap(x, Geometry(kBase - 2, {1}, {}, dl_int8)));
  EXPECT_FALSE(overlap(x, Geometry(kBase - 3, {1}, {}, dl_int8)));
  EXPECT_TRUE(overlap(x, Geometry(kBase + 10, {1}, {}, dl_int8)));
  EXPECT_FALSE(overlap(x, Geometry(kBase + 11, {1}, {}, dl_int8)));
}

TEST(Overlap, ZeroStrideIsOneElement) {
  const Geometry x(kBase, {1000}, {0});
  EXPECT_TRUE(overlap(x, Geometry(kBase + 3, {1}, {}, dl_int8)));
  EXPECT_FALSE(overlap(x, Geometry(kBase + 4, {1}, {}, dl_int8)));
}

TEST(Overlap, StrideOfSizeOneDoesNotMatter) {
  const Geometry x(kBase, {1, 4, 1}, {INT64_MAX, 1, INT64_MIN});
  EXPECT_FALSE(overlap(x, Geometry(kBase + 16, {4})));
  EXPECT_TRUE(overlap(x, Geometry(kBase + 15, {4})));
}

// Two int4 elements share a byte, and the last byte counts even if only half of it is used.
TEST(Overlap, BitsRoundUpToBytes) {
  const DLDataType int4 = make_dtype(DTypeCode::kInt, 4);
  const Geometry dense(kBase, {3}, {}, int4), strided(kBase, {2}, {2}, int4);
  const Geometry backwards(kBase, {2}, {-1}, int4);
  for (const TensorView& x : {TensorView(dense), TensorView(strided)}) {
    EXPECT_TRUE(overlap(x, Geometry(kBase + 1, {1}, {}, dl_int8)));
    EXPECT_FALSE(overlap(x, Geometry(kBase + 2, {1}, {}, dl_int8)));
  }
  EXPECT_TRUE(overlap(backwards, Geometry(kBase - 1, {1}, {}, dl_int8)));
  EXPECT_FALSE(overlap(backwards, Geometry(kBase - 2, {1}, {}, dl_int8)));
}

TEST(Overlap, HugeButRepresentable) {
  const int64_t big = int64_t{1} << 40;
  const Geometry x(kBase, {2, 2}, {big, 1});
  const uintptr_t far = kBase + (uintptr_t{4} << 40);
  EXPECT_TRUE(overlap(x, Geometry(far + 7, {1}, {}, dl_int8)));
  EXPECT_FALSE(overlap(x, Geometry(far + 8, {1}, {}, dl_int8)));
  const Geometry dense(kBase, {int64_t{1} << 54});
  EXPECT_TRUE(overlap(dense, Geometry(kBase + (uintptr_t{1} << 55), {1})));
  EXPECT_FALSE(overlap(dense, Geometry(kBase + (uintptr_t{1} << 56), {1})));
}

// A tensor whose extent exceeds int64 overlaps every tensor.
TEST(Overlap, ExtentBeyondInt64) {
  const Geometry x(kBase, {4}), far_away(kBase + 0x1000000, {4});
  const int64_t huge = INT64_MAX;
  for (const int64_t stride :
       {huge, -huge, INT64_MIN, huge / 2, -huge / 2, huge / 32, -huge / 32}) {
    SCOPED_TRACE(stride);
    const Geometry strided(kBase, {3}, {stride});
    EXPECT_TRUE(overlap(strided, x));
    EXPECT_TRUE(overlap(strided, strided));
    EXPECT_TRUE(overlap(strided, far_away));
  }
  const Geometry both(kBase, {3, 3}, {huge / 2, huge / 2}, dl_int8);
  EXPECT_TRUE(overlap(both, far_away));
}

// A tensor whose lowest element would be below address 0 overlaps every tensor.
TEST(Overlap, ExtentBelowAddressZero) {
  const Geometry x(kBase, {4}), below(kBase - 0x100, {4});
  for (const int64_t stride : {int64_t{1} << 40, int64_t{1} << 55, int64_t{1} << 59,
                               (int64_t{1} << 60) - 1, int64_t{1} << 60}) {
    SCOPED_TRACE(stride);
    const Geometry strided(kBase, {2}, {-stride}, dl_int8);
    EXPECT_TRUE(overlap(strided, strided));
    EXPECT_TRUE(overlap(strided, x));
    EXPECT_TRUE(overlap(strided, below));
  }
}

TEST(Overlap, ShapesWithoutANumelAreRejected) {
  const Geometry x(kBase, {4});
  EXPECT_EQ(error_of([&] { overlaps(x, Geometry(kBase, {-1})); }),
            "ValueError: x: shape [-1] has a negative size or more than 2^63 - 1 elements");
  EXPECT_EQ(error_of([&] {
              overlaps(Geometry(kBase, {int64_t{1} << 40, int64_t{1} << 40}), x);
            }).substr(0, 11),
            "ValueError:");
}

// For most outputs a fast path determines the result, which must agree with the slow path.
TEST(NoPartialOverlap, AgreesWithOverlapsAtEveryDistance) {
  const std::vector<std::vector<int64_t>> shapes = {{}, {0}, {1}, {2}, {5}, {9}, {2, 3}, {0, 4}};
  int rejected = 0;
  for (const DLDataType dtype : {dl_int8, dl_float32, dl_float64, DLDataType{kDLUInt, 1, 1},
                                 DLDataType{static_cast<uint8_t>(DTypeCode::kFloat4E2M1FN), 4, 1},
                                 dtype_of<float4_e2m1fn_x2>}) {
    for (const auto& shape : shapes) {
      for (int distance = -64; distance <= 64; ++distance) {
        const Geometry x(kBase, shape, {}, dtype);
        const Geometry y(kBase + static_cast<uintptr_t>(distance), shape, {}, dtype);
        const TensorView yv = y, xv = x;
        const bool partly = overlaps(yv, xv) && !same_elements(yv, xv);
        rejected += partly;
        SCOPED_TRACE(distance);
        EXPECT_EQ(partly, rejects([&] { KERNKIT_EXPECT(yv).no_partial_overlap(xv); }));
        EXPECT_EQ(partly, rejects([&] { KERNKIT_EXPECT(yv).contiguous().no_partial_overlap(xv); }));
        EXPECT_EQ(partly, rejects([&] {
                    KERNKIT_EXPECT(yv).like(xv).contiguous().no_partial_overlap(xv);
                  }));
      }
    }
  }
  EXPECT_GT(rejected, 300);
}

// The slow path, which handles an input that is strided or differs from the output, rejects partial
// overlaps.
TEST(NoPartialOverlap, InputThatIsNotLikeTheOutput) {
  const Geometry y(kBase, {4});
  const Geometry reversed(kBase + 12, {4}, {-1}), wide(kBase - 16, {4}, {4});
  const Geometry short_one(kBase + 8, {1}), doubles(kBase + 12, {4}, {}, dl_float64);
  const TensorView yv = y;
  for (const TensorView x :
       {TensorView(reversed), TensorView(wide), TensorView(short_one), TensorView(doubles)}) {
    EXPECT_TRUE(rejects([&] { KERNKIT_EXPECT(yv).contiguous().no_partial_overlap(x); }));
  }
}

// An output whose elements overlap each other is rejected: a call cannot write two values to one
// element.
TEST(NoPartialOverlap, OutputThatOverlapsItself) {
  const Geometry x(kBase, {3, 4}), apart(kBase + 4096, {4, 3});
  const auto rejections = [&](const TensorView& y) {
    std::string partial = error_of([&] { KERNKIT_EXPECT(y).no_partial_overlap(apart); });
    EXPECT_EQ(partial, error_of([&] { KERNKIT_EXPECT(y).no_overlap(apart); }));
    return partial;
  };
  EXPECT_EQ(rejections(Geometry(kBase, {3, 4}, {0, 1})),
            "ValueError: x: elements may share memory; shape [3, 4] has strides [0, 1]");
  for (const std::vector<int64_t>& strides :
       std::vector<std::vector<int64_t>>{{4, 0}, {1, 1}, {3, 1}, {-3, 1}, {1, 2}, {INT64_MIN, 0}}) {
    SCOPED_TRACE(ShapeView(strides.data(), 2)[0]);
    EXPECT_NE(rejections(Geometry(kBase, {3, 4}, strides)).find("elements may share memory"),
              std::string::npos);
  }
  for (const std::vector<int64_t>& strides :
       std::vector<std::vector<int64_t>>{{4, 1}, {-4, 1}, {4, -1}, {1, 3}, {7, 1}, {8, 2}}) {
    EXPECT_EQ(rejections(Geometry(kBase, {3, 4}, strides)), "nothing");
  }
  EXPECT_EQ(rejections(Geometry(kBase, {1, 4}, {0, 1})), "nothing")
      << "the stride of a dimension of size 1 does not matter";
  EXPECT_EQ(rejections(Geometry(kBase, {0, 4}, {0, 0})), "nothing") << "no element";
  EXPECT_EQ(error_of([&] {
              const Geometry same(kBase, {3, 4}, {0, 1});
              const TensorView y = same;
              KERNKIT_EXPECT(y).no_partial_overlap(y);
            }).substr(0, 38),
            "ValueError: x: elements may share memo");
  const TensorView written = x;
  const Geometry spread(kBase + 4096, {3, 4}, {0, 1});
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(written).no_partial_overlap(spread); }), "nothing")
      << "an input may be broadcast";
}

TEST(SameElements, Same) {
  const Geometry x(kBase, {4, 8});
  EXPECT_TRUE(same_elements(x, x));
  EXPECT_TRUE(same_elements(x, Geometry(kBase, {4, 8}, {8, 1})));
  EXPECT_TRUE(same_elements(Geometry(kBase, {1, 8}, {5, 1}), Geometry(kBase, {1, 8}, {8, 1})));
  EXPECT_TRUE(same_elements(Geometry(kBase, {}), Geometry(kBase, {})));
  Geometry shifted(kBase - 4, {4, 8});
  shifted.dl.byte_offset = 4;
  EXPECT_TRUE(same_elements(x, shifted));
}

TEST(SameElements, Different) {
  const Geometry x(kBase, {4, 8});
  EXPECT_FALSE(same_elements(x, Geometry(kBase + 4, {4, 8})));
  EXPECT_FALSE(same_elements(x, Geometry(kBase, {4, 8}, {}, dl_int32)));
  EXPECT_FALSE(same_elements(x, Geometry(kBase, {8, 4})));
  EXPECT_FALSE(same_elements(x, Geometry(kBase, {3, 8})));
  EXPECT_FALSE(same_elements(x, Geometry(kBase, {32})));
  EXPECT_FALSE(same_elements(x, Geometry(kBase, {4, 8}, {1, 4})));
  EXPECT_FALSE(same_elements(x, Geometry(kBase, {4, 8}, {16, 1})));
}

}  // namespace
}  // namespace kernkit
