// SPDX-License-Identifier: Apache-2.0
// The position of an operator in its stream.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <kernkit/simulator/stream_work.h>

#include <cstdlib>
#include <exception>
#include <string>

namespace kernkit::torch_cuda {

inline std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}
/// Returns whether tools of the simulator record the accesses of operators.
inline bool has_tools() {
  static const bool is_on = !setting("KERNKIT_TOOLS").empty();
  return is_on;
}
/// Returns whether operators are enqueued in streams instead of running during the call: if
/// KERNKIT_SEED is set and not 0, or if has_tools() is true.
inline bool runs_later() {
  static const std::string seed = setting("KERNKIT_SEED");
  static const bool is_on = (!seed.empty() && seed != "0") || has_tools();
  return is_on;
}

/// Returns whether the process has more than one device.
inline bool has_devices() {
  static const bool are_several = c10::cuda::device_count() > 1;
  return are_several;
}

inline bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

/// Waits until all work has ended that must precede new work in the stream, and returns true.
/// Returns false, without waiting, if the stream is being captured.
inline bool take_turn(cudaStream_t stream) {
  int is_captured = 0;
  C10_CUDA_CHECK(kernkit_wait_for_turn(stream, &is_captured));
  return is_captured == 0;
}

/// Calls `work`, the body of kernkit_stream_work::run. Returns null, or the text of the error that
/// `work` threw, which is stored in *problem.
template <class Work>
const char* error_of(const Work& work, std::string* problem) {
  try {
    work();
    return nullptr;
  } catch (const c10::Error& error) {
    *problem = error.what_without_backtrace();
  } catch (const std::exception& error) {
    *problem = error.what();
  }
  return problem->c_str();
}

}  // namespace kernkit::torch_cuda
