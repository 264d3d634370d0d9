// SPDX-License-Identifier: Apache-2.0
// The functions of version node libcudart.so.13 (CUDA 13.0) that the runtime does not support.
#pragma once

// clang-format off
#define KERNKIT_CUDART_NAMES(X) \
  X(__cudaGetProcAddress) X(__cudaLaunchKernel_ptsz) X(__cudaRegisterHostVar) \
  X(__cudaRegisterUnifiedTable) X(cudaArrayGetInfo) X(cudaArrayGetMemoryRequirements) \
  X(cudaArrayGetPlane) X(cudaArrayGetSparseProperties) X(cudaChooseDevice) \
  X(cudaCreateSurfaceObject) X(cudaCreateTextureObject) \
  X(cudaCtxResetPersistingL2Cache) X(cudaDestroyExternalMemory) X(cudaDestroyExternalSemaphore) \
  X(cudaDestroySurfaceObject) X(cudaDestroyTextureObject) X(cudaDeviceDisablePeerAccess) \
  X(cudaDeviceEnablePeerAccess) X(cudaDeviceFlushGPUDirectRDMAWrites) \
  X(cudaDeviceGetCacheConfig) \
  X(cudaDeviceGetHostAtomicCapabilities) \
  X(cudaDeviceGetNvSciSyncAttributes) X(cudaDeviceGetP2PAtomicCapabilities) \
  X(cudaDeviceGetP2PAttribute) X(cudaDeviceGetSharedMemConfig) \
  X(cudaDeviceGetTexture1DLinearMaxWidth) \
  X(cudaDeviceRegisterAsyncNotification) \
  X(cudaDeviceSetSharedMemConfig) \
  X(cudaDeviceUnregisterAsyncNotification) X(cudaEGLStreamConsumerAcquireFrame) \
  X(cudaEGLStreamConsumerConnect) X(cudaEGLStreamConsumerConnectWithFlags) \
  X(cudaEGLStreamConsumerDisconnect) X(cudaEGLStreamConsumerReleaseFrame) \
  X(cudaEGLStreamProducerConnect) X(cudaEGLStreamProducerDisconnect) \
  X(cudaEGLStreamProducerPresentFrame) X(cudaEGLStreamProducerReturnFrame) \
  X(cudaEventCreateFromEGLSync) X(cudaEventRecordWithFlags_ptsz) \
  X(cudaEventRecord_ptsz) X(cudaExternalMemoryGetMappedBuffer) \
  X(cudaExternalMemoryGetMappedMipmappedArray) X(cudaFreeArray) X(cudaFreeAsync_ptsz) \
  X(cudaFreeMipmappedArray) X(cudaFuncSetSharedMemConfig) \
  X(cudaGLGetDevices) X(cudaGLMapBufferObject) X(cudaGLMapBufferObjectAsync) \
  X(cudaGLRegisterBufferObject) X(cudaGLSetBufferObjectMapFlags) X(cudaGLSetGLDevice) \
  X(cudaGLUnmapBufferObject) X(cudaGLUnmapBufferObjectAsync) X(cudaGLUnregisterBufferObject) \
  X(cudaGetChannelDesc) \
  X(cudaGetDriverEntryPointByVersion_ptsz) \
  X(cudaGetDriverEntryPoint_ptsz) X(cudaGetExportTable) \
  X(cudaGetMipmappedArrayLevel) X(cudaGetSurfaceObjectResourceDesc) \
  X(cudaGetTextureObjectResourceDesc) X(cudaGetTextureObjectResourceViewDesc) \
  X(cudaGetTextureObjectTextureDesc) X(cudaGraphAddDependencies) \
  X(cudaGraphAddExternalSemaphoresSignalNode) X(cudaGraphAddExternalSemaphoresWaitNode) \
  X(cudaGraphAddMemcpyNodeFromSymbol) X(cudaGraphAddMemcpyNodeToSymbol) \
  X(cudaGraphAddNode) X(cudaGraphChildGraphNodeGetGraph) \
  X(cudaGraphConditionalHandleCreate) \
  X(cudaGraphDestroyNode) X(cudaGraphEventRecordNodeSetEvent) \
  X(cudaGraphEventWaitNodeSetEvent) \
  X(cudaGraphExecChildGraphNodeSetParams) X(cudaGraphExecEventRecordNodeSetEvent) \
  X(cudaGraphExecEventWaitNodeSetEvent) X(cudaGraphExecExternalSemaphoresSignalNodeSetParams) \
  X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) X(cudaGraphExecGetFlags) \
  X(cudaGraphExecHostNodeSetParams) \
  X(cudaGraphExecMemcpyNodeSetParams) X(cudaGraphExecMemcpyNodeSetParams1D) \
  X(cudaGraphExecMemcpyNodeSetParamsFromSymbol) X(cudaGraphExecMemcpyNodeSetParamsToSymbol) \
  X(cudaGraphExecMemsetNodeSetParams) X(cudaGraphExecNodeSetParams) \
  X(cudaGraphExternalSemaphoresSignalNodeGetParams) \
  X(cudaGraphExternalSemaphoresSignalNodeSetParams) \
  X(cudaGraphExternalSemaphoresWaitNodeGetParams) X(cudaGraphExternalSemaphoresWaitNodeSetParams) \
  X(cudaGraphHostNodeGetParams) \
  X(cudaGraphHostNodeSetParams) \
  X(cudaGraphInstantiateWithParams) X(cudaGraphInstantiateWithParams_ptsz) \
  X(cudaGraphKernelNodeCopyAttributes) X(cudaGraphKernelNodeGetAttribute) \
  X(cudaGraphKernelNodeGetParams) X(cudaGraphKernelNodeSetAttribute) \
  X(cudaGraphKernelNodeSetParams) X(cudaGraphLaunch_ptsz) \
  X(cudaGraphMemcpyNodeGetParams) \
  X(cudaGraphMemcpyNodeSetParams) X(cudaGraphMemcpyNodeSetParams1D) \
  X(cudaGraphMemcpyNodeSetParamsFromSymbol) X(cudaGraphMemcpyNodeSetParamsToSymbol) \
  X(cudaGraphMemsetNodeGetParams) X(cudaGraphMemsetNodeSetParams) X(cudaGraphNodeFindInClone) \
  X(cudaGraphNodeGetEnabled) \
  X(cudaGraphNodeSetEnabled) X(cudaGraphNodeSetParams) \
  X(cudaGraphRemoveDependencies) \
  X(cudaGraphUpload_ptsz) X(cudaGraphicsEGLRegisterImage) \
  X(cudaGraphicsGLRegisterBuffer) X(cudaGraphicsGLRegisterImage) X(cudaGraphicsMapResources) \
  X(cudaGraphicsResourceGetMappedEglFrame) X(cudaGraphicsResourceGetMappedMipmappedArray) \
  X(cudaGraphicsResourceGetMappedPointer) X(cudaGraphicsResourceSetMapFlags) \
  X(cudaGraphicsSubResourceGetMappedArray) X(cudaGraphicsUnmapResources) \
  X(cudaGraphicsUnregisterResource) X(cudaGraphicsVDPAURegisterOutputSurface) \
  X(cudaGraphicsVDPAURegisterVideoSurface) X(cudaHostGetFlags) \
  X(cudaImportExternalMemory) X(cudaImportExternalSemaphore) \
  X(cudaIpcCloseMemHandle) X(cudaIpcGetEventHandle) X(cudaIpcGetMemHandle) \
  X(cudaIpcOpenEventHandle) X(cudaIpcOpenMemHandle) X(cudaKernelSetAttributeForDevice) \
  X(cudaLaunchCooperativeKernel_ptsz) X(cudaLaunchHostFunc_ptsz) X(cudaLaunchKernelExC_ptsz) \
  X(cudaLaunchKernel_ptsz) X(cudaLibraryEnumerateKernels) \
  X(cudaLibraryGetKernelCount) X(cudaLibraryGetManaged) \
  X(cudaLibraryGetUnifiedFunction) \
  X(cudaLogsCurrent) X(cudaLogsDumpToFile) X(cudaLogsDumpToMemory) \
  X(cudaLogsRegisterCallback) X(cudaLogsUnregisterCallback) X(cudaMalloc3DArray) \
  X(cudaMallocArray) X(cudaMallocAsync_ptsz) \
  X(cudaMallocFromPoolAsync_ptsz) X(cudaMallocMipmappedArray) \
  X(cudaMemDiscardAndPrefetchBatchAsync) X(cudaMemDiscardAndPrefetchBatchAsync_ptsz) \
  X(cudaMemDiscardBatchAsync) X(cudaMemDiscardBatchAsync_ptsz) \
  X(cudaMemPoolExportPointer) \
  X(cudaMemPoolExportToShareableHandle) \
  X(cudaMemPoolImportFromShareableHandle) X(cudaMemPoolImportPointer) \
  X(cudaMemPrefetchAsync_ptsz) X(cudaMemPrefetchBatchAsync) X(cudaMemPrefetchBatchAsync_ptsz) \
  X(cudaMemRangeGetAttribute) X(cudaMemRangeGetAttributes) \
  X(cudaMemcpy2DArrayToArray) X(cudaMemcpy2DArrayToArray_ptds) X(cudaMemcpy2DAsync_ptsz) \
  X(cudaMemcpy2DFromArray) X(cudaMemcpy2DFromArrayAsync) X(cudaMemcpy2DFromArrayAsync_ptsz) \
  X(cudaMemcpy2DFromArray_ptds) X(cudaMemcpy2DToArray) X(cudaMemcpy2DToArrayAsync) \
  X(cudaMemcpy2DToArrayAsync_ptsz) X(cudaMemcpy2DToArray_ptds) X(cudaMemcpy2D_ptds) \
  X(cudaMemcpy3DAsync_ptsz) X(cudaMemcpy3DBatchAsync) \
  X(cudaMemcpy3DBatchAsync_ptsz) X(cudaMemcpy3DPeer) X(cudaMemcpy3DPeerAsync) \
  X(cudaMemcpy3DPeerAsync_ptsz) X(cudaMemcpy3DPeer_ptds) X(cudaMemcpy3D_ptds) \
  X(cudaMemcpyArrayToArray) X(cudaMemcpyArrayToArray_ptds) X(cudaMemcpyAsync_ptsz) \
  X(cudaMemcpyBatchAsync) X(cudaMemcpyBatchAsync_ptsz) X(cudaMemcpyFromArray) \
  X(cudaMemcpyFromArrayAsync) X(cudaMemcpyFromArrayAsync_ptsz) X(cudaMemcpyFromArray_ptds) \
  X(cudaMemcpyFromSymbolAsync_ptsz) X(cudaMemcpyFromSymbol_ptds) X(cudaMemcpyToArray) \
  X(cudaMemcpyToArrayAsync) X(cudaMemcpyToArrayAsync_ptsz) X(cudaMemcpyToArray_ptds) \
  X(cudaMemcpyToSymbolAsync_ptsz) X(cudaMemcpyToSymbol_ptds) X(cudaMemcpy_ptds) \
  X(cudaMemset2DAsync_ptsz) X(cudaMemset2D_ptds) \
  X(cudaMemset3DAsync_ptsz) X(cudaMemset3D_ptds) X(cudaMemsetAsync_ptsz) X(cudaMemset_ptds) \
  X(cudaMipmappedArrayGetMemoryRequirements) X(cudaMipmappedArrayGetSparseProperties) \
  X(cudaSetValidDevices) X(cudaSignalExternalSemaphoresAsync) \
  X(cudaSignalExternalSemaphoresAsync_ptsz) \
  X(cudaStreamAddCallback_ptsz) X(cudaStreamAttachMemAsync_ptsz) \
  X(cudaStreamBeginCaptureToGraph) X(cudaStreamBeginCaptureToGraph_ptsz) \
  X(cudaStreamBeginCapture_ptsz) X(cudaStreamCopyAttributes) X(cudaStreamCopyAttributes_ptsz) \
  X(cudaStreamEndCapture_ptsz) X(cudaStreamGetAttribute) X(cudaStreamGetAttribute_ptsz) \
  X(cudaStreamGetCaptureInfo_ptsz) \
  X(cudaStreamGetDevice_ptsz) X(cudaStreamGetFlags_ptsz) \
  X(cudaStreamGetId_ptsz) X(cudaStreamGetPriority_ptsz) \
  X(cudaStreamIsCapturing_ptsz) X(cudaStreamQuery_ptsz) X(cudaStreamSetAttribute) \
  X(cudaStreamSetAttribute_ptsz) X(cudaStreamSynchronize_ptsz) \
  X(cudaStreamUpdateCaptureDependencies) X(cudaStreamUpdateCaptureDependencies_ptsz) \
  X(cudaStreamWaitEvent_ptsz) X(cudaVDPAUGetDevice) X(cudaVDPAUSetVDPAUDevice) \
  X(cudaWaitExternalSemaphoresAsync) X(cudaWaitExternalSemaphoresAsync_ptsz)
// clang-format on
