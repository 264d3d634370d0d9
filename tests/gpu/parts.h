// SPDX-License-Identifier: Apache-2.0
// Parts: what of a large tensor a test fills and looks at.
#pragma once

#include <cstdint>
#include <vector>

namespace kernkit::gpu {

/// Elements [first, end).
struct Part {
  int64_t first, end;
};

/// Of n elements: all of them, where all of them are computed. A runtime that leaves blocks of a
/// large grid out has a definition of its own.
std::vector<Part> parts(int64_t n);

}  // namespace kernkit::gpu
