// SPDX-License-Identifier: Apache-2.0
// __shared__: a thread-local variable of the OS thread that runs the block, found by its ABI tag,
// see shared_variables.h. A guard variable precedes the variable. The guard's name is part of the
// compiler's error message for `extern __shared__`, and AddressSanitizer reports accesses to the
// guard.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define KERNKIT_SIMULATOR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KERNKIT_SIMULATOR_ASAN 1
#endif
#endif
#if defined(KERNKIT_SIMULATOR_ASAN)
#define KERNKIT_SHARED_GUARD __attribute__((used, aligned(8), abi_tag("kernkit_guard")))
#define KERNKIT_SHARED_GUARD_SIZE 128
#else
#define KERNKIT_SHARED_GUARD __attribute__((unused))
#define KERNKIT_SHARED_GUARD_SIZE 1
#endif

namespace kernkit::simulator {
// `mutable` makes clang++ place a guard next to its variable rather than among constants.
struct SharedGuard {
  mutable char bytes[KERNKIT_SHARED_GUARD_SIZE];
};
}  // namespace kernkit::simulator

// __shared__ uses __COUNTER__. With -Wpedantic, clang++ 22 and later warn about __COUNTER__.
#if defined(__clang__) && defined(__has_warning)
#if __has_warning("-Wc2y-extensions")
#pragma clang diagnostic ignored "-Wc2y-extensions"
#endif
#endif

#define KERNKIT_JOINED_(a, b) a##b
#define KERNKIT_JOINED(a, b) KERNKIT_JOINED_(a, b)

// The guard is const with an initializer, so that it is static without the keyword: `static` before
// __shared__ is valid and `extern` is an error. The variable is 16-byte aligned, since an alignment
// before __shared__ applies to the guard.
// clang-format off
#define __shared__ \
  thread_local KERNKIT_SHARED_GUARD const ::kernkit::simulator::SharedGuard \
      /* extern: use kernkit::cuda::dynamic_shared<T>() */ \
      KERNKIT_JOINED(on_the_CPU_extern_shared_is_kernkit_cuda_dynamic_shared_T_, __COUNTER__) = {}; \
  static thread_local __attribute__((aligned(16), abi_tag("kernkit_shared")))
// clang-format on
