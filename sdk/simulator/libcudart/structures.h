// SPDX-License-Identifier: Apache-2.0
// Structures that a program passes to the runtime, with the layout and member names of
// driver_types.h of CUDA 13.0; a test compares both.
#pragma once

#include <vector_types.h>

#include <cstddef>

struct cudaArray;
struct CUgraphNode_st;

namespace kernkit::simulator {

/// cudaExtent. The width is in bytes, except in CUDA arrays.
struct Extent {
  size_t width, height, depth;
};

/// cudaPitchedPtr: slices of `ysize` rows. A row has `xsize` bytes, and rows are `pitch` bytes
/// apart.
struct PitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};

/// cudaPos. x is in bytes, except in CUDA arrays.
struct Position {
  size_t x, y, z;
};

/// cudaMemcpy3DParms.
struct Memcpy3DParms {
  cudaArray* srcArray;
  Position srcPos;
  PitchedPtr srcPtr;
  cudaArray* dstArray;
  Position dstPos;
  PitchedPtr dstPtr;
  Extent extent;
  int kind;
};

/// cudaMemLocation.
struct MemLocation {
  int type, id;
};
enum MemLocationType : int {
  kLocationNone = 0,
  kLocationDevice = 1,
  kLocationHost = 2,
  kLocationHostNuma = 3,
  kLocationHostNumaCurrent = 4,
};

/// cudaMemPoolProps.
struct MemPoolProps {
  int allocType, handleTypes;
  MemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;  // limit [bytes]; 0 means the device's whole memory
  unsigned short usage;
  unsigned char reserved[54];
};

/// cudaMemAccessDesc.
struct MemAccessDesc {
  MemLocation location;
  int flags;
};

/// cudaKernelNodeParams.
struct KernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};

/// cudaMemsetParams: a fill of rows with elements of 1, 2 or 4 bytes.
struct MemsetParams {
  void* dst;
  size_t pitch;  // distance between rows [bytes]; unused for one row
  unsigned value, elementSize;
  size_t width;  // width of a row [elements]
  size_t height;
};

/// cudaHostNodeParams.
struct HostNodeParams {
  void (*fn)(void*);
  void* userData;
};

/// cudaMemAllocNodeParams.
struct MemAllocNodeParams {
  MemPoolProps poolProps;
  const MemAccessDesc* accessDescs;
  size_t accessDescCount, bytesize;
  void* dptr;
};

/// cudaGraphExecUpdateResultInfo.
struct GraphExecUpdateResultInfo {
  int result;
  CUgraphNode_st* errorNode;
  CUgraphNode_st* errorFromNode;
};

}  // namespace kernkit::simulator
