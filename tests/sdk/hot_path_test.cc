// SPDX-License-Identifier: Apache-2.0
// A call whose checks pass allocates nothing. Counts the calls of this process's malloc.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "kernkit/testing/tensor.h"
#include "sanitizers.h"

namespace {
long allocations = 0;
}

#if !defined(TEST_WITH_ASAN)  // whose own malloc must not be replaced
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_realloc(void* memory, size_t size);

void* malloc(size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* realloc(void* memory, size_t size) noexcept {
  ++allocations;
  return __libc_realloc(memory, size);
}
}
#endif

namespace {

void op(kernkit::TensorView output, kernkit::TensorView input, int64_t size, double) {
  kernkit::Dim n("n");
  KERNKIT_EXPECT(input).dtype(kernkit::floating{}).cpu().shape(n, 4).contiguous().aligned(4);
  KERNKIT_EXPECT(output).like(input).rank(2).strides(4, 1).no_overlap(input).numel_at_most(100);
  KERNKIT_CHECK(n.value() == size, ValueError) << "n: " << size << " for " << input;
  KERNKIT_ICHECK_EQ(output.size(-1), 4) << output;
  kernkit::dispatch(kernkit::floating{}, input.dtype(), [](auto) {});
}

}  // namespace

KERNKIT_EXPORT(op, "(Tensor(a!) y, Tensor x, int n, float f=1.0) -> ()", "Checks.", op)

TEST(HotPath, AllocatesNothingWhenChecksPass) {
#if defined(TEST_WITH_ASAN)
  GTEST_SKIP() << "a sanitizer counts allocations itself";
#endif
  kernkit::testing::HostTensor<float> y({3, 4}), x({3, 4});
  KernkitAny args[3] = {};
  args[0].type_index = args[1].type_index = kKernkitDLTensorPtr;
  args[0].v.ptr = y.dl();
  args[1].v.ptr = x.dl();
  args[2].type_index = kKernkitInt;
  args[2].v.i64 = 3;
  KernkitAny result = {};
  ASSERT_EQ(__tvm_ffi_op(nullptr, args, 3, &result), 0) << kernkit_last_error();

  const long before = allocations;
  for (int i = 0; i < 100; ++i) {
    if (__tvm_ffi_op(nullptr, args, 3, &result) != 0) break;
  }
  EXPECT_EQ(allocations, before);

  // The count counts: an error has text.
  args[2].v.i64 = 4;
  EXPECT_EQ(__tvm_ffi_op(nullptr, args, 3, &result), -1);
  EXPECT_GT(allocations, before);
  EXPECT_STREQ(kernkit_last_error(), "ValueError: op(): n: 4 for float32 [3, 4]");
}
