// SPDX-License-Identifier: Apache-2.0
// PtxModule: PTX text in a fat binary as nvcc writes it, registered as nvcc's code does.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "kernkit/cuda_on_cpu/runtime.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* function, char*, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*);
}

namespace kernkit::cuda_on_cpu {

/// Adds the instructions of a PTX text, "add.s32", and the test that runs to the file that the
/// environment names: see test_ptx_forms.py.
inline void note_forms(const std::string& text) {
  const char* path = std::getenv("KERNKIT_PTX_FORMS");
  if (path == nullptr) return;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::ofstream file(path, std::ios::app);
  // Behind a brace, a semicolon, a label or a guard.
  static const std::regex statement(
      R"((?:^|[;{}\n:])\s*(?:@!?%?\w+\s+)?([a-z]\w*(?:\.[\w:]+)*)\s*(?=[^:\w.]))");
  for (std::sregex_iterator one(text.begin(), text.end(), statement), end; one != end; ++one) {
    file << (*one)[1] << ' ' << test->test_suite_name() << '.' << test->name() << '\n';
  }
}

class PtxModule {
 public:
  explicit PtxModule(const std::string& body, int capability = 80) {
    note_forms(body);
    const std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n" + body;
    constexpr size_t kHeader = 16, kEntry = 64;
    bytes_.assign(kHeader + kEntry + text.size() + 1, 0);
    put<uint32_t>(0, 0xba55ed50);
    put<uint16_t>(4, 1);
    put<uint16_t>(6, kHeader);
    put<uint64_t>(8, bytes_.size() - kHeader);
    put<uint16_t>(kHeader, 1);
    put<uint32_t>(kHeader + 4, kEntry);
    put<uint64_t>(kHeader + 8, text.size() + 1);
    put<uint32_t>(kHeader + 28, static_cast<uint32_t>(capability));
    std::memcpy(&bytes_[kHeader + kEntry], text.c_str(), text.size());
    wrapper_ = {0x466243b1, 1, bytes_.data(), nullptr};
    handle_ = __cudaRegisterFatBinary(&wrapper_);
  }
  ~PtxModule() { __cudaUnregisterFatBinary(handle_); }
  PtxModule(const PtxModule&) = delete;
  PtxModule& operator=(const PtxModule&) = delete;

  /// Launches the kernel `name` of the module.
  template <class... Arguments>
  cudaError_t launch(const char* name, dim3 grid, dim3 block, size_t shared_memory,
                     Arguments... arguments) {
    if (name_ != name) {
      name_ = name;
      __cudaRegisterFunction(handle_, &key_, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                             nullptr);
    }
    void* addresses[] = {&arguments..., nullptr};
    return cudaLaunchKernel(&key_, grid, block, addresses, shared_memory, nullptr);
  }

 private:
  template <class T>
  void put(size_t at, T value) {
    std::memcpy(&bytes_[at], &value, sizeof(T));
  }

  struct Wrapper {
    uint32_t magic, version;
    const void* data;
    void* unused;
  };
  std::vector<unsigned char> bytes_;
  Wrapper wrapper_{};
  void** handle_ = nullptr;
  std::string name_;
  char key_ = 0;
};

class Ptx : public ::testing::Test {
 protected:
  Ptx() { runtime_.run_kernels(true); }

  /// Memory of the device that the host may touch as well.
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
  std::string fault() { return runtime_.faults().empty() ? "none" : runtime_.faults()[0]; }

  CudaRuntime runtime_;
};

}  // namespace kernkit::cuda_on_cpu
