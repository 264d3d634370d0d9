// SPDX-License-Identifier: Apache-2.0
// Child processes of fork(). As with CUDA, a child process cannot use the API if its parent had
// initialised CUDA: the child has a copy of the parent's state, but not the parent's threads.
#pragma once

#include <cuda_runtime.h>

namespace kernkit::simulator {

/// Registers handlers of fork(), which mark child processes. Called once, when the runtime's state
/// is created.
void detect_forks();
/// Returns whether fork() created this process after its parent had initialised CUDA.
bool is_forked_process();
/// Returns cudaErrorInitializationError if is_forked_process() is true, and also reports the reason
/// in the first call; otherwise returns cudaSuccess.
cudaError_t reject_forked_process();

}  // namespace kernkit::simulator
