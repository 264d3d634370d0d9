// SPDX-License-Identifier: Apache-2.0
// Measures the time of a call with the hook disabled, with a log, with the trace, and with
// recordings of several sizes. Each row loads a copy of the library of the kernels, whose hook
// reads the environment when it is loaded. Row `off`, with the hook disabled, is the baseline.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "kernkit/abi/abi.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::bench {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// A temporary folder for the files of a row. The destructor removes the folder.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "kernkit_hook_XXXXXX";
    path_ = mkdtemp(name.data()) == nullptr ? "" : name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Loads a copy of the library with these environment variables, and returns the op `scale`. "@" at
/// the beginning of a value is replaced by the path of the folder.
KernkitFunction load_scale(const Folder& folder, const Settings& settings) {
  const std::string copy = folder.path() + "/library.so";
  std::filesystem::copy_file(KERNKIT_BENCH_KERNELS, copy);
  for (auto [name, value] : settings) {
    if (value[0] == '@') value = folder.path() + value.substr(1);
    setenv(name.c_str(), value.c_str(), 1);
  }
  void* library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto scale = library == nullptr
                   ? nullptr
                   : reinterpret_cast<KernkitFunction>(dlsym(library, "__tvm_ffi_scale"));
  return scale;
}

void call(benchmark::State& state, int64_t count, const Settings& settings, bool is_recorded) {
  const Folder folder;
  const KernkitFunction scale = load_scale(folder, settings);
  if (scale == nullptr) return state.SkipWithError("the library cannot be loaded");
  testing::HostTensor<float> x({count}, {}, 3.0f), y({count});
  KernkitAny args[3] = {}, result = {};
  args[0].type_index = args[1].type_index = kKernkitDLTensorPtr;
  args[0].v.ptr = y.dl();
  args[1].v.ptr = x.dl();
  args[2].type_index = kKernkitFloat;
  args[2].v.f64 = 2.0;
  if (scale(nullptr, args, 3, &result) != 0 || y[0] != 6.0f)
    return state.SkipWithError("the result is wrong");
  for (auto _ : state) {
    benchmark::DoNotOptimize(scale(nullptr, args, 3, &result));
    benchmark::ClobberMemory();
  }
  // A recording has three arrays of `count` floats: x, y before the call, and y after the call.
  if (is_recorded) state.SetBytesProcessed(state.iterations() * count * 12);
  for (const auto& [name, value] : settings) unsetenv(name.c_str());
}

void add(const std::string& name, int64_t count, const Settings& settings,
         bool is_recorded = false) {
  auto* row = benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { call(state, count, settings, is_recorded); });
  row->UseRealTime();
  if (is_recorded) row->Iterations(count > (1 << 18) ? 8 : 64);
}

[[maybe_unused]] const bool registered = [] {
  add("call hook/off", 1, {});
  add("call hook/trace", 1, {{"KERNKIT_TRACE", "@/trace"}});
  for (const char* level : {"names", "args", "stats"}) {
    add(std::string("call hook/log ") + level, 1,
        {{"KERNKIT_LOG", level}, {"KERNKIT_LOG_FILE", "@/log"}});
  }
  for (const int64_t count : {1, 1 << 10, 1 << 14, 1 << 18, 1 << 22}) {
    add("recorded call/" + std::to_string(4 * count) + " bytes", count,
        {{"KERNKIT_RECORD", "@/calls"},
         {"KERNKIT_RECORD_CALLS", "all"},
         {"KERNKIT_RECORD_LIMIT", "1024,16384"}},
        true);
  }
  return true;
}();

}  // namespace
}  // namespace kernkit::bench
