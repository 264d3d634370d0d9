// SPDX-License-Identifier: Apache-2.0
// Managed memory with advice, prefetched to the device and back, and attached to a stream. Advice
// changes no result; a wrong range, location or flag is an error.
#include "check.h"

__managed__ int factors[4] = {2, 3, 5, 7};
__device__ int plain[4];

__global__ void multiply(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * factors[i % 4];
}

int main() {
  const int n = 10000;
  const size_t bytes = n * sizeof(int);
  int *x, *y, *on_device;
  check(cudaMallocManaged(&x, bytes));
  check(cudaMallocManaged(&y, bytes));
  check(cudaMalloc(&on_device, bytes));
  for (int i = 0; i < n; ++i) x[i] = i - 17;
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  const cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
  const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  check(cudaMemAdvise(x, bytes, cudaMemAdviseSetReadMostly, device));
  check(cudaMemAdvise(y, bytes, cudaMemAdviseSetPreferredLocation, device));
  check(cudaMemAdvise(y, bytes, cudaMemAdviseSetAccessedBy, host));
  check(cudaMemAdvise(factors, sizeof(factors), cudaMemAdviseSetReadMostly, device));
  check(cudaStreamAttachMemAsync(stream, y, 0, cudaMemAttachSingle));
  check(cudaMemPrefetchAsync(x, bytes, device, 0, stream));
  multiply<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
  check(cudaGetLastError());
  check(cudaMemPrefetchAsync(y, bytes, host, 0, stream));
  check(cudaStreamSynchronize(stream));
  bool passed = true;
  for (int i = 0; i < n; ++i) passed = passed && y[i] == x[i] * factors[i % 4];

  const cudaMemLocation no_device = {cudaMemLocationTypeDevice, 99}, nowhere = {};
  const auto expect = [&](cudaError_t error, cudaError_t actual) {
    if (error != actual)
      std::printf("%s, not %s\n", cudaGetErrorName(actual), cudaGetErrorName(error));
    passed = passed && error == actual;
  };
  int local = 0;
  expect(cudaErrorInvalidValue, cudaMemAdvise(&local, 4, cudaMemAdviseSetReadMostly, device));
  expect(cudaErrorInvalidValue, cudaMemAdvise(on_device, 4, cudaMemAdviseSetReadMostly, device));
  void* variable = nullptr;
  check(cudaGetSymbolAddress(&variable, plain));
  expect(cudaErrorInvalidValue, cudaMemAdvise(variable, 4, cudaMemAdviseSetReadMostly, device));
  expect(cudaErrorInvalidValue, cudaMemPrefetchAsync(variable, 4, device, 0, stream));
  expect(cudaErrorInvalidValue, cudaMemAdvise(x, 0, cudaMemAdviseSetReadMostly, device));
  expect(cudaErrorInvalidValue, cudaMemAdvise(x, 4, static_cast<cudaMemoryAdvise>(7), device));
  expect(cudaErrorInvalidDevice, cudaMemAdvise(x, 4, cudaMemAdviseSetAccessedBy, no_device));
  expect(cudaErrorInvalidValue, cudaMemPrefetchAsync(x, 2 * bytes, device, 0, stream));
  expect(cudaErrorInvalidValue, cudaMemPrefetchAsync(x, bytes, device, 1, stream));
  expect(cudaErrorInvalidValue, cudaMemPrefetchAsync(x, bytes, nowhere, 0, stream));
  expect(cudaErrorInvalidDevice, cudaMemPrefetchAsync(x, bytes, no_device, 0, stream));
  expect(cudaErrorInvalidValue, cudaMemPrefetchAsync(on_device, bytes, device, 0, stream));
  expect(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, x, 8, cudaMemAttachHost));
  expect(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, x, 0, 3));
  expect(cudaErrorInvalidValue, cudaStreamAttachMemAsync(nullptr, x, 0, cudaMemAttachSingle));
  for (int* memory : {x, y, on_device}) check(cudaFree(memory));
  check(cudaStreamDestroy(stream));
  return verdict("managed_memory", passed);
}
