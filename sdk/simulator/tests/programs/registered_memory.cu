// SPDX-License-Identifier: Apache-2.0
// A kernel reads and writes memory of the C++ library that the program registered, and each misuse
// of the registration gets its documented error.
#include <vector>

#include "check.h"

__global__ void halve(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / 2;
}

int main() {
  const int n = 3000;
  const size_t bytes = n * sizeof(float);
  std::vector<float> x(n), y(n, -1.0f);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(3 * i - n);
  float *device_x = nullptr, *device_y = nullptr;
  bool passed = cudaHostGetDevicePointer(&device_x, x.data(), 0) == cudaErrorInvalidValue;
  check(cudaHostRegister(x.data(), bytes, cudaHostRegisterDefault));
  check(cudaHostRegister(y.data(), bytes, cudaHostRegisterMapped | cudaHostRegisterPortable));
  check(cudaHostGetDevicePointer(&device_x, x.data(), 0));
  check(cudaHostGetDevicePointer(&device_y, y.data(), 0));
  cudaPointerAttributes attributes;
  check(cudaPointerGetAttributes(&attributes, x.data() + 1));
  passed =
      passed && attributes.type == cudaMemoryTypeHost && attributes.hostPointer == x.data() + 1;
  halve<<<(n + 255) / 256, 256>>>(device_x, device_y, n);
  check(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) passed = passed && y[i] == x[i] / 2;

  const auto overlapping = cudaHostRegister(x.data() + n / 2, bytes / 2, cudaHostRegisterDefault);
  passed = passed && overlapping == cudaErrorHostMemoryAlreadyRegistered;
  passed = passed && cudaHostRegister(&passed, 0, cudaHostRegisterDefault) == cudaErrorInvalidValue;
  passed = passed && cudaHostRegister(&passed, sizeof(passed), 16) == cudaErrorInvalidValue;
  passed = passed && cudaFreeHost(x.data()) == cudaErrorInvalidValue;
  passed = passed && cudaHostUnregister(x.data() + 1) == cudaErrorHostMemoryNotRegistered;
  check(cudaHostUnregister(x.data()));
  check(cudaHostUnregister(y.data()));
  passed = passed && cudaHostUnregister(x.data()) == cudaErrorHostMemoryNotRegistered;
  check(cudaPointerGetAttributes(&attributes, x.data()));
  passed = passed && attributes.type == cudaMemoryTypeUnregistered;

  float* allocated = nullptr;
  check(cudaMallocHost(&allocated, bytes));
  const auto of_cuda = cudaHostRegister(allocated, bytes, cudaHostRegisterDefault);
  passed = passed && of_cuda == cudaErrorHostMemoryAlreadyRegistered;
  passed = passed && cudaHostUnregister(allocated) == cudaErrorHostMemoryNotRegistered;
  check(cudaFreeHost(allocated));
  return verdict("registered_memory", passed);
}
