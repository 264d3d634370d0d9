// SPDX-License-Identifier: Apache-2.0
// What printf() of a kernel writes.
#pragma once

#include <string>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

/// The text at a generic address. Throws a Fault where it may not be read.
std::string text_at(Warp& warp, int lane, const Operation& operation, uint64_t address);
struct Printed {
  std::string text;
  int arguments = 0;  // that the format uses
};
/// The arguments follow each other from an address on, each at a multiple of its size.
Printed formatted(Warp& warp, int lane, const Operation& operation, const std::string& format,
                  uint64_t arguments);

}  // namespace kernkit::simulator::ptx
