// SPDX-License-Identifier: Apache-2.0
// Functions by which a program passes handles of the runtime to the driver's API, and finds
// functions of that API. Source of the rules: cuda_runtime_api.h of CUDA 13.0 at the functions'
// names.
#include <dlfcn.h>

#include "runtime/core/graphs.h"
#include "runtime/core/kernels.h"
#include "runtime/state.h"

struct CUfunc_st;  // type to which cudaFunction_t and CUfunction point

namespace kernkit::simulator {
namespace {

// Type of cuGetProcAddress_v2(). driver_search() returns cuGetProcAddress_v2() of libcuda.so.1 if
// that library is loaded, otherwise of any library of the program; null if no library defines the
// function.
using FindFunction = int (*)(const char* name, void** function, int version,
                             unsigned long long flags, int* status);
FindFunction driver_search() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* const symbol = dlsym(library != nullptr ? library : RTLD_DEFAULT, "cuGetProcAddress_v2");
  return reinterpret_cast<FindFunction>(symbol);
}

cudaError_t find_driver_function(const char* name, void** function, unsigned version,
                                 unsigned long long flags, int* status) {
  constexpr int kSymbolNotFound = 1;  // cudaDriverEntryPointSymbolNotFound
  if (name == nullptr || function == nullptr) return cudaErrorInvalidValue;
  *function = nullptr;
  const FindFunction search = driver_search();
  if (search != nullptr) {
    return static_cast<cudaError_t>(
        search(name, function, static_cast<int>(version), flags, status));
  }
  if (status != nullptr) *status = kSymbolNotFound;
  return cudaSuccess;
}

template <class Handle>
cudaError_t find_handle(Handle* handle, const void* kernel) {
  if (handle == nullptr) return cudaErrorInvalidValue;
  if (!core::kernel_exists(kernel)) return cudaErrorInvalidDeviceFunction;
  *handle = reinterpret_cast<Handle>(const_cast<void*>(kernel));
  return cudaSuccess;
}

}  // namespace
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags, int* status) {
  return call("cudaGetDriverEntryPointByVersion", ApiScope::kHost,
              [&] { return find_driver_function(name, function, version, flags, status); });
}
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    int* status) {
  return call("cudaGetDriverEntryPoint", ApiScope::kHost,
              [&] { return find_driver_function(name, function, CUDART_VERSION, flags, status); });
}
// A kernel's handle in the runtime's API is also its function handle in the driver's API.
cudaError_t cudaGetFuncBySymbol(CUfunc_st** function, const void* kernel) {
  return call("cudaGetFuncBySymbol", ApiScope::kDevice,
              [&] { return find_handle(function, kernel); });
}
cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* kernel) {
  return call("cudaGetKernel", ApiScope::kDevice, [&] { return find_handle(handle, kernel); });
}
cudaError_t cudaFuncGetParamInfo(const void* kernel, size_t index, size_t* offset, size_t* size) {
  return call("cudaFuncGetParamInfo", ApiScope::kDevice, [&] {
    if (offset == nullptr) return cudaErrorInvalidValue;
    return core::read_kernel_parameter(kernel, index, offset, size);
  });
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** nodes, const void** edges,
                                     size_t* count) {
  return call("cudaStreamGetCaptureInfo", ApiScope::kHost, [&] {
    return core::read_capture(stream, status, {id, graph, nodes, edges, count});
  });
}

}  // extern "C"
