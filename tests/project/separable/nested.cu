// SPDX-License-Identifier: Apache-2.0
// Kernels that launch kernels: arguments of several types, dynamic shared memory, streams, several
// levels, and a launch that runs after all other launches of its grid.
#include <cstdio>

struct Weights {
  char small;
  double large;
  int list[3];
};

__device__ int order[8];
__device__ int launched;

__global__ void note(int what) { order[launched++] = what; }

__global__ void add(Weights w, int* x, int levels) {
  extern __shared__ int shared[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = levels * 100 + w.small + static_cast<int>(w.large) + w.list[2];
  __syncthreads();
  atomicAdd(&x[i], shared[blockDim.x - 1 - threadIdx.x]);
  if (i == 0 && levels > 0) add<<<2, 4, 4 * sizeof(int)>>>(w, x, levels - 1);
}

template <class T>
__global__ void twice(T* x) {
  x[threadIdx.x] *= 2;
}

__global__ void first(int* x) {
  const Weights w{1, 2.0, {3, 4, 5}};
  cudaStream_t stream;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(3);
  add<<<2, 4, 4 * sizeof(int), stream>>>(w, x, 2);
  twice<<<1, 8, 0, stream>>>(x);
  note<<<1, 1, 0, stream>>>(1);
  note<<<1, 1, 0, stream>>>(2);
  if (cudaGetLastError() != cudaSuccess) printf("error\n");
  cudaStreamDestroy(stream);
}

int main() {
  int *x, notes[8] = {};
  if (cudaMalloc(&x, 8 * sizeof(int)) != cudaSuccess) return 1;
  if (cudaMemset(x, 0, 8 * sizeof(int)) != cudaSuccess) return 1;
  first<<<1, 1>>>(x);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int found[8];
  if (cudaMemcpy(found, x, sizeof(found), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  if (cudaMemcpyFromSymbol(notes, order, sizeof(notes)) != cudaSuccess) return 1;
  bool right = notes[0] == 1 && notes[1] == 2 && notes[2] == 3 && notes[3] == 0;
  for (int i = 0; i < 8; ++i) right = right && found[i] == 2 * (3 * 8 + 300);
  std::printf("nested: %s\n", right ? "passed" : "FAILED");
  return right ? 0 : 1;
}
