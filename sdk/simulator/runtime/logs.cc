// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernkit/simulator/reports.h"
#include "runtime/core/logs.h"
#include "runtime/state.h"

namespace kernkit::simulator {

struct core::LogReceiver {
  LogFunction function;
  void* data;
};

namespace {

// The registered receivers. State::reset() keeps them, since a library registers its function only
// once, when it is loaded.
std::vector<std::unique_ptr<core::LogReceiver>>& receivers() {
  static auto& all = *new std::vector<std::unique_ptr<core::LogReceiver>>;
  return all;
}

}  // namespace

void send_to_log(std::string sentence) {
  for (const auto& receiver : receivers()) {
    receiver->function(receiver->data, 0, sentence.data(), sentence.size());
  }
}

cudaError_t core::add_log_receiver(LogFunction function, void* data, LogReceiver** receiver) {
  if (function == nullptr) return cudaErrorInvalidValue;
  receivers().push_back(std::make_unique<LogReceiver>(LogReceiver{function, data}));
  if (receiver != nullptr) *receiver = receivers().back().get();
  return cudaSuccess;
}

cudaError_t core::remove_log_receiver(LogReceiver* receiver) {
  auto& all = receivers();
  const auto position = std::find_if(all.begin(), all.end(),
                                     [&](const auto& other) { return other.get() == receiver; });
  if (position == all.end()) return cudaErrorInvalidValue;
  all.erase(position);
  return cudaSuccess;
}

}  // namespace kernkit::simulator

extern "C" size_t kernkit_report(size_t number, char* text, size_t size) {
  using kernkit::simulator::state;
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  if (number >= state().faults.size()) return 0;
  const std::string& report = state().faults[number];
  if (size > 0) {
    const size_t length = std::min(size - 1, report.size());
    std::memcpy(text, report.data(), length);
    text[length] = '\0';
  }
  return report.size();
}

extern "C" void kernkit_add_report(const char* sentence) {
  using kernkit::simulator::state;
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  kernkit::simulator::note_fault(sentence);
}
