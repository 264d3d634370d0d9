// SPDX-License-Identifier: Apache-2.0
// Tensors imported and exported by DLPack: flags, ownership, and rejected tensors.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "host_stub.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using host_stub::host;
using testing::error_of;
using testing::HostTensor;

// The number of calls of the deleter, which frees nothing, because the test owns the structs.
int deleted;
template <class Managed>
void count_deletion(Managed*) {
  ++deleted;
}

class DLPack : public ::testing::Test {
 protected:
  DLPack() {
    host = host_stub::Host();
    deleted = 0;
    managed.version = {1, 0};
    managed.deleter = count_deletion;
    managed.dl_tensor = *x.dl();
    legacy.deleter = count_deletion;
    legacy.dl_tensor = *x.dl();
  }
  ~DLPack() override { EXPECT_EQ(host.tensors, 0) << "a tensor object was not released"; }

  // Returns the error message, and checks that the tensor was released once.
  std::string rejection(size_t alignment = 0, bool contiguous = false) {
    deleted = 0;
    auto text = error_of([&] { Tensor::FromDLPackVersioned(&managed, alignment, contiguous); });
    EXPECT_EQ(deleted, 1) << text;
    return text;
  }

  HostTensor<float> x{{2, 3}, {}, 4.0f};
  DLManagedTensorVersioned managed{};
  DLManagedTensor legacy{};
  DLTensor& dl = managed.dl_tensor;
};

TEST_F(DLPack, ImportOwns) {
  {
    const Tensor tensor = Tensor::FromDLPackVersioned(&managed, 64, true);
    EXPECT_EQ(tensor.data_ptr(), x.begin());
    EXPECT_EQ(tensor.use_count(), 1u);
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
  { EXPECT_EQ(Tensor::FromDLPack(&legacy, 64, true).data<float>(), x.begin()); }
  EXPECT_EQ(deleted, 2);
}

TEST_F(DLPack, WithoutDeleter) {
  managed.deleter = nullptr;
  legacy.deleter = nullptr;
  EXPECT_EQ(Tensor::FromDLPackVersioned(&managed).numel(), 6);
  EXPECT_EQ(Tensor::FromDLPack(&legacy).numel(), 6);
  dl.ndim = legacy.dl_tensor.ndim = -1;
  EXPECT_NE(error_of([&] { Tensor::FromDLPackVersioned(&managed); }), "nothing");
  EXPECT_NE(error_of([&] { Tensor::FromDLPack(&legacy); }), "nothing");
}

TEST_F(DLPack, NullStrides) {
  dl.strides = nullptr;
  const Tensor tensor = Tensor::FromDLPackVersioned(&managed);
  EXPECT_EQ(tensor.stride(0), 3);
  EXPECT_EQ(tensor.stride(-1), 1);
}

TEST_F(DLPack, ByteOffset) {
  dl.data = static_cast<char*>(dl.data) - 8;
  dl.byte_offset = 8;
  const Tensor tensor = Tensor::FromDLPackVersioned(&managed);
  EXPECT_EQ(tensor.data_ptr(), x.begin());
  EXPECT_EQ(tensor.const_data_ptr(), x.begin());
  EXPECT_EQ(tensor.data<const float>(), x.begin());
  EXPECT_EQ(tensor.byte_offset(), 8u);
  EXPECT_TRUE(tensor.IsAligned(64));
}

TEST_F(DLPack, ExportKeepsTheTensorAlive) {
  DLManagedTensorVersioned* out = nullptr;
  DLManagedTensor* old = nullptr;
  {
    const Tensor tensor = Tensor::FromDLPackVersioned(&managed);
    out = tensor.ToDLPackVersioned();
    old = tensor.ToDLPack();
    EXPECT_EQ(tensor.use_count(), 3u);
  }
  EXPECT_EQ(out->version.major, 1u);
  EXPECT_EQ(out->flags, 0u);
  EXPECT_EQ(out->dl_tensor.data, x.begin());
  EXPECT_EQ(old->dl_tensor.data, x.begin());
  out->deleter(out);
  EXPECT_EQ(deleted, 0);
  old->deleter(old);
  EXPECT_EQ(deleted, 1);
}

TEST_F(DLPack, MarksSurvive) {
  for (uint64_t flags = 0; flags < 4; ++flags) {
    managed.flags = flags;
    Tensor moved = Tensor::FromDLPackVersioned(&managed);
    const Tensor tensor = std::move(moved);
    Tensor copy = tensor;
    Tensor assigned;
    assigned = copy;
    for (const Tensor& t : {tensor, copy, assigned}) {
      EXPECT_EQ(t.is_read_only(), (flags & 1) != 0);
      EXPECT_EQ(t.is_copied(), (flags & 2) != 0);
      DLManagedTensorVersioned* out = t.ToDLPackVersioned();
      EXPECT_EQ(out->flags, flags);
      out->deleter(out);
    }
    managed.flags = 0;
    assigned = Tensor::FromDLPackVersioned(&managed);
    EXPECT_FALSE(assigned.is_read_only()) << "the flag of the previous tensor was kept";
  }
}

TEST_F(DLPack, ReadOnlyIsNotWritten) {
  managed.flags = 1;
  const Tensor tensor = Tensor::FromDLPackVersioned(&managed);
  const std::string text =
      "ValueError: tensor: is read-only; read_only_view() and data<const T>() read it";
  EXPECT_EQ(error_of([&] { tensor.view(); }), text);
  EXPECT_EQ(error_of([&] { (void)TensorView(tensor); }), text);
  EXPECT_EQ(error_of([&] { tensor.data_ptr(); }), text);
  EXPECT_EQ(error_of([&] { tensor.data<float>(); }), text);
  EXPECT_EQ(error_of([&] { tensor.ToDLPack(); }),
            "ValueError: tensor: is read-only, which DLPack before 1.0 cannot express; "
            "use ToDLPackVersioned()");
  EXPECT_EQ(tensor.const_data_ptr(), x.begin());
  EXPECT_EQ(tensor.data<const float>()[5], 4.0f);
  EXPECT_EQ(tensor.read_only_view().numel(), 6);
}

TEST_F(DLPack, Undefined) {
  const std::string text = "InternalError: tensor: an undefined Tensor was used";
  const Tensor tensor;
  EXPECT_EQ(tensor.use_count(), 0u);
  EXPECT_EQ(error_of([&] { tensor.view(); }), text);
  EXPECT_EQ(error_of([&] { tensor.numel(); }), text);
  EXPECT_EQ(error_of([&] { tensor.ToDLPack(); }), text);
  EXPECT_EQ(error_of([&] { tensor.ToDLPackVersioned(); }), text);
}

TEST_F(DLPack, UnsupportedVersionsAndFlags) {
  managed.version = {2, 7};
  dl.ndim = -1;  // fields of another major version must not be read
  EXPECT_EQ(rejection(),
            "ValueError: DLPack tensor: version 2.7 is not supported; this library supports 1.x");
  managed.version = {0, 9};
  EXPECT_EQ(rejection(),
            "ValueError: DLPack tensor: version 0.9 is not supported; this library supports 1.x");
  managed.version = {1, 99};
  dl.ndim = 2;
  managed.flags = 5;
  EXPECT_EQ(
      rejection(),
      "ValueError: DLPack tensor: elements are padded to whole bytes; expected packed elements");
  managed.flags = 9;
  EXPECT_EQ(rejection(), "ValueError: DLPack tensor: flags 9 are not supported");
  managed.flags = 0;
  EXPECT_EQ(Tensor::FromDLPackVersioned(&managed).numel(), 6)
      << "a later minor version is accepted";
}

TEST_F(DLPack, RejectedTensors) {
  const DLTensor good = dl;
  int64_t shape[] = {2, -3}, strides[] = {INT64_MAX, 1};
  dl.dtype.bits = 0;
  EXPECT_EQ(rejection(), "TypeError: DLPack tensor: dtype float0 has no bits");
  dl = good;
  dl.dtype.lanes = 0;
  EXPECT_EQ(rejection(), "TypeError: DLPack tensor: dtype float32x0 has no bits");
  dl = good;
  dl.ndim = -1;
  EXPECT_EQ(rejection(), "ValueError: DLPack tensor: ndim is -1");
  dl = good;
  dl.shape = nullptr;
  EXPECT_EQ(rejection(), "ValueError: DLPack tensor: shape is null, ndim is 2");
  dl = good;
  dl.data = nullptr;
  EXPECT_EQ(rejection(), "ValueError: DLPack tensor: data is null, shape is [2, 3]");
  dl = good;
  dl.shape = shape;
  EXPECT_EQ(rejection(),
            "ValueError: DLPack tensor: shape [2, -3] has a negative size or more than 2^63 - 1 "
            "elements");
  dl = good;
  dl.data = reinterpret_cast<void*>(0x1000);
  dl.byte_offset = 2;
  EXPECT_EQ(rejection(),
            "ValueError: DLPack tensor: data at 0x1002 is not aligned to float32 (4 bytes)");
  dl.byte_offset = 4;
  EXPECT_EQ(rejection(64), "ValueError: DLPack tensor: data at 0x1004 is not aligned to 64 bytes");
  dl.strides = strides;
  EXPECT_EQ(rejection(),
            "ValueError: DLPack tensor: float32 [2, 3] strides [9223372036854775807, 1] at 0x1000 "
            "+ 4 has elements beyond the address space");
  strides[0] = 4;
  EXPECT_EQ(rejection(0, true),
            "ValueError: DLPack tensor: float32 [2, 3] strides [4, 1] is not contiguous");
  EXPECT_EQ(error_of([&] { Tensor::FromDLPackVersioned(nullptr); }),
            "ValueError: DLPack tensor: the pointer is null");
  EXPECT_EQ(error_of([&] { Tensor::FromDLPack(nullptr); }),
            "ValueError: DLPack tensor: the pointer is null");
}

// For devices that use handles instead of addresses, only the alignment of the offset is checked.
TEST_F(DLPack, Handles) {
  dl.device = {kDLVulkan, 0};
  dl.data = reinterpret_cast<void*>(0x1001);
  EXPECT_EQ(Tensor::FromDLPackVersioned(&managed, 64).numel(), 6);
  dl.byte_offset = 6;
  EXPECT_NE(rejection(), "nothing");
}

TEST_F(DLPack, HostFails) {
  host.fails = true;
  EXPECT_EQ(rejection(), "RuntimeError: cannot import a DLPack tensor: no");
  host.fails = false;
  const Tensor tensor = Tensor::FromDLPackVersioned(&managed);
  host.fails = true;
  EXPECT_EQ(error_of([&] { tensor.ToDLPackVersioned(); }),
            "RuntimeError: cannot export a tensor: no");
  EXPECT_EQ(error_of([&] { tensor.ToDLPack(); }), "RuntimeError: cannot export a tensor: no");
}

}  // namespace
}  // namespace kernkit
