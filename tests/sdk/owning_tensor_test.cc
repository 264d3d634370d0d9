// SPDX-License-Identifier: Apache-2.0
#include "kernkit/owning_tensor.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "kernkit/cpu/allocator.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

constexpr uint64_t kWeak = uint64_t{1} << 32;

// A tensor object with the layout of a host's tensor object. The deleter records its flags in
// `deletions`.
struct TensorObject {
  KernkitObject header;
  DLTensor tensor;
};
std::vector<int> deletions;

TensorObject make(uint64_t ref_counts) {
  deletions.clear();
  TensorObject object{};
  object.header = {ref_counts, kKernkitTensor, 0,
                   [](void*, int flags) { deletions.push_back(flags); }};
  object.tensor.dtype = dl_float32;
  return object;
}

TEST(OwningTensor, Undefined) {
  Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  Tensor copy = tensor;
  EXPECT_FALSE(copy.defined());
  EXPECT_EQ(tensor.detach(), nullptr);
}

TEST(OwningTensor, LastOwnerDeletes) {
  TensorObject object = make(kWeak | 1);
  {
    Tensor tensor = Tensor::adopt(&object.header);
    EXPECT_TRUE(tensor.defined());
    EXPECT_EQ(tensor.use_count(), 1u);
    EXPECT_TRUE(deletions.empty());
  }
  EXPECT_EQ(deletions, std::vector<int>{3});  // flag 3: destroy and free in one call
}

TEST(OwningTensor, ShareAddsAnOwner) {
  TensorObject object = make(kWeak | 1);
  {
    Tensor tensor = Tensor::share(&object.header, "x");
    EXPECT_EQ(tensor.use_count(), 2u);
    EXPECT_EQ(tensor.view().get(), &object.tensor);
    EXPECT_STREQ(TensorView(tensor).name(), "x");
  }
  EXPECT_EQ(object.header.ref_counts, kWeak | 1);
  EXPECT_TRUE(deletions.empty());
}

TEST(OwningTensor, CopyAndMove) {
  TensorObject object = make(kWeak | 1);
  {
    Tensor first = Tensor::adopt(&object.header);
    Tensor copy = first;
    EXPECT_EQ(first.use_count(), 2u);
    Tensor moved = std::move(copy);
    EXPECT_FALSE(copy.defined());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(moved.use_count(), 2u);
    Tensor& self = first;
    first = self;
    EXPECT_EQ(first.use_count(), 2u);
    first = std::move(moved);
    EXPECT_EQ(first.use_count(), 1u);
    first = Tensor();
    EXPECT_EQ(deletions, std::vector<int>{3});
  }
  EXPECT_EQ(deletions, std::vector<int>{3}) << "deleted twice";
}

TEST(OwningTensor, AssignmentReleasesTheOldReference) {
  TensorObject a = make(kWeak | 1), b = make(kWeak | 1);
  Tensor tensor = Tensor::adopt(&a.header);
  tensor = Tensor::adopt(&b.header);
  EXPECT_EQ(deletions, std::vector<int>{3});
  EXPECT_EQ(a.header.ref_counts & (kWeak - 1), 0u);
  EXPECT_EQ(b.header.ref_counts, kWeak | 1);
  tensor.detach();
}

TEST(OwningTensor, DetachKeepsTheReference) {
  TensorObject object = make(kWeak | 1);
  {
    Tensor tensor = Tensor::adopt(&object.header);
    EXPECT_EQ(tensor.detach(), &object.header);
    EXPECT_FALSE(tensor.defined());
  }
  EXPECT_EQ(object.header.ref_counts, kWeak | 1);
  EXPECT_TRUE(deletions.empty());
}

// While a weak reference exists, the object is destroyed but its memory is not freed.
TEST(OwningTensor, WeakReferenceKeepsTheMemory) {
  TensorObject object = make(2 * kWeak | 1);
  { Tensor tensor = Tensor::adopt(&object.header); }
  EXPECT_EQ(deletions, std::vector<int>{1});
  EXPECT_EQ(object.header.ref_counts, kWeak);
}

// If the weak reference is released during destruction, the last owner frees the memory.
TEST(OwningTensor, WeakReferenceGoesDuringDestruction) {
  TensorObject object = make(2 * kWeak | 1);
  object.header.deleter = [](void* self, int flags) {
    deletions.push_back(flags);
    if (flags == 1) static_cast<KernkitObject*>(self)->ref_counts -= kWeak;
  };
  { Tensor tensor = Tensor::adopt(&object.header); }
  EXPECT_EQ(deletions, (std::vector<int>{1, 2}));
  EXPECT_EQ(object.header.ref_counts, 0u);
}

// Without a host, as in this test program, creating a Tensor is an error that suggests loading a
// host.
TEST(OwningTensor, WithoutAHost) {
  using testing::error_of;
  const char* text =
      "RuntimeError: a Tensor is made and exported by a host; found no host in this process; load "
      "a "
      "host first, such as tvm_ffi";
  static int deleted;
  DLManagedTensorVersioned managed{};
  managed.version = {1, 0};
  managed.dl_tensor.dtype = dl_float32;
  managed.dl_tensor.data = &managed;
  managed.deleter = [](DLManagedTensorVersioned*) { ++deleted; };
  DLManagedTensor legacy{};
  legacy.dl_tensor = managed.dl_tensor;
  legacy.deleter = [](DLManagedTensor*) { ++deleted; };
  EXPECT_EQ(error_of([&] { Tensor::FromDLPackVersioned(&managed); }), text);
  EXPECT_EQ(error_of([&] { Tensor::FromDLPack(&legacy); }), text);
  EXPECT_EQ(deleted, 2);
  const DLDevice cpu = {kDLCPU, 0};
  EXPECT_EQ(error_of([&] { Tensor::FromNDAlloc(CPUNDAlloc(), {4}, dl_int8, cpu); }), text);
  EXPECT_EQ(error_of([&] { alloc_tensor({4}, dl_int8, cpu); }), text);
  TensorObject object = make(kWeak | 1);
  const Tensor tensor = Tensor::share(&object.header);
  EXPECT_EQ(error_of([&] { tensor.ToDLPackVersioned(); }), text);
  EXPECT_EQ(error_of([&] { tensor.ToDLPack(); }), text);
}

}  // namespace
}  // namespace kernkit
