// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA runtime's C interface that kernel libraries call, declared for machines
// without CUDA. Names, numbers and layouts come from NVIDIA's header of the same name (CUDA
// 13.0), which replaces this header if a CUDA compiler is installed. kernkit::simulator defines the
// functions.
#pragma once

#include <stddef.h>

#include "vector_types.h"

#define CUDART_VERSION 13000

// X(name, number, text)
#define KERNKIT_CUDA_ERRORS(X)                                                                    \
  X(cudaSuccess, 0, "no error")                                                                   \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                 \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                \
  X(cudaErrorInitializationError, 3, "initialization error")                                      \
  X(cudaErrorCudartUnloading, 4, "driver shutting down")                                          \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                           \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                     \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                          \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                  \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                     \
  X(cudaErrorInsufficientDriver, 35,                                                              \
    "CUDA driver version is insufficient for CUDA runtime version")                               \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                 \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                        \
  X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                           \
  X(cudaErrorDeviceUninitialized, 201, "invalid device context")                                  \
  X(cudaErrorNoKernelImageForDevice, 209,                                                         \
    "no kernel image is available for execution on the device")                                   \
  X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                        \
  X(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")                \
  X(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                     \
  X(cudaErrorUnsupportedPtxVersion, 222,                                                          \
    "the provided PTX was compiled with an unsupported toolchain.")                               \
  X(cudaErrorFileNotFound, 301, "file not found")                                                 \
  X(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")        \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                               \
  X(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")         \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                       \
  X(cudaErrorNotReady, 600, "device not ready")                                                   \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                     \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                       \
  X(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                     \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                         \
  X(cudaErrorHostMemoryAlreadyRegistered, 712,                                                    \
    "part or all of the requested memory range is already mapped")                                \
  X(cudaErrorHostMemoryNotRegistered, 713,                                                        \
    "pointer does not correspond to a registered memory region")                                  \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                        \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                    \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")             \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                        \
  X(cudaErrorNotSupported, 801, "operation not supported")                                        \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")   \
  X(cudaErrorStreamCaptureInvalidated, 901,                                                       \
    "operation failed due to a previous error during capture")                                    \
  X(cudaErrorStreamCaptureMerge, 902,                                                             \
    "operation would result in a merge of separate capture sequences")                            \
  X(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began") \
  X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                    \
  X(cudaErrorStreamCaptureIsolation, 905,                                                         \
    "dependency created on uncaptured work in another stream")                                    \
  X(cudaErrorStreamCaptureImplicit, 906,                                                          \
    "operation would make the legacy stream depend on a capturing blocking stream")               \
  X(cudaErrorCapturedEvent, 907,                                                                  \
    "operation not permitted on an event last recorded in a capturing stream")                    \
  X(cudaErrorStreamCaptureWrongThread, 908,                                                       \
    "attempt to terminate a thread-local capture sequence from another thread")                   \
  X(cudaErrorGraphExecUpdateFailure, 910,                                                         \
    "the graph update was not performed because it included changes which violated constraints "  \
    "specific to instantiated graph update")                                                      \
  X(cudaErrorInvalidClusterSize, 912,                                                             \
    "a kernel launch error has occurred due to cluster misconfiguration")                         \
  X(cudaErrorUnknown, 999, "unknown error")

#define KERNKIT_CUDA_ENUMERATOR(name, number, text) name = number,
enum cudaError : int { KERNKIT_CUDA_ERRORS(KERNKIT_CUDA_ENUMERATOR) };
#undef KERNKIT_CUDA_ENUMERATOR
typedef cudaError cudaError_t;

enum cudaDeviceAttr : int {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMemoryPoolsSupported = 115,
};
enum cudaFuncAttribute : int {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
};
enum cudaMemcpyKind : int {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};
enum cudaMemoryType : int {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3,
};
enum cudaStreamCaptureStatus : int {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2,
};
enum cudaStreamCaptureMode : int {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2,
};
enum cudaLaunchAttributeID : int {
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef struct CUkern_st* cudaKernel_t;
typedef void (*cudaHostFn_t)(void*);

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventDisableTiming 0x02
#define cudaEventWaitDefault 0x00
#define cudaEventWaitExternal 0x01
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaMemAttachGlobal 0x01
#define cudaOccupancyDefault 0x00
#define cudaOccupancyDisableCachingOverride 0x01

union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  char pad[4];
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout, clusterDimMustBeSet;
  int requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
  int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
  int reserved[16];
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  long reserved[8];
};

extern "C" {
// Errors
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
// Devices
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
// Memory
cudaError_t cudaMalloc(void** pointer, size_t size);
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream);
cudaError_t cudaMallocHost(void** pointer, size_t size);
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned flags);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* pointer, int value, size_t size);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t stream = nullptr);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
// Streams and events
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventDestroy(cudaEvent_t event);
// Capture and graphs
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags = 0);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
// Kernels
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_memory, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_memory, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments);
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t cudaFuncGetName(const char** name, const void* kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, size_t shared_memory);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int threads,
                                                                   size_t shared_memory,
                                                                   unsigned flags);
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config);
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel,
                                                 const cudaLaunchConfig_t* config);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared_memory, const void* kernel,
                                                      int blocks, int threads);
}
