// SPDX-License-Identifier: Apache-2.0
// Numbers in environment variables.
#pragma once

#include <cstdlib>

namespace kernkit::simulator {

/// Returns the number in an environment variable such as KERNKIT_SEED, decimal or hexadecimal
/// (0x...); `otherwise` if the variable is not set.
inline unsigned number_of(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 0)) : otherwise;
}

}  // namespace kernkit::simulator
