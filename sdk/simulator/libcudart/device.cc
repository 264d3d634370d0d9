// SPDX-License-Identifier: Apache-2.0
// Device functions for whole programs. Source of names and layouts: driver_types.h of CUDA 13.0; a
// test compares the names and layouts.
#include "libcudart/device.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>

#include "ptx/machine/kernel.h"
#include "ptx/modules.h"
#include "runtime/core/contexts.h"
#include "runtime/device_attributes.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

// Supported values of cudaLimit: 0 to cudaLimitMallocHeapSize, and
// cudaLimitDevRuntimePendingLaunchCount.
constexpr int kLimitHeapSize = 2, kLimitPendingLaunches = 4;
constexpr size_t kPrintfBytes = size_t{1} << 20;

DeviceProperties properties_of(int number) {
  const CudaDevice& device = state().devices[static_cast<size_t>(number)];
  const int ordinal = state().device_states[static_cast<size_t>(number)].ordinal;
  DeviceProperties all{};
  std::snprintf(all.name, sizeof(all.name), "CUDA on the CPU (kernkit), sm_%d",
                device.compute_capability);
  const std::array<char, 16> uuid = uuid_of(ordinal);
  std::copy(uuid.begin(), uuid.end(), all.uuid);
  all.totalGlobalMem = device.memory;
  // Returns the device attribute with this number, see runtime/device_attributes.cc.
  const auto at = [&](int attribute) {
    int value = 0;
    (void)find_device_attribute(device, ordinal, attribute, &value);
    return value;
  };
  all.sharedMemPerBlock = static_cast<size_t>(at(8));
  all.regsPerBlock = at(12);
  all.warpSize = at(10);
  all.memPitch = static_cast<size_t>(at(11));
  all.maxThreadsPerBlock = at(1);
  all.maxThreadsDim[0] = at(2);
  all.maxThreadsDim[1] = at(3);
  all.maxThreadsDim[2] = at(4);
  all.maxGridSize[0] = at(5);
  all.maxGridSize[1] = at(6);
  all.maxGridSize[2] = at(7);
  all.totalConstMem = static_cast<size_t>(at(9));
  all.major = at(75);
  all.minor = at(76);
  all.textureAlignment = static_cast<size_t>(at(14));
  all.texturePitchAlignment = static_cast<size_t>(at(51));
  all.multiProcessorCount = at(16);
  all.integrated = at(18);
  all.canMapHostMemory = at(19);
  all.maxTexture1D = at(21);
  all.maxTexture1DMipmap = at(77);
  all.maxTexture2D[0] = at(22);
  all.maxTexture2D[1] = at(23);
  all.maxTexture2DMipmap[0] = at(73);
  all.maxTexture2DMipmap[1] = at(74);
  all.maxTexture2DLinear[0] = at(70);
  all.maxTexture2DLinear[1] = at(71);
  all.maxTexture2DLinear[2] = at(72);
  all.maxTexture2DGather[0] = at(45);
  all.maxTexture2DGather[1] = at(46);
  all.maxTexture3D[0] = at(24);
  all.maxTexture3D[1] = at(25);
  all.maxTexture3D[2] = at(26);
  all.maxTexture3DAlt[0] = at(47);
  all.maxTexture3DAlt[1] = at(48);
  all.maxTexture3DAlt[2] = at(49);
  all.maxTextureCubemap = at(52);
  all.maxTexture1DLayered[0] = at(42);
  all.maxTexture1DLayered[1] = at(43);
  all.maxTexture2DLayered[0] = at(27);
  all.maxTexture2DLayered[1] = at(28);
  all.maxTexture2DLayered[2] = at(29);
  all.maxTextureCubemapLayered[0] = at(53);
  all.maxTextureCubemapLayered[1] = at(54);
  all.maxSurface1D = at(55);
  all.maxSurface2D[0] = at(56);
  all.maxSurface2D[1] = at(57);
  all.maxSurface3D[0] = at(58);
  all.maxSurface3D[1] = at(59);
  all.maxSurface3D[2] = at(60);
  all.maxSurface1DLayered[0] = at(61);
  all.maxSurface1DLayered[1] = at(62);
  all.maxSurface2DLayered[0] = at(63);
  all.maxSurface2DLayered[1] = at(64);
  all.maxSurface2DLayered[2] = at(65);
  all.maxSurfaceCubemap = at(66);
  all.maxSurfaceCubemapLayered[0] = at(67);
  all.maxSurfaceCubemapLayered[1] = at(68);
  all.surfaceAlignment = static_cast<size_t>(at(30));
  all.concurrentKernels = at(31);
  all.ECCEnabled = at(32);
  all.pciBusID = at(33);
  all.pciDeviceID = at(34);
  all.pciDomainID = at(50);
  all.tccDriver = at(35);
  all.asyncEngineCount = at(40);
  all.unifiedAddressing = at(41);
  all.memoryBusWidth = at(37);
  all.l2CacheSize = at(38);
  all.persistingL2CacheMaxSize = at(108);
  all.maxThreadsPerMultiProcessor = at(39);
  all.streamPrioritiesSupported = at(78);
  all.globalL1CacheSupported = at(79);
  all.localL1CacheSupported = at(80);
  all.sharedMemPerMultiprocessor = static_cast<size_t>(at(81));
  all.regsPerMultiprocessor = at(82);
  all.managedMemory = at(83);
  all.isMultiGpuBoard = at(84);
  all.multiGpuBoardGroupID = at(85);
  all.hostNativeAtomicSupported = at(86);
  all.pageableMemoryAccess = at(88);
  all.concurrentManagedAccess = at(89);
  all.computePreemptionSupported = at(90);
  all.canUseHostPointerForRegisteredMem = at(91);
  all.cooperativeLaunch = at(95);
  all.sharedMemPerBlockOptin = static_cast<size_t>(at(97));
  all.pageableMemoryAccessUsesHostPageTables = at(100);
  all.directManagedMemAccessFromHost = at(101);
  all.maxBlocksPerMultiProcessor = at(106);
  all.accessPolicyMaxWindowSize = at(109);
  all.reservedSharedMemPerBlock = static_cast<size_t>(at(111));
  all.hostRegisterSupported = at(99);
  all.sparseCudaArraySupported = at(112);
  all.hostRegisterReadOnlySupported = at(113);
  all.timelineSemaphoreInteropSupported = at(114);
  all.memoryPoolsSupported = at(115);
  all.gpuDirectRDMASupported = at(116);
  all.gpuDirectRDMAFlushWritesOptions = static_cast<unsigned int>(at(117));
  all.gpuDirectRDMAWritesOrdering = at(118);
  all.memoryPoolSupportedHandleTypes = static_cast<unsigned int>(at(119));
  all.deferredMappingCudaArraySupported = at(121);
  all.ipcEventSupported = at(125);
  all.clusterLaunch = at(120);
  all.deviceNumaConfig = at(130);
  all.deviceNumaId = at(131);
  all.mpsEnabled = at(133);
  all.hostNumaId = at(134);
  all.gpuPciDeviceID = static_cast<unsigned int>(at(139));
  all.gpuPciSubsystemID = static_cast<unsigned int>(at(140));
  all.hostNumaMultinodeIpcSupported = at(143);
  return all;
}

// cudaLimitDevRuntimePendingLaunchCount by device, if the program has set or read the limit. The
// limit has no effect.
std::map<int, size_t>& pending_launches() {
  static auto* const counts = new std::map<int, size_t>;
  return *counts;
}

}  // namespace

namespace core {

cudaError_t read_device_properties(DeviceProperties* properties, int device) {
  if (properties == nullptr) return cudaErrorInvalidValue;
  if (!exists(device)) return cudaErrorInvalidDevice;
  *properties = properties_of(device);
  return cudaSuccess;
}

cudaError_t reset_device() {
  const int device = thread_state().device;
  pending_launches().erase(device);
  return exists(device) ? reset_primary(device) : cudaErrorNoDevice;
}

cudaError_t set_limit(int limit, size_t value) {
  if (limit == kLimitPendingLaunches) {
    pending_launches()[thread_state().device] = value;
    return cudaSuccess;
  }
  if (limit < 0 || limit > kLimitHeapSize) return cudaErrorUnsupportedLimit;
  if (limit == kLimitHeapSize) heap_of(thread_state().device).set_limit(value);
  return cudaSuccess;
}

cudaError_t read_limit(size_t* value, int limit) {
  if (value == nullptr) return cudaErrorInvalidValue;
  if (limit == kLimitPendingLaunches) {
    constexpr size_t kDefault = 2048;
    *value = pending_launches().try_emplace(thread_state().device, kDefault).first->second;
    return cudaSuccess;
  }
  if (limit < 0 || limit > kLimitHeapSize) return cudaErrorUnsupportedLimit;
  const size_t all[] = {ptx::kStackBytes, kPrintfBytes, heap_of(thread_state().device).limit()};
  *value = all[limit];
  return cudaSuccess;
}

cudaError_t read_pci_address(char* address, int length, int device) {
  if (address == nullptr || length <= static_cast<int>(std::strlen("0000:00:00.0"))) {
    return cudaErrorInvalidValue;
  }
  if (!exists(device)) return cudaErrorInvalidDevice;
  const DeviceProperties all = properties_of(device);
  std::snprintf(address, static_cast<size_t>(length), "%04x:%02x:%02x.0", all.pciDomainID,
                all.pciBusID, all.pciDeviceID);
  return cudaSuccess;
}

cudaError_t find_device_by_pci_address(int* device, const char* address) {
  unsigned domain = 0, bus = 0, number = 0;
  if (device == nullptr || address == nullptr ||
      std::sscanf(address, "%x:%x:%x", &domain, &bus, &number) != 3) {
    return cudaErrorInvalidValue;
  }
  for (int i = 0; exists(i); ++i) {
    const DeviceProperties all = properties_of(i);
    if (static_cast<unsigned>(all.pciDomainID) != domain ||
        static_cast<unsigned>(all.pciBusID) != bus ||
        static_cast<unsigned>(all.pciDeviceID) != number) {
      continue;
    }
    *device = i;
    return cudaSuccess;
  }
  return cudaErrorInvalidDevice;
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaGetDeviceProperties(DeviceProperties* properties, int device) {
  return call("cudaGetDeviceProperties", ApiScope::kHost,
              [&] { return core::read_device_properties(properties, device); });
}
cudaError_t cudaDeviceReset() {
  return call("cudaDeviceReset", ApiScope::kHost, [] { return core::reset_device(); });
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call("cudaInitDevice", ApiScope::kHost,
              [&] { return exists(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call("cudaDeviceCanAccessPeer", ApiScope::kHost, [&] {
    *can = 0;
    return exists(device) && exists(peer) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceSetLimit(int limit, size_t value) {
  return call("cudaDeviceSetLimit", ApiScope::kHost, [&] { return core::set_limit(limit, value); });
}
cudaError_t cudaDeviceGetLimit(size_t* value, int limit) {
  return call("cudaDeviceGetLimit", ApiScope::kHost,
              [&] { return core::read_limit(value, limit); });
}

// cudaChannelFormatDesc: the numbers of bits of x, y, z and w, and the kind of channel.
struct ChannelFormat {
  int x, y, z, w, kind;
};
ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaDeviceGetPCIBusId(char* address, int length, int device) {
  return call("cudaDeviceGetPCIBusId", ApiScope::kHost,
              [&] { return core::read_pci_address(address, length, device); });
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* address) {
  return call("cudaDeviceGetByPCIBusId", ApiScope::kHost,
              [&] { return core::find_device_by_pci_address(device, address); });
}

// The flags select how the host waits and whether host memory is mapped. The flags have no effect.
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call("cudaSetDeviceFlags", ApiScope::kHost, [&] {
    constexpr unsigned kSpin = 1, kYield = 2, kBlock = 4, kSchedules = 7, kAll = 0x3f;
    const unsigned schedule = flags & kSchedules;
    if ((flags & ~kAll) != 0 ||
        (schedule != 0 && schedule != kSpin && schedule != kYield && schedule != kBlock)) {
      return cudaErrorInvalidValue;
    }
    if (!exists(thread_state().device)) return cudaErrorNoDevice;
    state().device_states[static_cast<size_t>(thread_state().device)].flags = flags;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call("cudaGetDeviceFlags", ApiScope::kHost, [&] {
    if (flags == nullptr) return cudaErrorInvalidValue;
    if (!exists(thread_state().device)) return cudaErrorNoDevice;
    *flags = state().device_states[static_cast<size_t>(thread_state().device)].flags;
    return cudaSuccess;
  });
}
// The cache configuration is a performance hint, which has no effect.
cudaError_t cudaDeviceSetCacheConfig(int) {
  return call("cudaDeviceSetCacheConfig", ApiScope::kHost, [] { return cudaSuccess; });
}
cudaError_t cudaFuncSetCacheConfig(const void*, int) {
  return call("cudaFuncSetCacheConfig", ApiScope::kHost, [] { return cudaSuccess; });
}
cudaError_t cudaProfilerStart() {
  return call("cudaProfilerStart", ApiScope::kHost, [] { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return call("cudaProfilerStop", ApiScope::kHost, [] { return cudaSuccess; });
}

}  // extern "C"
