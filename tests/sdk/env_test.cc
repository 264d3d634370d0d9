// SPDX-License-Identifier: Apache-2.0
// Tests of current streams and of allocation by the host. Compiled twice: against kernkit's
// runtime, and against the real tvm_ffi.
#include "kernkit/env.h"

#include <gtest/gtest.h>

#include <thread>

#include "kernkit/owning_tensor.h"
#include "kernkit/testing/tensor.h"
#if !defined(KERNKIT_REAL_HOST)
#include "kernkit/host/runtime.h"
#endif

namespace kernkit {
namespace {

using testing::error_of;

constexpr DLDevice kCuda0{kDLCUDA, 0}, kCuda1{kDLCUDA, 1};
void* stream(int i) {
  return reinterpret_cast<void*>(uintptr_t{0x1000} * static_cast<uintptr_t>(i));
}

TEST(Env, StreamIsOneOfThreadAndDevice) {
  EXPECT_EQ(current_stream(kCuda0), nullptr);
  EXPECT_EQ(set_current_stream(kCuda0, stream(1)), nullptr);
  EXPECT_EQ(set_current_stream(kCuda1, stream(2)), nullptr);
  EXPECT_EQ(current_stream(kCuda0), stream(1));
  EXPECT_EQ(current_stream(kCuda1), stream(2));
  EXPECT_EQ(current_stream({kDLROCM, 0}), nullptr);
  std::thread([] { EXPECT_EQ(current_stream(kCuda0), nullptr); }).join();
  EXPECT_EQ(set_current_stream(kCuda0, nullptr), stream(1));
  EXPECT_EQ(set_current_stream(kCuda1, nullptr), stream(2));
  EXPECT_EQ(current_stream(kCuda0), nullptr);
}

// [streams]
TEST(Env, StreamGuardsNest) {
  {
    const StreamGuard outer(kCuda0, stream(1));
    try {
      const StreamGuard inner(kCuda0, stream(2));
      const StreamGuard other(kCuda1, stream(3));
      EXPECT_EQ(current_stream(kCuda0), stream(2));
      throw 1;
    } catch (int) {
    }
    EXPECT_EQ(current_stream(kCuda0), stream(1));
    EXPECT_EQ(current_stream(kCuda1), nullptr);
  }
  EXPECT_EQ(current_stream(kCuda0), nullptr);
}
// [/streams]

TEST(Env, StreamOfNoDevice) {
  EXPECT_EQ(error_of([] {
              set_current_stream({kDLCUDA, -1}, stream(1));
            }),
            "ValueError: set_current_stream: device cuda:-1 has a negative id");
}

// [allocator]
int calls = 0;
int reject(DLTensor*, DLManagedTensorVersioned**, void* context,
           void (*set_error)(void*, const char*, const char*)) {
  ++calls;
  set_error(context, "MemoryError", "not today");
  return -1;
}

TEST(Env, AllocatorIsUsedWhileItsGuardLives) {
  const TensorAllocator before = current_allocator();
  {
    const AllocatorGuard guard(reject);
    EXPECT_EQ(current_allocator(), &reject);
    EXPECT_EQ(error_of([] {
                alloc_tensor({4}, dl_float32, {kDLCPU, 0});
              }),
              "MemoryError: cannot allocate float32 [4] on cpu: not today");
    EXPECT_EQ(calls, 1);
    const AllocatorGuard none(nullptr);
    EXPECT_EQ(current_allocator(), before);
  }
  EXPECT_EQ(current_allocator(), before);
  EXPECT_EQ(alloc_tensor({4}, dl_float32, {kDLCPU, 0}).numel(), 4);
  EXPECT_EQ(calls, 1);
}
// [/allocator]

}  // namespace
}  // namespace kernkit
