// SPDX-License-Identifier: Apache-2.0
// Memory of a device's default pool and of another pool: the memory that a pool uses and reserves,
// the memory that a pool keeps below its release threshold, and the errors of the functions.
#include "expect.h"

__global__ void fill(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i * i;
}

unsigned long long bytes_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long value = ~0ull;
  check(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

size_t free_memory() {
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  return free;
}

// Sets the release threshold, then checks the pool's memory while 4 MiB are allocated, and after
// they were freed and the stream was synchronised.
void use(cudaMemPool_t pool, cudaStream_t stream, unsigned long long threshold) {
  const int n = 1 << 20;
  const unsigned long long bytes = n * sizeof(int);
  unsigned long long value = threshold;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
  EXPECT(threshold, bytes_of(pool, cudaMemPoolAttrReleaseThreshold));
  const size_t free_before = free_memory();
  int* x = nullptr;
  check(cudaMallocFromPoolAsync(&x, bytes, pool, stream));
  EXPECT(bytes, bytes_of(pool, cudaMemPoolAttrUsedMemCurrent));
  EXPECT(bytes, bytes_of(pool, cudaMemPoolAttrReservedMemCurrent));
  EXPECT(free_before - bytes, static_cast<unsigned long long>(free_memory()));
  fill<<<n / 256, 256, 0, stream>>>(x, n);
  int last = 0;
  check(cudaMemcpyAsync(&last, x + n - 1, sizeof(int), cudaMemcpyDeviceToHost, stream));
  check(cudaFreeAsync(x, stream));
  check(cudaStreamSynchronize(stream));
  EXPECT((n - 1u) * (n - 1u), static_cast<unsigned>(last));
  const unsigned long long reserved = threshold < bytes ? threshold : bytes;
  EXPECT(0ull, bytes_of(pool, cudaMemPoolAttrUsedMemCurrent));
  EXPECT(reserved, bytes_of(pool, cudaMemPoolAttrReservedMemCurrent));
  EXPECT(free_before - reserved, static_cast<unsigned long long>(free_memory()));
  EXPECT(bytes, bytes_of(pool, cudaMemPoolAttrUsedMemHigh));
  EXPECT(bytes, bytes_of(pool, cudaMemPoolAttrReservedMemHigh));
  check(cudaMemPoolTrimTo(pool, 1000));
  EXPECT(reserved < 1000 ? reserved : 1000, bytes_of(pool, cudaMemPoolAttrReservedMemCurrent));
  check(cudaMemPoolTrimTo(pool, 0));
  EXPECT(0ull, bytes_of(pool, cudaMemPoolAttrReservedMemCurrent));
  value = 0;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &value));
  EXPECT(0ull, bytes_of(pool, cudaMemPoolAttrUsedMemHigh));
}

int main() {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  cudaMemPool_t of_device, current, created;
  check(cudaDeviceGetDefaultMemPool(&of_device, 0));
  check(cudaDeviceGetMemPool(&current, 0));
  EXPECT(true, of_device == current);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = 10 << 20;
  check(cudaMemPoolCreate(&created, &properties));
  for (cudaMemPool_t pool : {of_device, created}) {
    for (unsigned long long threshold : {0ull, 5000ull, ~0ull}) use(pool, stream, threshold);
  }

  // cudaMallocAsync() allocates from the current pool, which has a maximum size.
  cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
  check(cudaMemSetMemPool(&device, cudaMemAllocationTypePinned, created));
  check(cudaMemGetMemPool(&current, &device, cudaMemAllocationTypePinned));
  EXPECT(true, created == current);
  check(cudaMemGetDefaultMemPool(&current, &device, cudaMemAllocationTypePinned));
  EXPECT(true, of_device == current);
  char *first, *second = nullptr;
  check(cudaMallocAsync(&first, 6 << 20, stream));
  EXPECT(6ull << 20, bytes_of(created, cudaMemPoolAttrUsedMemCurrent));
  EXPECT(cudaErrorMemoryAllocation, cudaMallocAsync(&second, 6 << 20, stream));
  (void)cudaGetLastError();

  // Unused memory of a pool is released if another allocation needs the memory.
  size_t free = 0, total = 0;
  unsigned long long most = ~0ull;
  check(cudaMemPoolSetAttribute(of_device, cudaMemPoolAttrReleaseThreshold, &most));
  check(cudaMallocFromPoolAsync(&second, 1 << 20, of_device, stream));
  void** const nowhere = nullptr;
  void* none = nullptr;
  EXPECT(cudaErrorInvalidValue, cudaMallocFromPoolAsync(nowhere, 16, of_device, stream));
  EXPECT(cudaErrorInvalidValue, cudaMallocFromPoolAsync(&none, 16, nullptr, stream));
  check(cudaFreeAsync(second, stream));
  check(cudaStreamSynchronize(stream));
  EXPECT(1ull << 20, bytes_of(of_device, cudaMemPoolAttrReservedMemCurrent));
  check(cudaMemGetInfo(&free, &total));
  check(cudaMalloc(&second, free + 1000));
  EXPECT(0ull, bytes_of(of_device, cudaMemPoolAttrReservedMemCurrent));
  check(cudaFree(second));

  const cudaMemAccessDesc to_itself = {{cudaMemLocationTypeDevice, 0},
                                       cudaMemAccessFlagsProtReadWrite};
  check(cudaMemPoolSetAccess(created, &to_itself, 1));
  cudaMemLocation location = {cudaMemLocationTypeDevice, 0};
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  check(cudaMemPoolGetAccess(&flags, created, &location));
  EXPECT(cudaMemAccessFlagsProtReadWrite, flags);
  int reuse = 0;
  check(cudaMemPoolSetAttribute(created, cudaMemPoolReuseAllowOpportunistic, &reuse));
  reuse = 5;
  check(cudaMemPoolGetAttribute(created, cudaMemPoolReuseAllowOpportunistic, &reuse));
  EXPECT(0, reuse);

  // A destroyed pool remains until its memory in use is freed.
  const size_t free_before = free_memory();
  check(cudaMemPoolDestroy(created));
  check(cudaDeviceGetMemPool(&current, 0));
  EXPECT(true, of_device == current);
  EXPECT(free_before, free_memory());
  check(cudaFreeAsync(first, stream));
  check(cudaStreamSynchronize(stream));
  EXPECT(free_before + (6u << 20), free_memory());

  unsigned long long value = 1;
  EXPECT(cudaErrorInvalidValue,
         cudaMemPoolSetAttribute(of_device, cudaMemPoolAttrUsedMemHigh, &value));
  EXPECT(cudaErrorInvalidValue,
         cudaMemPoolSetAttribute(of_device, cudaMemPoolAttrUsedMemCurrent, &value));
  EXPECT(cudaErrorInvalidValue, cudaMemPoolTrimTo(created, 0));
  EXPECT(cudaErrorInvalidValue, cudaMemPoolDestroy(of_device));
  EXPECT(cudaErrorInvalidValue, cudaDeviceSetMemPool(0, created));
  EXPECT(cudaErrorInvalidDevice, cudaDeviceGetDefaultMemPool(&current, 99));
  cudaMemLocation none_such = {cudaMemLocationTypeDevice, 99};
  EXPECT(cudaErrorInvalidDevice,
         cudaMemGetMemPool(&current, &none_such, cudaMemAllocationTypePinned));
  EXPECT(cudaErrorNotSupported, cudaMemGetMemPool(&current, &device, cudaMemAllocationTypeManaged));
  none_such.type = cudaMemLocationTypeInvalid;
  EXPECT(cudaErrorInvalidValue,
         cudaMemGetMemPool(&current, &none_such, cudaMemAllocationTypePinned));
  properties.location.id = 99;
  EXPECT(cudaErrorInvalidDevice, cudaMemPoolCreate(&created, &properties));
  properties.location = {cudaMemLocationTypeHost, 0};
  EXPECT(cudaErrorNotSupported, cudaMemPoolCreate(&created, &properties));
  check(cudaStreamDestroy(stream));
  return verdict("memory_pools", passed);
}
