// SPDX-License-Identifier: Apache-2.0
// Functions of the driver's API that the simulator does not support. The definitions are weak: a
// definition in another file of the simulator takes precedence. The file does not include cuda.h,
// whose declarations have arguments and would conflict with the declarations here.
#include <atomic>
#include <string>

#include "libcuda/driver_names.h"
#include "runtime/core/contexts.h"

namespace kernkit::simulator::driver {
namespace {

int report_missing(const char* function, std::atomic<bool>* is_reported) {
  return core::call_driver(function, core::Needs::kNothing, ApiScope::kProcess, [&] {
    if (!is_reported->exchange(true)) {
      core::report(std::string(function) +
                   "() is not supported: it returns CUDA_ERROR_NOT_SUPPORTED; leave the call out, "
                   "or run the program on a GPU");
    }
    return cudaErrorNotSupported;
  });
}

}  // namespace
}  // namespace kernkit::simulator::driver

#define KERNKIT_MISSING(name)                                               \
  extern "C" __attribute__((weak)) int name() {                             \
    static std::atomic<bool> is_reported{false};                            \
    return kernkit::simulator::driver::report_missing(#name, &is_reported); \
  }
KERNKIT_DRIVER_SYMBOLS(KERNKIT_MISSING)
