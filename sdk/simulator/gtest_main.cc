// SPDX-License-Identifier: Apache-2.0
// main() of a GoogleTest program whose tests run on two simulated CUDA devices. The same test
// sources also run on a GPU.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "kernkit/simulator/runtime.h"
#include "platform/environment.h"

namespace kernkit::simulator {
namespace {

// A listener that resets the simulated devices before each test, and fails a test during which the
// runtime recorded a fault.
class OnCpu : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    CudaDevice device;
    device.memory = size_t{1} << 36;
    runtime_ = std::make_unique<CudaRuntime>(std::vector<CudaDevice>(2, device));
    runtime_->run_kernels(true);
    runtime_->set_seed(number_of("KERNKIT_SEED", 1), std::getenv("KERNKIT_SEED") == nullptr);
    runtime_->set_poison(static_cast<unsigned char>(number_of("KERNKIT_POISON", 0xcd)));
    runtime_->set_device_summation(number_of("KERNKIT_DEVICE_SUMMATION", 0) != 0);
    runtime_->sample_blocks(1 << 16, 144);
  }
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed() || runtime_ == nullptr) return;
    std::printf("kernkit: blocks and streams ran in the order of KERNKIT_SEED=%u\n",
                runtime_->seed());
  }
  void OnTestEnd(const ::testing::TestInfo&) override {
    const std::vector<std::string> faults = runtime_->faults();
    runtime_ = nullptr;
    for (const std::string& fault : faults) ADD_FAILURE() << fault;
  }

  std::unique_ptr<CudaRuntime> runtime_;
};

}  // namespace
}  // namespace kernkit::simulator

int main(int argc, char** argv) {
  // A child process of fork() cannot use CUDA. A "threadsafe" death test starts the program again.
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new kernkit::simulator::OnCpu);
  return RUN_ALL_TESTS();
}
