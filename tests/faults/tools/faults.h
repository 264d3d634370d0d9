// SPDX-License-Identifier: Apache-2.0
// Faults planted in kernels, for tests/project/test_planted_faults.py: `faults NAME` runs one
// fault, `faults` runs all kernels without their faults. FAULT(name, "description", "tools that
// report it", "lines") is a row of the table. The lines that the first tool reports end with a
// comment: the fault's name or the names in `lines`, optionally followed by a number.
#pragma once

#include <cuda_runtime.h>

struct Fault {
  const char* name;
  void (*run)(bool planted);
  const Fault* next;
};
inline const Fault* all_faults = nullptr;

#define FAULT(name, ...)                                               \
  static void name(bool planted);                                      \
  static const Fault fault_##name{#name, name, all_faults};            \
  static const bool added_##name = (all_faults = &fault_##name, true); \
  static void name(bool planted)

/// Returns uninitialised device memory for `count` elements.
template <class T = int>
T* undefined(size_t count) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  return memory;
}
template <class T = int>
T* zeros(size_t count) {
  T* memory = undefined<T>(count);
  cudaMemset(memory, 0, count * sizeof(T));
  cudaDeviceSynchronize();
  return memory;
}

/// Two streams that do not synchronise with the default stream, and an event.
struct Streams {
  Streams() {
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  ~Streams() {
    cudaDeviceSynchronize();
    cudaStreamDestroy(one), cudaStreamDestroy(two), cudaEventDestroy(event);
  }
  /// Makes stream `two` wait for the work of stream `one`.
  void order() const {
    cudaEventRecord(event, one);
    cudaStreamWaitEvent(two, event, 0);
  }
  cudaStream_t one, two;
  cudaEvent_t event;
};
