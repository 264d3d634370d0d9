// SPDX-License-Identifier: Apache-2.0
// Costs that a process has once: loading a kernel library, and the first error. Every measurement
// runs in a new process, forked from this process, which has loaded neither a library nor a host.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "harness/libraries.h"

namespace kernkit::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the time of `measured()` in a new process, after `prepare()` [s], or -1 if the process
// fails.
template <class Prepare, class Measured>
double in_fresh_process(Prepare&& prepare, Measured&& measured) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    auto prepared = prepare();
    const auto begin = Clock::now();
    measured(prepared);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::_Exit(write(ends[1], &seconds, sizeof(seconds)) == sizeof(seconds) ? 0 : 1);
  }
  close(ends[1]);
  double seconds = -1;
  const bool was_read = read(ends[0], &seconds, sizeof(seconds)) == sizeof(seconds);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return was_read && status == 0 ? seconds : -1;
}

void record(benchmark::State& state, double seconds) {
  if (seconds < 0) return state.SkipWithError("the process failed");
  state.SetIterationTime(seconds);
}

// Loads the library after the host, as in Python.
void load_library(benchmark::State& state, const std::string& library) {
  for (auto _ : state) {
    record(state, in_fresh_process([] { return load_host(); },
                                   [&](void*) { return load_alone(library, "scale"); }));
  }
}

// Loads the library and all libraries that it requires into a process without a host.
void load_all(benchmark::State& state, const std::string& library) {
  for (auto _ : state) {
    record(state,
           in_fresh_process([] { return 0; }, [&](int) { return load_alone(library, "scale"); }));
  }
}

// Calls the op without arguments, which returns -1.
void first_error(benchmark::State& state, const std::string& library) {
  for (auto _ : state) {
    record(state, in_fresh_process([&] { return load_op(library, "scale"); },
                                   [](KernkitFunction scale) {
                                     KernkitAny result{};
                                     if (scale(nullptr, nullptr, 0, &result) != -1) std::_Exit(1);
                                   }));
  }
}

[[maybe_unused]] const bool registered = [] {
  add_pair("loading the library", "scale", load_library, true);
  add_pair("loading it without a host", "scale", load_all, true);
  add_pair("first error of a process", "scale", first_error, true);
  return true;
}();

}  // namespace
}  // namespace kernkit::bench
