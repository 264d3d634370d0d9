// SPDX-License-Identifier: Apache-2.0
// CudaBackend: where a test's CUDA kernels run, the simulator or, with KERNKIT_ON_GPU, a GPU.
#pragma once

#if defined(KERNKIT_ON_GPU)
#include "kernkit/testing/backends/gpu.h"
#else
#include "kernkit/testing/backends/simulator.h"
#endif

namespace kernkit::testing {

#if defined(KERNKIT_ON_GPU)
/// The backend of CUDA kernels: Gpu with KERNKIT_ON_GPU, otherwise Simulator.
using CudaBackend = Gpu;
#else
/// The backend of CUDA kernels: Gpu with KERNKIT_ON_GPU, otherwise Simulator.
using CudaBackend = Simulator;
#endif

}  // namespace kernkit::testing
