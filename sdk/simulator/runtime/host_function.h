// SPDX-License-Identifier: Apache-2.0
// Host functions in streams. Each function runs on its own thread, concurrently with the host and
// other streams, as in the CUDA runtime.
#pragma once

namespace kernkit::simulator {

struct Queue;

/// Returns whether this thread runs a host function, which may not call CUDA.
bool in_host_function();
/// Starts the queue's first task. Requires that the task is a host function.
void start_host_function(Queue& queue);
/// Removes host functions that have ended from their queues.
void collect_host_functions();
/// Returns whether a host function runs, or has ended but is still in its queue.
bool host_function_runs();
/// Waits until one of the running host functions ends. Returns false if no host function runs, or
/// if no host function ends within the watchdog's time. Other threads may call the runtime during
/// the wait.
bool wait_for_host_function();

}  // namespace kernkit::simulator
