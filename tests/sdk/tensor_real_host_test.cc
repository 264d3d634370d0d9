// SPDX-License-Identifier: Apache-2.0
// Tensors created by tvm_ffi's library: the framework's allocator, and a library that is closed
// before its tensor is released.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "kernkit/cpu/allocator.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/testing/tensor.h"

using SetError = void (*)(void* context, const char* kind, const char* message);
using Allocator = int (*)(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                          SetError set_error);
extern "C" int TVMFFIEnvSetDLPackManagedTensorAllocator(Allocator allocator, int is_global,
                                                        Allocator* previous);

namespace kernkit {
namespace {

using testing::error_of;

constexpr DLDevice kCpu = {kDLCPU, 0};
int allocated, freed;

// An allocator as a framework sets it in the host: allocates CPU memory, and fails for other
// devices.
int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
             SetError set_error) {
  if (prototype->device.device_type != kDLCPU) {
    set_error(context, "MemoryError", "the device is full");
    return -1;
  }
  auto* managed = new DLManagedTensorVersioned{};
  managed->version = {1, 0};
  managed->dl_tensor = *prototype;
  managed->dl_tensor.shape = new int64_t[2]{prototype->shape[0], prototype->shape[1]};
  managed->dl_tensor.data = malloc(4096);
  managed->deleter = [](DLManagedTensorVersioned* self) {
    ++freed;
    free(self->dl_tensor.data);
    delete[] self->dl_tensor.shape;
    delete self;
  };
  ++allocated;
  *out = managed;
  return 0;
}

class RealHost : public ::testing::Test {
 protected:
  RealHost() { TVMFFIEnvSetDLPackManagedTensorAllocator(allocate, 0, nullptr); }
  ~RealHost() override {
    TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 0, nullptr);
    EXPECT_EQ(allocated, freed);
  }
};

TEST_F(RealHost, FrameworkAllocates) {
  {
    const Tensor x = alloc_tensor({4, 8}, dl_float32, kCpu);
    EXPECT_EQ(x.shape(), ShapeView({4, 8}));
    EXPECT_EQ(x.stride(0), 8);
    EXPECT_EQ(x.use_count(), 1u);
    EXPECT_EQ(allocated, 1);
    memset(x.data_ptr(), 1, GetDataSize(x));
    DLManagedTensorVersioned* out = x.ToDLPackVersioned();
    EXPECT_EQ(x.use_count(), 2u);
    out->deleter(out);
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
}

TEST_F(RealHost, FrameworkFails) {
  EXPECT_EQ(error_of([] {
              alloc_tensor({4, 8}, dl_float32, {kDLCUDA, 1});
            }),
            "MemoryError: cannot allocate float32 [4, 8] on cuda:1: the device is full");
}

TEST_F(RealHost, WithoutAFramework) {
  TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 0, nullptr);
  const int before = allocated;
  const Tensor x = alloc_tensor({4, 8}, dl_float32, kCpu);
  EXPECT_TRUE(x.IsAligned(64));
  memset(x.data_ptr(), 1, GetDataSize(x));
  EXPECT_EQ(allocated, before);
  const std::string error = error_of([] { alloc_tensor({4}, dl_float32, {kDLCUDA, 1}); });
  EXPECT_EQ(error.find("RuntimeError: cannot allocate float32 [4] on cuda:1: "), 0u) << error;
}

int64_t call(void* library, const char* name, int64_t n, Tensor* out = nullptr) {
  auto* function = reinterpret_cast<KernkitFunction>(dlsym(library, name));
  KernkitAny arg{}, result{};
  arg.type_index = kKernkitInt;
  arg.v.i64 = n;
  EXPECT_EQ(function(nullptr, &arg, out != nullptr ? 1 : 0, &result), 0);
  if (out != nullptr) *out = Tensor::adopt(result.v.object);
  return result.v.i64;
}

// A tensor can be used and released after dlclose() of its library: the library stays loaded,
// because the tensor's deleter is code of the library.
TEST_F(RealHost, TensorOutlivesItsLibrary) {
  void* library = dlopen(KERNKIT_TENSOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  Tensor x;
  call(library, "__tvm_ffi_make", 100, &x);
  EXPECT_EQ(x.numel(), 100);
  EXPECT_EQ(dlclose(library), 0);
  memset(x.data_ptr(), 1, GetDataSize(x));
  std::thread([last = std::move(x)]() mutable { last = Tensor(); }).join();
  library = dlopen(KERNKIT_TENSOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  EXPECT_EQ(call(library, "__tvm_ffi_count_freed", 0), 1);
}

}  // namespace
}  // namespace kernkit
