// SPDX-License-Identifier: Apache-2.0
// Two streams that copy and compute parts of an array, ordered by events, with a callback of the
// host.
#include <vector>

#include "check.h"

constexpr int kParts = 4, kPart = 1000;

__global__ void square(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

int main() {
  int *host, *device, callbacks = 0;
  check(cudaMallocHost(&host, kParts * kPart * sizeof(int)));
  check(cudaMalloc(&device, kParts * kPart * sizeof(int)));
  for (int i = 0; i < kParts * kPart; ++i) host[i] = i % 1000 - 500;
  cudaStream_t copying, computing;
  check(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking));
  for (int part = 0; part < kParts; ++part) {
    int *from = host + part * kPart, *to = device + part * kPart;
    cudaEvent_t arrived, computed;
    check(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
    check(cudaEventCreateWithFlags(&computed, cudaEventDisableTiming));
    check(cudaMemcpyAsync(to, from, kPart * sizeof(int), cudaMemcpyHostToDevice, copying));
    check(cudaEventRecord(arrived, copying));
    check(cudaStreamWaitEvent(computing, arrived, 0));
    square<<<(kPart + 255) / 256, 256, 0, computing>>>(to, kPart);
    check(cudaEventRecord(computed, computing));
    check(cudaStreamWaitEvent(copying, computed, 0));
    check(cudaMemcpyAsync(from, to, kPart * sizeof(int), cudaMemcpyDeviceToHost, copying));
    check(cudaLaunchHostFunc(
        copying, [](void* count) { ++*static_cast<int*>(count); }, &callbacks));
    check(cudaEventDestroy(arrived));
    check(cudaEventDestroy(computed));
  }
  check(cudaStreamSynchronize(copying));
  bool passed = callbacks == kParts;
  for (int i = 0; i < kParts * kPart; ++i) passed &= host[i] == (i % 1000 - 500) * (i % 1000 - 500);
  return verdict("pipeline", passed);
}
