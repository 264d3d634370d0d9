// SPDX-License-Identifier: Apache-2.0
// Copies and fills of rows, and copies between devices, for whole programs.
#include "runtime/core/copies.h"
#include "runtime/core/memory.h"
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

using core::Rows;

// Runs `work`, the body of the API function `function`, which copies or fills rows. Returns `error`
// if the rows are longer than their pitch.
template <class Work>
cudaError_t call_with_rows(const char* function, const Rows& rows, cudaError_t error,
                           const Work& work) {
  return call(function, ApiScope::kDevice, [&] {
    const cudaError_t invalid = core::check_pitches(rows, error);
    return invalid != cudaSuccess ? invalid : work();
  });
}
// Runs `work`, the body of the API function `function`, which copies from device `from` to device
// `to`. Returns cudaErrorInvalidDevice unless both devices exist.
template <class Work>
cudaError_t call_with_peers(const char* function, int to, int from, const Work& work) {
  return call(function, ApiScope::kDevice,
              [&] { return exists(to) && exists(from) ? work() : cudaErrorInvalidDevice; });
}

}  // namespace
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return call("cudaMallocPitch", ApiScope::kUnsafe,
              [&] { return core::allocate_rows(pointer, pitch, width, height); });
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  const Rows rows{to_pitch, from_pitch, width, height};
  return call_with_rows("cudaMemcpy2DAsync", rows, cudaErrorInvalidPitchValue,
                        [&] { return core::copy_rows(to, from, rows, kind, stream); });
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  const Rows rows{to_pitch, from_pitch, width, height};
  return call_with_rows("cudaMemcpy2D", rows, cudaErrorInvalidPitchValue,
                        [&] { return core::copy_rows_and_wait(to, from, rows, kind); });
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  const Rows rows{pitch, pitch, width, height};
  return call_with_rows("cudaMemset2D", rows, cudaErrorInvalidValue, [&] {
    return core::fill_and_wait(to, static_cast<unsigned>(value), 1, rows);
  });
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  const Rows rows{pitch, pitch, width, height};
  return call_with_rows("cudaMemset2DAsync", rows, cudaErrorInvalidValue, [&] {
    return core::fill_elements(to, static_cast<unsigned>(value), 1, rows, stream);
  });
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t size) {
  return call_with_peers("cudaMemcpyPeer", to_device, from_device, [&] {
    return core::copy_between_devices(to, to_device, from, from_device, size);
  });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t size, cudaStream_t stream) {
  return call_with_peers("cudaMemcpyPeerAsync", to_device, from_device, [&] {
    return core::copy_async(to, from, size, cudaMemcpyDeviceToDevice, stream);
  });
}

}  // extern "C"
