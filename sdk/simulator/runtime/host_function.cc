// SPDX-License-Identifier: Apache-2.0
#include "runtime/host_function.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>
#include <vector>

#include "platform/sanitizers.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

std::condition_variable_any& function_ended() {
  static auto& signal = *new std::condition_variable_any;
  return signal;
}

thread_local bool in_function = false;

}  // namespace

bool in_host_function() { return in_function; }

void start_host_function(Queue& queue) {
  auto function = std::make_shared<HostFunction>();
  queue.host_function = function;
  const RaceContext of_stream;
  if (queue.tasks.front().in_order) race_acquire(&queue.done);
  race_release(&function->order);
  std::thread([function, work = queue.tasks.front().work] {
    race_acquire(&function->order);
    in_function = true;
    work();
    race_release(&function->order);
    const std::lock_guard<std::recursive_mutex> lock(state().mutex);
    const RaceIgnored bookkeeping;
    function->done = true;
    function_ended().notify_all();
  }).detach();
}

void collect_host_functions() {
  for (auto& [key, queue] : state().queues) {
    if (queue.host_function == nullptr || !queue.host_function->done) continue;
    const RaceContext of_stream;
    race_acquire(&queue.host_function->order);
    if (queue.tasks.front().in_order) race_release(&queue.done);
    queue.host_function = nullptr;
    queue.tasks.pop_front();
  }
}

bool host_function_runs() {
  const auto& queues = state().queues;
  return std::any_of(queues.begin(), queues.end(),
                     [](auto& entry) { return entry.second.host_function != nullptr; });
}

bool wait_for_host_function() {
  collect_host_functions();
  std::vector<std::shared_ptr<HostFunction>> running;
  for (auto& [key, queue] : state().queues) {
    if (queue.host_function != nullptr) running.push_back(queue.host_function);
  }
  if (running.empty()) return false;
  const std::chrono::duration<double> patience(state().settings.watchdog);
  return function_ended().wait_for(state().mutex, patience, [&] {
    return std::any_of(running.begin(), running.end(), [](auto& f) { return f->done; });
  });
}

}  // namespace kernkit::simulator
