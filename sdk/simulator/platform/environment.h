// SPDX-License-Identifier: Apache-2.0
// Numbers in environment variables.
#pragma once

#include <cstdlib>

namespace kernkit::simulator {

/// Returns the value of a variable such as KERNKIT_SEED, decimal or 0x...; `otherwise` if unset.
inline unsigned number_of(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 0)) : otherwise;
}

}  // namespace kernkit::simulator
