// SPDX-License-Identifier: Apache-2.0
// Generic addresses: device memory is memory of this process, and what has addresses of its own
// lies in windows above it, where no process has memory.
#pragma once

#include <cstdint>

namespace kernkit::cuda_on_cpu::ptx {

inline constexpr int kWindowShift = 60;
inline constexpr uint64_t kSharedWindow = uint64_t{1} << kWindowShift;
inline constexpr uint64_t kLocalWindow = uint64_t{2} << kWindowShift;
inline constexpr uint64_t kParamWindow = uint64_t{3} << kWindowShift;
inline constexpr uint64_t kInWindow = kSharedWindow - 1;

}  // namespace kernkit::cuda_on_cpu::ptx
