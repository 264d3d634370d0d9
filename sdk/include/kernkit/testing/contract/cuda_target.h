// SPDX-License-Identifier: Apache-2.0
// CudaTarget: a device of the simulator or a GPU, with a stream of the caller's.
#pragma once

#include <memory>
#include <utility>

#include "kernkit/cpu/allocator.h"
#include "kernkit/cuda/device_guard.h"
#include "kernkit/env.h"
#include "kernkit/memory/nd_alloc.h"
#include "kernkit/testing/contract/target.h"
#include "kernkit/testing/cuda_backend.h"

namespace kernkit::testing::contract {

/// A CUDA device with a stream of the caller's. While a CudaTarget exists, it owns the runtime: use
/// one object at a time, in one thread. The runtime of the simulator has three devices and runs
/// kernels. Functions throw nothing unless stated.
class CudaTarget : public Target {
 public:
  /// Resets the runtime and creates the stream, and the pool of alloc_tensor(), 1 MiB, on the
  /// device, counted from 0. With a `seed` other than 0, work runs later than its call. Throws
  /// RuntimeError if CUDA fails.
  explicit CudaTarget(int device = 0, unsigned seed = 0) : runtime(3), device_(device) {
    runtime.run_kernels(true);
    runtime.set_seed(seed);
    const CUDADeviceGuard guard(device_);
    KERNKIT_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    KERNKIT_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&pool_), kPool));
    live_ = runtime.live();
  }
  /// Destroys the stream and frees the pool, ignoring errors of CUDA. Never throws.
  ~CudaTarget() override {
    (void)cudaStreamDestroy(stream_);
    (void)cudaFree(pool_);
  }

  CudaBackend::Runtime runtime;  ///< the runtime of the backend, which rules change and read

  /// Returns the caller's stream, which does not synchronise with the default stream; valid as long
  /// as this object.
  cudaStream_t stream() const { return stream_; }
  /// Returns the CUDA device of the constructor, such as {kDLCUDA, 1}.
  DLDevice device() const override { return {kDLCUDA, device_}; }
  /// Returns uninitialised memory of cudaMalloc() on the device, which release() frees. Throws
  /// RuntimeError if CUDA fails.
  void* allocate(size_t bytes) override {
    const CUDADeviceGuard guard(device_);
    void* memory = nullptr;
    KERNKIT_CUDA_CHECK(cudaMalloc(&memory, bytes));
    return memory;
  }
  /// Frees memory of allocate(). Ignores errors of CUDA.
  void release(void* memory) override { (void)cudaFree(memory); }
  /// Copies `bytes` bytes of the host to the device in the order of the stream. `from`, in pageable
  /// memory, is no longer read after the return (CUDA Runtime API, API synchronization behavior).
  /// Throws RuntimeError if CUDA fails.
  void upload(void* to, const void* from, size_t bytes) override {
    const CUDADeviceGuard guard(device_);
    KERNKIT_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
  }
  /// Copies `bytes` bytes of the device to the host after the work of the stream, and waits for the
  /// copy. Ignores errors of the copy. Throws RuntimeError if the device cannot be made current.
  void download(void* to, const void* from, size_t bytes) override {
    const CUDADeviceGuard guard(device_);
    (void)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_);
    (void)cudaStreamSynchronize(stream_);
  }
  /// Closes `bytes` bytes to kernels from the stream's next work on; does nothing on a GPU.
  void poison(void* memory, size_t bytes) override { runtime.close(memory, bytes, stream_); }
  /// Waits for the device, ignoring errors of the wait, and opens the whole allocation around
  /// `memory`, whatever the size, to kernels; on a GPU only waits. Throws RuntimeError if the
  /// device cannot be made current.
  void unpoison(void* memory, size_t) override {
    const CUDADeviceGuard guard(device_);
    (void)cudaDeviceSynchronize();
    runtime.open(memory, stream_);
  }
  /// Sets the seed of the order of blocks and threads; does nothing on a GPU.
  void reorder(unsigned seed) override { runtime.set_seed(seed); }
  /// Makes the stream and the pool current for this thread, as a framework does before a call:
  /// alloc_tensor() then takes CUDA memory from the pool, and fails with MemoryError when the pool
  /// is used up. Throws RuntimeError without a host.
  void enter() override {
    current_ = this;
    guards_ = std::make_unique<Guards>(device(), stream_);
  }
  /// Restores the stream and the allocator that were current before enter(). Never throws.
  void leave() override { guards_.reset(); }
  /// Deletes the records of the runtime and returns true if the target is in its initial state.
  /// Returns false after a fault or an error, with another current device than device 0, and while
  /// memory is allocated: the caller then makes a new target.
  bool renew() override {
    int current = 0;
    runtime.clear();
    return fault().empty() && cudaPeekAtLastError() == cudaSuccess &&
           cudaGetDevice(&current) == cudaSuccess && current == 0 && runtime.live() == live_ &&
           used_ == 0;
  }
  /// Returns the first fault of a kernel since the constructor, such as "scale: block [0, 0, 0],
  /// thread [7, 0, 0]: ...", or ""; on a GPU the last error. Does not wait. Throws only
  /// std::bad_alloc.
  std::string fault() override {
    const std::vector<std::string> faults = runtime.faults();
    return faults.empty() ? "" : faults[0];
  }

 private:
  // The caller's framework: its stream, and memory from its pool.
  struct Guards {
    Guards(DLDevice device, cudaStream_t caller)
        : stream(device, caller), allocator(kernkit::detail::allocate_with<FromPool>) {}
    StreamGuard stream;
    AllocatorGuard allocator;
  };
  struct FromPool {
    void AllocData(DLTensor* tensor) {
      if (kernkit::is_cpu(tensor->device)) return CPUNDAlloc().AllocData(tensor);
      const size_t bytes = (GetDataSize(*tensor) + 255) / 256 * 256;
      if (bytes <= kPool - current_->used_) tensor->data = current_->pool_ + current_->used_;
      current_->used_ += tensor->data != nullptr ? bytes : 0;
    }
    void FreeData(DLTensor* tensor) {
      if (kernkit::is_cpu(tensor->device)) CPUNDAlloc().FreeData(tensor);
    }
  };
  static constexpr size_t kPool = size_t{1} << 20;
  inline static CudaTarget* current_ = nullptr;

  int device_;
  cudaStream_t stream_ = nullptr;
  unsigned char* pool_ = nullptr;
  size_t used_ = 0;
  std::string live_;
  std::unique_ptr<Guards> guards_;
};

}  // namespace kernkit::testing::contract
