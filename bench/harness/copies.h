// SPDX-License-Identifier: Apache-2.0
// Rows copy/<how>/bytes:<of one array>: the ceiling of a size is the best of those that load into
// registers and store, past the caches (streaming) or not. memcpy is a row of its own: within the
// caches it may use instructions that no arithmetic can.
#pragma once

#include <string>

#include "harness/copy_loops.h"
#include "harness/harness.h"

namespace kernkit::bench {

/// What an op of two inputs reads where an array has 16 MiB: a cache of 32 MiB keeps the input of a
/// copy of 16 MiB from one call to the next, and not these.
inline constexpr int64_t kReadByAdd = 32 << 20;

inline void add_copy(const char* how, Copy* copy) {
  const auto call = [copy](int64_t n, uint8_t* to, const uint8_t* from) { copy(n, to, from); };
  add_sizes<uint8_t, 1>((std::string("copy/") + how).c_str(), [](uint8_t x) { return x; }, call,
                        kReadByAdd);
}

[[maybe_unused]] inline const bool copies_are_rows = [] {
  if (all_threads()) return false;
  for (const auto& [how, copy] : copies()) add_copy(how, copy);
  return true;
}();

}  // namespace kernkit::bench
