// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <algorithm>
#include <condition_variable>
#include <thread>
#include <utility>
#include <vector>

#include "sanitizers.h"
#include "state.h"
#include "visibility.h"

namespace kernkit::testing {
namespace {

using Key = std::pair<int, cudaStream_t>;

std::condition_variable_any& function_ended() {
  static auto& signal = *new std::condition_variable_any;
  return signal;
}

// A task waits for the legacy stream's before it, and one of that stream for the others' before it.
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

// As the CUDA runtime does, beside the host and the other streams.
void start_host_function(Queue& queue) {
  auto function = std::make_shared<HostFunction>();
  queue.host_function = function;
  const RaceContext of_stream;
  race_acquire(&queue.done);
  race_release(&function->order);
  std::thread([function, work = queue.tasks.front().work] {
    race_acquire(&function->order);
    work();
    race_release(&function->order);
    const std::lock_guard<std::recursive_mutex> lock(state().mutex);
    const RaceIgnored bookkeeping;
    function->done = true;
    function_ended().notify_all();
  }).detach();
}

// Functions of the host that have ended make way.
void collect_host_functions() {
  for (auto& [key, queue] : state().queues) {
    if (queue.host_function == nullptr || !queue.host_function->done) continue;
    const RaceContext of_stream;
    race_acquire(&queue.host_function->order);
    race_release(&queue.done);
    queue.host_function = nullptr;
    queue.tasks.pop_front();
  }
}

// Waits until one more has ended; false when none runs. Meanwhile other threads may call.
bool wait_for_host_function() {
  collect_host_functions();
  std::vector<std::shared_ptr<HostFunction>> running;
  for (auto& [key, queue] : state().queues) {
    if (queue.host_function != nullptr) running.push_back(queue.host_function);
  }
  if (running.empty()) return false;
  function_ended().wait(state().mutex, [&] {
    return std::any_of(running.begin(), running.end(), [](auto& f) { return f->done; });
  });
  return true;
}

void run_front(Queue& queue) {
  if (queue.tasks.front().on_host) return start_host_function(queue);
  Task task = std::move(queue.tasks.front());
  queue.tasks.pop_front();
  const DeviceMemoryVisible visible;
  const RaceContext of_stream;
  race_acquire(&queue.done);
  task.work();
  race_release(&queue.done);
}

// The k-th of the queues that can go on, if there are as many; else their number.
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

// Works until `reached()`, or until nothing that is left can run; `waits`: for functions of the
// host.
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

// What is left of a queue comes first, then what that needs of others.
void finish(int device, Queue& queue, bool waits) {
  work_until(
      [&] {
        collect_host_functions();
        while (!queue.tasks.empty() && may_run(device, queue)) run_front(queue);
        return queue.tasks.empty();
      },
      waits);
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
  queue.tasks.push_back(std::move(task));
  if (state().emulation.seed == 0) {
    finish(device, queue, false);
  } else {
    some_work();
  }
}

bool drain_until(const std::function<bool()>& reached) { return work_until(reached, true); }

void drain(int device, cudaStream_t stream) {
  Queue& queue = queue_of(device, stream);
  finish(device, queue, true);
  race_acquire(&queue.done);
}

void drain_device(int device) {
  std::vector<cudaStream_t> streams;  // others may come while this waits
  for (auto& [key, queue] : state().queues) {
    if (key.first == device) streams.push_back(key.second);
  }
  for (cudaStream_t stream : streams) drain(device, stream);
}

void some_work() {
  for (auto count = state().random() % 3; count > 0; --count) {
    const size_t runnable = run_one(SIZE_MAX);
    if (runnable == 0) return;
    run_one(state().random() % runnable);
  }
}

bool is_idle(int device, cudaStream_t stream) {
  collect_host_functions();
  return queue_of(device, stream).tasks.empty();
}

}  // namespace kernkit::testing
