// SPDX-License-Identifier: Apache-2.0
// Device variables in code compiled by nvcc.
#include "variables.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kernkit/simulator/runtime.h"

namespace kernkit::simulator {
namespace {

class Variables : public ::testing::Test {
 protected:
  Variables() { begin(); }

  void begin() {
    runtime_ = nullptr;
    runtime_ = std::make_unique<CudaRuntime>(std::vector<CudaDevice>(2));
    runtime_->run_kernels(true);
    void* memory = nullptr;
    cudaMallocManaged(&memory, 128 * sizeof(double), cudaMemAttachGlobal);
    results_ = static_cast<double*>(memory);
  }
  void run() {
    ASSERT_EQ(launch_use_variables(results_, nullptr), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  std::unique_ptr<CudaRuntime> runtime_;
  double* results_ = nullptr;
  const Symbols all_ = symbols();
};

TEST_F(Variables, HaveTheirFirstValuesInEachRuntime) {
  for (int round = 0; round < 2; ++round) {
    begin();
    for (int call = 0; call < 2; ++call) {
      EXPECT_EQ(host_view(), 7 + 100 * call) << round;
      run();
      EXPECT_EQ(results_[0], 41);
      EXPECT_EQ(results_[1], 5 + call) << round;
      EXPECT_EQ(results_[2], 0);
      EXPECT_EQ(results_[3], 7 + 100 * call) << round;
    }
  }
}

TEST_F(Variables, AreCopiedToAndFrom) {
  const float weight = 0.5f;
  ASSERT_EQ(cudaMemcpyToSymbol(all_.weights, &weight, 4, 12, cudaMemcpyHostToDevice), cudaSuccess);
  const double sums[] = {3, 4};
  ASSERT_EQ(cudaMemcpyToSymbol(all_.sums, sums, 16, 0, cudaMemcpyDefault), cudaSuccess);
  host_view() = 1;
  run();
  EXPECT_EQ(results_[0], 6);
  EXPECT_EQ(results_[2], 4);
  EXPECT_EQ(results_[3], 1);
  EXPECT_EQ(host_view(), 101);
  double sum = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&sum, all_.sums, 8, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(sum, 8);
  int everywhere = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&everywhere, all_.everywhere, 4, 0, cudaMemcpyDefault),
            cudaSuccess);
  EXPECT_EQ(everywhere, 101);
}

TEST_F(Variables, AreCopiedInTheOrderOfTheirStream) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    begin();
    runtime_->set_seed(seed);
    cudaStream_t stream;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    double staged[] = {0, 1.5};
    ASSERT_EQ(cudaMemcpyToSymbolAsync(all_.sums, staged, 16, 0, cudaMemcpyHostToDevice, stream),
              cudaSuccess);
    staged[1] = -1;  // the call above has already copied 1.5
    ASSERT_EQ(launch_use_variables(results_, stream), cudaSuccess);
    // An asynchronous copy to pageable host memory completes before the call returns.
    double sum = 0;
    ASSERT_EQ(cudaMemcpyFromSymbolAsync(&sum, all_.sums, 8, 16, cudaMemcpyDeviceToHost, stream),
              cudaSuccess);
    EXPECT_EQ(sum, 3) << seed;
  }
}

TEST_F(Variables, AreEachDevicesOwnButForManagedOnes) {
  const double sums[] = {3, 4};
  ASSERT_EQ(cudaMemcpyToSymbol(all_.sums, sums, 16, 0, cudaMemcpyHostToDevice), cudaSuccess);
  run();
  void* address[2] = {};
  for (int device = 0; device < 2; ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    ASSERT_EQ(cudaGetSymbolAddress(&address[device], all_.calls), cudaSuccess);
    cudaPointerAttributes attributes;
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, address[device]), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    EXPECT_EQ(attributes.device, device);
  }
  EXPECT_NE(address[0], address[1]);
  run();
  EXPECT_EQ(results_[1], 5);
  EXPECT_EQ(results_[2], 0);
  EXPECT_EQ(results_[3], 107);
  int calls = 0;
  ASSERT_EQ(cudaMemcpy(&calls, address[0], 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(calls, 6);
  void* everywhere = nullptr;
  ASSERT_EQ(cudaGetSymbolAddress(&everywhere, all_.everywhere), cudaSuccess);
  EXPECT_EQ(everywhere, &host_view());
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, everywhere), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
}

TEST_F(Variables, OfAnotherKindOrSizeAreErrors) {
  size_t size = 0;
  ASSERT_EQ(cudaGetSymbolSize(&size, all_.sums), cudaSuccess);
  EXPECT_EQ(size, 24u);
  double values[3] = {};
  EXPECT_EQ(cudaGetSymbolSize(&size, values), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(all_.sums, values, 24, 8, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(all_.sums, values, 24, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyFromSymbol(values, all_.sums, 24, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidMemcpyDirection);
}

TEST_F(Variables, NeedPtxForTheDevice) {
  CudaDevice old;
  old.compute_capability = 75;
  runtime_ = nullptr;
  runtime_ = std::make_unique<CudaRuntime>(std::vector<CudaDevice>{old});
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&address, all_.calls), cudaErrorInvalidSymbol);
  EXPECT_EQ(runtime_->faults().at(0),
            "variable _ZN7kernkit5callsE cannot be reached: the program has no PTX for a "
            "device of compute capability 7.5: add an architecture without -real to "
            "CMAKE_CUDA_ARCHITECTURES");
}

}  // namespace
}  // namespace kernkit::simulator
