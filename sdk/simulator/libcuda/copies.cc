// SPDX-License-Identifier: Apache-2.0
// Copies and fills of the driver's API.
#include "runtime/core/copies.h"

#include "libcuda/driver_call.h"
#include "libcudart/memory_3d.h"
#include "runtime/core/streams.h"

namespace kernkit::simulator::driver {
namespace {

using core::Rows;

constexpr cudaMemcpyKind kToDevice = cudaMemcpyHostToDevice, kToHost = cudaMemcpyDeviceToHost,
                         kOnDevice = cudaMemcpyDeviceToDevice, kAny = cudaMemcpyDefault;

CUresult copy(const char* function, void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return call(function, ApiScope::kDevice,
              [&] { return core::copy_and_wait(to, from, size, kind); });
}
CUresult copy(const char* function, void* to, const void* from, size_t size, cudaMemcpyKind kind,
              CUstream stream) {
  return call(function, ApiScope::kDevice,
              [&] { return core::copy_async(to, from, size, kind, stream); });
}

/// The memory of the source or of the destination of a copy.
struct Side {
  void* base;
  bool is_device;
};

// Finds the source or the destination of a copy by its memory type. Arrays are not supported.
cudaError_t find_side(Side* side, CUmemorytype type, const void* host, CUdeviceptr device) {
  switch (type) {
    case CU_MEMORYTYPE_HOST: *side = {const_cast<void*>(host), false}; return cudaSuccess;
    case CU_MEMORYTYPE_DEVICE: *side = {pointer_of(device), true}; return cudaSuccess;
    case CU_MEMORYTYPE_UNIFIED: *side = {pointer_of(device), false}; return cudaSuccess;
    case CU_MEMORYTYPE_ARRAY:
      return core::reject("pCopy: CUDA arrays are not supported: use memory of cuMemAlloc()",
                          cudaErrorNotSupported);
  }
  return cudaErrorInvalidValue;
}

template <class Copy>
cudaError_t find_sides(const Copy& all, Side* to, Side* from) {
  const cudaError_t error = find_side(to, all.dstMemoryType, all.dstHost, all.dstDevice);
  if (error != cudaSuccess) return error;
  return find_side(from, all.srcMemoryType, all.srcHost, all.srcDevice);
}

cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from) {
  if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return kAny;
  if (to == CU_MEMORYTYPE_HOST) return from == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : kToHost;
  return from == CU_MEMORYTYPE_HOST ? kToDevice : kOnDevice;
}

// Copies rows in the stream *stream. If `stream` is null, copies on the default stream and waits.
cudaError_t copy_rows(const CUDA_MEMCPY2D* all, const CUstream* stream) {
  if (all == nullptr) return cudaErrorInvalidValue;
  Side to{}, from{};
  const cudaError_t error = find_sides(*all, &to, &from);
  if (error != cudaSuccess) return error;
  // A pitch of 0 means the width of a row.
  const auto pitch_of = [&](size_t pitch) { return pitch != 0 ? pitch : all->WidthInBytes; };
  const Rows rows{pitch_of(all->dstPitch), pitch_of(all->srcPitch), all->WidthInBytes, all->Height};
  if (rows.height == 0 || rows.width == 0) return cudaSuccess;
  const cudaError_t invalid = core::check_pitches(rows, cudaErrorInvalidValue);
  if (invalid != cudaSuccess) return invalid;
  char* const first_to = static_cast<char*>(to.base) + all->dstY * rows.to_pitch + all->dstXInBytes;
  const char* const first_from =
      static_cast<const char*>(from.base) + all->srcY * rows.from_pitch + all->srcXInBytes;
  const cudaMemcpyKind kind = kind_of(all->dstMemoryType, all->srcMemoryType);
  return stream == nullptr ? core::copy_rows_and_wait(first_to, first_from, rows, kind)
                           : core::copy_rows(first_to, first_from, rows, kind, *stream);
}

cudaError_t copy_slices(const CUDA_MEMCPY3D* all, const CUstream* stream) {
  Memcpy3DParms parameters{};
  const cudaError_t error = convert(all, &parameters);
  if (error != cudaSuccess) return error;
  return stream == nullptr ? core::copy_slices_and_wait(&parameters)
                           : core::copy_slices(&parameters, *stream);
}

// Fills `height` rows of `width` elements with `value`. If `stream` is null, fills on the default
// stream.
CUresult fill(const char* function, CUdeviceptr to, size_t pitch, unsigned value,
              size_t element_size, size_t width, size_t height, const CUstream* stream) {
  return call(function, ApiScope::kDevice, [&] {
    if (to % element_size != 0 || width > SIZE_MAX / 4) return cudaErrorInvalidValue;
    const size_t bytes = width * element_size;
    const Rows rows{pitch != 0 ? pitch : bytes, pitch != 0 ? pitch : bytes, bytes, height};
    const cudaError_t invalid = core::check_pitches(rows, cudaErrorInvalidValue);
    if (invalid != cudaSuccess) return invalid;
    return stream == nullptr
               ? core::fill_and_wait(pointer_of(to), value, element_size, rows)
               : core::fill_elements(pointer_of(to), value, element_size, rows, *stream);
  });
}

cudaError_t device_of(CUcontext context, int* device) {
  const CUctx_st* resolved = context;
  const cudaError_t error = core::find_context(&resolved);
  if (error == cudaSuccess) *device = resolved->device;
  return error;
}

}  // namespace

cudaError_t convert(const CUDA_MEMCPY3D* all, Memcpy3DParms* parameters) {
  if (all == nullptr) return cudaErrorInvalidValue;
  Side to{}, from{};
  const cudaError_t error = find_sides(*all, &to, &from);
  if (error != cudaSuccess) return error;
  const auto pitch_of = [&](size_t pitch) { return pitch != 0 ? pitch : all->WidthInBytes; };
  const auto rows_of = [&](size_t height) { return height != 0 ? height : all->Height; };
  parameters->srcPos = {all->srcXInBytes, all->srcY, all->srcZ};
  parameters->srcPtr = {from.base, pitch_of(all->srcPitch), all->WidthInBytes,
                        rows_of(all->srcHeight)};
  parameters->dstPos = {all->dstXInBytes, all->dstY, all->dstZ};
  parameters->dstPtr = {to.base, pitch_of(all->dstPitch), all->WidthInBytes,
                        rows_of(all->dstHeight)};
  parameters->extent = {all->WidthInBytes, all->Height, all->Depth};
  parameters->kind = kind_of(all->dstMemoryType, all->srcMemoryType);
  return cudaSuccess;
}

}  // namespace kernkit::simulator::driver

using namespace kernkit::simulator;          // NOLINT(build/namespaces): these are its functions
using namespace kernkit::simulator::driver;  // NOLINT(build/namespaces)

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return copy("cuMemcpy", pointer_of(to), pointer_of(from), size, kAny);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy("cuMemcpyAsync", pointer_of(to), pointer_of(from), size, kAny, stream);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t size) {
  return copy("cuMemcpyHtoD", pointer_of(to), from, size, kToDevice);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  return copy("cuMemcpyHtoDAsync", pointer_of(to), from, size, kToDevice, stream);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t size) {
  return copy("cuMemcpyDtoH", to, pointer_of(from), size, kToHost);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy("cuMemcpyDtoHAsync", to, pointer_of(from), size, kToHost, stream);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return copy("cuMemcpyDtoD", pointer_of(to), pointer_of(from), size, kOnDevice);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy("cuMemcpyDtoDAsync", pointer_of(to), pointer_of(from), size, kOnDevice, stream);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t size) {
  return call("cuMemcpyPeer", ApiScope::kDevice, [&] {
    int to_device = 0, from_device = 0;
    cudaError_t error = device_of(to_context, &to_device);
    if (error == cudaSuccess) error = device_of(from_context, &from_device);
    if (error != cudaSuccess) return error;
    return core::copy_between_devices(pointer_of(to), to_device, pointer_of(from), from_device,
                                      size);
  });
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t size, CUstream stream) {
  return call("cuMemcpyPeerAsync", ApiScope::kDevice, [&] {
    int device = 0;
    cudaError_t error = device_of(to_context, &device);
    if (error == cudaSuccess) error = device_of(from_context, &device);
    if (error != cudaSuccess) return error;
    return core::copy_async(pointer_of(to), pointer_of(from), size, kOnDevice, stream);
  });
}
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* all) {
  return call("cuMemcpy2D", ApiScope::kDevice, [&] { return copy_rows(all, nullptr); });
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* all) {
  return call("cuMemcpy2DUnaligned", ApiScope::kDevice, [&] { return copy_rows(all, nullptr); });
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* all, CUstream stream) {
  return call("cuMemcpy2DAsync", ApiScope::kDevice, [&] { return copy_rows(all, &stream); });
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* all) {
  return call("cuMemcpy3D", ApiScope::kDevice, [&] { return copy_slices(all, nullptr); });
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* all, CUstream stream) {
  return call("cuMemcpy3DAsync", ApiScope::kDevice, [&] { return copy_slices(all, &stream); });
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return fill("cuMemsetD8", to, 0, value, 1, count, 1, nullptr);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return fill("cuMemsetD16", to, 0, value, 2, count, 1, nullptr);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return fill("cuMemsetD32", to, 0, value, 4, count, 1, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fill("cuMemsetD8Async", to, 0, value, 1, count, 1, &stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fill("cuMemsetD16Async", to, 0, value, 2, count, 1, &stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fill("cuMemsetD32Async", to, 0, value, 4, count, 1, &stream);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                         size_t height) {
  return fill("cuMemsetD2D8", to, pitch, value, 1, width, height, nullptr);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                          size_t height) {
  return fill("cuMemsetD2D16", to, pitch, value, 2, width, height, nullptr);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                          size_t height) {
  return fill("cuMemsetD2D32", to, pitch, value, 4, width, height, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
  return fill("cuMemsetD2D8Async", to, pitch, value, 1, width, height, &stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream) {
  return fill("cuMemsetD2D16Async", to, pitch, value, 2, width, height, &stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream) {
  return fill("cuMemsetD2D32Async", to, pitch, value, 4, width, height, &stream);
}

}  // extern "C"
