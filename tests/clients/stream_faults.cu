// SPDX-License-Identifier: Apache-2.0
// Mistakes with streams in C++: stream_faults once|fault|correct NAME... The mode `once` calls each
// function with and without the mistake and prints NAME fault|correct right|wrong.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int kCount = 256;

__global__ void add(float* x, float value) { x[threadIdx.x] += value; }
__global__ void scale(float* y, const float* x) { y[threadIdx.x] = x[threadIdx.x] * 2; }

struct Case {
  Case() {
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreate(&done);
    cudaMalloc(&x, sizeof(float) * kCount);
    cudaMalloc(&y, sizeof(float) * kCount);
    cudaMallocHost(&host, sizeof(float) * kCount);
    cudaMemset(x, 0, sizeof(float) * kCount);
    cudaMemset(y, 0, sizeof(float) * kCount);
    cudaDeviceSynchronize();
  }
  ~Case() {
    cudaDeviceSynchronize();
    cudaFreeHost(host);
    cudaFree(y);
    cudaFree(x);
    cudaEventDestroy(done);
    cudaStreamDestroy(b);
    cudaStreamDestroy(a);
  }
  bool is_filled_with(const float* at, float value) const {
    std::vector<float> values(kCount);
    if (cudaDeviceSynchronize() != cudaSuccess) return false;
    cudaMemcpy(values.data(), at, sizeof(float) * kCount, cudaMemcpyDeviceToHost);
    for (float element : values) {
      if (element != value) return false;
    }
    return true;
  }
  cudaStream_t a, b;
  cudaEvent_t done;
  float *x, *y, *host;
};

bool missing_wait(bool has_fault) {
  Case c;
  add<<<1, kCount, 0, c.a>>>(c.x, 1);
  cudaEventRecord(c.done, c.a);
  if (!has_fault) cudaStreamWaitEvent(c.b, c.done);
  scale<<<1, kCount, 0, c.b>>>(c.y, c.x);
  return c.is_filled_with(c.y, 2);
}

bool wrong_stream(bool has_fault) {
  Case c;
  add<<<1, kCount, 0, c.a>>>(c.x, 1);
  scale<<<1, kCount, 0, has_fault ? c.b : c.a>>>(c.y, c.x);
  return c.is_filled_with(c.y, 2);
}

bool event_recorded_twice(bool has_fault) {
  Case c;
  add<<<1, kCount, 0, c.a>>>(c.x, 1);
  cudaEventRecord(c.done, c.a);
  if (has_fault) cudaEventRecord(c.done, c.b);
  cudaStreamWaitEvent(c.b, c.done);
  scale<<<1, kCount, 0, c.b>>>(c.y, c.x);
  return c.is_filled_with(c.y, 2);
}

bool event_recorded_early(bool has_fault) {
  Case c;
  if (has_fault) cudaEventRecord(c.done, c.a);
  add<<<1, kCount, 0, c.a>>>(c.x, 1);
  if (!has_fault) cudaEventRecord(c.done, c.a);
  cudaStreamWaitEvent(c.b, c.done);
  scale<<<1, kCount, 0, c.b>>>(c.y, c.x);
  return c.is_filled_with(c.y, 2);
}

bool fill_does_not_wait(bool has_fault) {
  Case c;
  add<<<1, kCount, 0, c.a>>>(c.x, 1);
  cudaEventRecord(c.done, c.a);
  if (!has_fault) cudaStreamWaitEvent(c.b, c.done);
  cudaMemsetAsync(c.x, 0, sizeof(float) * kCount, c.b);
  return c.is_filled_with(c.x, 0);
}

bool copy_does_not_wait(bool has_fault) {
  Case c;
  add<<<1, kCount, 0, c.a>>>(c.x, 1);
  cudaEventRecord(c.done, c.a);
  if (!has_fault) cudaStreamWaitEvent(c.b, c.done);
  cudaMemcpyAsync(c.y, c.x, sizeof(float) * kCount, cudaMemcpyDeviceToDevice, c.b);
  return c.is_filled_with(c.y, 1);
}

bool freed_early(bool has_fault) {
  Case c;
  float* memory = nullptr;
  cudaMallocAsync(&memory, sizeof(float) * kCount, c.a);
  cudaMemsetAsync(memory, 0, sizeof(float) * kCount, c.a);
  cudaEventRecord(c.done, c.a);
  cudaStreamWaitEvent(c.b, c.done);
  scale<<<1, kCount, 0, c.b>>>(c.y, memory);
  cudaEventRecord(c.done, c.b);
  if (!has_fault) cudaStreamWaitEvent(c.a, c.done);
  cudaFreeAsync(memory, c.a);
  float* next = nullptr;
  cudaMallocAsync(&next, sizeof(float) * kCount, c.a);
  cudaMemsetAsync(next, 1, sizeof(float) * kCount, c.a);
  const bool is_right = c.is_filled_with(c.y, 0);
  cudaFreeAsync(next, c.a);
  return is_right;
}

bool pinned_reused(bool has_fault) {
  Case c;
  for (int i = 0; i < kCount; ++i) c.host[i] = 3;
  cudaMemcpyAsync(c.x, c.host, sizeof(float) * kCount, cudaMemcpyHostToDevice, c.a);
  if (!has_fault) cudaStreamSynchronize(c.a);
  for (int i = 0; i < kCount; ++i) c.host[i] = 4;
  return c.is_filled_with(c.x, 3);
}

struct Function {
  const char* name;
  bool (*function)(bool);
};
constexpr Function kFunctions[] = {{"missing_wait", missing_wait},
                                   {"wrong_stream", wrong_stream},
                                   {"event_recorded_twice", event_recorded_twice},
                                   {"event_recorded_early", event_recorded_early},
                                   {"fill_does_not_wait", fill_does_not_wait},
                                   {"copy_does_not_wait", copy_does_not_wait},
                                   {"freed_early", freed_early},
                                   {"pinned_reused", pinned_reused}};

}  // namespace

int main(int argc, char** argv) {
  const bool once = argc > 1 && std::strcmp(argv[1], "once") == 0;
  for (const Function& each : kFunctions) {
    for (int i = 2; i < argc; ++i) {
      if (std::strcmp(argv[i], each.name) != 0) continue;
      for (const char* mode : {"fault", "correct"}) {
        if (!once && std::strcmp(argv[1], mode) != 0) continue;
        const bool is_right = each.function(std::strcmp(mode, "fault") == 0);
        if (once) std::printf("%s %s %s\n", each.name, mode, is_right ? "right" : "wrong");
        if (cudaDeviceSynchronize() != cudaSuccess) return 0;  // all later calls fail as well
      }
    }
  }
}
