// SPDX-License-Identifier: Apache-2.0
// __shared__: a variable of the OS thread that runs the block, found by its mark, see
// shared_variables.h. In front of it stands another one, whose name says what is wrong when extern
// is in front of both, and which nobody may touch under AddressSanitizer.
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
// Mutable, so that clang++ lays it among the variables, not among constants.
struct SharedGuard {
  mutable char bytes[KERNKIT_SHARED_GUARD_SIZE];
};
}  // namespace kernkit::simulator

#define KERNKIT_JOINED_(a, b) a##b
#define KERNKIT_JOINED(a, b) KERNKIT_JOINED_(a, b)

// The guard is const and has an initializer: it is static without saying so, which leaves room for
// a static in front of __shared__ and none for an extern. The variable is 16-byte aligned, for an
// alignment in front of __shared__ goes to the guard.
// clang-format off
#define __shared__ \
  thread_local KERNKIT_SHARED_GUARD const ::kernkit::simulator::SharedGuard \
      /* extern: use kernkit::cuda::dynamic_shared<T>() */ \
      KERNKIT_JOINED(on_the_CPU_extern_shared_is_kernkit_cuda_dynamic_shared_T_, __COUNTER__) = {}; \
  static thread_local __attribute__((aligned(16), abi_tag("kernkit_shared")))
// clang-format on
