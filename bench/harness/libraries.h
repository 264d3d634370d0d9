// SPDX-License-Identifier: Apache-2.0
// The libraries of ops/ and their host, loaded into a benchmark.
#pragma once

#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "kernkit/abi/abi.h"
#include "kernkit/testing/compiler.h"

namespace kernkit::bench {

using testing::kCompiler;

/// What a row cannot do without: exits where it is missing.
inline void* symbol(void* library, const char* name) {
  void* found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "%s: %s\n", name, dlerror());
    std::_Exit(1);
  }
  return found;
}

/// The real libtvm_ffi, for all to see, as Python loads it.
inline void* load_host() {
  static void* host = dlopen(KERNKIT_BENCH_HOST, RTLD_NOW | RTLD_GLOBAL);
  return host;
}

/// The op's function from lib<library>.so, which is loaded by itself.
inline KernkitFunction load_alone(const std::string& library, const char* op) {
  const std::string path = KERNKIT_BENCH_LIBRARIES "/lib" + library + ".so";
  return reinterpret_cast<KernkitFunction>(symbol(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL),
                                                  ("__tvm_ffi_" + std::string(op)).c_str()));
}
/// The same with the host there before, as in Python.
inline KernkitFunction load_op(const std::string& library, const char* op) {
  load_host();
  return load_alone(library, op);
}

/// Registers <what>/<compiler>/kernkit and <what>/<compiler>/tvm-ffi, which run with the name of
/// the op's library in ops/; `ours` is the end of kernkit's.
template <class Run>
void add_pair(const char* what, const std::string& op, Run run, bool manual_time = false,
              const std::string& ours = "_kernkit") {
  for (const char* whose : {"kernkit", "tvm-ffi"}) {
    const std::string library = op + (whose[0] == 'k' ? ours : "_tvm_ffi");
    const std::string name = std::string(what) + "/" + kCompiler + "/" + whose;
    auto* row = benchmark::RegisterBenchmark(name.c_str(),
                                             [=](benchmark::State& state) { run(state, library); });
    manual_time ? row->UseManualTime() : row->UseRealTime();
  }
}

}  // namespace kernkit::bench
