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
  bool right = cudaHostGetDevicePointer(&device_x, x.data(), 0) == cudaErrorInvalidValue;
  check(cudaHostRegister(x.data(), bytes, cudaHostRegisterDefault));
  check(cudaHostRegister(y.data(), bytes, cudaHostRegisterMapped | cudaHostRegisterPortable));
  check(cudaHostGetDevicePointer(&device_x, x.data(), 0));
  check(cudaHostGetDevicePointer(&device_y, y.data(), 0));
  cudaPointerAttributes attributes;
  check(cudaPointerGetAttributes(&attributes, x.data() + 1));
  right = right && attributes.type == cudaMemoryTypeHost && attributes.hostPointer == x.data() + 1;
  halve<<<(n + 255) / 256, 256>>>(device_x, device_y, n);
  check(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) right = right && y[i] == x[i] / 2;

  const auto overlapping = cudaHostRegister(x.data() + n / 2, bytes / 2, cudaHostRegisterDefault);
  right = right && overlapping == cudaErrorHostMemoryAlreadyRegistered;
  right = right && cudaHostRegister(&right, 0, cudaHostRegisterDefault) == cudaErrorInvalidValue;
  right = right && cudaHostRegister(&right, sizeof(right), 16) == cudaErrorInvalidValue;
  right = right && cudaFreeHost(x.data()) == cudaErrorInvalidValue;
  right = right && cudaHostUnregister(x.data() + 1) == cudaErrorHostMemoryNotRegistered;
  check(cudaHostUnregister(x.data()));
  check(cudaHostUnregister(y.data()));
  right = right && cudaHostUnregister(x.data()) == cudaErrorHostMemoryNotRegistered;
  check(cudaPointerGetAttributes(&attributes, x.data()));
  right = right && attributes.type == cudaMemoryTypeUnregistered;

  float* allocated = nullptr;
  check(cudaMallocHost(&allocated, bytes));
  const auto of_cuda = cudaHostRegister(allocated, bytes, cudaHostRegisterDefault);
  right = right && of_cuda == cudaErrorHostMemoryAlreadyRegistered;
  right = right && cudaHostUnregister(allocated) == cudaErrorHostMemoryNotRegistered;
  check(cudaFreeHost(allocated));
  return verdict("registered_memory", right);
}
