// SPDX-License-Identifier: Apache-2.0
// What the runtime calls to execute kernels that nvcc compiled, see runtime/ptx.h.
#include <algorithm>
#include <map>
#include <tuple>

#include "ptx/image/fat_binary.h"
#include "ptx/image/image.h"
#include "ptx/machine/grid.h"
#include "ptx/text/refusal.h"
#include "runtime/ptx.h"
#include "runtime/state.h"

// So that the linker takes this file, see KernkitCudaOnCpu.cmake.
extern "C" void kernkit_cuda_on_ptx() {}

namespace kernkit::cuda_on_cpu {
namespace {

using ptx::Image;
using ptx::Range;

struct Loaded {
  std::unique_ptr<Image> image;
  std::string refusal;
  unsigned long generation = 0;
};

// Of each fat binary, device and compute capability; never destroyed, as the runtime's state.
std::map<std::tuple<const void*, int, int>, Loaded>& all_loaded() {
  static auto& all = *new std::map<std::tuple<const void*, int, int>, Loaded>;
  return all;
}

// The generation of each fat binary's managed variables, which its first device sets.
unsigned long& managed_generation(const void* fat_binary) {
  static auto& all = *new std::map<const void*, unsigned long>;
  return all[fat_binary];
}

Loaded& loaded(const DeviceModule& module) {
  Loaded& one = all_loaded()[{module.fat_binary, module.device, module.capability}];
  if (one.image == nullptr && one.refusal.empty()) {
    try {
      one.image = std::make_unique<Image>(ptx::ptx_for(module.fat_binary, module.capability),
                                          *module.managed);
    } catch (const ptx::Refusal& refusal) {
      one.refusal = refusal.what();
    }
  }
  if (one.image != nullptr && one.generation != module.generation) {
    unsigned long& of_managed = managed_generation(module.fat_binary);
    one.image->reset(of_managed != module.generation);
    one.generation = of_managed = module.generation;
  }
  return one;
}

std::string bytes_text(uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// Allocations of the runtime, and the module's variables.
class MemoryOfDevice : public ptx::DeviceMemory {
 public:
  explicit MemoryOfDevice(const Image& image) : image_(image) {}

  Range range_of(uint64_t address) const override {
    const Range variable = image_.range_of(address);
    if (variable.begin < variable.end) return variable;
    const auto found = around(address);
    if (found == state().allocations.end() || found->second.freed) return {};
    const auto begin = reinterpret_cast<uint64_t>(found->first);
    Range range{begin, begin + found->second.size};
    if (address >= range.end) return {};
    for (const auto& [memory, size] : found->second.closed) {
      const auto first = reinterpret_cast<uint64_t>(memory);
      if (address >= first && address < first + size) return {};
      if (first + size <= address) range.begin = std::max(range.begin, first + size);
      if (first > address) range.end = std::min(range.end, first);
    }
    return range;
  }

  std::string place_of(uint64_t address) const override {
    auto found = around(address);
    if (found == state().allocations.end()) return "that are in no allocation";
    const auto begin = reinterpret_cast<uint64_t>(found->first);
    const uint64_t size = found->second.size;
    const std::string allocation = " an allocation of " + bytes_text(size);
    if (address < begin + size) {
      return "at byte " + std::to_string(address - begin) + " of" + allocation +
             (found->second.freed ? " that was freed" : " that is closed there");
    }
    constexpr uint64_t kNear = 1 << 20;
    if (address - begin - size > kNear) return "that are in no allocation";
    return bytes_text(address - begin - size) + " behind" + allocation;
  }

 private:
  static std::map<void*, Allocation>::const_iterator around(uint64_t address) {
    const auto& all = state().allocations;
    auto found = all.upper_bound(reinterpret_cast<void*>(address));
    return found == all.begin() ? all.end() : std::prev(found);
  }

  const Image& image_;
};

// Each argument at its place.
std::vector<unsigned char> parameters_of(const ptx::Kernel& kernel, const PtxLaunch& launch) {
  std::vector<unsigned char> bytes(kernel.parameter_bytes);
  for (size_t i = 0; i < kernel.parameters.size() && i < launch.arguments.size(); ++i) {
    const std::vector<unsigned char>& argument = launch.arguments[i];
    std::copy(argument.begin(), argument.end(), bytes.begin() + kernel.parameters[i].at);
  }
  return bytes;
}

}  // namespace

std::string prepare_ptx(const PtxKernel& kernel, PtxAttributes* attributes) {
  Loaded& module = loaded(kernel.module);
  if (module.image == nullptr) return module.refusal;
  try {
    const ptx::Kernel& decoded = module.image->kernel(kernel.mangled);
    attributes->sizes.clear();
    for (const ptx::Parameter& parameter : decoded.parameters) {
      attributes->sizes.push_back(parameter.size);
    }
    attributes->shared_bytes = decoded.shared_bytes;
    attributes->constant_bytes = module.image->constant_bytes();
    attributes->local_bytes = decoded.local_bytes;
    const auto most = module.image->module().functions.at(kernel.mangled).max_threads;
    attributes->max_threads = most == 0 ? 1024 : static_cast<int>(std::min<uint64_t>(most, 1024));
    attributes->capability = module.image->module().capability;
  } catch (const ptx::Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

PtxResult run_ptx(const PtxLaunch& launch, const Settings& settings) {
  Image& image = *loaded(launch.kernel.module).image;
  const ptx::Kernel& kernel = image.kernel(launch.kernel.mangled);
  const std::vector<unsigned char> parameters = parameters_of(kernel, launch);
  const MemoryOfDevice memory(image);
  const ptx::Launch of_grid{kernel,
                            image.module(),
                            launch.kernel.name,
                            launch.grid,
                            launch.block,
                            static_cast<uint32_t>(launch.shared_memory),
                            parameters.data(),
                            memory,
                            settings.poison,
                            image.grid_barrier()};
  return ptx::run_grid(of_grid, launch.cooperative, settings);
}

void forget_ptx(const void* fat_binary) {
  managed_generation(fat_binary) = 0;
  auto& all = all_loaded();
  for (auto one = all.begin(); one != all.end();) {
    one = std::get<0>(one->first) == fat_binary ? all.erase(one) : std::next(one);
  }
}

std::string ptx_variable(const DeviceModule& module, const std::string& name, void** address,
                         size_t* size) {
  const Loaded& of_device = loaded(module);
  if (of_device.image == nullptr) return of_device.refusal;
  *address = of_device.image->variable(name, size);
  return *address != nullptr ? "" : "it is not in the module's PTX";
}

int ptx_device_of(const void* address) {
  for (const auto& [key, of_device] : all_loaded()) {
    if (of_device.image != nullptr && of_device.image->holds(address)) return std::get<1>(key);
  }
  return -1;
}

}  // namespace kernkit::cuda_on_cpu
