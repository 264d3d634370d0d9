// SPDX-License-Identifier: Apache-2.0
// Launches of the same kernels in the two ways that the simulator has.
#pragma once

namespace kernkit::bench {

constexpr unsigned kThreads = 256;  // of a block, of one_barrier at least

constexpr unsigned kColumns = 4096;  // of a row, which a block of rms_norm takes

/// y and x have an element for each thread, or rows.
enum class Kernel { kNoBarrier, kOneBarrier, kFiveShuffles, kRmsNorm };

namespace source {  // compiled for the CPU
void launch(Kernel kernel, unsigned blocks, unsigned threads, float* y, const float* x);
}
namespace ptx {  // compiled by nvcc, and run by its PTX
void launch(Kernel kernel, unsigned blocks, unsigned threads, float* y, const float* x);
}

}  // namespace kernkit::bench
