// SPDX-License-Identifier: Apache-2.0
// What a process pays once: to load a kernel library, and for the first error. Every measurement is
// one in a process of its own, forked from this one, which has loaded neither library nor host.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "kernkit/abi.h"

namespace {

using Clock = std::chrono::steady_clock;

void* load(const char* path, int flags) {
  void* library = dlopen(path, flags);
  if (library == nullptr) std::_Exit(1);
  return library;
}
void load_host() { load(KERNKIT_BENCH_HOST, RTLD_NOW | RTLD_GLOBAL); }
KernkitFunction load_scale(const char* path) {
  return reinterpret_cast<KernkitFunction>(
      dlsym(load(path, RTLD_NOW | RTLD_LOCAL), "__tvm_ffi_scale"));
}

// Seconds that `measured()` takes in a fresh process behind `prepare()`.
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
  const bool came = read(ends[0], &seconds, sizeof(seconds)) == sizeof(seconds);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return came && status == 0 ? seconds : -1;
}

void record(benchmark::State& state, double seconds) {
  if (seconds < 0) return state.SkipWithError("the process failed");
  state.SetIterationTime(seconds);
}

// The host is there, as in Python.
void load_library(benchmark::State& state, const char* path) {
  for (auto _ : state) {
    record(state, in_fresh_process([] { return load_host(), 0; },
                                   [path](int) { return load_scale(path); }));
  }
}

// The library and all it needs.
void load_all(benchmark::State& state, const char* path) {
  for (auto _ : state) {
    record(state, in_fresh_process([] { return 0; }, [path](int) { return load_scale(path); }));
  }
}

// A call with no arguments, up to the return of -1.
void first_error(benchmark::State& state, const char* path) {
  for (auto _ : state) {
    record(state, in_fresh_process([path] { return load_host(), load_scale(path); },
                                   [](KernkitFunction scale) {
                                     KernkitAny result{};
                                     if (scale(nullptr, nullptr, 0, &result) != -1) std::_Exit(1);
                                   }));
  }
}

}  // namespace

BENCHMARK_CAPTURE(load_library, kernkit, KERNKIT_BENCH_OURS)->Name("load/kernkit")->UseManualTime();
BENCHMARK_CAPTURE(load_library, tvm_ffi, KERNKIT_BENCH_PEER)->Name("load/tvm_ffi")->UseManualTime();
BENCHMARK_CAPTURE(load_all, kernkit, KERNKIT_BENCH_OURS)->Name("load_all/kernkit")->UseManualTime();
BENCHMARK_CAPTURE(load_all, tvm_ffi, KERNKIT_BENCH_PEER)->Name("load_all/tvm_ffi")->UseManualTime();
BENCHMARK_CAPTURE(first_error, kernkit, KERNKIT_BENCH_OURS)
    ->Name("first_error/kernkit")
    ->UseManualTime();
BENCHMARK_CAPTURE(first_error, tvm_ffi, KERNKIT_BENCH_PEER)
    ->Name("first_error/tvm_ffi")
    ->UseManualTime();
