// SPDX-License-Identifier: Apache-2.0
// Every accessor, import and export on random DLPack tensors (dlpack_generator.h). Built twice:
// against a stub of the host, and against libtvm_ffi if its wheel is installed.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "dlpack_faults.h"
#include "kernkit/cpu/allocator.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/testing/tensor.h"
#if !defined(KERNKIT_REAL_HOST)
#include "host_stub.h"
#endif

namespace kernkit {
namespace {

using generator::Rng;
using generator::Sample;
using testing::error_of;

constexpr int kRounds = 1000;
int deletions;
std::map<std::string, int> counts;

template <class Managed>
Managed managed(const Sample& s) {
  Managed result{};
  result.dl_tensor = s.dl;
  result.deleter = [](Managed*) { ++deletions; };
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    result.version = s.version;
    result.flags = s.flags;
  }
  return result;
}

// Checks the properties that TensorView and Tensor share against those of the sample.
template <class T>
void compare(const T& x, const Sample& s) {
  const auto rank = static_cast<int64_t>(s.shape.size());
  ASSERT_EQ(x.ndim(), rank);
  ASSERT_EQ(x.dim(), rank);
  ASSERT_TRUE(x.dtype() == s.dtype.dtype);
  ASSERT_TRUE(x.device() == s.device);
  ASSERT_EQ(x.byte_offset(), s.dl.byte_offset);
  ASSERT_EQ(x.sizes(), ShapeView(s.shape.data(), s.shape.size()));
  ASSERT_EQ(x.shape(), x.sizes());
  ASSERT_EQ(x.strides().size(), s.shape.size());
  for (int64_t i = 0; i < rank; ++i) {
    const auto at = static_cast<size_t>(i);
    ASSERT_EQ(x.size(i), s.shape[at]);
    ASSERT_EQ(x.size(i - rank), s.shape[at]);
    ASSERT_EQ(x.strides()[at], s.strides[at]);
    ASSERT_EQ(x.stride(i), s.strides[at]);
    ASSERT_EQ(x.stride(i - rank), s.strides[at]);
  }
  ASSERT_EQ(error_of([&] { x.size(rank); }).substr(0, 10), "IndexError");
  ASSERT_EQ(error_of([&] { x.stride(-rank - 1); }).substr(0, 10), "IndexError");
  counts["index out of range"] += 2;
  ASSERT_TRUE(x.numel() == s.numel());
  ASSERT_EQ(x.is_contiguous(), s.is_contiguous());
  ASSERT_EQ(x.IsContiguous(), s.is_contiguous());
  const char* wrong = s.dtype.dtype.code == 2 ? "int8" : "float32";
  const std::string text = error_of([&] {
    s.dtype.dtype.code == 2 ? (void)x.template data<const int8_t>()
                            : (void)x.template data<const float>();
  });
  ASSERT_NE(text.find(std::string(" was read as ") + wrong), std::string::npos) << text;
  ++counts["data of another type"];
  if (s.data_size() <= INT64_MAX) {
    ASSERT_TRUE(GetDataSize(x) == s.data_size());
  } else {
    ASSERT_NE(error_of([&] { GetDataSize(x); }).find("more than 2^63 - 1 bytes"),
              std::string::npos);
    ++counts["bytes overflow"];
  }
}

void compare_elements(const void* data, const Sample& s) {
  ASSERT_EQ(reinterpret_cast<uintptr_t>(data), s.address);
  if (s.device.device_type != kDLCPU || s.is_huge || s.bits() % 8 != 0) return;
  const auto* bytes = static_cast<const unsigned char*>(data);
  const int64_t first = bytes - generator::arena.bytes;
  s.each([&](int64_t, int64_t offset) {
    const int64_t at = offset * s.bits() / 8;
    ASSERT_EQ(bytes[at], generator::Arena::value(first + at));
  });
}

void compare_export(const Tensor& tensor, const Sample& s, uint64_t flags) {
  const auto same = [&](const DLTensor& dl) {
    compare(TensorView(&dl), s);
    ASSERT_EQ(dl.data, s.dl.data);
  };
  ASSERT_EQ(tensor.is_read_only(), (flags & 1) != 0);
  ASSERT_EQ(tensor.is_copied(), (flags & 2) != 0);
  DLManagedTensorVersioned* out = tensor.ToDLPackVersioned();
  ASSERT_EQ(out->version.major, 1u);
  ASSERT_EQ(out->flags, flags);
  same(out->dl_tensor);
  if ((flags & 1) == 0) {
    DLManagedTensor* legacy = tensor.ToDLPack();
    same(legacy->dl_tensor);
    ASSERT_EQ(tensor.use_count(), 3u);
    legacy->deleter(legacy);
    ASSERT_EQ(tensor.data_ptr(), tensor.const_data_ptr());
  } else {
    ASSERT_NE(error_of([&] { tensor.ToDLPack(); }).find("is read-only"), std::string::npos);
    ASSERT_NE(error_of([&] { tensor.data_ptr(); }).find("is read-only"), std::string::npos);
    counts["read-only, and to be written"] += 2;
  }
  out->deleter(out);
  ASSERT_EQ(tensor.use_count(), 1u);
}

void check_legal(const Sample& s, bool versioned) {
  compare(TensorView(&s.dl), s);
  auto modern = managed<DLManagedTensorVersioned>(s);
  auto legacy = managed<DLManagedTensor>(s);
  deletions = 0;
  {
    const bool dense = s.is_contiguous();
    const auto align = static_cast<size_t>(s.dtype.alignment);
    const Tensor tensor = versioned ? Tensor::FromDLPackVersioned(&modern, align, dense)
                                    : Tensor::FromDLPack(&legacy, align, dense);
    compare(tensor, s);
    compare_elements(tensor.const_data_ptr(), s);
    const uint64_t base = s.device.device_type == kDLVulkan ? s.dl.byte_offset : s.address;
    for (size_t a = 1; a <= 256; a *= 2) ASSERT_EQ(tensor.IsAligned(a), base % a == 0);
    compare_export(tensor, s, versioned ? s.flags : 0);
    ASSERT_EQ(deletions, 0);
  }
  ASSERT_EQ(deletions, 1);
  ++counts["legal"];
}

// After the tests, prints how often each outcome occurred, and checks that each outcome occurred
// often and that no tensor object was leaked.
class DLPackConformance : public ::testing::Test {
 protected:
#if !defined(KERNKIT_REAL_HOST)
  DLPackConformance() { host_stub::host = host_stub::Host(); }
#endif
  static void TearDownTestSuite() {
    for (const auto& [name, count] : counts) {
      std::printf("%8d  %s\n", count, name.c_str());
      EXPECT_GE(count, kRounds) << name;
    }
#if !defined(KERNKIT_REAL_HOST)
    EXPECT_EQ(host_stub::host.tensors, 0);
#endif
  }
};

TEST_F(DLPackConformance, Legal) {
  Rng rng(20240607);
  Sample s;
  for (int i = 0; i < 20 * kRounds; ++i) {
    SCOPED_TRACE(i);
    generator::generate(rng, &s);
    check_legal(s, i % 4 != 0);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(counts.size(), 5u) << "an outcome never occurred";
}

TEST_F(DLPackConformance, EachFault) {
  Rng rng(17);
  Sample s;
  for (const generator::Fault& fault : generator::kFaults) {
    while (counts[fault.name] < kRounds) {
      generator::generate(rng, &s);
      if (!fault.apply(rng, s)) continue;
      auto modern = managed<DLManagedTensorVersioned>(s);
      auto legacy = managed<DLManagedTensor>(s);
      const size_t alignment = fault.alignment != nullptr ? fault.alignment(s) : 0;
      const bool versioned = fault.versioned_only || rng() % 2 == 0;
      deletions = 0;
      const std::string text = error_of([&] {
        versioned ? Tensor::FromDLPackVersioned(&modern, alignment, fault.contiguous)
                  : Tensor::FromDLPack(&legacy, alignment, fault.contiguous);
      });
      ASSERT_NE(text.find(fault.text), std::string::npos) << fault.name << ": " << text;
      ASSERT_EQ(text.find("DLPack tensor: ") == std::string::npos, false) << text;
      ASSERT_EQ(deletions, 1) << fault.name;
      ++counts[fault.name];
    }
  }
}

struct NoMemory {
  void AllocData(DLTensor*) {}
  void FreeData(DLTensor*) {}
};

// Allocations of many shapes. Every byte is written, so that AddressSanitizer reports an allocation
// that is too small.
TEST_F(DLPackConformance, Allocation) {
  Rng rng(4);
  Sample s;
  const DLDevice cpu = {kDLCPU, 0};
  while (counts["allocated"] < kRounds || counts["allocation overflows"] < kRounds ||
         counts["no memory"] < kRounds) {
    generator::generate(rng, &s);
    const ShapeView shape(s.shape.data(), s.shape.size());
    const auto allocate = [&] {
      return Tensor::FromNDAlloc(CPUNDAlloc(), shape, s.dtype.dtype, cpu);
    };
    if (s.data_size() > INT64_MAX) {
      ASSERT_NE(error_of(allocate).find("more than 2^63 - 1 bytes"), std::string::npos);
      ++counts["allocation overflows"];
    } else if (s.data_size() > (int64_t{1} << 50)) {
      const auto fail = [&] { Tensor::FromNDAlloc(NoMemory(), shape, s.dtype.dtype, cpu); };
      ASSERT_EQ(error_of(fail).substr(0, 12), "MemoryError:");
      ++counts["no memory"];
    } else if (s.data_size() < 100000) {
      const Tensor x = allocate();
      ASSERT_TRUE(GetDataSize(x) == s.data_size());
      ASSERT_TRUE(x.is_contiguous() && x.IsAligned(64));
      if (s.data_size() != 0) memset(x.data_ptr(), 1, GetDataSize(x));
      ++counts["allocated"];
    }
  }
}

}  // namespace
}  // namespace kernkit
