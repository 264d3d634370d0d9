// SPDX-License-Identifier: Apache-2.0
// __device__, __constant__ and __managed__ variables of code compiled by nvcc. Host code refers to
// a variable by the address of a variable of the host.
#include "ptx/modules.h"
#include "runtime/core/copies.h"
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {

namespace {

struct VariableMemory {
  char* at = nullptr;
  size_t size = 0;
};

cudaError_t find(const void* symbol, VariableMemory* memory) {
  const VariableInfo* variable = variable_of(symbol);
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  void* address = nullptr;
  const std::string why =
      ptx_variable(module_here(variable->module), variable->name, &address, &memory->size);
  if (!why.empty()) {
    note_fault("variable " + variable->name + " cannot be reached: " + why);
    return cudaErrorInvalidSymbol;
  }
  memory->at = static_cast<char*>(address);
  return cudaSuccess;
}

// Finds the memory of `size` bytes at `offset` in a variable. `is_valid_kind`: whether the copy's
// direction is valid.
cudaError_t find(const void* symbol, size_t offset, size_t size, bool is_valid_kind,
                 VariableMemory* memory) {
  const cudaError_t error = find(symbol, memory);
  if (error != cudaSuccess) return error;
  if (offset > memory->size || size > memory->size - offset) {
    return reject_argument("symbol: " + bytes_text(size) + " at byte " + std::to_string(offset) +
                           " of a variable of " + bytes_text(memory->size) +
                           " extend past its end");
  }
  if (!is_valid_kind) return cudaErrorInvalidMemcpyDirection;
  memory->at += offset;
  return cudaSuccess;
}

bool goes_to_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}
bool comes_from_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

}  // namespace
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return call("cudaGetSymbolAddress", ApiScope::kDevice, [&] {
    VariableMemory memory;
    const cudaError_t error = find(symbol, &memory);
    if (error == cudaSuccess) *address = memory.at;
    return error;
  });
}
cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return call("cudaGetSymbolSize", ApiScope::kDevice, [&] {
    VariableMemory memory;
    const cudaError_t error = find(symbol, &memory);
    if (error == cudaSuccess) *size = memory.size;
    return error;
  });
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset,
                               cudaMemcpyKind kind) {
  return call("cudaMemcpyToSymbol", ApiScope::kDevice, [&] {
    VariableMemory memory;
    const cudaError_t error = find(symbol, offset, size, goes_to_device(kind), &memory);
    return error != cudaSuccess ? error : core::copy_and_wait(memory.at, from, size, kind);
  });
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset,
                                 cudaMemcpyKind kind) {
  return call("cudaMemcpyFromSymbol", ApiScope::kDevice, [&] {
    VariableMemory memory;
    const cudaError_t error = find(symbol, offset, size, comes_from_device(kind), &memory);
    return error != cudaSuccess ? error : core::copy_and_wait(to, memory.at, size, kind);
  });
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return call("cudaMemcpyToSymbolAsync", ApiScope::kDevice, [&] {
    VariableMemory memory;
    const cudaError_t error = find(symbol, offset, size, goes_to_device(kind), &memory);
    return error != cudaSuccess ? error : core::copy_async(memory.at, from, size, kind, stream);
  });
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return call("cudaMemcpyFromSymbolAsync", ApiScope::kDevice, [&] {
    VariableMemory memory;
    const cudaError_t error = find(symbol, offset, size, comes_from_device(kind), &memory);
    return error != cudaSuccess ? error : core::copy_async(to, memory.at, size, kind, stream);
  });
}

}  // extern "C"
