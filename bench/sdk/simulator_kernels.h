// SPDX-License-Identifier: Apache-2.0
// Launches of the same kernels by both executors of the simulator.
#pragma once

namespace kernkit::bench {

// threads of a block; one_barrier and rms_norm require this number
constexpr unsigned kThreads = 256;

constexpr unsigned kColumns = 4096;  // elements of a row; a block of rms_norm computes one row

/// The kernels. y and x have one element per thread, or, for kRmsNorm, one row per block.
enum class Kernel { kNoBarrier, kOneBarrier, kFiveShuffles, kRmsNorm };

namespace source {  // compiled for the CPU
void launch(Kernel kernel, unsigned blocks, unsigned threads, float* y, const float* x);
}
namespace ptx {  // compiled by nvcc, and executed as PTX
void launch(Kernel kernel, unsigned blocks, unsigned threads, float* y, const float* x);
}

}  // namespace kernkit::bench
