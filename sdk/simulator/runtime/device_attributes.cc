// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_attributes.h"

#include <algorithm>
#include <iterator>

namespace kernkit::simulator {
namespace {

constexpr int kKiB = 1024;

// Specifications, sorted by compute capability.
constexpr Specification kSpecifications[] = {
    {75, 1024, 16, 64 * kKiB, 0, 32},      {80, 2048, 32, 164 * kKiB, kKiB, 2},
    {86, 1536, 16, 100 * kKiB, kKiB, 64},  {87, 1536, 16, 164 * kKiB, kKiB, 64},
    {89, 1536, 24, 100 * kKiB, kKiB, 64},  {90, 2048, 32, 228 * kKiB, kKiB, 2},
    {100, 2048, 32, 228 * kKiB, kKiB, 2},  {103, 2048, 32, 228 * kKiB, kKiB, 64},
    {110, 1536, 24, 228 * kKiB, kKiB, 64}, {120, 1536, 24, 100 * kKiB, kKiB, 64},
};

/// The device with the attribute, and the limits of its compute capability.
struct Owner {
  const CudaDevice& device;
  const Specification& limits;
  int ordinal;
};

struct Attribute {
  int number;        // number in cudaDeviceAttr of driver_types.h
  const char* name;  // name without "cudaDevAttr"
  int (*value)(const Owner& owner);
};

template <int kValue>
int always(const Owner&) {
  return kValue;
}
constexpr auto kNo = always<0>;
constexpr auto kYes = always<1>;

// Placeholder values. Programs compute a bandwidth from these values and print the bandwidth.
constexpr int kClockRate = 1000000;    // clock rate [kHz]
constexpr int kMemoryBusWidth = 1024;  // width of the memory bus [bits]

// Attributes, sorted by number. The limits of textures and surfaces come from the programming
// guide, although the simulator does not support textures and surfaces.
const Attribute kAttributes[] = {
    {1, "MaxThreadsPerBlock", always<1024>},
    {2, "MaxBlockDimX", always<1024>},
    {3, "MaxBlockDimY", always<1024>},
    {4, "MaxBlockDimZ", always<64>},
    {5, "MaxGridDimX", [](const Owner& owner) { return owner.device.max_grid[0]; }},
    {6, "MaxGridDimY", [](const Owner& owner) { return owner.device.max_grid[1]; }},
    {7, "MaxGridDimZ", [](const Owner& owner) { return owner.device.max_grid[2]; }},
    {8, "MaxSharedMemoryPerBlock", always<48 * kKiB>},
    {9, "TotalConstantMemory", always<64 * kKiB>},
    {10, "WarpSize", always<32>},
    {11, "MaxPitch", always<0x7fffffff>},
    {12, "MaxRegistersPerBlock", always<65536>},
    {13, "ClockRate", always<kClockRate>},
    {14, "TextureAlignment", always<512>},
    {15, "GpuOverlap", kYes},
    {16, "MultiProcessorCount", [](const Owner& owner) { return owner.device.sm_count; }},
    {17, "KernelExecTimeout", kNo},
    {18, "Integrated", kNo},
    {19, "CanMapHostMemory", kYes},
    {20, "ComputeMode", kNo},  // cudaComputeModeDefault
    {21, "MaxTexture1DWidth", always<131072>},
    {22, "MaxTexture2DWidth", always<131072>},
    {23, "MaxTexture2DHeight", always<65536>},
    {24, "MaxTexture3DWidth", always<16384>},
    {25, "MaxTexture3DHeight", always<16384>},
    {26, "MaxTexture3DDepth", always<16384>},
    {27, "MaxTexture2DLayeredWidth", always<32768>},
    {28, "MaxTexture2DLayeredHeight", always<32768>},
    {29, "MaxTexture2DLayeredLayers", always<2048>},
    {30, "SurfaceAlignment", always<512>},
    {31, "ConcurrentKernels", kYes},
    {32, "EccEnabled", kNo},
    {33, "PciBusId", [](const Owner& owner) { return owner.ordinal; }},
    {34, "PciDeviceId", kNo},
    {35, "TccDriver", kNo},
    {36, "MemoryClockRate", always<kClockRate>},
    {37, "GlobalMemoryBusWidth", always<kMemoryBusWidth>},
    {38, "L2CacheSize", always<(50 << 20)>},
    {39, "MaxThreadsPerMultiProcessor",
     [](const Owner& owner) { return owner.limits.max_threads_per_sm; }},
    {40, "AsyncEngineCount", kYes},
    {41, "UnifiedAddressing", kYes},
    {42, "MaxTexture1DLayeredWidth", always<32768>},
    {43, "MaxTexture1DLayeredLayers", always<2048>},
    {45, "MaxTexture2DGatherWidth", always<32768>},
    {46, "MaxTexture2DGatherHeight", always<32768>},
    {47, "MaxTexture3DWidthAlt", always<8192>},
    {48, "MaxTexture3DHeightAlt", always<8192>},
    {49, "MaxTexture3DDepthAlt", always<32768>},
    {50, "PciDomainId", kNo},
    {51, "TexturePitchAlignment", always<32>},
    {52, "MaxTextureCubemapWidth", always<32768>},
    {53, "MaxTextureCubemapLayeredWidth", always<32768>},
    {54, "MaxTextureCubemapLayeredLayers", always<2046>},
    {55, "MaxSurface1DWidth", always<32768>},
    {56, "MaxSurface2DWidth", always<131072>},
    {57, "MaxSurface2DHeight", always<65536>},
    {58, "MaxSurface3DWidth", always<16384>},
    {59, "MaxSurface3DHeight", always<16384>},
    {60, "MaxSurface3DDepth", always<16384>},
    {61, "MaxSurface1DLayeredWidth", always<32768>},
    {62, "MaxSurface1DLayeredLayers", always<2048>},
    {63, "MaxSurface2DLayeredWidth", always<32768>},
    {64, "MaxSurface2DLayeredHeight", always<32768>},
    {65, "MaxSurface2DLayeredLayers", always<2048>},
    {66, "MaxSurfaceCubemapWidth", always<32768>},
    {67, "MaxSurfaceCubemapLayeredWidth", always<32768>},
    {68, "MaxSurfaceCubemapLayeredLayers", always<2046>},
    {69, "MaxTexture1DLinearWidth", always<(1 << 28)>},
    {70, "MaxTexture2DLinearWidth", always<131072>},
    {71, "MaxTexture2DLinearHeight", always<65000>},
    {72, "MaxTexture2DLinearPitch", always<2097120>},
    {73, "MaxTexture2DMipmappedWidth", always<32768>},
    {74, "MaxTexture2DMipmappedHeight", always<32768>},
    {75, "ComputeCapabilityMajor",
     [](const Owner& owner) { return owner.device.compute_capability / 10; }},
    {76, "ComputeCapabilityMinor",
     [](const Owner& owner) { return owner.device.compute_capability % 10; }},
    {77, "MaxTexture1DMipmappedWidth", always<32768>},
    {78, "StreamPrioritiesSupported", kYes},
    {79, "GlobalL1CacheSupported", kYes},
    {80, "LocalL1CacheSupported", kYes},
    {81, "MaxSharedMemoryPerMultiprocessor",
     [](const Owner& owner) {
       return owner.device.shared_memory_per_block_opt_in + owner.limits.reserved_shared_memory;
     }},
    {82, "MaxRegistersPerMultiprocessor", always<65536>},
    {83, "ManagedMemory", kYes},
    {84, "IsMultiGpuBoard", kNo},
    {85, "MultiGpuBoardGroupID", [](const Owner& owner) { return owner.ordinal; }},
    {86, "HostNativeAtomicSupported", kNo},
    {87, "SingleToDoublePrecisionPerfRatio",
     [](const Owner& owner) { return owner.limits.float_per_double; }},
    {88, "PageableMemoryAccess", kNo},
    {89, "ConcurrentManagedAccess", kYes},
    {90, "ComputePreemptionSupported", kNo},
    {91, "CanUseHostPointerForRegisteredMem", kYes},
    {95, "CooperativeLaunch", kYes},
    {97, "MaxSharedMemoryPerBlockOptin",
     [](const Owner& owner) { return owner.device.shared_memory_per_block_opt_in; }},
    {98, "CanFlushRemoteWrites", kNo},
    {99, "HostRegisterSupported", kYes},
    {100, "PageableMemoryAccessUsesHostPageTables", kNo},
    {101, "DirectManagedMemAccessFromHost", kNo},
    {106, "MaxBlocksPerMultiprocessor",
     [](const Owner& owner) { return owner.limits.max_blocks_per_sm; }},
    {108, "MaxPersistingL2CacheSize", kNo},
    {109, "MaxAccessPolicyWindowSize", kNo},
    {111, "ReservedSharedMemoryPerBlock",
     [](const Owner& owner) { return owner.limits.reserved_shared_memory; }},
    {112, "SparseCudaArraySupported", kNo},
    {113, "HostRegisterReadOnlySupported", kNo},
    {114, "TimelineSemaphoreInteropSupported", kNo},
    {115, "MemoryPoolsSupported", kYes},
    {116, "GPUDirectRDMASupported", kNo},
    {117, "GPUDirectRDMAFlushWritesOptions", kNo},
    {118, "GPUDirectRDMAWritesOrdering", kNo},
    {119, "MemoryPoolSupportedHandleTypes", kNo},
    {120, "ClusterLaunch",
     [](const Owner& owner) { return owner.device.compute_capability >= 90 ? 1 : 0; }},
    {121, "DeferredMappingCudaArraySupported", kNo},
    {125, "IpcEventSupport", kNo},
    {126, "MemSyncDomainCount",
     [](const Owner& owner) { return owner.device.compute_capability >= 90 ? 4 : 1; }},
    {130, "NumaConfig", kNo},  // cudaDeviceNumaConfigNone
    {131, "NumaId", always<-1>},
    {133, "MpsEnabled", kNo},
    {134, "HostNumaId", always<-1>},
    {135, "D3D12CigSupported", kNo},
    {138, "VulkanCigSupported", kNo},
    {139, "GpuPciDeviceId", kNo},
    {140, "GpuPciSubsystemId", kNo},
    {142, "HostNumaMemoryPoolsSupported", kNo},
    {143, "HostNumaMultinodeIpcSupported", kNo},
    {144, "HostMemoryPoolsSupported", kNo},
    {147, "OnlyPartialHostNativeAtomicSupported", kNo},
};

}  // namespace

const Specification& specification_of(int capability) {
  const auto* newer = std::upper_bound(
      std::begin(kSpecifications), std::end(kSpecifications), capability,
      [](int minimum, const Specification& row) { return minimum < row.capability; });
  return newer == std::begin(kSpecifications) ? kSpecifications[0] : *std::prev(newer);
}

bool find_device_attribute(const CudaDevice& device, int ordinal, int number, int* value) {
  const auto* attribute_row =
      std::find_if(std::begin(kAttributes), std::end(kAttributes),
                   [&](const Attribute& row) { return row.number == number; });
  if (attribute_row == std::end(kAttributes)) return false;
  *value = attribute_row->value({device, specification_of(device.compute_capability), ordinal});
  return true;
}

std::array<char, 16> uuid_of(int ordinal) {
  std::array<char, 16> uuid = {'k', 'e', 'r', 'n', 'k', 'i', 't'};
  uuid.back() = static_cast<char>(ordinal);
  return uuid;
}

}  // namespace kernkit::simulator
