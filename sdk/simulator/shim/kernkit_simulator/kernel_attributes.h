// SPDX-License-Identifier: Apache-2.0
// C++ overloads of functions that read or set attributes of a kernel. The overloads describe the
// kernel first, so the functions work before the kernel's first launch. Part of cuda_runtime.h.
#pragma once

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(kernkit::simulator::described(kernel), attribute, value);
}
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
  return cudaFuncGetAttributes(attributes, kernkit::simulator::described(kernel));
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel, int threads,
                                                          size_t shared_memory) {
  const void* address = kernkit::simulator::described(kernel);
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, address, threads, shared_memory);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel* kernel,
                                                                   int threads,
                                                                   size_t shared_memory,
                                                                   unsigned flags) {
  const void* address = kernkit::simulator::described(kernel);
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, address, threads,
                                                                shared_memory, flags);
}
template <class Kernel>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared_memory, Kernel* kernel,
                                                      int blocks, int threads) {
  const void* address = kernkit::simulator::described(kernel);
  return cudaOccupancyAvailableDynamicSMemPerBlock(shared_memory, address, blocks, threads);
}

/// Finds the block size that maximises the number of resident threads (the largest such size), and
/// the number of such blocks that fills the device. `shared_memory_of(threads)` returns the dynamic
/// shared memory of a block [bytes]. `limit` is the maximum block size; 0 means the limit of the
/// kernel.
template <class SharedMemoryOf, class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* min_grid, int* block,
                                                                    Kernel* kernel,
                                                                    SharedMemoryOf shared_memory_of,
                                                                    int limit = 0,
                                                                    unsigned flags = 0) {
  if (min_grid == nullptr || block == nullptr || kernel == nullptr) return cudaErrorInvalidValue;
  cudaFuncAttributes attributes;
  int device = 0, processors = 0, resident_most = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&resident_most, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  }
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, kernel);
  if (error != cudaSuccess) return error;
  const int most = attributes.maxThreadsPerBlock;
  if (limit == 0 || limit > most) limit = most;
  int most_resident = 0, best = 0, blocks_of_best = 0;
  for (int warps = (limit + 31) / 32; warps > 0 && most_resident != resident_most; --warps) {
    const int threads = warps * 32 < limit ? warps * 32 : limit;
    int blocks = 0;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, kernel, threads, shared_memory_of(threads), flags);
    if (error != cudaSuccess) return error;
    if (blocks * threads <= most_resident) continue;
    most_resident = blocks * threads;
    best = threads;
    blocks_of_best = blocks;
  }
  *min_grid = blocks_of_best * processors;
  *block = best;
  return cudaSuccess;
}
template <class SharedMemoryOf, class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid, int* block,
                                                           Kernel* kernel,
                                                           SharedMemoryOf shared_memory_of,
                                                           int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(min_grid, block, kernel,
                                                                 shared_memory_of, limit);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block, Kernel* kernel,
                                                        size_t shared_memory = 0, int limit = 0,
                                                        unsigned flags = 0) {
  const auto same = [shared_memory](int) { return shared_memory; };
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(min_grid, block, kernel, same,
                                                                 limit, flags);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* block, Kernel* kernel,
                                               size_t shared_memory = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block, kernel, shared_memory, limit);
}
