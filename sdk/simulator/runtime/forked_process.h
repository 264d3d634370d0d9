// SPDX-License-Identifier: Apache-2.0
// Child processes of fork(). As with CUDA, a child process cannot use the API if its parent had
// initialised CUDA: the child has a copy of the parent's state, but not the parent's threads.
#pragma once

#include <cuda_runtime.h>

namespace kernkit::simulator {

/// Makes later calls of fork() mark the child process. Called once, when the state is created.
void detect_forks();
/// Returns whether fork() created this process after its parent had initialised CUDA.
bool is_forked_process();
/// Returns cudaErrorInitializationError in such a process, whose first call also reports the
/// reason; otherwise cudaSuccess.
cudaError_t reject_forked_process();

}  // namespace kernkit::simulator
