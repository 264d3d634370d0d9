// SPDX-License-Identifier: Apache-2.0
// DeviceProperties: the layout of cudaDeviceProp in CUDA 13.0, of which what is not filled has no
// name.
#pragma once

#include <cstddef>

namespace kernkit::cuda_on_cpu {

struct DeviceProperties {
  char name[256];
  char uuid[16];
  int unused0[3];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int multiProcessorCount;
  int unused1[41];
  size_t surfaceAlignment;
  int concurrentKernels;
  int unused2[1];
  int pciBusID;
  int unused3[3];
  int asyncEngineCount;
  int unifiedAddressing;
  int unused4[1];
  int l2CacheSize;
  int unused5[1];
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int unused6[2];
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int unused7[4];
  int concurrentManagedAccess;
  int unused8[2];
  int cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int unused9[2];
  int maxBlocksPerMultiProcessor;
  int unused10[1];
  size_t reservedSharedMemPerBlock;
  int unused11[4];
  int memoryPoolsSupported;
  int unused12[11];
  int hostNumaId;
  int unused13[59];
};

}  // namespace kernkit::cuda_on_cpu
