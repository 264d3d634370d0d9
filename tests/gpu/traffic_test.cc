// SPDX-License-Identifier: Apache-2.0
// What the reference kernels ask of memory, by their PTX: each byte once, 16 a lane.
#include "case.h"
#include "kernkit/cuda_on_cpu/counters.h"

namespace kernkit::gpu {
namespace {

using cuda_on_cpu::Counting;
using cuda_on_cpu::KernelCounters;
using cuda_on_cpu::over_budget;
using cuda_on_cpu::TrafficBudget;

template <class Op>
class GpuTraffic : public GpuTest {
 protected:
  using T = typename Op::Element;
  static constexpr int64_t kSize = (1 << 17) + 3;

  // "" or what is over the budget, with the tensors so many elements from a 16-byte boundary.
  std::string over(int64_t out_first, int64_t x_first, int64_t y_first) {
    case_.place(kSize, out_first, x_first, y_first);
    case_.stream.synchronize();
    const bool same = out_first == x_first && (!Op::kBinary || x_first == y_first);
    // [traffic]
    const Counting counting;
    case_.call();
    case_.stream.synchronize();
    constexpr uint64_t kBytes = kSize * sizeof(T);
    const TrafficBudget budget = {(Op::kBinary ? 2 : 1) * kBytes, kBytes, same};
    const KernelCounters kernel = counting.kernel();
    EXPECT_EQ(kernel.counters.loads.bytes, budget.read);
    EXPECT_EQ(kernel.counters.stores.bytes, budget.written);
    return over_budget(kernel, budget);
    // [/traffic]
  }
  Case<Op> case_{kSize};
};
TYPED_TEST_SUITE(GpuTraffic, EveryOp, OpName);

TYPED_TEST(GpuTraffic, EachByteOnce) {
  EXPECT_EQ(this->over(0, 0, 0), "");
  EXPECT_EQ(this->over(1, 1, 1), "") << "packs behind an odd element";
  EXPECT_EQ(this->over(1, 0, 2), "") << "element by element";
}

}  // namespace
}  // namespace kernkit::gpu
