// SPDX-License-Identifier: Apache-2.0
// The driver's functions for programs compiled with a default stream for each thread: a null stream
// is the thread's default stream.
#include "libcuda/driver_call.h"

namespace kernkit::simulator::driver {
namespace {

CUstream per_thread(CUstream stream) { return stream != nullptr ? stream : CU_STREAM_PER_THREAD; }

// Waits for the thread's default stream and returns the result of the wait. If `result`, the result
// of enqueueing the work, is an error, returns `result` without a wait.
CUresult wait_after(CUresult result) {
  return result == CUDA_SUCCESS ? cuStreamSynchronize(CU_STREAM_PER_THREAD) : result;
}

}  // namespace
}  // namespace kernkit::simulator::driver

using namespace kernkit::simulator::driver;  // NOLINT(build/namespaces): these are its functions

// Defines an API function with the suffix _ptds or _ptsz, which uses the thread's default stream.
// `call` calls the function without the suffix.
#define KERNKIT_OWN_STREAM(name, parameters, call) \
  CUresult name parameters { return call; }
// Defines a synchronous API function with such a suffix: `call` calls the asynchronous function,
// and the defined function then waits for the thread's default stream.
#define KERNKIT_OWN_STREAM_AND_WAIT(name, parameters, call) \
  CUresult name parameters { return wait_after(call); }

extern "C" {

KERNKIT_OWN_STREAM(cuEventRecordWithFlags_ptsz, (CUevent event, CUstream stream, unsigned flags),
                   cuEventRecordWithFlags(event, per_thread(stream), flags))
KERNKIT_OWN_STREAM(cuEventRecord_ptsz, (CUevent event, CUstream stream),
                   cuEventRecord(event, per_thread(stream)))
KERNKIT_OWN_STREAM(cuGraphLaunch_ptsz, (CUgraphExec exec, CUstream stream),
                   cuGraphLaunch(exec, per_thread(stream)))
KERNKIT_OWN_STREAM(cuGraphUpload_ptsz, (CUgraphExec exec, CUstream stream),
                   cuGraphUpload(exec, per_thread(stream)))
KERNKIT_OWN_STREAM(cuLaunchCooperativeKernel_ptsz,
                   (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_memory,
                    CUstream stream, void** arguments),
                   cuLaunchCooperativeKernel(function, grid_x, grid_y, grid_z, block_x, block_y,
                                             block_z, shared_memory, per_thread(stream), arguments))
KERNKIT_OWN_STREAM(cuLaunchHostFunc_ptsz, (CUstream stream, CUhostFn function, void* data),
                   cuLaunchHostFunc(per_thread(stream), function, data))
KERNKIT_OWN_STREAM(cuLaunchKernel_ptsz,
                   (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_memory,
                    CUstream stream, void** arguments, void** extra),
                   cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                  shared_memory, per_thread(stream), arguments, extra))
KERNKIT_OWN_STREAM(cuMemAllocAsync_ptsz, (CUdeviceptr * address, size_t size, CUstream stream),
                   cuMemAllocAsync(address, size, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemAllocFromPoolAsync_ptsz,
                   (CUdeviceptr * address, size_t size, CUmemoryPool pool, CUstream stream),
                   cuMemAllocFromPoolAsync(address, size, pool, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemFreeAsync_ptsz, (CUdeviceptr address, CUstream stream),
                   cuMemFreeAsync(address, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemPrefetchAsync_ptsz,
                   (CUdeviceptr address, size_t count, CUdevice device, CUstream stream),
                   cuMemPrefetchAsync(address, count, device, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemPrefetchAsync_v2_ptsz,
                   (CUdeviceptr address, size_t count, CUmemLocation location, unsigned flags,
                    CUstream stream),
                   cuMemPrefetchAsync_v2(address, count, location, flags, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemcpy2DAsync_v2_ptsz, (const CUDA_MEMCPY2D* all, CUstream stream),
                   cuMemcpy2DAsync_v2(all, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemcpy3DAsync_v2_ptsz, (const CUDA_MEMCPY3D* all, CUstream stream),
                   cuMemcpy3DAsync_v2(all, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemcpyAsync_ptsz,
                   (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),
                   cuMemcpyAsync(to, from, size, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemcpyDtoDAsync_v2_ptsz,
                   (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),
                   cuMemcpyDtoDAsync_v2(to, from, size, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemcpyDtoHAsync_v2_ptsz,
                   (void* to, CUdeviceptr from, size_t size, CUstream stream),
                   cuMemcpyDtoHAsync_v2(to, from, size, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemcpyHtoDAsync_v2_ptsz,
                   (CUdeviceptr to, const void* from, size_t size, CUstream stream),
                   cuMemcpyHtoDAsync_v2(to, from, size, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemcpyPeerAsync_ptsz,
                   (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                    size_t size, CUstream stream),
                   cuMemcpyPeerAsync(to, to_context, from, from_context, size, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemsetD16Async_ptsz,
                   (CUdeviceptr to, unsigned short value, size_t count, CUstream stream),
                   cuMemsetD16Async(to, value, count, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemsetD2D16Async_ptsz,
                   (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                    CUstream stream),
                   cuMemsetD2D16Async(to, pitch, value, width, height, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemsetD2D32Async_ptsz,
                   (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                    CUstream stream),
                   cuMemsetD2D32Async(to, pitch, value, width, height, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemsetD2D8Async_ptsz,
                   (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                    CUstream stream),
                   cuMemsetD2D8Async(to, pitch, value, width, height, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemsetD32Async_ptsz,
                   (CUdeviceptr to, unsigned value, size_t count, CUstream stream),
                   cuMemsetD32Async(to, value, count, per_thread(stream)))
KERNKIT_OWN_STREAM(cuMemsetD8Async_ptsz,
                   (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),
                   cuMemsetD8Async(to, value, count, per_thread(stream)))
KERNKIT_OWN_STREAM(cuStreamAddCallback_ptsz,
                   (CUstream stream, CUstreamCallback callback, void* data, unsigned flags),
                   cuStreamAddCallback(per_thread(stream), callback, data, flags))
KERNKIT_OWN_STREAM(cuStreamAttachMemAsync_ptsz,
                   (CUstream stream, CUdeviceptr address, size_t size, unsigned flags),
                   cuStreamAttachMemAsync(per_thread(stream), address, size, flags))
KERNKIT_OWN_STREAM(cuStreamBeginCapture_ptsz, (CUstream stream),
                   cuStreamBeginCapture(per_thread(stream)))
KERNKIT_OWN_STREAM(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode),
                   cuStreamBeginCapture_v2(per_thread(stream), mode))
KERNKIT_OWN_STREAM(cuStreamEndCapture_ptsz, (CUstream stream, CUgraph* graph),
                   cuStreamEndCapture(per_thread(stream), graph))
KERNKIT_OWN_STREAM(cuStreamGetCaptureInfo_ptsz,
                   (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id),
                   cuStreamGetCaptureInfo(per_thread(stream), status, id))
KERNKIT_OWN_STREAM(cuStreamGetCaptureInfo_v2_ptsz,
                   (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                    const CUgraphNode** nodes, size_t* count),
                   cuStreamGetCaptureInfo_v2(per_thread(stream), status, id, graph, nodes, count))
KERNKIT_OWN_STREAM(cuStreamGetCaptureInfo_v3_ptsz,
                   (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                    const CUgraphNode** nodes, const CUgraphEdgeData** edges, size_t* count),
                   cuStreamGetCaptureInfo_v3(per_thread(stream), status, id, graph, nodes, edges,
                                             count))
KERNKIT_OWN_STREAM(cuStreamGetCtx_ptsz, (CUstream stream, CUcontext* context),
                   cuStreamGetCtx(per_thread(stream), context))
KERNKIT_OWN_STREAM(cuStreamGetCtx_v2_ptsz, (CUstream stream, CUcontext* context, CUgreenCtx* green),
                   cuStreamGetCtx_v2(per_thread(stream), context, green))
KERNKIT_OWN_STREAM(cuStreamGetDevice_ptsz, (CUstream stream, CUdevice* device),
                   cuStreamGetDevice(per_thread(stream), device))
KERNKIT_OWN_STREAM(cuStreamGetFlags_ptsz, (CUstream stream, unsigned* flags),
                   cuStreamGetFlags(per_thread(stream), flags))
KERNKIT_OWN_STREAM(cuStreamGetId_ptsz, (CUstream stream, unsigned long long* id),
                   cuStreamGetId(per_thread(stream), id))
KERNKIT_OWN_STREAM(cuStreamGetPriority_ptsz, (CUstream stream, int* priority),
                   cuStreamGetPriority(per_thread(stream), priority))
KERNKIT_OWN_STREAM(cuStreamIsCapturing_ptsz, (CUstream stream, CUstreamCaptureStatus* status),
                   cuStreamIsCapturing(per_thread(stream), status))
KERNKIT_OWN_STREAM(cuStreamQuery_ptsz, (CUstream stream), cuStreamQuery(per_thread(stream)))
KERNKIT_OWN_STREAM(cuStreamSynchronize_ptsz, (CUstream stream),
                   cuStreamSynchronize(per_thread(stream)))
KERNKIT_OWN_STREAM(cuStreamWaitEvent_ptsz, (CUstream stream, CUevent event, unsigned flags),
                   cuStreamWaitEvent(per_thread(stream), event, flags))

KERNKIT_OWN_STREAM_AND_WAIT(cuMemcpy2DUnaligned_v2_ptds, (const CUDA_MEMCPY2D* all),
                            cuMemcpy2DAsync_v2(all, CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemcpy2D_v2_ptds, (const CUDA_MEMCPY2D* all),
                            cuMemcpy2DAsync_v2(all, CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemcpy3D_v2_ptds, (const CUDA_MEMCPY3D* all),
                            cuMemcpy3DAsync_v2(all, CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemcpyDtoD_v2_ptds, (CUdeviceptr to, CUdeviceptr from, size_t size),
                            cuMemcpyDtoDAsync_v2(to, from, size, CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemcpyDtoH_v2_ptds, (void* to, CUdeviceptr from, size_t size),
                            cuMemcpyDtoHAsync_v2(to, from, size, CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemcpyHtoD_v2_ptds, (CUdeviceptr to, const void* from, size_t size),
                            cuMemcpyHtoDAsync_v2(to, from, size, CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemcpyPeer_ptds,
                            (CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                             CUcontext from_context, size_t size),
                            cuMemcpyPeerAsync(to, to_context, from, from_context, size,
                                              CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemcpy_ptds, (CUdeviceptr to, CUdeviceptr from, size_t size),
                            cuMemcpyAsync(to, from, size, CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemsetD16_v2_ptds,
                            (CUdeviceptr to, unsigned short value, size_t count),
                            cuMemsetD16Async(to, value, count, CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemsetD2D16_v2_ptds,
                            (CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                             size_t height),
                            cuMemsetD2D16Async(to, pitch, value, width, height,
                                               CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemsetD2D32_v2_ptds,
                            (CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                             size_t height),
                            cuMemsetD2D32Async(to, pitch, value, width, height,
                                               CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemsetD2D8_v2_ptds,
                            (CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                             size_t height),
                            cuMemsetD2D8Async(to, pitch, value, width, height,
                                              CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemsetD32_v2_ptds, (CUdeviceptr to, unsigned value, size_t count),
                            cuMemsetD32Async(to, value, count, CU_STREAM_PER_THREAD))
KERNKIT_OWN_STREAM_AND_WAIT(cuMemsetD8_v2_ptds, (CUdeviceptr to, unsigned char value, size_t count),
                            cuMemsetD8Async(to, value, count, CU_STREAM_PER_THREAD))

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** arguments,
                               void** extra) {
  if (config == nullptr) return cuLaunchKernelEx(config, function, arguments, extra);
  CUlaunchConfig with_stream = *config;
  with_stream.hStream = per_thread(config->hStream);
  return cuLaunchKernelEx(&with_stream, function, arguments, extra);
}
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* exec, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* all) {
  if (all != nullptr) all->hUploadStream = per_thread(all->hUploadStream);
  return cuGraphInstantiateWithParams(exec, graph, all);
}

}  // extern "C"
