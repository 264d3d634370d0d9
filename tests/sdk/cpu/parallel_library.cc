// SPDX-License-Identifier: Apache-2.0
// A library without the linker option -z nodelete of kernkit_add_library(): dlclose() may unload
// it.
#include <unistd.h>

#include "kernkit/cpu/parallel.h"

extern "C" __attribute__((visibility("default"))) void sleep_on_threads() {
  kernkit::cpu::set_threads(2);
  kernkit::cpu::parallel_for(2, 1, [](int64_t, int64_t) { usleep(1000); });
}
