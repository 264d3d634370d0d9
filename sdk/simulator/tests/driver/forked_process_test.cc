// SPDX-License-Identifier: Apache-2.0
// Calls of the API in processes that fork() creates, and in threads while the process ends.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "../sanitizers.h"
#include "driver_fixture.h"

namespace kernkit::simulator {
namespace {

constexpr unsigned kMostSeconds = 60;  // a child process that hangs is ended by a signal

/// Runs `work` in a child process, whose exit code is the result of `work`. Returns the code, or -1
/// if a signal ended the process.
int run_in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMostSeconds);
    _exit(work());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class ForkedProcess : public Driver {};

TEST_F(ForkedProcess, TheApiIsUnusableInAChildOfAProcessThatUsesCuda) {
  start();
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
  EXPECT_EQ(run_in_child([] { return cudaMalloc(new void*, 16); }), cudaErrorInitializationError);
  EXPECT_EQ(run_in_child([] {
              (void)cudaSetDevice(0);
              return cudaGetLastError();
            }),
            cudaErrorInitializationError);
  EXPECT_EQ(run_in_child([] { return cuMemAlloc(new CUdeviceptr, 16); }),
            CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(run_in_child([] { return cuInit(0); }), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(run_in_child([] { return cudaRuntimeGetVersion(new int); }), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);  // the parent continues
}

TEST_F(ForkedProcess, AChildOfAProcessThatOnlyReadsVersionsUsesCuda) {
  int version = 0;
  ASSERT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  ASSERT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  ASSERT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_EQ(run_in_child([] {
              void* memory = nullptr;
              char copied = 0;
              if (cudaMalloc(&memory, 16) != cudaSuccess) return 1;
              if (cudaMemset(memory, 7, 16) != cudaSuccess) return 2;
              if (cudaMemcpy(&copied, memory, 1, cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
              return copied == 7 ? 0 : 4;
            }),
            0);
}

TEST_F(ForkedProcess, AChildDoesNotHangIfAnotherThreadCallsDuringTheFork) {
#if defined(TEST_WITH_ASAN)
  GTEST_SKIP() << "AddressSanitizer's allocator may be locked in a child of fork()";
#endif
  start();
  std::atomic<bool> ends{false};
  std::thread caller([&] {
    while (!ends) {
      void* memory = nullptr;
      EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
      EXPECT_EQ(cudaFree(memory), cudaSuccess);
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(run_in_child([] { return cudaDeviceSynchronize(); }), cudaErrorInitializationError);
  }
  ends = true;
  caller.join();
}

TEST_F(ForkedProcess, AProcessEndsWhileItsThreadsCall) {
  for (int i = 0; i < 10; ++i) {
    const int code = run_in_child([&] {
      const CUfunction scale = function((start(), load(kScale)), "scale");
      for (int thread = 0; thread < 3; ++thread) {
        std::thread([scale] {
          (void)cudaSetDevice(0);
          void* x = nullptr;
          unsigned n = 16;
          float factor = 2;
          if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) return;
          if (cudaMemset(x, 0, n * sizeof(float)) != cudaSuccess) return;
          void* arguments[] = {&x, &n, &factor};
          for (;;) (void)cuLaunchKernel(scale, 1, 1, 1, 16, 1, 1, 0, nullptr, arguments, nullptr);
        }).detach();
      }
      usleep(2000 * static_cast<unsigned>(i));
      std::exit(7);
      return 0;
    });
    EXPECT_EQ(code, 7);
  }
}

}  // namespace
}  // namespace kernkit::simulator
