// SPDX-License-Identifier: Apache-2.0
// CudaTarget: a device of the simulator or a GPU, and the stream on which a framework would call
// the op.
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

/// A CUDA device, on a GPU or in the simulator, and the stream on which a framework would call the
/// op. In the simulator, the runtime then has three devices and runs kernels. Only one CudaTarget,
/// and no other CudaRuntime, may exist at a time; use the object in one thread. Functions throw
/// only std::bad_alloc unless stated.
class CudaTarget : public Target {
 public:
  /// Resets the simulator's runtime, and creates the stream and the pool of alloc_tensor(), 1 MiB,
  /// on cuda:`device`. `seed` determines the order of blocks and threads, and with a `seed` other
  /// than 0 work of streams runs later than the call that enqueues it (CudaRuntime::set_seed()); a
  /// GPU ignores the seed. Leaves the current device unchanged. Throws RuntimeError if the device
  /// does not exist or CUDA reports another error, and std::bad_alloc.
  explicit CudaTarget(int device = 0, unsigned seed = 0) : runtime(3), device_(device) {
    runtime.run_kernels(true);
    runtime.set_seed(seed);
    const CUDADeviceGuard guard(device_);
    KERNKIT_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    KERNKIT_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&pool_), kPool));
    live_ = runtime.live();
  }
  /// Destroys the stream and frees the pool, ignoring errors of CUDA, and resets the simulator's
  /// runtime. Throws nothing.
  ~CudaTarget() override {
    (void)cudaStreamDestroy(stream_);
    (void)cudaFree(pool_);
  }

  CudaBackend::Runtime runtime;  ///< the runtime of the backend, which rules change and read

  /// Returns the caller's stream, which does not synchronise with the legacy default stream; valid
  /// as long as this object.
  cudaStream_t stream() const { return stream_; }
  /// Returns the CUDA device of the constructor, such as {kDLCUDA, 1}.
  DLDevice device() const override { return {kDLCUDA, device_}; }
  /// Returns `bytes` bytes of uninitialised memory of cudaMalloc() on the device, which release()
  /// frees; null for 0 bytes. Leaves the current device unchanged. Throws RuntimeError if the
  /// device has no memory left or CUDA reports another error.
  void* allocate(size_t bytes) override {
    const CUDADeviceGuard guard(device_);
    void* memory = nullptr;
    KERNKIT_CUDA_CHECK(cudaMalloc(&memory, bytes));
    return memory;
  }
  /// Frees memory of allocate() by cudaFree(), which waits for all streams (CUDA C++ Programming
  /// Guide, Stream Ordered Memory Allocator). Ignores null, and errors of CUDA. Throws nothing.
  void release(void* memory) override { (void)cudaFree(memory); }
  /// Enqueues a copy of `bytes` bytes of the host to the device in the stream. The copy may read
  /// `from` after the return, so `from` must stay valid and unchanged until the stream has run the
  /// copy; download() and release() wait for this. Throws RuntimeError if CUDA fails.
  void upload(void* to, const void* from, size_t bytes) override {
    const CUDADeviceGuard guard(device_);
    KERNKIT_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
  }
  /// Copies `bytes` bytes of the device to the host after the work of the stream, and waits for the
  /// copy. Ignores errors of the copy and of earlier work, after which `to` may be unchanged.
  /// Throws RuntimeError if the device cannot be made current.
  void download(void* to, const void* from, size_t bytes) override {
    const CUDADeviceGuard guard(device_);
    (void)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_);
    (void)cudaStreamSynchronize(stream_);
  }
  /// Makes an access of a kernel to `bytes` bytes at `memory`, which allocate() returned, a fault,
  /// from the stream's next work on. Does not wait; does nothing on a GPU. See
  /// kernkit_close_to_kernels().
  void poison(void* memory, size_t bytes) override { runtime.close(memory, bytes, stream_); }
  /// Waits for the device, ignoring errors of the wait, and lets kernels access the whole
  /// allocation that contains `memory` again; the size is ignored. On a GPU, only waits. Throws
  /// RuntimeError if the device cannot be made current.
  void unpoison(void* memory, size_t) override {
    const CUDADeviceGuard guard(device_);
    (void)cudaDeviceSynchronize();
    runtime.open(memory, stream_);
  }
  /// Sets the seed of the order of blocks and threads and of the delay of streams, from the next
  /// work on; 0 is the ascending order. Does nothing on a GPU.
  void reorder(unsigned seed) override { runtime.set_seed(seed); }
  /// Makes the stream and the pool current for this thread, as a framework does before a call:
  /// alloc_tensor() then allocates CUDA memory from the pool, in which freed memory is not reused,
  /// and throws MemoryError if less than the tensor's size is left. Call leave() before the next
  /// enter(), in the same thread. Throws RuntimeError without a host, the host's error, and
  /// std::bad_alloc.
  void enter() override {
    current_ = this;
    guards_ = std::make_unique<Guards>(device(), stream_);
  }
  /// Restores the stream and the allocator that were current before enter(); does nothing without
  /// an enter(). Does not wait. Throws nothing.
  void leave() override { guards_.reset(); }
  /// Deletes the records of the runtime's calls and launches, and returns whether the target is
  /// otherwise in its initial state. Returns false after a fault, if this thread has a last error
  /// of the runtime, if device 0 is not current, if the number of objects (CudaRuntime::live()) has
  /// changed since the constructor, or if the pool was used: the caller then makes a new target.
  /// Throws only std::bad_alloc.
  bool renew() override {
    int current = 0;
    runtime.clear();
    return fault().empty() && cudaPeekAtLastError() == cudaSuccess &&
           cudaGetDevice(&current) == cudaSuccess && current == 0 && runtime.live() == live_ &&
           used_ == 0;
  }
  /// Returns the first of CudaRuntime::faults() since the constructor, such as "scale: block [0, 0,
  /// 0], thread [7, 0, 0]: ..."; on a GPU this thread's last error of the runtime, which stays set.
  /// "" if there is none. Does not wait. Throws only std::bad_alloc.
  std::string fault() override {
    const std::vector<std::string> faults = runtime.faults();
    return faults.empty() ? "" : faults[0];
  }

 private:
  // Sets the stream and the allocator of this thread, as the caller's framework does.
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
