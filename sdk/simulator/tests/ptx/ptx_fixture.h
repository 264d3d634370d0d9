// SPDX-License-Identifier: Apache-2.0
// Ptx: a test of kernels in PTX text, in the simulator or on a GPU.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "execution_target.h"

#if defined(KERNKIT_CUDA_ERRORS)  // kernkit's cuda_runtime_api.h lacks these functions
typedef struct CUlib_st* cudaLibrary_t;
extern "C" {
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, void*, void**, unsigned,
                                void*, void**, unsigned);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name);
}
#endif

namespace kernkit::simulator {

/// Appends a line for each instruction of a PTX text to the file that KERNKIT_PTX_FORMS names: the
/// form, such as "add.s32", the running test, and the list of the form's SIMD code or "-"; see
/// test_ptx_forms.py. `body` is the text without its first lines.
inline void note_forms(const std::string& text, const std::string& body) {
  const char* path = std::getenv("KERNKIT_PTX_FORMS");
  if (path == nullptr) return;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::ofstream file(path, std::ios::app);
  // Matches the name of each instruction, which follows a brace, a semicolon, a label or a guard
  // predicate.
  static const std::regex statement(
      R"((?:^|[;{}\n:])\s*(?:@!?%?\w+\s+)?([a-z]\w*(?:\.[\w:]+)*)\s*(?=[^:\w.]))");
  const auto simd = execution_target::simd_forms(text);
  for (std::sregex_iterator statement_match(body.begin(), body.end(), statement), end;
       statement_match != end; ++statement_match) {
    const auto list = simd.find((*statement_match)[1]);
    file << (*statement_match)[1] << ' ' << test->test_suite_name() << '.' << test->name() << ' '
         << (list == simd.end() ? "-" : list->second) << '\n';
  }
}

/// Writes a PTX text to a new file in the folder that the environment variable KERNKIT_PTX_TEXTS
/// names, so that ptxas can compile the text.
inline void keep_text(const std::string& text) {
  const char* folder = std::getenv("KERNKIT_PTX_TEXTS");
  if (folder == nullptr) return;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name() + "." +
                     std::to_string(std::hash<std::string>()(text)) + ".ptx";
  std::replace(name.begin(), name.end(), '/', '-');
  std::ofstream(std::string(folder) + "/" + name) << text;
}

/// A PTX text that is loaded as a library of the CUDA runtime. Kernels are launched by name.
class PtxModule {
 public:
  explicit PtxModule(const std::string& body, const std::string& target = "sm_90") {
    const std::string version = target == "sm_100" ? "8.8" : target == "sm_13" ? "2.3" : "8.7";
    const std::string text =
        ".version " + version + "\n.target " + target + "\n.address_size 64\n" + body;
    note_forms(text, body);
    keep_text(text);
    EXPECT_EQ(
        cudaLibraryLoadData(&library_, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        cudaSuccess)
        << text;
  }
  ~PtxModule() { (void)cudaLibraryUnload(library_); }
  PtxModule(const PtxModule&) = delete;
  PtxModule& operator=(const PtxModule&) = delete;

  /// Launches the kernel `name` of the module.
  template <class... Arguments>
  cudaError_t launch(const char* name, dim3 grid, dim3 block, size_t shared_memory,
                     const Arguments&... arguments) {
    return launch_on(nullptr, name, grid, block, shared_memory, arguments...);
  }
  template <class... Arguments>
  cudaError_t launch_on(cudaStream_t stream, const char* name, dim3 grid, dim3 block,
                        size_t shared_memory, const Arguments&... arguments) {
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_memory;
    config.stream = stream;
    return launch_by(config, name, arguments...);
  }
  template <class... Arguments>
  cudaError_t launch_by(const cudaLaunchConfig_t& config, const char* name,
                        const Arguments&... arguments) const {
    const void* function = kernel(name);
    if (function == nullptr) return cudaErrorSymbolNotFound;
    void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
    return cudaLaunchKernelExC(&config, function, addresses);
  }
  /// Returns the address of the kernel `name`; null if the module has no such kernel.
  const void* kernel(const char* name) const {
    cudaKernel_t found = nullptr;
    return cudaLibraryGetKernel(&found, library_, name) == cudaSuccess
               ? reinterpret_cast<const void*>(found)
               : nullptr;
  }

 private:
  cudaLibrary_t library_ = nullptr;
};

class Ptx : public ::testing::Test {
 protected:
  explicit Ptx(int capability = 90) : why_not_(execution_target::begin(capability)) {}
  ~Ptx() override { execution_target::end(); }
  void SetUp() override {
    if (!why_not_.empty()) GTEST_SKIP() << why_not_;
  }

  /// Returns zeroed device memory that the host may access as well.
  template <class T>
  T* memory(size_t count) {
    T* pointer = nullptr;
    cudaMallocManaged(&pointer, count * sizeof(T));
    if (count > 0) std::memset(static_cast<void*>(pointer), 0, count * sizeof(T));
    return pointer;
  }
  template <class T>
  T* memory(const std::vector<T>& values) {
    T* pointer = memory<T>(values.size());
    std::copy(values.begin(), values.end(), pointer);
    return pointer;
  }
  static std::string fault() { return execution_target::fault(); }

 private:
  std::string why_not_;
};

}  // namespace kernkit::simulator
