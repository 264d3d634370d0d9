// SPDX-License-Identifier: Apache-2.0
// What programs ask of devices beside what kernel libraries do. Source of names and layouts:
// driver_types.h of CUDA 13.0; a test compares them.
#include <cstdio>
#include <cstring>

#include "ptx/decode/kernel.h"
#include "ptx/modules.h"
#include "ptx/program/device_properties.h"
#include "runtime/state.h"

namespace kernkit::cuda_on_cpu {
namespace {

constexpr int kLimitHeapSize = 2;  // cudaLimit; 0 the stack's of a thread, 1 that of printf()
constexpr auto kUnsupportedLimit = static_cast<cudaError_t>(215);
constexpr size_t kPrintfBytes = size_t{1} << 20;

DeviceProperties properties_of(int number) {
  const CudaDevice& device = state().devices[static_cast<size_t>(number)];
  DeviceProperties all{};
  std::snprintf(all.name, sizeof(all.name), "CUDA on the CPU (kernkit), sm_%d",
                device.compute_capability);
  std::memcpy(all.uuid, "kernkit", 7);
  all.uuid[15] = static_cast<char>(number);
  all.totalGlobalMem = device.memory;
  all.sharedMemPerBlock = size_t{48} << 10;
  all.regsPerBlock = all.regsPerMultiprocessor = 65536;
  all.warpSize = 32;
  all.memPitch = 0x7fffffff;
  all.maxThreadsPerBlock = all.maxThreadsDim[0] = all.maxThreadsDim[1] = 1024;
  all.maxThreadsDim[2] = 64;
  std::memcpy(all.maxGridSize, device.max_grid, sizeof(all.maxGridSize));
  all.totalConstMem = size_t{64} << 10;
  all.major = device.compute_capability / 10;
  all.minor = device.compute_capability % 10;
  all.textureAlignment = 512;
  all.multiProcessorCount = device.sm_count;
  all.concurrentKernels = all.asyncEngineCount = all.unifiedAddressing = 1;
  all.pciBusID = number;
  all.l2CacheSize = 50 << 20;
  all.maxThreadsPerMultiProcessor = 2048;
  all.streamPrioritiesSupported = 1;
  all.sharedMemPerMultiprocessor =
      static_cast<size_t>(device.shared_memory_per_block_opt_in) + 1024;
  all.managedMemory = all.concurrentManagedAccess = 1;
  all.cooperativeLaunch = 1;
  all.sharedMemPerBlockOptin = static_cast<size_t>(device.shared_memory_per_block_opt_in);
  all.maxBlocksPerMultiProcessor = 32;
  all.reservedSharedMemPerBlock = 1024;
  all.memoryPoolsSupported = 1;
  all.hostNumaId = -1;
  return all;
}

}  // namespace
}  // namespace kernkit::cuda_on_cpu

using namespace kernkit::cuda_on_cpu;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaGetDeviceProperties(DeviceProperties* properties, int device) {
  return call("cudaGetDeviceProperties", Reach::kHost, [&] {
    if (!exists(device)) return cudaErrorInvalidDevice;
    *properties = properties_of(device);
    return cudaSuccess;
  });
}
// Waits, and forgets what went wrong. Memory stays: it goes with the process.
cudaError_t cudaDeviceReset() {
  return call("cudaDeviceReset", Reach::kHost, [] {
    const int device = thread_state().device;
    if (!exists(device)) return cudaErrorNoDevice;
    drain_device(device);
    state().device_states[static_cast<size_t>(device)].sticky = cudaSuccess;
    return cudaSuccess;
  });
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call("cudaInitDevice", Reach::kHost,
              [&] { return exists(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call("cudaDeviceCanAccessPeer", Reach::kHost, [&] {
    *can = 0;
    return exists(device) && exists(peer) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

// cudaLimit: only that of the heap changes what kernels can do.
cudaError_t cudaDeviceSetLimit(int limit, size_t value) {
  return call("cudaDeviceSetLimit", Reach::kHost, [&] {
    if (limit < 0 || limit > kLimitHeapSize) return kUnsupportedLimit;
    if (limit == kLimitHeapSize) heap_of(thread_state().device).set_limit(value);
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetLimit(size_t* value, int limit) {
  return call("cudaDeviceGetLimit", Reach::kHost, [&] {
    if (limit < 0 || limit > kLimitHeapSize) return kUnsupportedLimit;
    const size_t all[] = {ptx::kStackBytes, kPrintfBytes, heap_of(thread_state().device).limit()};
    *value = all[limit];
    return cudaSuccess;
  });
}

// cudaChannelFormatDesc: bits of x, y, z, w, and a kind.
struct ChannelFormat {
  int x, y, z, w, kind;
};
ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

// Of speed alone, or of where threads wait.
cudaError_t cudaSetDeviceFlags(unsigned) {
  return call("cudaSetDeviceFlags", Reach::kHost, [] { return cudaSuccess; });
}
cudaError_t cudaDeviceSetCacheConfig(int) {
  return call("cudaDeviceSetCacheConfig", Reach::kHost, [] { return cudaSuccess; });
}
cudaError_t cudaFuncSetCacheConfig(const void*, int) {
  return call("cudaFuncSetCacheConfig", Reach::kHost, [] { return cudaSuccess; });
}
cudaError_t cudaProfilerStart() {
  return call("cudaProfilerStart", Reach::kHost, [] { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return call("cudaProfilerStop", Reach::kHost, [] { return cudaSuccess; });
}

}  // extern "C"
