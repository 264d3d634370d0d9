// SPDX-License-Identifier: Apache-2.0
// The executor for kernels compiled by nvcc, which runs their PTX.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "executor.h"
#include "hooks.h"
#include "kernkit/simulator/runtime.h"
#include "platform/demangle.h"
#include "ptx/image/fat_binary.h"
#include "ptx/image/image.h"
#include "ptx/machine/child_launches.h"
#include "ptx/machine/grid.h"
#include "ptx/machine/instrumented_kernel.h"
#include "ptx/modules.h"
#include "ptx/parser/unsupported.h"
#include "ptx/semantics/printf.h"

// A symbol that makes the linker keep this file, see ptx/CMakeLists.txt.
extern "C" void kernkit_simulator_ptx() {}

namespace kernkit::simulator {
namespace {

using ptx::Image;

struct Loaded {
  std::unique_ptr<Image> image;
  std::string rejection;
  unsigned long generation = 0;
};

// Loaded modules by fat binary, device and compute capability. The map is never destroyed, like the
// state of the runtime.
std::map<std::tuple<const void*, int, int>, Loaded>& all_loaded() {
  static auto& all = *new std::map<std::tuple<const void*, int, int>, Loaded>;
  return all;
}

// Registered variables, by the address that the host code uses for the variable.
std::map<const void*, VariableInfo>& all_variables() {
  static auto& all = *new std::map<const void*, VariableInfo>;
  return all;
}
// Managed memory of each module, by the name of the variable.
std::map<void**, std::map<std::string, void*>>& all_managed() {
  static auto& all = *new std::map<void**, std::map<std::string, void*>>;
  return all;
}

// Returns the generation of the runtime for which the managed variables of a fat binary were last
// initialised; 0 before the first initialisation. All devices share the variables.
unsigned long& managed_generation(const void* fat_binary) {
  static auto& all = *new std::map<const void*, unsigned long>;
  return all[fat_binary];
}

Loaded& loaded(const DeviceModule& module) {
  Loaded& entry = all_loaded()[{module.fat_binary, module.device, module.capability}];
  if (entry.image == nullptr && entry.rejection.empty()) {
    try {
      entry.image = std::make_unique<Image>(ptx::ptx_for(module.fat_binary, module.capability),
                                            *module.managed);
    } catch (const ptx::UnsupportedPtx& rejection) {
      entry.rejection = rejection.what();
    }
  }
  if (entry.image != nullptr && entry.generation != module.generation) {
    unsigned long& of_managed = managed_generation(module.fat_binary);
    entry.image->reset(of_managed != module.generation);
    entry.generation = of_managed = module.generation;
  }
  return entry;
}

// The memory that a module's kernels can access: the module's variables, parameters and texts of
// `children`, and allocations of the runtime.
class MemoryOfModule : public DeviceMemory {
 public:
  MemoryOfModule(const Image& image, const ptx::ChildLaunches& children)
      : image_(image), children_(children) {}

  Range range_of(uint64_t address) const override {
    const Range variable = image_.range_of(address);
    if (variable.begin < variable.end) return variable;
    const Range parameters = children_.range_of(address);
    return parameters.begin < parameters.end ? parameters : allocated_memory().range_of(address);
  }
  std::string location_of(uint64_t address) const override {
    const std::string variable = image_.location_of(address);
    return variable.empty() ? allocated_memory().location_of(address) : variable;
  }
  std::string variable_at(uint64_t address) const override { return image_.variable_at(address); }

 private:
  const Image& image_;
  const ptx::ChildLaunches& children_;
};

// Returns the kernel's parameter memory, with each argument of the launch at its offset.
std::vector<unsigned char> parameters_of(const ptx::Kernel& kernel, const CudaLaunch& launch) {
  std::vector<unsigned char> bytes(kernel.parameter_bytes);
  for (size_t i = 0; i < kernel.parameters.size() && i < launch.arguments.size(); ++i) {
    const std::vector<unsigned char>& argument = launch.arguments[i];
    std::copy(argument.begin(), argument.end(), bytes.begin() + kernel.parameters[i].at);
  }
  return bytes;
}

void read(Image& image, const std::string& name, KernelAttributes* attributes) {
  const ptx::Kernel& kernel = image.kernel(name);
  attributes->sizes.clear();
  attributes->offsets.clear();
  for (const ptx::Parameter& parameter : kernel.parameters) {
    attributes->sizes.push_back(parameter.size);
    attributes->offsets.push_back(parameter.at);
  }
  attributes->shared_bytes = kernel.shared_bytes - kernel.reserved_bytes;
  attributes->constant_bytes = image.constant_bytes();
  attributes->local_bytes = kernel.local_bytes;
  const auto most = image.module().functions.at(name).max_threads;
  attributes->max_threads = most == 0 ? 1024 : static_cast<int>(std::min<uint64_t>(most, 1024));
  attributes->capability = image.module().capability;
}

// A kernel of the module, launched by the host or by a kernel.
struct GridOfKernel {
  const ptx::Kernel& kernel;
  std::string name;  // C++ name of the kernel
  dim3 grid, block, cluster;
  uint32_t shared_bytes;            // dynamic shared memory [bytes]
  const unsigned char* parameters;  // parameter memory
  bool is_cooperative;
  uint64_t number;  // see LaunchStart::number
};

// Runs a grid, and adds the launches of its threads to `children`.
ptx::PtxResult run_grid_of(const DeviceModule& module, const GridOfKernel& one,
                           const std::shared_ptr<void>& work_clock, ptx::ChildLaunches* children) {
  Settings settings = execution_settings();
  Image& image = *loaded(module).image;
  const MemoryOfModule memory(image, *children);
  std::unique_ptr<ptx::LaunchHooks> hooks;
  if (ptx::tools != nullptr) {
    const bool runs_all_blocks = sample(one.grid, settings) == 0;
    hooks = ptx::tools->begin({one.kernel, image.module(), one.name, one.grid, one.block,
                               one.shared_bytes, runs_all_blocks, module.device, one.number},
                              work_clock);
    if (hooks != nullptr) settings.seed = hooks->seed(settings.seed);
  }
  const ptx::Launch of_grid{hooks != nullptr ? one.kernel.instrumented->kernel : one.kernel,
                            image.module(),
                            one.name,
                            one.grid,
                            one.block,
                            one.cluster,
                            one.shared_bytes,
                            one.parameters,
                            memory,
                            settings.poison,
                            image.grid_barrier(),
                            heap_of(module.device),
                            children,
                            hooks.get(),
                            one.kernel.instrumented.get(),
                            settings.device_summation ? module.capability : 0};
  ptx::PtxResult result = ptx::run_grid(of_grid, one.is_cooperative, settings);
  ptx::flush_printed();
  hooks.reset();  // adds the launch's findings to the program's findings
  if (ptx::tools != nullptr) ptx::tools->end(one.name, result.sentence, result.tool);
  return result;
}

// Runs a kernel that another kernel launched, and adds the launches of its threads to `children`.
ptx::PtxResult run_child(const DeviceModule& module, const ptx::ChildLaunch& launch,
                         ptx::ChildLaunches* children) {
  const std::string name = demangle(launch.kernel->name);
  try {
    const ptx::Kernel& kernel = loaded(module).image->kernel(launch.kernel->name);
    const GridOfKernel one{kernel,
                           name,
                           launch.grid,
                           launch.block,
                           {1, 1, 1},
                           launch.shared_bytes,
                           launch.parameters.get(),
                           false,
                           0};
    return run_grid_of(module, one, nullptr, children);
  } catch (const ptx::UnsupportedPtx& rejection) {
    return {name + " cannot run: " + rejection.what(), cudaErrorNotSupported, "program"};
  }
}

// Returns the cluster size of a launch, or the size for which the kernel was compiled if the launch
// sets none [blocks].
dim3 cluster_of(const ptx::Function& function, const CudaLaunch& launch) {
  if (count(launch.cluster) != 1 || function.cluster[0] == 0) return launch.cluster;
  return {function.cluster[0], function.cluster[1], function.cluster[2]};
}

std::string run(const DeviceModule& module, const std::string& mangled, const CudaLaunch& launch,
                const std::shared_ptr<void>& work_clock, uint64_t number, cudaError_t* error) {
  const ptx::Kernel& kernel = loaded(module).image->kernel(mangled);
  const std::vector<unsigned char> parameters = parameters_of(kernel, launch);
  const dim3 cluster = cluster_of(loaded(module).image->module().functions.at(mangled), launch);
  if (launch.grid.x % cluster.x != 0 || launch.grid.y % cluster.y != 0 ||
      launch.grid.z % cluster.z != 0) {
    *error = cudaErrorInvalidClusterSize;
    return launch.kernel + " cannot run: the grid is not a multiple of the kernel's cluster of " +
           std::to_string(count(cluster)) + " blocks";
  }
  ptx::ChildLaunches children;
  const GridOfKernel first{kernel,
                           launch.kernel.empty() ? mangled : launch.kernel,
                           launch.grid,
                           launch.block,
                           cluster,
                           static_cast<uint32_t>(launch.shared_memory),
                           parameters.data(),
                           launch.cooperative,
                           number};
  ptx::PtxResult result = run_grid_of(module, first, work_clock, &children);
  // Stack of launches that have not run. The launches of a grid run before the remaining launches
  // of its parent grid.
  std::vector<ptx::ChildLaunch> waiting;
  const auto add_children = [&] {
    std::vector<ptx::ChildLaunch> added = children.take();
    std::move(added.rbegin(), added.rend(), std::back_inserter(waiting));
  };
  for (add_children(); result.sentence.empty() && !waiting.empty(); add_children()) {
    const ptx::ChildLaunch child = std::move(waiting.back());
    waiting.pop_back();
    result = run_child(module, child, &children);
  }
  *error = result.error;
  return result.sentence;
}

bool managed_around(const void* address, VariableRange* variable) {
  for (const auto& [module, managed] : all_managed()) {
    for (const auto& [name, memory] : managed) {
      *variable = {static_cast<const char*>(memory), all_variables().at(memory).size};
      if (address >= variable->begin && address < variable->begin + variable->size) return true;
    }
  }
  return false;
}

// Returns the device of the variable that contains an address; -1 for other memory.
int device_of_variable(const void* address) {
  for (const auto& [key, of_device] : all_loaded()) {
    if (of_device.image != nullptr && of_device.image->holds(address)) return std::get<1>(key);
  }
  return -1;
}

class PtxExecutor : public KernelExecutor {
 public:
  bool runs(const KernelInfo& kernel) const override {
    return kernel.invoke == nullptr && kernel.module != nullptr;
  }

  std::string read_attributes(KernelInfo* kernel) override {
    const Loaded& module = loaded(module_here(kernel->module));
    if (module.image == nullptr) return module.rejection;
    try {
      read(*module.image, kernel->mangled, &kernel->attributes);
    } catch (const ptx::UnsupportedPtx& rejection) {
      return rejection.what();
    }
    kernel->sizes = kernel->attributes.sizes;
    return "";
  }

  GridRun prepare(const KernelInfo& kernel, std::shared_ptr<const CudaLaunch> launch) override {
    std::shared_ptr<void> work_clock;
    if (launch->overlaps_previous && ptx::tools != nullptr) work_clock = ptx::tools->work_clock();
    const uint64_t number = ptx::tools != nullptr ? ptx::tools->number_launch() : 0;
    return [module = module_here(kernel.module), mangled = kernel.mangled,
            launch = std::move(launch), work_clock, number](cudaError_t* error) {
      return run(module, mangled, *launch, work_clock, number, error);
    };
  }

  void unload(void** module) override {
    managed_generation(*module) = 0;
    auto& all = all_loaded();
    for (auto entry = all.begin(); entry != all.end();) {
      entry = std::get<0>(entry->first) == *module ? all.erase(entry) : std::next(entry);
    }
    auto& variables = all_variables();
    for (auto entry = variables.begin(); entry != variables.end();) {
      entry = entry->second.module == module ? variables.erase(entry) : std::next(entry);
    }
    for (auto [name, memory] : all_managed()[module]) std::free(memory);
    all_managed().erase(module);
  }

  void register_variable(void** module, const void* symbol, const char* name,
                         size_t size) override {
    all_variables()[symbol] = {module, name, size};
  }

  void* register_managed(void** module, const char* name, size_t size) override {
    void*& memory = all_managed()[module][name];
    if (memory == nullptr) memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
    std::memset(memory, 0, size);
    all_variables()[memory] = {module, name, size};
    return memory;
  }

  void begin_managed_variables(void** module) override {
    if (!all_managed()[module].empty()) (void)loaded(module_here(module));
  }

  bool owns(const void* address, cudaPointerAttributes* attributes) const override {
    attributes->type = cudaMemoryTypeManaged;
    attributes->device = execution_context().device;
    VariableRange managed{};
    if (managed_around(address, &managed)) return true;
    const int device = device_of_variable(address);
    attributes->type = device >= 0 ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    attributes->device = device;  // -1 if no variable contains the address
    return device >= 0;
  }

  bool find_variable(const void* address, VariableRange* variable) const override {
    for (const auto& [key, of_device] : all_loaded()) {
      if (of_device.image == nullptr || !of_device.image->holds(address)) continue;
      const Range range = of_device.image->range_of(reinterpret_cast<uint64_t>(address));
      *variable = {reinterpret_cast<const char*>(range.begin), range.end - range.begin};
      return range.begin < range.end;
    }
    return managed_around(address, variable);
  }
};

// Runs before the constructors in which modules register their variables.
__attribute__((constructor(101))) void register_ptx_executor() {
  register_executor(new PtxExecutor);  // never destroyed
}

}  // namespace

ptx::Heap& heap_of(int device) {
  struct OfDevice {
    std::unique_ptr<ptx::Heap> heap;
    unsigned long generation = 0;
  };
  static auto& all = *new std::map<int, OfDevice>;
  OfDevice& state = all[device];
  const unsigned long generation = execution_context().generation;
  if (state.generation != generation) {
    state.heap = std::make_unique<ptx::Heap>();
    state.generation = generation;
  }
  return *state.heap;
}

DeviceModule module_here(void** module) {
  const ExecutionContext context = execution_context();
  return {*module, context.device, context.compute_capability, context.generation,
          &all_managed()[module]};
}

std::string ptx_variable(const DeviceModule& module, const std::string& name, void** address,
                         size_t* size) {
  const Loaded& of_device = loaded(module);
  if (of_device.image == nullptr) return of_device.rejection;
  *address = of_device.image->variable(name, size);
  return *address != nullptr ? "" : "the module's PTX does not contain the variable";
}

std::string problem_of_module(const DeviceModule& module) { return loaded(module).rejection; }

bool may_have_kernel(const DeviceModule& module, const std::string& name) {
  const Loaded& of_device = loaded(module);
  return of_device.image == nullptr || of_device.image->module().functions.count(name) != 0;
}

const VariableInfo* variable_of(const void* symbol) {
  const auto position = all_variables().find(symbol);
  return position != all_variables().end() ? &position->second : nullptr;
}

}  // namespace kernkit::simulator
