// SPDX-License-Identifier: Apache-2.0
// Queue: the work of a stream, in order. With a seed it lags behind the host as long as nothing
// waits for it, and the streams run in any order that their dependencies allow. Functions of the
// host run on threads of their own, and their stream waits for them.
#pragma once

#include <cuda_runtime.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace kernkit::simulator {

struct Task {
  unsigned long number;  // in the order of all tasks
  std::function<void()> work;
  std::function<bool()> ready;  // none: always
  bool on_host = false;
  bool in_order = true;  // for the race detector: orders itself with the queue's other work
};

/// A function of the host that runs.
struct HostFunction {
  bool done = false;
  char order = 0;  // for the race detector: orders what is before and after
};

/// For each stream of a device the number of its last task that comes before something.
using TasksBefore = std::map<std::pair<int, cudaStream_t>, unsigned long>;
void add_before(TasksBefore* to, const TasksBefore& more);

struct Queue {
  std::deque<Task> tasks;
  bool legacy = false;    // the default stream that others wait for, and that waits for others
  bool blocking = false;  // such another
  char done = 0;          // for the race detector: what its work did
  TasksBefore before;     // what the queue is given next
  unsigned long last_kernel = 0;                // number of its last task that launches kernels
  std::shared_ptr<HostFunction> host_function;  // the first task's, once it runs
};

/// The queue of a stream of this device, made at its first use.
Queue& queue_of(int device, cudaStream_t stream);
/// Gives work to a stream: it is done now, or later when a seed is set or a function of the host
/// runs before it.
void give(int device, cudaStream_t stream, Task task);
/// The last task of a stream launches kernels.
void note_kernel(int device, cudaStream_t stream);
/// Whether a stream was given kernels that the host never waited for.
bool has_unwaited_kernels();
/// Does what is left of a stream, and what that needs of others. A wait that cannot end is a fault
/// of the device.
void drain(int device, cudaStream_t stream);
void drain_device(int device);
/// Works until `reached()`, likewise.
void drain_until(int device, const std::function<bool()>& reached);
/// For a host that asks whether something is done: does some of what is left, by the seed, and all
/// that can be done without one. A question that will never be answered is a fault of the device.
void work_for_question(int device, const std::function<bool()>& reached);
bool is_idle(int device, cudaStream_t stream);

}  // namespace kernkit::simulator
