// SPDX-License-Identifier: Apache-2.0
// The functions that code compiled by nvcc calls when it is loaded and around <<<>>>. Source of the
// signatures: crt/host_runtime.h of CUDA 12 and 13. Source of the layout of a fat binary: the bytes
// that nvcc writes.
#include "runtime/registration.h"

#include <cstdint>
#include <cstring>

#include "platform/demangle.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

template <class T>
T read(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// A fat binary is a header {u32 magic, u16, u16 size of the header, u64 size of the entries},
// followed by entries {u16 kind, 1 is PTX, 2 machine code; u16; u32 size of the entry; u64 size of
// the code that follows; ...; at 28 u32 compute capability}.
void read_entries(const unsigned char* data, ModuleInfo* module) {
  constexpr uint32_t kMagic = 0xba55ed50;
  if (data == nullptr || read<uint32_t>(data) != kMagic) return;
  const unsigned char* entry = data + read<uint16_t>(data + 6);
  const unsigned char* end = entry + read<uint64_t>(data + 8);
  while (entry < end) {
    const auto kind = read<uint16_t>(entry);
    const auto capability = static_cast<int>(read<uint32_t>(entry + 28));
    if (kind == 1) module->ptx.push_back(capability);
    if (kind == 2) module->machine_code.push_back(capability);
    entry += read<uint32_t>(entry + 4) + read<uint64_t>(entry + 8);
  }
}

}  // namespace

// A wrapper of a fat binary is {u32 magic, u32 version, data, objects}. In version 2 `objects` is
// an array of the fat binaries of all objects that nvcc -rdc=true linked; a null pointer ends the
// array.
ModuleInfo read_fat_binary(const void* wrapper) {
  constexpr uint32_t kWrapperMagic = 0x466243b1, kLinked = 2;
  ModuleInfo module;
  const auto* outer = static_cast<const unsigned char*>(wrapper);
  if (read<uint32_t>(outer) != kWrapperMagic) return module;
  read_entries(read<const unsigned char*>(outer + 8), &module);
  if (read<uint32_t>(outer + 4) != kLinked) return module;
  const auto* objects = read<const unsigned char* const*>(outer + 16);
  for (; objects != nullptr && *objects != nullptr; ++objects) read_entries(*objects, &module);
  return module;
}

namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared_memory;
  cudaStream_t stream;
};
std::vector<Configuration>& configurations() {
  static thread_local std::vector<Configuration> of_thread;
  return of_thread;
}

}  // namespace
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  auto** handle = new void* {wrapper};
  state().modules[handle] = read_fat_binary(wrapper);
  return handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void** handle) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  if (state().modules.count(handle) == 0) return;
  for (KernelExecutor* executor : executors()) executor->unload(handle);
  state().modules.erase(handle);
  delete handle;
}
void __cudaRegisterFunction(void** handle, const char* function, char*, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  KernelInfo info;
  info.mangled = name;
  info.name = demangle(name);
  info.sizes = argument_sizes(name);
  info.address = function;
  info.module = handle;
  state().kernels[function] = info;
}
void __cudaRegisterVar(void** handle, char* variable, char*, const char* name, int, size_t size,
                       int, int) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  for (KernelExecutor* executor : executors()) {
    executor->register_variable(handle, variable, name, size);
  }
}
void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name, int,
                              size_t size, int, int) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  for (KernelExecutor* executor : executors()) {
    void* const memory = executor->register_managed(handle, name, size);
    if (memory != nullptr) *pointer = memory;
  }
}
// Sets managed variables to their initial values. nvcc's code calls the function before host code
// uses managed variables.
char __cudaInitModule(void** handle) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  if (state().devices.empty() || state().modules.count(handle) == 0) return 1;
  for (KernelExecutor* executor : executors()) executor->begin_managed_variables(handle);
  return 1;
}

cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* function) {
  *handle = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_memory,
                                     CUstream_st* stream) {
  configurations().push_back({grid, block, shared_memory, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_memory,
                                       void* stream) {
  if (configurations().empty()) return cudaErrorUnknown;
  const Configuration& top = configurations().back();
  *grid = top.grid;
  *block = top.block;
  *shared_memory = top.shared_memory;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  configurations().pop_back();
  return cudaSuccess;
}

}  // extern "C"
