// SPDX-License-Identifier: Apache-2.0
// Backend: the device on which a test or benchmark of an op runs: Cpu, Simulator or Gpu. The CMake
// functions define a macro that selects the backend, so the same file is compiled for all three.
//
// A backend has:
//   kDevice     the device of its tensors
//   memory()    where the tensors' elements are stored; the host reads them after faults()
//   faults()    waits for the device; "" or a description of what went wrong there
//   Runtime     what a contract test changes and reads in the CUDA runtime (Simulator and Gpu)
#pragma once

#if defined(KERNKIT_ON_FIBERS) || defined(KERNKIT_ON_GPU)
#include "kernkit/testing/cuda_backend.h"
#else
#include "kernkit/testing/backends/cpu.h"
#endif

namespace kernkit::testing {

#if defined(KERNKIT_ON_FIBERS) || defined(KERNKIT_ON_GPU)
/// The backend of the program: CudaBackend in CUDA tests, otherwise Cpu.
using Backend = CudaBackend;
#else
/// The backend of the program: CudaBackend in CUDA tests, otherwise Cpu.
using Backend = Cpu;
#endif

}  // namespace kernkit::testing
