// SPDX-License-Identifier: Apache-2.0
#include "place_machine.h"

#include <memory>

namespace kernkit::simulator::place {
namespace {

std::unique_ptr<CudaRuntime>& of_test() {
  static std::unique_ptr<CudaRuntime> one;
  return one;
}

}  // namespace

CudaRuntime& runtime() { return *of_test(); }

std::string begin(int capability) {
  CudaDevice device;
  device.compute_capability = capability;
  of_test() = std::make_unique<CudaRuntime>(std::vector<CudaDevice>(1, device));
  of_test()->run_kernels(true);
  return "";
}
void end() { of_test() = nullptr; }

std::string fault() {
  (void)cudaDeviceSynchronize();
  const auto faults = of_test()->faults();
  return faults.empty() ? "none" : faults[0];
}

void set_seed(unsigned seed) { of_test()->set_seed(seed); }

bool is_machine() { return true; }

}  // namespace kernkit::simulator::place
