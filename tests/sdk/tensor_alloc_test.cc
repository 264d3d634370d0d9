// SPDX-License-Identifier: Apache-2.0
// Allocated tensors: FromEnvAlloc, FromNDAlloc, CPUNDAlloc.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "host_stub.h"
#include "kernkit/cpu/allocator.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/testing/tensor.h"

// Makes AddressSanitizer return null for an allocation that is too large, like the C library.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace kernkit {
namespace {

using host_stub::host;
using testing::error_of;

constexpr DLDevice kCpu = {kDLCPU, 0};

class TensorAlloc : public ::testing::Test {
 protected:
  TensorAlloc() {
    host = host_stub::Host();
    allocated = freed = 0;
  }
  ~TensorAlloc() override {
    EXPECT_EQ(host.tensors, 0) << "a tensor object was not released";
    EXPECT_EQ(allocated, freed) << "memory was not freed";
  }

 public:
  static inline int allocated = 0, freed = 0;
};

// A user's allocator that counts its allocations.
struct Counted {
  void AllocData(DLTensor* tensor) {
    tensor->data = malloc(GetDataSize(*tensor));
    ++TensorAlloc::allocated;
  }
  void FreeData(DLTensor* tensor) {
    free(tensor->data);
    ++TensorAlloc::freed;
  }
};

std::vector<int64_t> list(const StridesView& strides) {
  std::vector<int64_t> result;
  for (const int64_t stride : strides) result.push_back(stride);
  return result;
}

TEST_F(TensorAlloc, FromEnvAlloc) {
  const Tensor x = alloc_tensor({4, 8}, dl_float32, {kDLCUDA, 1});
  EXPECT_EQ(x.shape(), ShapeView({4, 8}));
  EXPECT_EQ(x.dtype(), dl_float32);
  EXPECT_EQ(x.device(), (DLDevice{kDLCUDA, 1}));
  EXPECT_EQ(x.use_count(), 1u);
  EXPECT_EQ(Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, {3}, dl_int8, kCpu).numel(), 3);
  EXPECT_EQ(alloc_tensor({}, dl_int8, kCpu).ndim(), 0);
}

TEST_F(TensorAlloc, FrameworkFails) {
  host.fails = true;
  EXPECT_EQ(error_of([] {
              alloc_tensor({4, 8}, dl_float16, {kDLCUDA, 1});
            }),
            "MemoryError: cannot allocate float16 [4, 8] on cuda:1: the framework has none");
  EXPECT_EQ(host.released, 1) << "the host's error was read and not released";
}

TEST_F(TensorAlloc, WithoutAFramework) {
  host.has_allocator = false;
  const Tensor x = alloc_tensor({100, 3}, dl_float32, kCpu);
  EXPECT_TRUE(x.IsAligned(64));
  memset(x.data_ptr(), 1, GetDataSize(x));
  EXPECT_EQ(error_of([] {
              alloc_tensor({4}, dl_int8, {kDLCUDA, 0});
            }),
            "RuntimeError: cannot allocate int8 [4] on cuda:0: no allocator");
  EXPECT_NE(error_of([] { Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, {4}, dl_int8, kCpu); }),
            "nothing");
}

TEST_F(TensorAlloc, FromNDAlloc) {
  {
    const Tensor x = Tensor::FromNDAlloc(Counted(), {2, 3}, dl_float32, kCpu);
    EXPECT_EQ(x.shape(), ShapeView({2, 3}));
    EXPECT_EQ(list(x.strides()), (std::vector<int64_t>{3, 1}));
    for (int64_t i = 0; i < 6; ++i) x.data<float>()[i] = 1.0f;
    const Tensor copy = x;
    EXPECT_EQ(copy.use_count(), 2u);
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
}

TEST_F(TensorAlloc, ShapesOfEveryKind) {
  const int64_t sizes[] = {5};
  EXPECT_EQ(Tensor::FromNDAlloc(Counted(), sizes, dl_int8, kCpu).numel(), 5);
  EXPECT_EQ(Tensor::FromNDAlloc(Counted(), {}, dl_int8, kCpu).numel(), 1);
  EXPECT_EQ(Tensor::FromNDAlloc(Counted(), {0, 8}, dl_int8, kCpu).numel(), 0);
  EXPECT_EQ(Tensor::FromNDAlloc(Counted(), {8, 0}, dl_int8, kCpu).size(0), 8);
}

// An allocator with additional arguments, which FromNDAlloc() passes to AllocData() unchanged.
struct WithArguments {
  void AllocData(DLTensor* tensor, std::unique_ptr<int> moved, int* reference) {
    tensor->data = moved.release();
    ++*reference;
  }
  void FreeData(DLTensor* tensor) { delete static_cast<int*>(tensor->data); }
};

TEST_F(TensorAlloc, ExtraArguments) {
  int calls = 0;
  auto memory = std::make_unique<int>(7);
  Tensor x = Tensor::FromNDAlloc(WithArguments(), {1}, dl_int32, kCpu, std::move(memory), &calls);
  EXPECT_EQ(*x.data<int32_t>(), 7);
  EXPECT_EQ(calls, 1);
}

TEST_F(TensorAlloc, Strided) {
  const Tensor x = Tensor::FromNDAllocStrided(Counted(), {2, 3}, {1, 2}, dl_float32, kCpu);
  EXPECT_EQ(list(x.strides()), (std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(x.is_contiguous());
  EXPECT_EQ(Tensor::FromNDAllocStrided(Counted(), {2, 0}, {9, -9}, dl_int8, kCpu).numel(), 0);
  EXPECT_EQ(Tensor::FromNDAllocStrided(Counted(), {1, 4}, {99, 1}, dl_int8, kCpu).stride(0), 99);
  EXPECT_EQ(Tensor::FromNDAllocStrided(Counted(), {}, {}, dl_int8, kCpu).numel(), 1);
}

TEST_F(TensorAlloc, StridesThatLeaveTheMemory) {
  const auto error = [](ShapeView shape, ShapeView strides) {
    return error_of([&] { Tensor::FromNDAllocStrided(Counted(), shape, strides, dl_int8, kCpu); });
  };
  EXPECT_EQ(error({2, 3}, {1}), "ValueError: strides [1] do not match shape [2, 3]");
  EXPECT_EQ(error({2}, {}), "ValueError: strides [] do not match shape [2]");
  EXPECT_EQ(error({2, 3}, {4, 1}),
            "ValueError: strides [4, 1] of shape [2, 3] reach outside of its 6 elements");
  EXPECT_EQ(error({2, 3}, {-3, 1}),
            "ValueError: strides [-3, 1] of shape [2, 3] reach outside of its 6 elements");
  EXPECT_EQ(error({3, 2}, {INT64_MAX, 1}),
            "ValueError: strides [9223372036854775807, 1] of shape [3, 2] reach outside of its 6 "
            "elements");
  EXPECT_EQ(allocated, 0);
}

TEST_F(TensorAlloc, SizesThatDoNotFit) {
  const int64_t big = int64_t{1} << 40;
  const auto error = [](ShapeView shape, DLDataType dtype) {
    const std::string nd = error_of([&] { Tensor::FromNDAlloc(Counted(), shape, dtype, kCpu); });
    EXPECT_EQ(error_of([&] { alloc_tensor(shape, dtype, kCpu); }), nd);
    return nd;
  };
  EXPECT_EQ(error({big, big}, dl_int8),
            "ValueError: shape [1099511627776, 1099511627776] of int8 has a negative size or more "
            "than 2^63 - 1 bytes");
  EXPECT_EQ(error({-1}, dl_float32),
            "ValueError: shape [-1] of float32 has a negative size or more than 2^63 - 1 bytes");
  EXPECT_EQ(error({-1, 0}, dl_float32),
            "ValueError: shape [-1, 0] of float32 has a negative size or more than 2^63 - 1 bytes");
  EXPECT_EQ(error({int64_t{1} << 60}, dl_float64),
            "ValueError: shape [1152921504606846976] of float64 has a negative size or more than "
            "2^63 - 1 bytes");
  EXPECT_EQ(error({1}, {kDLFloat, 32, 0}), "TypeError: dtype float32x0 has no bits");
  EXPECT_EQ(allocated, 0);
}

struct Failing {
  void AllocData(DLTensor*) { throw std::runtime_error("no luck"); }
  void FreeData(DLTensor*) { ADD_FAILURE() << "nothing was allocated"; }
  std::shared_ptr<int> member = std::make_shared<int>();  // leaked unless ~Failing() runs
};
TEST_F(TensorAlloc, AllocatorThrows) {
  EXPECT_THROW(Tensor::FromNDAlloc(Failing(), {4}, dl_int8, kCpu), std::runtime_error);
}

struct Nothing {
  void AllocData(DLTensor*) {}
  void FreeData(DLTensor*) {}
  std::shared_ptr<int> member = std::make_shared<int>();
};
TEST_F(TensorAlloc, AllocatorGivesNothing) {
  EXPECT_EQ(error_of([] {
              Tensor::FromNDAlloc(Nothing(), {4, 8}, dl_float32, kCpu);
            }),
            "MemoryError: cannot allocate 128 bytes on cpu for float32 [4, 8]");
  EXPECT_EQ(Tensor::FromNDAlloc(Nothing(), {4, 0}, dl_float32, kCpu).numel(), 0);
}

TEST_F(TensorAlloc, HostFails) {
  host.fails = true;
  EXPECT_EQ(error_of([] { Tensor::FromNDAlloc(Counted(), {4}, dl_int8, kCpu); }),
            "RuntimeError: cannot import a DLPack tensor: no");
  EXPECT_EQ(allocated, freed);
}

struct Throwing : Counted {
  void FreeData(DLTensor* tensor) {
    Counted::FreeData(tensor);
    throw std::runtime_error("while the last owner goes");
  }
};
TEST_F(TensorAlloc, ExceptionsOfFreeDataAreDropped) {
  Tensor::FromNDAlloc(Throwing(), {4}, dl_int8, kCpu);
  EXPECT_EQ(allocated, freed);
}

TEST_F(TensorAlloc, CpuMemoryIsAligned) {
  for (int64_t n = 1; n < 300; ++n) {
    const Tensor x = Tensor::FromNDAlloc(CPUNDAlloc(), {n}, dl_uint8, kCpu);
    EXPECT_TRUE(x.IsAligned(64));
    memset(x.data_ptr(), 1, static_cast<size_t>(n));
  }
  EXPECT_EQ(Tensor::FromNDAlloc(CPUNDAlloc(), {3, 0}, dl_int8, kCpu).data_ptr(), nullptr);
}

TEST_F(TensorAlloc, CpuMemoryIsRejected) {
  EXPECT_EQ(error_of([] {
              Tensor::FromNDAlloc(CPUNDAlloc(), {2}, dl_int8, {kDLCUDA, 1});
            }),
            "ValueError: CPUNDAlloc: device cuda:1 is not the CPU");
  // The size exceeds the address space.
  EXPECT_EQ(error_of([] { Tensor::FromNDAlloc(CPUNDAlloc(), {INT64_MAX}, dl_int8, kCpu); }),
            "MemoryError: cannot allocate 9223372036854775807 bytes on cpu for int8 "
            "[9223372036854775807]");
}

TEST_F(TensorAlloc, DataSize) {
  constexpr DLDataType kFloat4 = make_dtype(DTypeCode::kFloat4E2M1FN, 4);
  EXPECT_EQ(GetDataSize(0, dl_float64), 0u);
  EXPECT_EQ(GetDataSize(3, dl_float64), 24u);
  EXPECT_EQ(GetDataSize(1, kFloat4), 1u);
  EXPECT_EQ(GetDataSize(5, kFloat4), 3u);
  EXPECT_EQ(GetDataSize(8, make_dtype(DTypeCode::kFloat6E3M2FN, 6)), 6u);
  EXPECT_EQ(GetDataSize(9, make_dtype(DTypeCode::kFloat6E3M2FN, 6)), 7u);
  EXPECT_EQ(GetDataSize(3, make_dtype(DTypeCode::kBool, 1)), 1u);
  EXPECT_EQ(GetDataSize(3, make_dtype(DTypeCode::kFloat, 32, 4)), 48u);
  // The number of bits exceeds 64 bits, but the number of bytes does not.
  EXPECT_EQ(GetDataSize(INT64_MAX, kFloat4), uint64_t{1} << 62);
  EXPECT_EQ(error_of([] { GetDataSize(INT64_MAX / 4 + 1, dl_float32); }),
            "ValueError: 2305843009213693952 elements of float32 take more than 2^63 - 1 bytes");
  const Tensor x = Tensor::FromNDAlloc(CPUNDAlloc(), {5, 3}, kFloat4, kCpu);
  EXPECT_EQ(GetDataSize(x), 8u);
  EXPECT_EQ(GetDataSize(*x.get()), 8u);
  EXPECT_EQ(GetDataSize(x.view()), 8u);
  memset(x.data_ptr(), 1, 8);
}

}  // namespace
}  // namespace kernkit
