// SPDX-License-Identifier: Apache-2.0
// The output of printf() in a kernel.
#pragma once

#include <string>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

/// Returns the null-terminated string at a generic address. Throws a Fault for inaccessible memory.
std::string text_at(Warp& warp, int lane, const Operation& operation, uint64_t address);
struct Printed {
  std::string text;
  int arguments = 0;  // number of arguments that the format uses
};
/// Formats the arguments of printf(). The arguments are in memory at the generic address
/// `arguments`, each aligned to its size.
Printed formatted(Warp& warp, int lane, const Operation& operation, const std::string& format,
                  uint64_t arguments);

/// Adds the output of a kernel to a buffer.
void print_text(const std::string& text);
/// Writes the buffered output of kernels to the standard output, as CUDA does when the host
/// synchronises.
void flush_printed();

}  // namespace kernkit::simulator::ptx
