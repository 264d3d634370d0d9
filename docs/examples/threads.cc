// SPDX-License-Identifier: Apache-2.0
// A kernel that starts a thread. Built and called by tests/project/test_examples.py.
#include <exception>
#include <thread>
#include <tuple>

#include "kernkit/env.h"
#include "kernkit/export.h"

namespace {

int64_t number(void* stream) { return reinterpret_cast<int64_t>(stream); }

// [threads]
/// Returns the current stream of a new thread, before and after a StreamGuard.
std::tuple<int64_t, int64_t> streams_of_a_thread(DLDevice device) {
  void* stream = kernkit::current_stream(device);
  const auto allocator = kernkit::current_allocator();
  int64_t default_stream = -1, guarded_stream = -1;
  std::exception_ptr error;
  std::thread([&] {
    try {
      default_stream = number(kernkit::current_stream(device));  // 0
      const kernkit::StreamGuard stream_guard(device, stream);
      const kernkit::AllocatorGuard allocator_guard(allocator);
      guarded_stream = number(kernkit::current_stream(device));
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  return {default_stream, guarded_stream};
}
// [/threads]

void fails() {
  std::exception_ptr error;
  std::thread([&] {
    try {
      kernkit::set_current_stream({kDLCUDA, -1}, nullptr);
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  std::rethrow_exception(error);
}

}  // namespace

KERNKIT_EXPORT(streams_of_a_thread, "(Device device) -> (int, int)",
               "Returns the current stream of a new thread, before and after a StreamGuard.",
               streams_of_a_thread)
KERNKIT_EXPORT(fails, "() -> ()", "Raises the exception that another thread threw.", fails)
