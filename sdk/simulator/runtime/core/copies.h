// SPDX-License-Identifier: Apache-2.0
// The core's copies and fills of memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace kernkit::simulator::core {

/// Copies on the default stream, and waits unless `kind` is cudaMemcpyDeviceToDevice. copy_async()
/// copies on any stream.
cudaError_t copy_and_wait(void* to, const void* from, size_t size, cudaMemcpyKind kind);
cudaError_t copy_async(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                       cudaStream_t stream);
/// Copies between devices, after waiting for the work of the current device and of both devices.
cudaError_t copy_between_devices(void* to, int to_device, const void* from, int from_device,
                                 size_t size);
/// Rows of a copy or fill. A pitch is the distance between the first bytes of adjacent rows.
struct Rows {
  size_t to_pitch, from_pitch, width, height;  // pitches and width [bytes], and number of rows
};
/// Returns `error` if rows are longer than their pitch.
cudaError_t check_pitches(const Rows& rows, cudaError_t error);
cudaError_t copy_rows(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind,
                      cudaStream_t stream);
cudaError_t copy_rows_and_wait(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind);
/// Checks the arguments of copy_rows() without copying, so that a copy of several slices can check
/// all slices first. check_fill_of_rows() does the same for fill_elements().
cudaError_t check_copy_of_rows(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind,
                               cudaStream_t stream);
cudaError_t check_fill_of_rows(void* to, const Rows& rows, cudaStream_t stream);
/// Fills rows with `value`, an element of 1, 2 or 4 bytes. The width of a row is in bytes.
cudaError_t fill_elements(void* to, unsigned value, size_t element_size, const Rows& rows,
                          cudaStream_t stream);
/// Fills on the default stream. Returns an error if a capture forbids waiting, since a synchronous
/// fill may wait on a GPU.
cudaError_t fill_and_wait(void* to, unsigned value, size_t element_size, const Rows& rows);

}  // namespace kernkit::simulator::core
