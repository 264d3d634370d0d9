// SPDX-License-Identifier: Apache-2.0
// What the runtime calls to execute kernels that nvcc compiled, see runtime/ptx.h.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "ptx/image/fat_binary.h"
#include "ptx/image/image.h"
#include "ptx/machine/grid.h"
#include "ptx/modules.h"
#include "ptx/parser/unsupported.h"
#include "runtime/ptx.h"
#include "runtime/ranges.h"
#include "runtime/state.h"
#include "tools/instrumented_kernel.h"
#include "tools/session.h"

// So that the linker takes this file, see KernkitSimulator.cmake.
extern "C" void kernkit_simulator_ptx() {}

namespace kernkit::simulator {
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

// By the addresses that the host's code names them by.
std::map<const void*, VariableInfo>& all_variables() {
  static auto& all = *new std::map<const void*, VariableInfo>;
  return all;
}
// Of each module the memory of its managed variables.
std::map<void**, std::map<std::string, void*>>& all_managed() {
  static auto& all = *new std::map<void**, std::map<std::string, void*>>;
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
    } catch (const ptx::UnsupportedPtx& refusal) {
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

// Allocations of the runtime, and the module's variables.
class MemoryOfDevice : public ptx::DeviceMemory {
 public:
  explicit MemoryOfDevice(const Image& image) : image_(image) {}

  Range range_of(uint64_t address) const override {
    const Range variable = image_.range_of(address);
    if (variable.begin < variable.end) return variable;
    const auto found = around(address);
    if (found == state().allocations.end() || !found->second.live) return {};
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
    const std::string variable = image_.place_of(address);
    if (!variable.empty()) return variable;
    const std::string freed = freed_text(reinterpret_cast<const void*>(address));
    const auto found = around(address);
    if (found == state().allocations.end()) {
      return freed.empty() ? "that are in no allocation" : "at " + freed;
    }
    const auto begin = reinterpret_cast<uint64_t>(found->first);
    const uint64_t size = found->second.size;
    const std::string allocation = " an allocation of " + bytes_text(size);
    if (address < begin + size) {
      return "at byte " + std::to_string(address - begin) + " of" + allocation +
             (!found->second.live ? " that its graph has not allocated or has freed"
                                  : " that is closed there");
    }
    if (!freed.empty()) return "at " + freed;
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
std::vector<unsigned char> parameters_of(const ptx::Kernel& kernel, const CudaLaunch& launch) {
  std::vector<unsigned char> bytes(kernel.parameter_bytes);
  for (size_t i = 0; i < kernel.parameters.size() && i < launch.arguments.size(); ++i) {
    const std::vector<unsigned char>& argument = launch.arguments[i];
    std::copy(argument.begin(), argument.end(), bytes.begin() + kernel.parameters[i].at);
  }
  return bytes;
}

void read(Image& image, const std::string& name, PtxAttributes* attributes) {
  const ptx::Kernel& kernel = image.kernel(name);
  attributes->sizes.clear();
  for (const ptx::Parameter& parameter : kernel.parameters) {
    attributes->sizes.push_back(parameter.size);
  }
  attributes->shared_bytes = kernel.shared_bytes - kernel.reserved_bytes;
  attributes->constant_bytes = image.constant_bytes();
  attributes->local_bytes = kernel.local_bytes;
  const auto most = image.module().functions.at(name).max_threads;
  attributes->max_threads = most == 0 ? 1024 : static_cast<int>(std::min<uint64_t>(most, 1024));
  attributes->capability = image.module().capability;
}

// `known`: what the launching thread knew of streams.
std::string run(const DeviceModule& module, const std::string& mangled, const CudaLaunch& launch,
                const ptx::KnownWork& known, cudaError_t* error) {
  const Settings& settings = state().settings;
  Image& image = *loaded(module).image;
  const ptx::Kernel& kernel = image.kernel(mangled);
  const std::vector<unsigned char> parameters = parameters_of(kernel, launch);
  const MemoryOfDevice memory(image);
  const std::string& name = launch.kernel.empty() ? mangled : launch.kernel;
  ptx::Session& session = ptx::Session::of_process();
  const std::unique_ptr<ptx::Watch> watch = session.begin(
      kernel, image.module(), name, launch.grid, launch.block, launch.shared_memory,
      sample(launch.grid, settings) == 0, launch.overlaps_previous ? &known : nullptr);
  const ptx::Launch of_grid{watch != nullptr ? kernel.instrumented->kernel : kernel,
                            image.module(),
                            launch.kernel,
                            launch.grid,
                            launch.block,
                            static_cast<uint32_t>(launch.shared_memory),
                            parameters.data(),
                            memory,
                            settings.poison,
                            image.grid_barrier(),
                            heap_of(module.device),
                            watch.get(),
                            kernel.instrumented.get()};
  const ptx::PtxResult result = ptx::run_grid(of_grid, launch.cooperative, settings);
  session.note(name, result);
  *error = result.error;
  return result.sentence;
}

}  // namespace

ptx::Heap& heap_of(int device) {
  struct OfDevice {
    std::unique_ptr<ptx::Heap> heap;
    unsigned long generation = 0;
  };
  static auto& all = *new std::map<int, OfDevice>;
  OfDevice& one = all[device];
  if (one.generation != state().generation) {
    one = {std::make_unique<ptx::Heap>(), state().generation};
  }
  return *one.heap;
}

DeviceModule module_here(void** module) {
  return {*module, thread_state().device, current_device().compute_capability, state().generation,
          &all_managed()[module]};
}

cudaError_t read_ptx(KernelInfo* kernel) {
  const Loaded& module = loaded(module_here(kernel->module));
  std::string why = module.refusal;
  try {
    if (module.image != nullptr) read(*module.image, kernel->mangled, &kernel->ptx);
  } catch (const ptx::UnsupportedPtx& refusal) {
    why = refusal.what();
  }
  if (why.empty()) {
    kernel->sizes = kernel->ptx.sizes;
    return cudaSuccess;
  }
  note_fault(kernel->name + " cannot run: " + why);
  return cudaErrorNotSupported;
}

GridRun ptx_run(const KernelInfo& kernel, const CudaLaunch& launch) {
  ptx::KnownWork known = launch.overlaps_previous ? ptx::known_work() : ptx::KnownWork{};
  return [module = module_here(kernel.module), mangled = kernel.mangled, launch,
          known = std::move(known)](cudaError_t* error) {
    return run(module, mangled, launch, known, error);
  };
}

void forget_ptx(void** module) {
  managed_generation(*module) = 0;
  auto& all = all_loaded();
  for (auto one = all.begin(); one != all.end();) {
    one = std::get<0>(one->first) == *module ? all.erase(one) : std::next(one);
  }
  auto& variables = all_variables();
  for (auto one = variables.begin(); one != variables.end();) {
    one = one->second.module == module ? variables.erase(one) : std::next(one);
  }
  for (auto [name, memory] : all_managed()[module]) std::free(memory);
  all_managed().erase(module);
}

std::string ptx_variable(const DeviceModule& module, const std::string& name, void** address,
                         size_t* size) {
  const Loaded& of_device = loaded(module);
  if (of_device.image == nullptr) return of_device.refusal;
  *address = of_device.image->variable(name, size);
  return *address != nullptr ? "" : "it is not in the module's PTX";
}

bool may_have_kernel(const DeviceModule& module, const std::string& name) {
  const Loaded& of_device = loaded(module);
  return of_device.image == nullptr || of_device.image->module().functions.count(name) != 0;
}

const VariableInfo* variable_of(const void* symbol) {
  const auto found = all_variables().find(symbol);
  return found != all_variables().end() ? &found->second : nullptr;
}

void register_variable(void** module, const void* symbol, const char* name, size_t size) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  all_variables()[symbol] = {module, name, size};
}

void* register_managed(void** module, const char* name, size_t size) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  void*& memory = all_managed()[module][name];
  if (memory == nullptr) memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  std::memset(memory, 0, size);
  all_variables()[memory] = {module, name, size};
  return memory;
}

void begin_managed_variables(void** module) {
  if (state().devices.empty() || state().modules.count(module) == 0) return;
  if (!all_managed()[module].empty()) (void)loaded(module_here(module));
}

namespace {

bool managed_around(const void* address, VariableRange* variable) {
  for (const auto& [module, managed] : all_managed()) {
    for (const auto& [name, memory] : managed) {
      *variable = {static_cast<const char*>(memory), all_variables().at(memory).size};
      if (address >= variable->begin && address < variable->begin + variable->size) return true;
    }
  }
  return false;
}

}  // namespace

bool is_ptx_variable(const void* address, cudaPointerAttributes* attributes) {
  attributes->type = cudaMemoryTypeManaged;
  attributes->device = thread_state().device;
  VariableRange managed{};
  if (managed_around(address, &managed)) return true;
  const int device = ptx_device_of(address);
  attributes->type = device >= 0 ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  attributes->device = device;  // of other memory -1
  return device >= 0;
}

bool ptx_variable_around(const void* address, VariableRange* variable) {
  for (const auto& [key, of_device] : all_loaded()) {
    if (of_device.image == nullptr || !of_device.image->holds(address)) continue;
    const Range range = of_device.image->range_of(reinterpret_cast<uint64_t>(address));
    *variable = {reinterpret_cast<const char*>(range.begin), range.end - range.begin};
    return range.begin < range.end;
  }
  return managed_around(address, variable);
}

int ptx_device_of(const void* address) {
  for (const auto& [key, of_device] : all_loaded()) {
    if (of_device.image != nullptr && of_device.image->holds(address)) return std::get<1>(key);
  }
  return -1;
}

}  // namespace kernkit::simulator
