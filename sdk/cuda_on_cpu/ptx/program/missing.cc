// SPDX-License-Identifier: Apache-2.0
// What is missing of the runtime's API, so that a program that might call it can be loaded. Each is
// weak: where the runtime has such a function, that is taken.
#include <atomic>
#include <cstdio>

#include "ptx/program/names.h"
#include "runtime/state.h"

namespace kernkit::cuda_on_cpu {
namespace {

cudaError_t missing(const char* function, std::atomic<bool>* said) {
  if (!said->exchange(true)) {
    std::fprintf(stderr, "kernkit: %s() is not supported: it returns cudaErrorNotSupported\n",
                 function);
  }
  return call(function, Reach::kHost, [] { return cudaErrorNotSupported; });
}

}  // namespace
}  // namespace kernkit::cuda_on_cpu

#define KERNKIT_MISSING(name)                           \
  extern "C" __attribute__((weak)) cudaError_t name() { \
    static std::atomic<bool> said{false};               \
    return kernkit::cuda_on_cpu::missing(#name, &said); \
  }
KERNKIT_CUDART_NAMES(KERNKIT_MISSING)
