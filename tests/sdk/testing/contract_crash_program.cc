// SPDX-License-Identifier: Apache-2.0
// Ops that end their process, between two ops that do not. contract_crash_test.cc runs the program.
#include <signal.h>

#include <cstdlib>
#include <vector>

#include "kernkit/base/asan.h"
#include "kernkit/cpu/parallel.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "kernkit/testing/line.h"

namespace {

using kernkit::TensorView;

void copy(TensorView y, TensorView x) {
  kernkit::Dim n("n");
  KERNKIT_EXPECT(y).shape(n).dtype(kernkit::dl_float32).cpu().contiguous().no_overlap(x);
  KERNKIT_EXPECT(x).shape(n).dtype(kernkit::dl_float32).cpu().contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) y.data<float>()[i] = x.data<const float>()[i];
}

// Copies x to y. If n is 0, as in the rule Empty, the op first calls end(), which ends the process.
// The op is therefore correct for its example.
template <void (*end)()>
void copy_or_end(TensorView y, TensorView x) {
  if (x.ndim() == 1 && x.size(0) == 0) end();
  copy(y, x);
}

volatile int* null_address = nullptr;
void segment() { *null_address = 1; }
void abort_here() { std::abort(); }
volatile int zero = 0;
void divide() {
#if defined(__x86_64__)
  zero = 100 / zero;
#else  // division by zero gives 0 on this processor
  raise(SIGFPE);
#endif
}
void trap() { raise(SIGILL); }
int deep(volatile char* caller) {
  volatile char frame[4096];
  frame[0] = *caller;
  return zero != 0 ? 0 : deep(frame) + frame[0];
}
void exhaust_stack() {
  volatile char first = 0;
  zero = deep(&first);
}
void segment_in_helper() {
  kernkit::cpu::parallel_for(1 << 20, 1, [](int64_t begin, int64_t) {
    if (begin > 0) segment();
  });
  segment();  // if no helper ran, as on one processor
}
// Reads past the end of an allocation if AddressSanitizer is used, which reports the read. Without
// AddressSanitizer the function does nothing.
void read_past_the_end() {
#if defined(KERNKIT_ASAN)
  const std::vector<int> four(4);
  zero = *(four.data() + 4 + zero);
#endif
}
// An exception that leaves a noexcept function calls std::terminate().
void terminate_here() noexcept { std::vector<int>().at(1) = 1; }
// An allocator that ends the process when a result is released, after the call has returned.
struct AbortsLater {
  void AllocData(DLTensor* x) { x->data = std::malloc(kernkit::GetDataSize(*x) + 1); }
  void FreeData(DLTensor*) { std::abort(); }
};
kernkit::Tensor abort_later(TensorView x) {
  return kernkit::Tensor::FromNDAlloc(AbortsLater(), x.sizes(), x.dtype(), x.device());
}
void always(TensorView, TensorView) { segment(); }

}  // namespace

#define LINE "(Tensor(a!) y, Tensor x) -> ()"
KERNKIT_EXPORT(before, LINE, "", copy)
KERNKIT_EXPORT(segments, LINE, "", copy_or_end<segment>)
KERNKIT_EXPORT(aborts, LINE, "", copy_or_end<abort_here>)
KERNKIT_EXPORT(divides, LINE, "", copy_or_end<divide>)
KERNKIT_EXPORT(traps, LINE, "", copy_or_end<trap>)
KERNKIT_EXPORT(exhausts_stack, LINE, "", copy_or_end<exhaust_stack>)
KERNKIT_EXPORT(segments_in_helper, LINE, "", copy_or_end<segment_in_helper>)
KERNKIT_EXPORT(reads_past_the_end, LINE, "", copy_or_end<read_past_the_end>)
KERNKIT_EXPORT(terminates, LINE, "", copy_or_end<terminate_here>)
KERNKIT_EXPORT(aborts_later, "(Tensor x) -> Tensor", "", abort_later)
KERNKIT_EXPORT(after, LINE, "", copy)
KERNKIT_EXPORT(always_segments, "(Tensor(out!) y, Tensor x) -> ()", "", always)

#define TEST_CONTRACT(op) \
  KERNKIT_TEST_CONTRACT(op, example<float>(33), example<float>(33), cpu_only())
TEST_CONTRACT(before)
TEST_CONTRACT(segments)
TEST_CONTRACT(aborts)
TEST_CONTRACT(divides)
TEST_CONTRACT(traps)
TEST_CONTRACT(exhausts_stack)
TEST_CONTRACT(segments_in_helper)
TEST_CONTRACT(reads_past_the_end)
TEST_CONTRACT(terminates)
KERNKIT_TEST_CONTRACT(aborts_later, example<float>(33), cpu_only())
TEST_CONTRACT(after)

KERNKIT_TEST_LINE(always_segments, example<float>(33), example<float>(33), cpu_only())

TEST(Other, Passes) {}
TEST(Other, Fails) { FAIL() << "on purpose"; }
