// SPDX-License-Identifier: Apache-2.0
// Functions for memory in rows, and queries about memory, for whole programs.
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

constexpr size_t kPitch = 512;  // granularity of pitches [bytes]

bool is_valid(const Rows& rows) {
  return rows.height == 0 || (rows.width <= rows.to_pitch && rows.width <= rows.from_pitch);
}

// Runs a call that copies or fills rows. `error` is the error for rows longer than their pitch.
template <class Work>
cudaError_t call_with_rows(const char* function, const Rows& rows, cudaError_t error,
                           const Work& work) {
  return call(function, Reach::kDevice, [&] {
    if (is_valid(rows)) return work();
    return reject_argument(
        "width: rows of " + bytes_text(rows.width) + " are longer than their pitch", error);
  });
}
// Runs a copy between devices. The memory of every device is memory of the process.
template <class Work>
cudaError_t call_with_peers(const char* function, int to, int from, const Work& work) {
  return call(function, Reach::kDevice,
              [&] { return exists(to) && exists(from) ? work() : cudaErrorInvalidDevice; });
}

}  // namespace
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

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
  const Rows rows{to_pitch, from_pitch, width, height};
  return call_with_rows("cudaMemcpy2DAsync", rows, cudaErrorInvalidPitchValue,
                        [&] { return copy_rows(to, from, rows, kind, stream); });
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  const Rows rows{to_pitch, from_pitch, width, height};
  return call_with_rows("cudaMemcpy2D", rows, cudaErrorInvalidPitchValue,
                        [&] { return copy_rows_and_wait(to, from, rows, kind); });
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  const Rows rows{pitch, pitch, width, height};
  return call_with_rows("cudaMemset2D", rows, cudaErrorInvalidValue, [&] {
    const cudaError_t rejected = reject_waiting(nullptr);
    return rejected != cudaSuccess ? rejected : fill_rows(to, value, rows, nullptr);
  });
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  const Rows rows{pitch, pitch, width, height};
  return call_with_rows("cudaMemset2DAsync", rows, cudaErrorInvalidValue,
                        [&] { return fill_rows(to, value, rows, stream); });
}
// The copy is serialised with the work of the current device and of both devices; the host waits
// for that work.
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t size) {
  return call_with_peers("cudaMemcpyPeer", to_device, from_device, [&] {
    const int current = thread_state().device;
    for (const int device : {current, to_device, from_device}) {
      if (reject_device(device)) return cudaErrorStreamCaptureUnsupported;
    }
    for (const int device : {current, to_device, from_device}) drain_device(device);
    const cudaError_t error = copy_and_wait(to, from, size, cudaMemcpyDeviceToDevice);
    drain(current, nullptr);
    return error != cudaSuccess ? error : error_of_device(current);
  });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t size, cudaStream_t stream) {
  return call_with_peers("cudaMemcpyPeerAsync", to_device, from_device, [&] {
    return copy_async(to, from, size, cudaMemcpyDeviceToDevice, stream);
  });
}

}  // extern "C"
