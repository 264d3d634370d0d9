// SPDX-License-Identifier: Apache-2.0
// Loads the libraries of ops/ and their host into a benchmark.
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

/// Returns the address of a symbol. Ends the program with a message if the library or the symbol is
/// missing.
inline void* symbol(void* library, const char* name) {
  void* address = library == nullptr ? nullptr : dlsym(library, name);
  if (address == nullptr) {
    std::fprintf(stderr, "%s: %s\n", name, dlerror());
    std::_Exit(1);
  }
  return address;
}

/// Loads the real libtvm_ffi with global symbols, like Python's tvm_ffi package.
inline void* load_host() {
  static void* host = dlopen(KERNKIT_BENCH_HOST, RTLD_NOW | RTLD_GLOBAL);
  return host;
}

/// Loads lib<library>.so without a host, and returns the op's function.
inline KernkitFunction load_alone(const std::string& library, const char* op) {
  const std::string path = KERNKIT_BENCH_LIBRARIES "/lib" + library + ".so";
  return reinterpret_cast<KernkitFunction>(symbol(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL),
                                                  ("__tvm_ffi_" + std::string(op)).c_str()));
}
/// Loads the host, as in Python, then lib<library>.so, and returns the op's function.
inline KernkitFunction load_op(const std::string& library, const char* op) {
  load_host();
  return load_alone(library, op);
}

/// Registers the rows <group>/<compiler>/kernkit and <group>/<compiler>/tvm-ffi. `run` is called
/// with the name of the op's library in ops/. The name of kernkit's library ends with
/// `suffix_of_kernkit`.
template <class Run>
void add_pair(const char* group, const std::string& op, Run run, bool manual_time = false,
              const std::string& suffix_of_kernkit = "_kernkit") {
  for (const char* implementation : {"kernkit", "tvm-ffi"}) {
    const std::string library = op + (implementation[0] == 'k' ? suffix_of_kernkit : "_tvm_ffi");
    const std::string name = std::string(group) + "/" + kCompiler + "/" + implementation;
    auto* row = benchmark::RegisterBenchmark(name.c_str(),
                                             [=](benchmark::State& state) { run(state, library); });
    manual_time ? row->UseManualTime() : row->UseRealTime();
  }
}

}  // namespace kernkit::bench
