// SPDX-License-Identifier: Apache-2.0
// Kernels for `kernkit sanitize --tool determinism`. The argument selects the kernel.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

__device__ float total;

__global__ void fixed(float* y, const float* x, int* counts) {
  __shared__ float all[64];
  all[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  for (int half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = all[0];
  atomicAdd(counts, 1);
}
__global__ void sums(float* y, const float* x, int*) {
  atomicAdd(y + 3, x[blockIdx.x * 64 + threadIdx.x]);  // sums of floats
}
__global__ void sums_variable(float*, const float* x, int*) {
  atomicAdd(&total, x[blockIdx.x * 64 + threadIdx.x]);
}
__global__ void sums_shared(float* y, const float* x, int*) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x[blockIdx.x * 64 + threadIdx.x]);  // sums of a block
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sum;  // the block's result
}
__global__ void compacts(float* y, const float* x, int* counts) {
  const int at = atomicAdd(counts + 1, 1);   // takes a place
  y[at] = x[blockIdx.x * 64 + threadIdx.x];  // stores there
}
__global__ void raced(float* y, const float* x, int*) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];       // races with the load
  y[threadIdx.x] = tile[63 - threadIdx.x];  // races with the store
}
__global__ void last_block(float* y, const float*, int*) {
  if (threadIdx.x == 0) y[0] = static_cast<float>(blockIdx.x);  // all blocks store here
}
__global__ void stores_addresses(float* y, const float* x, int*) {
  reinterpret_cast<const float**>(y)[threadIdx.x] = x + threadIdx.x;
}
__global__ void equal_values(float* y, const float*, int*) { y[0] = 1; }
__global__ void parent(float* y, const float* x, int* counts) {
  if (threadIdx.x == 0) sums<<<16, 64>>>(y, x, counts);
}

int main(int, char** arguments) {
  const auto is = [&](const char* kernel) { return std::strcmp(arguments[1], kernel) == 0; };
  float values[1024];
  for (int i = 0; i < 1024; ++i) values[i] = 1.0f / (i + 1) * (i % 3 == 0 ? 1e6f : 1);
  if (is("inputs")) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    values[5] = static_cast<float>(now.tv_nsec) + static_cast<float>(getpid());
  }
  float *x = nullptr, *y = nullptr;
  int* counts = nullptr;
  cudaMalloc(&x, sizeof(values));
  cudaMalloc(&y, sizeof(values));
  cudaMalloc(&counts, 2 * sizeof(int));
  cudaMemset(y, 0, sizeof(values));
  cudaMemset(counts, 0, 2 * sizeof(int));
  cudaMemcpy(x, values, sizeof(values), cudaMemcpyHostToDevice);
  if (is("nothing")) return 0;
  fixed<<<16, 64>>>(y, x, counts);
  if (is("sums")) sums<<<16, 64>>>(y, x, counts);
  if (is("sums_variable")) sums_variable<<<16, 64>>>(y, x, counts);
  if (is("sums_shared")) sums_shared<<<16, 64>>>(y, x, counts);
  if (is("compacts")) compacts<<<16, 64>>>(y, x, counts);
  if (is("raced")) raced<<<1, 64>>>(y, x, counts);
  if (is("last_block")) last_block<<<16, 64>>>(y, x, counts);
  if (is("stores_addresses")) stores_addresses<<<1, 64>>>(y, x, counts);
  if (is("equal_values")) equal_values<<<16, 64>>>(y, x, counts);
  if (is("parent")) parent<<<1, 64>>>(y, x, counts);
  if (is("graph")) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fixed<<<16, 64, 0, stream>>>(y, x, counts);
    sums<<<1, 64, 0, stream>>>(y, x, counts);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
  }
  cudaDeviceSynchronize();
  fixed<<<16, 64>>>(y, x, counts);  // the input of this launch also differs between runs
  cudaDeviceSynchronize();
  std::puts("done");
}
