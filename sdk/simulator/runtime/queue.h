// SPDX-License-Identifier: Apache-2.0
// Queue: the tasks of a stream, in order. With a seed, tasks are delayed while nothing waits for
// them, and streams run in any order that their dependencies allow. Host functions run on their own
// threads, and their stream waits for them.
#pragma once

#include <cuda_runtime.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace kernkit::simulator {

struct Task {
  unsigned long number;  // position in the order of all tasks
  std::function<void()> work;
  // Returns whether the task may run. An empty function means that the task may always run.
  std::function<bool()> ready;
  bool on_host = false;
  bool in_order = true;  // whether the race detector orders the task with other work of the queue
};

/// A running host function.
struct HostFunction {
  bool done = false;
  char order = 0;  // object that orders the function with other work for the race detector
};

/// The tasks that happened before a point: the number of the last such task, by device and stream.
using TasksBefore = std::map<std::pair<int, cudaStream_t>, unsigned long>;
void add_before(TasksBefore* to, const TasksBefore& more);

struct Queue {
  std::deque<Task> tasks;
  bool legacy = false;            // whether this is the legacy default stream
  bool blocking = false;          // whether the stream synchronises with the legacy stream
  char done = 0;                  // object that orders the queue's work for the race detector
  TasksBefore before;             // tasks that happen before the next task
  unsigned long last_kernel = 0;  // number of the last task that launches kernels
  std::shared_ptr<HostFunction> host_function;  // running host function of the first task
};

/// Returns the queue of a stream of `device`. Creates the queue at its first use.
Queue& queue_of(int device, cudaStream_t stream);
/// Removes the queue of a stream whose tasks have ended. Also removes the stream from each
/// TasksBefore, which would otherwise grow with every stream of a program.
void remove_queue(int device, cudaStream_t stream);
/// Enqueues a task. With seed 0, runs the task at once, unless the task must wait for a running
/// host function.
void give(int device, cudaStream_t stream, Task task);
/// Records that the last enqueued task of a stream launches kernels.
void note_kernel(int device, cudaStream_t stream);
/// Returns whether the host has not yet waited for some kernel.
bool has_unwaited_kernels();
/// Runs the remaining tasks of a stream, and the tasks of other streams that they depend on. A wait
/// that cannot end is a fault of the device.
void drain(int device, cudaStream_t stream);
void drain_device(int device);
/// Runs tasks until `reached()` returns true. A wait that cannot end is a fault of the device.
void drain_until(int device, const std::function<bool()>& reached);
/// Called by a query such as cudaEventQuery(). With seed 0, runs tasks until `reached()` returns
/// true; with another seed, runs some tasks. A condition that can never become true is a fault of
/// the device.
void work_for_question(int device, const std::function<bool()>& reached);
bool is_idle(int device, cudaStream_t stream);

}  // namespace kernkit::simulator
