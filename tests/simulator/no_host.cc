// SPDX-License-Identifier: Apache-2.0
// Stands in for a host: everything runs on the default stream.
#include <cstdint>

extern "C" __attribute__((visibility("default"))) void* TVMFFIEnvGetStream(int32_t, int32_t) {
  return nullptr;
}
