// SPDX-License-Identifier: Apache-2.0
// A call whose checks pass allocates nothing, and the checks of a schema line take no more
// instructions than the same checks by KERNKIT_EXPECT. The tests count calls of this process's
// malloc(), and single steps of a child process.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "kernkit/expect.h"
#include "kernkit/shapes/export.h"
#include "kernkit/testing/tensor.h"
#include "sanitizers.h"
#include "single_steps.h"

namespace {
long allocations = 0;
}

#if !defined(TEST_WITH_ASAN)  // must not replace AddressSanitizer's malloc
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

using kernkit::TensorView;

[[gnu::noinline]] void use(TensorView y, TensorView x) { asm volatile("" ::"r"(&y), "r"(&x)); }
void by_line(TensorView y, TensorView x) { use(y, x); }
void rows_by_hand(TensorView y, TensorView x) {
  kernkit::Dim n("n");
  kernkit::Dim d("d");
  KERNKIT_EXPECT(y).shape(n, d);
  KERNKIT_EXPECT(x).same_dtype(y).same_device(y).shape(n, 2 * d);
  use(y, x);
}
void run_by_hand(TensorView y, TensorView x) {
  KERNKIT_EXPECT(y).like(x);
  use(y, x);
}

}  // namespace

KERNKIT_EXPORT(op, "(Tensor(a!) y, Tensor x, int n, float f=1.0) -> ()", "Checks.", op)
KERNKIT_EXPORT(rows_by_line, "(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()", "", by_line)
KERNKIT_EXPORT(rows_by_hand, "(Tensor(out!) y, Tensor x) -> ()", "", rows_by_hand)
KERNKIT_EXPORT(run_by_line, "(Tensor(out!) y[...], Tensor x[...]) -> ()", "", by_line)
KERNKIT_EXPORT(run_by_hand, "(Tensor(out!) y, Tensor x) -> ()", "", run_by_hand)
KERNKIT_EXPORT(unchecked, "(Tensor(out!) y, Tensor x) -> ()", "", by_line)

TEST(HotPath, AllocatesNothingWhenChecksPass) {
#if defined(TEST_WITH_ASAN)
  GTEST_SKIP() << "a sanitizer replaces malloc()";
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

  // Shows that allocations are counted: an error allocates memory for its text.
  args[2].v.i64 = 4;
  EXPECT_EQ(__tvm_ffi_op(nullptr, args, 3, &result), -1);
  EXPECT_GT(allocations, before);
  EXPECT_STREQ(kernkit_last_error(), "ValueError: op(): n: 4 for float32 [3, 4]");
}

TEST(HotPath, ChecksOfALineTakeNoMoreInstructionsThanThoseOfExpect) {
#if defined(TEST_WITH_ASAN) || !defined(__OPTIMIZE__)
  GTEST_SKIP() << "the limits are for an optimised build";
#endif
  using kernkit::testing::HostTensor;
  const auto steps = [](KernkitFunction f, const std::vector<int64_t>& y,
                        const std::vector<int64_t>& x) {
    HostTensor<float> tensors[] = {HostTensor<float>(y), HostTensor<float>(x)};
    KernkitAny args[2] = {};
    for (int i = 0; i < 2; ++i) {
      args[i].type_index = kKernkitDLTensorPtr;
      args[i].v.ptr = tensors[i].dl();
    }
    KernkitAny result = {};
    const auto call = [&] {
      if (f(nullptr, args, 2, &result) != 0) _exit(1);
    };
    call();
    return kernkit::single_steps(call);
  };
  if (steps(__tvm_ffi_unchecked, {1}, {1}) < 0)
    GTEST_SKIP() << "the system does not permit tracing of a process";
  struct {
    KernkitFunction by_line, by_hand;
    std::vector<int64_t> y, x;
  } pairs[] = {{__tvm_ffi_rows_by_line, __tvm_ffi_rows_by_hand, {3, 4}, {3, 8}},
               {__tvm_ffi_run_by_line, __tvm_ffi_run_by_hand, {5}, {5}},
               {__tvm_ffi_run_by_line, __tvm_ffi_run_by_hand, {2, 3, 4}, {2, 3, 4}}};
  for (const auto& [by_line, by_hand, y, x] : pairs) {
    const int64_t none = steps(__tvm_ffi_unchecked, y, x);
    const int64_t line = steps(by_line, y, x) - none;
    const int64_t hand = steps(by_hand, y, x) - none;
    EXPECT_GT(line, 0);
    EXPECT_LE(line, hand) << "for " << y.size() << " sizes";
    std::printf("%zu sizes: %ld instructions by schema, %ld by KERNKIT_EXPECT\n", y.size(), line,
                hand);
  }
}
