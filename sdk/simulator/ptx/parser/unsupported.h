// SPDX-License-Identifier: Apache-2.0
// UnsupportedPtx: why a kernel cannot run here. It is said when the kernel is launched.
#pragma once

#include <stdexcept>
#include <string>

namespace kernkit::simulator::ptx {

class UnsupportedPtx : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kernkit::simulator::ptx
