// SPDX-License-Identifier: Apache-2.0
// Copies and fills: each call checks its range against the allocations.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernkit/simulator/runtime.h"
#include "sanitizers.h"

namespace kernkit::simulator {
namespace {

constexpr size_t kBytes = 1000;  // size of the allocation [bytes]

class CudaCopies : public ::testing::Test {
 protected:
  CudaCopies() : host_(4096, 7) {
    cudaMalloc(&device_, kBytes);
    cudaStreamCreate(&stream_);
  }
  /// Returns the report about a call that returned `error`. Expects that `error` is
  /// cudaErrorInvalidValue and that the device has no error.
  std::string sentence(cudaError_t error) {
    EXPECT_EQ(error, cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const std::vector<std::string> all = runtime_.faults();
    const std::string text =
        all.size() == num_faults_ + 1 ? all.back() : std::to_string(all.size());
    num_faults_ = all.size();
    return text;
  }

  CudaRuntime runtime_;
  std::vector<unsigned char> host_;
  char* device_ = nullptr;
  cudaStream_t stream_ = nullptr;
  size_t num_faults_ = 0;
};

TEST_F(CudaCopies, PastTheEnd) {
  EXPECT_EQ(sentence(cudaMemcpy(device_, host_.data(), 1004, cudaMemcpyHostToDevice)),
            "cudaMemcpy(): dst: 1004 bytes at byte 0 of an allocation of 1000 bytes end 4 bytes "
            "past its end");
  EXPECT_EQ(sentence(cudaMemcpy(host_.data(), device_ + 996, 8, cudaMemcpyDeviceToHost)),
            "cudaMemcpy(): src: 8 bytes at byte 996 of an allocation of 1000 bytes end 4 bytes "
            "past its end");
  EXPECT_EQ(host_, std::vector<unsigned char>(4096, 7)) << "nothing was copied";
  EXPECT_EQ(sentence(cudaMemcpy(host_.data(), device_, 1001, cudaMemcpyDefault)),
            "cudaMemcpy(): src: 1001 bytes at byte 0 of an allocation of 1000 bytes end 1 byte "
            "past its end");
  EXPECT_EQ(
      sentence(cudaMemcpyAsync(device_, host_.data(), SIZE_MAX, cudaMemcpyHostToDevice, stream_)),
      "cudaMemcpyAsync(): dst: 18446744073709551615 bytes at byte 0 of an allocation of "
      "1000 bytes end 18446744073709550615 bytes past its end");
  EXPECT_EQ(sentence(cudaMemset(device_ + 1, 0, kBytes)),
            "cudaMemset(): devPtr: 1000 bytes at byte 1 of an allocation of 1000 bytes end 1 byte "
            "past its end");
  EXPECT_EQ(sentence(cudaMemsetAsync(device_, 0, 1004, stream_)),
            "cudaMemsetAsync(): devPtr: 1004 bytes at byte 0 of an allocation of 1000 bytes end 4 "
            "bytes past its end");
  EXPECT_EQ(cudaMemset(device_, 0, kBytes), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host_.data(), device_, kBytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(host_[999], 0);
  EXPECT_EQ(host_[1000], 7);
}

TEST_F(CudaCopies, BothSidesOfACopyOnTheDevice) {
  char* other = nullptr;
  cudaMalloc(&other, 500);
  EXPECT_EQ(sentence(cudaMemcpyAsync(other, device_, 504, cudaMemcpyDeviceToDevice, stream_)),
            "cudaMemcpyAsync(): dst: 504 bytes at byte 0 of an allocation of 500 bytes end 4 bytes "
            "past its end");
  EXPECT_EQ(sentence(cudaMemcpyAsync(device_, other, 504, cudaMemcpyDefault, stream_)),
            "cudaMemcpyAsync(): src: 504 bytes at byte 0 of an allocation of 500 bytes end 4 bytes "
            "past its end");
  EXPECT_EQ(cudaMemcpyAsync(other, device_, 500, cudaMemcpyDeviceToDevice, stream_), cudaSuccess);
}

TEST_F(CudaCopies, MemoryOfTheHostIsNoMemoryOfADevice) {
  EXPECT_EQ(sentence(cudaMemcpy(host_.data(), host_.data() + 8, 4, cudaMemcpyHostToDevice)),
            "cudaMemcpy(): dst: 4 bytes that are in no allocation");
  EXPECT_EQ(sentence(cudaMemcpy(host_.data(), host_.data() + 8, 4, cudaMemcpyDeviceToHost)),
            "cudaMemcpy(): src: 4 bytes that are in no allocation");
  EXPECT_EQ(sentence(cudaMemset(host_.data(), 0, 4)),
            "cudaMemset(): devPtr: 4 bytes that are in no allocation");
  EXPECT_EQ(sentence(cudaMemset(nullptr, 0, 4)), "cudaMemset(): devPtr: 4 bytes at a null pointer");
  EXPECT_EQ(sentence(cudaMemcpy(nullptr, device_, 4, cudaMemcpyDeviceToHost)),
            "cudaMemcpy(): dst: 4 bytes at a null pointer");
  EXPECT_EQ(cudaMemcpy(host_.data(), host_.data() + 8, 4, cudaMemcpyHostToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host_.data(), host_.data() + 8, 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset(nullptr, 0, 0), cudaSuccess);
  EXPECT_EQ(runtime_.faults().size(), num_faults_);
  EXPECT_EQ(cudaMemcpy(device_, host_.data(), 4, static_cast<cudaMemcpyKind>(7)),
            cudaErrorInvalidMemcpyDirection);
}

TEST_F(CudaCopies, PinnedAndManagedMemoryHaveBounds) {
  char *pinned = nullptr, *managed = nullptr;
  cudaMallocHost(reinterpret_cast<void**>(&pinned), 100);
  cudaMallocManaged(reinterpret_cast<void**>(&managed), 100, cudaMemAttachGlobal);
  for (char* memory : {pinned, managed}) {
    EXPECT_EQ(sentence(cudaMemcpy(memory, device_, 104, cudaMemcpyDeviceToHost)),
              "cudaMemcpy(): dst: 104 bytes at byte 0 of an allocation of 100 bytes end 4 bytes "
              "past its end");
    EXPECT_EQ(sentence(cudaMemcpyAsync(device_, memory + 1, 100, cudaMemcpyHostToDevice, stream_)),
              "cudaMemcpyAsync(): src: 100 bytes at byte 1 of an allocation of 100 bytes end 1 "
              "byte past its end");
    EXPECT_EQ(cudaMemcpy(memory, device_, 100, cudaMemcpyDeviceToHost), cudaSuccess);
  }
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
}

TEST_F(CudaCopies, ManagedMemoryHasASizeAndFlags) {
  int host = 0;
  void* managed = &host;
  EXPECT_EQ(cudaMallocManaged(&managed, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
  for (const unsigned flags : {0u, 3u, 4u}) {
    EXPECT_EQ(cudaMallocManaged(&managed, 4, flags), cudaErrorInvalidValue) << flags;
  }
  EXPECT_EQ(managed, &host);  // a rejected call does not change the pointer
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  for (const unsigned flags : {1u, 2u}) {  // cudaMemAttachGlobal, cudaMemAttachHost
    EXPECT_EQ(cudaMallocManaged(&managed, 4, flags), cudaSuccess) << flags;
    EXPECT_EQ(cudaFree(managed), cudaSuccess);
  }
}

TEST_F(CudaCopies, FreedMemory) {
  cudaFree(device_);
  EXPECT_EQ(
      sentence(cudaMemset(device_, 0, 4)),
      "cudaMemset(): devPtr: 4 bytes at byte 0 of an allocation of 1000 bytes by cudaMalloc() that "
      "cudaFree() freed");
  EXPECT_EQ(
      sentence(cudaMemcpy(host_.data(), device_ + 8, 4, cudaMemcpyDeviceToHost)),
      "cudaMemcpy(): src: 4 bytes at byte 8 of an allocation of 1000 bytes by cudaMalloc() that "
      "cudaFree() freed");
  EXPECT_EQ(
      sentence(cudaFree(device_)),
      "cudaFree(): devPtr: byte 0 of an allocation of 1000 bytes by cudaMalloc() that cudaFree() "
      "freed");
}

TEST_F(CudaCopies, MemoryFreedInAStream) {
  for (const unsigned seed : {0u, 3u}) {
    runtime_.set_seed(seed);
    char* memory = nullptr;
    cudaMallocAsync(reinterpret_cast<void**>(&memory), 100, stream_);
    EXPECT_EQ(cudaMemsetAsync(memory, 0, 100, stream_), cudaSuccess);
    EXPECT_EQ(sentence(cudaMemsetAsync(memory, 0, 101, stream_)),
              "cudaMemsetAsync(): devPtr: 101 bytes at byte 0 of an allocation of 100 bytes end 1 "
              "byte past its end");
    EXPECT_EQ(cudaFreeAsync(memory, stream_), cudaSuccess);
    EXPECT_EQ(sentence(cudaMemsetAsync(memory, 0, 4, stream_)),
              "cudaMemsetAsync(): devPtr: 4 bytes at byte 0 of an allocation of 100 bytes by "
              "cudaMallocAsync() that cudaFreeAsync() freed");
    EXPECT_EQ(
        sentence(cudaFreeAsync(memory, stream_)),
        "cudaFreeAsync(): devPtr: byte 0 of an allocation of 100 bytes by cudaMallocAsync() that "
        "cudaFreeAsync() freed");
  }
}

TEST_F(CudaCopies, WhatCannotBeFreed) {
  char* pinned = nullptr;
  cudaMallocHost(reinterpret_cast<void**>(&pinned), 100);
  EXPECT_EQ(sentence(cudaFree(device_ + 8)),
            "cudaFree(): devPtr: byte 8 of an allocation of 1000 bytes; expected its first byte");
  EXPECT_EQ(sentence(cudaFree(host_.data())), "cudaFree(): devPtr: an address in no allocation");
  EXPECT_EQ(sentence(cudaFree(pinned)),
            "cudaFree(): devPtr: memory of the host; use cudaFreeHost()");
  EXPECT_EQ(sentence(cudaFreeHost(device_)),
            "cudaFreeHost(): ptr: memory of a device; use cudaFree()");
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(device_), cudaSuccess);
}

// A copy checks the host pointer too. An address that cudaFree() released cannot be host memory,
// since malloc() never returns such an address.
TEST_F(CudaCopies, FreedMemoryIsNoMemoryOfTheHost) {
#if defined(TEST_WITH_ASAN) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "AddressSanitizer reports the access first";
#endif
  char* other = nullptr;
  cudaMalloc(&other, 100);
  cudaFree(other);
  EXPECT_EQ(
      sentence(cudaMemcpy(other, device_, 4, cudaMemcpyDeviceToHost)),
      "cudaMemcpy(): dst: 4 bytes at byte 0 of an allocation of 100 bytes by cudaMalloc() that "
      "cudaFree() freed");
  EXPECT_EQ(
      sentence(cudaMemcpy(device_, other, 4, cudaMemcpyDefault)),
      "cudaMemcpy(): src: 4 bytes at byte 0 of an allocation of 100 bytes by cudaMalloc() that "
      "cudaFree() freed");
  EXPECT_EQ(sentence(cudaMemcpy(device_ - 8, device_, 4, cudaMemcpyDeviceToHost)).substr(0, 26),
            "cudaMemcpy(): dst: 4 bytes");
}

// The call of a captured copy checks the range of the memory; each launch of the graph checks that
// the memory is still allocated.
TEST_F(CudaCopies, InAGraph) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  char* other = nullptr;
  cudaMalloc(&other, 500);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(device_, other, 504, cudaMemcpyDeviceToDevice, stream_),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(device_, 0, 1004, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(device_, other, 500, cudaMemcpyDeviceToDevice, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(runtime_.faults().size(), 2u);
  cudaFree(other);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorIllegalAddress);
  ASSERT_EQ(runtime_.faults().size(), 3u);
  EXPECT_EQ(runtime_.faults()[2],
            "cudaMemcpyAsync(): src: 500 bytes at byte 0 of an allocation of 500 bytes that was "
            "freed before the copy ran");
}

}  // namespace
}  // namespace kernkit::simulator
