// SPDX-License-Identifier: Apache-2.0
// Tests the memory traffic of the reference kernels according to their PTX: each byte is moved
// once, and each lane moves 16 bytes at once.
#include <gmock/gmock.h>

#include "case.h"
#include "kernkit/simulator/counters.h"
#include "planted.h"

namespace kernkit::gpu {
namespace {

using simulator::over_budget;
using simulator::TrafficBudget;

template <class Op>
class GpuTraffic : public GpuTest {
 protected:
  using T = typename Op::Element;
  static constexpr int64_t kSize = (1 << 17) + 3;

  // Returns "" if the traffic of a call is within the limit, otherwise the excess as text. The
  // parameters are the tensors' offsets from a 16-byte boundary [elements].
  std::string over(int64_t out_first, int64_t x_first, int64_t y_first) {
    case_.place(kSize, out_first, x_first, y_first);
    case_.stream.synchronize();
    const bool same = out_first == x_first && (!Op::kBinary || x_first == y_first);
    constexpr uint64_t kBytes = kSize * sizeof(T);
    const int of_lane = same ? 16 : sizeof(T);
    const TrafficBudget budget = {(Op::kBinary ? 2 : 1) * kBytes, kBytes, of_lane, of_lane};
    return over_budget(budget, [this] { case_.call(); });
  }
  Case<Op> case_{kSize};
};
TYPED_TEST_SUITE(GpuTraffic, EveryOp, OpName);

TYPED_TEST(GpuTraffic, EachByteOnce) {
  EXPECT_EQ(this->over(0, 0, 0), "");
  EXPECT_EQ(this->over(1, 1, 1), "") << "packs after an odd element";
  EXPECT_EQ(this->over(1, 0, 2), "") << "element by element";
}

// Tests of kernels that copy 2^16 floats with a planted access pattern.
class GpuPlantedTraffic : public GpuTest {
 protected:
  static constexpr int64_t kSize = 1 << 16;
  template <class Copy>
  std::string over(const Copy& copy) {
    const Stream stream;
    DeviceTensor<float> y(0, kSize), x(0, kSize);
    y.place(0, kSize, stream);
    x.place(0, kSize, stream);
    stream.synchronize();
    return over_budget({4 * kSize, 4 * kSize}, [&] {
      copy(kSize, static_cast<float*>(y.dl()->data), static_cast<const float*>(x.dl()->data));
    });
  }
};

TEST_F(GpuPlantedTraffic, ScalarLoadsAreTooManyRequests) {
  EXPECT_THAT(over(copy_by_scalar_loads),
              ::testing::MatchesRegex(".*scalar_loads: loads: makes 2048, expected at most 538 "
                                      "requests \\(planted.cu:[0-9]+\\)"));
}
TEST_F(GpuPlantedTraffic, AStrideIsTooManySectors) {
  EXPECT_THAT(over(copy_by_columns),
              ::testing::MatchesRegex(".*stride: loads: moves 16384, expected at most 8532 sectors "
                                      "\\(planted.cu:[0-9]+\\)"));
}

}  // namespace
}  // namespace kernkit::gpu
