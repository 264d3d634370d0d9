// SPDX-License-Identifier: Apache-2.0
#include "simulator_target.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "ptx/image/image.h"
#include "ptx/parser/unsupported.h"
#include "ptx/simd/steps.h"
#include "tensor_map.h"

namespace kernkit::simulator::execution_target {
namespace {

std::unique_ptr<CudaRuntime>& of_test() {
  static std::unique_ptr<CudaRuntime> runtime_of_test;
  return runtime_of_test;
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

bool is_simulator() { return true; }

void encode(const TensorDescription& tensor, unsigned char* map) {
  if (tensor.dimensions == 0) return;
  TensorMap all;
  all.type = static_cast<uint8_t>(tensor.type);
  all.dimensions = static_cast<uint8_t>(tensor.dimensions);
  all.swizzle = static_cast<uint8_t>(tensor.swizzle);
  all.fill = static_cast<uint8_t>(tensor.fill);
  all.element_bytes = static_cast<uint8_t>(tensor.element_bytes);
  all.address = reinterpret_cast<uint64_t>(tensor.address);
  for (int d = 0; d < tensor.dimensions; ++d) {
    all.sizes[d] = tensor.sizes[d];
    all.box[d] = static_cast<uint16_t>(tensor.box[d]);
    all.steps[d] = static_cast<uint8_t>(tensor.steps[d]);
    if (d > 0) all.strides[d - 1] = tensor.strides[d - 1];
  }
  std::memcpy(map, static_cast<const void*>(&all), sizeof(all));
}

std::map<std::string, std::string> simd_forms(const std::string& text) {
  static const std::pair<ptx::Simd, const char*> lists[] = {{ptx::Simd::kIntegers, "integers"},
                                                            {ptx::Simd::kReals, "reals"},
                                                            {ptx::Simd::kWarps, "warps"},
                                                            {ptx::Simd::kMatrices, "matrices"}};
  std::map<std::string, std::string> forms;
  try {
    ptx::Image image(text, {});
    for (const auto& [name, function] : image.module().functions) {
      if (!function.is_kernel) continue;
      const ptx::Kernel& kernel = image.kernel(name);
      for (const ptx::Operation& operation : kernel.code) {
        for (const auto& [list, list_name] : lists) {
          const ptx::Steps steps = ptx::steps_of(list);
          const auto* end = steps.all + steps.count;
          if (std::find(steps.all, end, operation.run) == end) continue;
          forms[kernel.origins[operation.number].opcode] = list_name;
        }
      }
    }
  } catch (const ptx::UnsupportedPtx&) {  // some tests use unsupported PTX
  }
  return forms;
}

}  // namespace kernkit::simulator::execution_target
