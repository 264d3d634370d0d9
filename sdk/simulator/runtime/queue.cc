// SPDX-License-Identifier: Apache-2.0
#include "runtime/queue.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "platform/sanitizers.h"
#include "runtime/host_function.h"
#include "runtime/state.h"
#include "runtime/visibility.h"

namespace kernkit::simulator {
namespace {

// Returns whether the first task of a queue may run. A task of a blocking stream waits for earlier
// tasks of the legacy stream, and vice versa.
bool may_run(int device, const Queue& queue) {
  const Task& task = queue.tasks.front();
  if (queue.host_function != nullptr) return false;
  if (task.ready && !task.ready()) return false;
  if (!queue.legacy && !queue.blocking) return true;
  for (const auto& [key, other] : state().queues) {
    const bool orders = queue.legacy ? other.blocking : other.legacy;
    if (key.first == device && orders && !other.tasks.empty() &&
        other.tasks.front().number < task.number) {
      return false;
    }
  }
  return true;
}

void run_front(Queue& queue) {
  if (queue.tasks.front().on_host) return start_host_function(queue);
  Task task = std::move(queue.tasks.front());
  queue.tasks.pop_front();
  const DeviceMemoryVisible visible;
  const RaceContext of_stream;
  if (task.in_order) race_acquire(&queue.done);
  runtime_hooks.order(OrderStep::kBegins, task.in_order ? &queue : nullptr);
  task.work();
  if (task.in_order) race_release(&queue.done);
}

// Runs the first task of the k-th runnable queue, counted from 0, and returns 0. If there are at
// most k runnable queues, runs nothing and returns their number.
size_t run_one(size_t k) {
  collect_host_functions();
  size_t runnable = 0;
  for (auto& [key, queue] : state().queues) {
    if (queue.tasks.empty() || !may_run(key.first, queue)) continue;
    if (runnable++ == k) {
      run_front(queue);
      return 0;
    }
  }
  return runnable;
}

// Runs tasks until `reached()` returns true, or until no task can run. Returns whether `reached()`
// returned true. If `waits` is true, waits for running host functions when no task can run.
template <class Reached>
bool work_until(const Reached& reached, bool waits) {
  while (!reached()) {
    const size_t runnable = run_one(SIZE_MAX);
    if (runnable != 0) {
      run_one(state().random() % runnable);
    } else if (!waits || !wait_for_host_function()) {
      return false;
    }
  }
  return true;
}

// Runs all tasks of a stream, and the tasks of other streams that they depend on. Returns false if
// a task cannot run. `waits`: as in work_until().
bool finish(int device, cudaStream_t stream, bool waits) {
  if (stream == cudaStreamLegacy) stream = nullptr;
  const auto waited = state().queues.find({device, stream});
  if (waits && waited != state().queues.end()) {
    add_before(&state().waited, waited->second.before);
  }
  return work_until(
      [&] {
        collect_host_functions();
        const auto position = state().queues.find({device, stream});
        if (position == state().queues.end()) return true;  // another thread destroyed the stream
        Queue& queue = position->second;
        while (!queue.tasks.empty() && may_run(device, queue)) run_front(queue);
        if (queue.tasks.empty() && waits) race_acquire(&queue.done);
        return queue.tasks.empty();
      },
      waits);
}

// Reports why the remaining work cannot run, and drops the work, so that no call waits for it.
void give_up(int device) {
  char reason[160] = "work after an event that no stream will reach";
  if (host_function_runs()) {
    std::snprintf(reason, sizeof(reason),
                  "a function given to cudaLaunchHostFunc(), which has not ended within %g s",
                  state().settings.watchdog);
  }
  for (auto& [key, queue] : state().queues) {
    if (queue.tasks.empty()) continue;
    state().device_states.at(static_cast<size_t>(key.first)).sticky = cudaErrorLaunchTimeout;
    queue.tasks.clear();
    queue.host_function = nullptr;
  }
  fault(std::string(thread_state().function) + "() never returns: it waits for " + reason, device,
        cudaErrorLaunchTimeout);
}

void some_work() {
  for (auto count = state().random() % 3; count > 0; --count) {
    const size_t runnable = run_one(SIZE_MAX);
    if (runnable == 0) return;
    run_one(state().random() % runnable);
  }
}

}  // namespace

Queue& queue_of(int device, cudaStream_t stream) {
  if (stream == cudaStreamLegacy) stream = nullptr;
  Queue& queue = state().queues[{device, stream}];
  queue.legacy = stream == nullptr;
  queue.blocking = stream == cudaStreamPerThread ||
                   (stream != nullptr && !is_default_stream(stream) && !stream->non_blocking);
  return queue;
}

void give(int device, cudaStream_t stream, Task task) {
  Queue& queue = queue_of(device, stream);
  race_release(&queue.done);
  task.number = ++state().tasks;
  if (stream == cudaStreamLegacy) stream = nullptr;
  for (const auto& [key, other] : state().queues) {
    if (key.first == device && (queue.legacy ? other.blocking : queue.blocking && other.legacy)) {
      add_before(&queue.before, other.before);
    }
  }
  queue.before[{device, stream}] = task.number;
  queue.tasks.push_back(std::move(task));
  if (state().settings.seed == 0) {
    finish(device, stream, false);
  } else {
    some_work();
  }
}

void add_before(TasksBefore* to, const TasksBefore& more) {
  for (const auto& [stream, number] : more) {
    unsigned long& last = (*to)[stream];
    last = std::max(last, number);
  }
}

void remove_queue(int device, cudaStream_t stream) {
  const std::pair<int, cudaStream_t> removed{device, stream};
  state().queues.erase(removed);
  state().waited.erase(removed);
  for (auto& [key, queue] : state().queues) queue.before.erase(removed);
  for (CUevent_st* event : state().events) event->before.erase(removed);
}

void note_kernel(int device, cudaStream_t stream) {
  queue_of(device, stream).last_kernel = state().tasks;
}

bool has_unwaited_kernels() {
  return std::any_of(state().queues.begin(), state().queues.end(), [](const auto& entry) {
    const auto waited = state().waited.find(entry.first);
    return entry.second.last_kernel > (waited == state().waited.end() ? 0 : waited->second);
  });
}

void drain_until(int device, const std::function<bool()>& reached) {
  if (!work_until(reached, true)) give_up(device);
}

void drain(int device, cudaStream_t stream) {
  if (!finish(device, stream, true)) give_up(device);
}

void drain_device(int device) {
  std::vector<cudaStream_t> streams;  // copied, since streams may be created during the wait
  for (auto& [key, queue] : state().queues) {
    if (key.first == device) streams.push_back(key.second);
  }
  for (cudaStream_t stream : streams) drain(device, stream);
}

void work_for_question(int device, const std::function<bool()>& reached) {
  if (state().settings.seed != 0) {
    some_work();
    if (run_one(SIZE_MAX) != 0) return;
  }
  if (!work_until(reached, false) && !host_function_runs()) give_up(device);
}

bool is_idle(int device, cudaStream_t stream) {
  collect_host_functions();
  return queue_of(device, stream).tasks.empty();
}

}  // namespace kernkit::simulator
