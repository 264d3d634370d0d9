// SPDX-License-Identifier: Apache-2.0
// Functions of the host that streams were given: each runs on a thread of its own, beside the host
// and the other streams, as with the CUDA runtime.
#pragma once

namespace kernkit::simulator {

struct Queue;

/// Whether this thread runs one, which may not call CUDA.
bool in_host_function();
/// Starts the queue's first task, which is one.
void start_host_function(Queue& queue);
/// Those that have ended make way.
void collect_host_functions();
/// Whether one runs, or has ended and not made way.
bool host_function_runs();
/// Waits until one more has ended; false when none runs, or none ends. Meanwhile other threads may
/// call.
bool wait_for_host_function();

}  // namespace kernkit::simulator
