// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <utility>

#include "sanitizers.h"
#include "state.h"
#include "visibility.h"

namespace kernkit::testing {
namespace {

using Key = std::pair<int, cudaStream_t>;

// A task waits for the legacy stream's before it, and one of that stream for the others' before it.
bool may_run(int device, const Queue& queue) {
  const Task& task = queue.tasks.front();
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

void finish(int device, Queue& queue) {
  while (!queue.tasks.empty()) {
    if (may_run(device, queue)) {
      run_front(queue);
      continue;
    }
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
  queue.tasks.push_back(std::move(task));
  if (state().emulation.seed == 0) {
    finish(device, queue);
  } else {
    some_work();
  }
}

bool drain_until(const std::function<bool()>& reached) {
  while (!reached()) {
    const size_t runnable = run_one(SIZE_MAX);
    if (runnable == 0) return false;
    run_one(state().random() % runnable);
  }
  return true;
}

void drain(int device, cudaStream_t stream) {
  Queue& queue = queue_of(device, stream);
  finish(device, queue);
  race_acquire(&queue.done);
}

void drain_device(int device) {
  for (auto& [key, queue] : state().queues) {
    if (key.first == device) drain(key.first, key.second);
  }
}

void some_work() {
  for (auto count = state().random() % 3; count > 0; --count) {
    const size_t runnable = run_one(SIZE_MAX);
    if (runnable == 0) return;
    run_one(state().random() % runnable);
  }
}

bool is_idle(int device, cudaStream_t stream) { return queue_of(device, stream).tasks.empty(); }

}  // namespace kernkit::testing
