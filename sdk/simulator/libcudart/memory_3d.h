// SPDX-License-Identifier: Apache-2.0
// The core's copies of memory in slices of rows.
#pragma once

#include <cuda_runtime.h>

#include "libcudart/structures.h"

namespace kernkit::simulator::core {

cudaError_t copy_slices(const Memcpy3DParms* parameters, cudaStream_t stream);
/// Copies slices on the default stream, and waits for the copy.
cudaError_t copy_slices_and_wait(const Memcpy3DParms* parameters);

}  // namespace kernkit::simulator::core
