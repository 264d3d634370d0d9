// SPDX-License-Identifier: Apache-2.0
// UnsupportedPtx: the reason why a kernel cannot run, which the kernel's launch reports.
#pragma once

#include <stdexcept>
#include <string>

namespace kernkit::simulator::ptx {

class UnsupportedPtx : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kernkit::simulator::ptx
