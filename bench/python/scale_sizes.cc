// SPDX-License-Identifier: Apache-2.0
// C++ functions of scale_sizes.py that time copies and calls of a library's `scale`.
#include <dlpack/dlpack.h>
#include <time.h>

#include "harness/copy_loops.h"
#include "kernkit/abi/abi.h"

namespace {

// Returns the processor time of this thread [s], which excludes other programs on the processor.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class Call>
double seconds(int64_t calls, const Call& call) {
  const double start = now();
  for (int64_t i = 0; i < calls; ++i) {
    call();
    asm volatile("" ::: "memory");
  }
  return now() - start;
}

}  // namespace

extern "C" {

/// Returns the name of the copy with number `which`; null past the last copy.
__attribute__((visibility("default"))) const char* name_of_copy(int which) {
  static const auto copies = kernkit::bench::copies();
  return which < static_cast<int>(copies.size()) ? copies[static_cast<size_t>(which)].first
                                                 : nullptr;
}

/// Returns the processor time of `calls` copies [s].
__attribute__((visibility("default"))) double time_copy(int which, int64_t calls, int64_t bytes,
                                                        unsigned char* to,
                                                        const unsigned char* from) {
  const auto copy = kernkit::bench::copies()[static_cast<size_t>(which)].second;
  return seconds(calls, [&] { copy(bytes, to, from); });
}

/// Returns the processor time of `calls` calls of scale(y, x, 2.0) with float32 arrays [s]; a
/// negative number if a call fails.
__attribute__((visibility("default"))) double time_scale(KernkitFunction scale, int64_t calls,
                                                         int64_t bytes, float* y, float* x) {
  int64_t n = bytes / static_cast<int64_t>(sizeof(float)), unit_stride = 1;
  DLTensor tensors[2] = {};
  KernkitAny args[3] = {}, result{};
  for (int i = 0; i < 2; ++i) {
    tensors[i].data = i == 0 ? y : x;
    tensors[i].device = {kDLCPU, 0};
    tensors[i].dtype = {kDLFloat, 32, 1};
    tensors[i].ndim = 1;
    tensors[i].shape = &n;
    tensors[i].strides = &unit_stride;
    args[i].type_index = kKernkitDLTensorPtr;
    args[i].v.ptr = &tensors[i];
  }
  args[2].type_index = kKernkitFloat;
  args[2].v.f64 = 2.0;
  int failed = 0;
  const double time = seconds(calls, [&] { failed |= scale(nullptr, args, 3, &result); });
  return failed == 0 ? time : -1;
}
}
