// SPDX-License-Identifier: Apache-2.0
// The declarations by which a .cu file compiles as C++: the keywords of CUDA C++, and launches with
// the types of a kernel's arguments. For machines without CUDA, see cuda_runtime_api.h.
#pragma once

#include <string.h>

#include <utility>

#include "cuda_runtime_api.h"
#include "kernkit_simulator/atomics.h"
#include "kernkit_simulator/math.h"
#include "kernkit_simulator/shared.h"
#include "kernkit_simulator/warp.h"

#define __host__
#define __device__
#define __global__
#define __constant__
#define __managed__
#define __grid_constant__
// Not always_inline, since g++ rejects calls of an always_inline function through an address that
// is unknown at compile time.
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))

inline constexpr int warpSize = 32;

// The built-in variables of the running CUDA thread.
inline thread_local uint3 threadIdx{};
inline thread_local uint3 blockIdx{};
inline thread_local dim3 blockDim{};
inline thread_local dim3 gridDim{};

namespace kernkit::simulator {

/// Calls a kernel, as one CUDA thread, with the arguments at the given addresses.
using CudaInvoke = void (*)(const void* kernel, void** arguments);
/// Describes a kernel that was compiled as C++: `invoke` calls the kernel, and `sizes` is an array
/// of the sizes of the kernel's `count` arguments [bytes].
void describe_kernel(const void* kernel, CudaInvoke invoke, const size_t* sizes, size_t count);

template <class... Params, size_t... I>
void invoke_kernel(const void* kernel, void** arguments, std::index_sequence<I...>) {
  reinterpret_cast<void (*)(Params...)>(const_cast<void*>(kernel))(
      *static_cast<Params*>(arguments[I])...);
}

template <class... Params>
const void* described(void (*kernel)(Params...)) {
  static constexpr size_t kSizes[] = {sizeof(Params)..., 0};
  const auto* address = reinterpret_cast<const void*>(kernel);
  const CudaInvoke invoke = [](const void* function, void** arguments) {
    invoke_kernel<Params...>(function, arguments, std::index_sequence_for<Params...>{});
  };
  describe_kernel(address, invoke, kSizes, sizeof...(Params));
  return address;
}
/// Returns `kernel` without a call of describe_kernel(), since the argument types of an untyped
/// address are unknown.
inline const void* described(const void* kernel) { return kernel; }

}  // namespace kernkit::simulator

/// Overloads of launch functions for a kernel of any C++ type. The overloads call describe_kernel()
/// before the launch.
template <class... Params, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                               Arguments&&... arguments) {
  return [&](Params... exact) {
    void* addresses[] = {static_cast<void*>(&exact)..., nullptr};
    return cudaLaunchKernelExC(config, kernkit::simulator::described(kernel), addresses);
  }(std::forward<Arguments>(arguments)...);
}
template <class Kernel>
cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_memory = 0, cudaStream_t stream = nullptr) {
  const void* address = kernkit::simulator::described(kernel);
  return cudaLaunchKernel(address, grid, block, arguments, shared_memory, stream);
}
template <class Kernel>
cudaError_t cudaLaunchCooperativeKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_memory = 0, cudaStream_t stream = nullptr) {
  const void* address = kernkit::simulator::described(kernel);
  return cudaLaunchCooperativeKernel(address, grid, block, arguments, shared_memory, stream);
}

/// Overloads for device variables, which are ordinary variables of the program.
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  *address = const_cast<void*>(static_cast<const void*>(&symbol));
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t size, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  char* to = reinterpret_cast<char*>(const_cast<std::remove_const_t<T>*>(&symbol));
  return cudaMemcpy(to + offset, from, size, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t size, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpy(to, reinterpret_cast<const char*>(&symbol) + offset, size, kind);
}
template <class T>
cudaError_t cudaMalloc(T** pointer, size_t size) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), size);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), size, stream);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t size, unsigned flags = 0) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), size, flags);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, size_t size, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(pointer), size, flags);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}

#include "kernkit_simulator/kernel_attributes.h"
