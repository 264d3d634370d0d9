// SPDX-License-Identifier: Apache-2.0
// UnsupportedPtx: why a kernel cannot run. The launch of the kernel reports the reason.
#pragma once

#include <stdexcept>
#include <string>

namespace kernkit::simulator::ptx {

class UnsupportedPtx : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kernkit::simulator::ptx
