// SPDX-License-Identifier: Apache-2.0
// Rows copy/<method>/bytes:<size of one array>. The ceiling of a size is the fastest copy that
// loads into registers and stores, with normal stores or non-temporal stores (streaming). memcpy is
// excluded from the ceiling: within the caches memcpy may use instructions that a loop with
// arithmetic cannot use.
#pragma once

#include <string>

#include "harness/copy_loops.h"
#include "harness/harness.h"

namespace kernkit::bench {

/// The size of the inputs of an op with two inputs of 16 MiB each [bytes]. A cache of 32 MiB keeps
/// the input of a 16-MiB copy from one call to the next, but not two such inputs.
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
