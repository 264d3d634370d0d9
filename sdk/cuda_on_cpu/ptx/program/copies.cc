// SPDX-License-Identifier: Apache-2.0
// Memory in rows, and what is said about memory, beside what kernel libraries call.
#include <cstring>

#include "runtime/state.h"

namespace kernkit::cuda_on_cpu {
namespace {

constexpr size_t kPitch = 512;

struct Rows {
  size_t to_pitch, from_pitch, width, height;
  bool is_valid() const { return height == 0 || (width <= to_pitch && width <= from_pitch); }
};

// Row by row: the same rules for each.
cudaError_t copy_rows(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind,
                      cudaStream_t stream) {
  if (!rows.is_valid()) return cudaErrorInvalidValue;
  for (size_t row = 0; row < rows.height; ++row) {
    const cudaError_t error = copy_async(static_cast<char*>(to) + row * rows.to_pitch,
                                         static_cast<const char*>(from) + row * rows.from_pitch,
                                         rows.width, kind, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t fill_rows(void* to, size_t pitch, int value, size_t width, size_t height,
                      cudaStream_t stream) {
  if (height != 0 && width > pitch) return cudaErrorInvalidValue;
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t error =
        cudaMemsetAsync(static_cast<char*>(to) + row * pitch, value, width, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace kernkit::cuda_on_cpu

using namespace kernkit::cuda_on_cpu;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return call("cudaMallocPitch", Reach::kUnsafe, [&] {
    if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
    size_t size = 0;
    if (width > SIZE_MAX - kPitch) return cudaErrorMemoryAllocation;
    *pitch = (width + kPitch - 1) / kPitch * kPitch;
    if (__builtin_mul_overflow(*pitch, height, &size)) return cudaErrorMemoryAllocation;
    return cudaMalloc(pointer, size);
  });
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return call("cudaMemcpy2DAsync", Reach::kDevice, [&] {
    return copy_rows(to, from, {to_pitch, from_pitch, width, height}, kind, stream);
  });
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return call("cudaMemcpy2D", Reach::kDevice, [&] {
    const cudaError_t error =
        copy_rows(to, from, {to_pitch, from_pitch, width, height}, kind, nullptr);
    return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
  });
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return call("cudaMemset2D", Reach::kDevice,
              [&] { return fill_rows(to, pitch, value, width, height, nullptr); });
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return call("cudaMemset2DAsync", Reach::kDevice,
              [&] { return fill_rows(to, pitch, value, width, height, stream); });
}
// Memory of every device is memory of the process.
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t size) {
  return cudaMemcpy(to, from, size, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t size,
                                cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, stream);
}

}  // extern "C"
