// SPDX-License-Identifier: Apache-2.0
// The executor for kernels compiled by the C++ compiler: each CUDA thread is a fiber.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor.h"
#include "fiber/grid.h"
#include "kernkit/simulator/runtime.h"
#include "runtime/visibility.h"

namespace kernkit::simulator {
namespace {

std::string run_grid(const CudaLaunch& launch, const void* kernel, CudaInvoke invoke,
                     cudaError_t* error) {
  std::vector<std::vector<unsigned char>> arguments = launch.arguments;
  std::vector<void*> addresses;
  addresses.reserve(arguments.size());
  for (auto& bytes : arguments) addresses.push_back(bytes.data());
  Grid grid(launch.kernel.empty() ? "kernel" : launch.kernel, kernel, invoke, addresses.data(),
            launch.grid, launch.block, launch.shared_memory, launch.cooperative,
            execution_settings());
  const ClosedMemoryInvisible invisible;
  std::string sentence = grid.run();
  *error = grid.error();
  return sentence;
}

class FiberExecutor : public KernelExecutor {
 public:
  bool runs(const KernelInfo& kernel) const override { return kernel.invoke != nullptr; }
  // Does nothing: describe_kernel() has stored the sizes of the arguments.
  std::string read_attributes(KernelInfo*) override { return ""; }
  GridRun prepare(const KernelInfo& kernel, std::shared_ptr<const CudaLaunch> launch) override {
    return [launch = std::move(launch), address = kernel.address, invoke = kernel.invoke](
               cudaError_t* error) { return run_grid(*launch, address, invoke, error); };
  }
};

}  // namespace

KernelExecutor* fiber_executor() {
  static auto& executor = *new FiberExecutor;
  return &executor;
}

}  // namespace kernkit::simulator
