// SPDX-License-Identifier: Apache-2.0
// Libraries: PTX text or fat binaries that a program loads itself. The program looks up kernels and
// variables by their names in PTX.
#include "libcudart/library.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ptx/link/device_runtime.h"
#include "ptx/link/link_ptx.h"
#include "ptx/modules.h"
#include "ptx/parser/unsupported.h"
#include "runtime/state.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* function, char*, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*);
}

// The object that a cudaLibrary_t points to.
struct CUlib_st {
  struct Wrapper {
    uint32_t magic, version;
    const void* data;
    void* unused;
  };
  std::vector<unsigned char> bytes;  // the library's fat binary
  Wrapper wrapper{};
  void** module = nullptr;
  // Kernels by name; the address of a value is the kernel's handle.
  std::map<std::string, char> kernels;
};

namespace kernkit::simulator {
namespace {

constexpr uint32_t kWrapper = 0x466243b1, kFatBinary = 0xba55ed50, kElf = 0x464c457f;

template <class T>
void put(std::vector<unsigned char>* bytes, size_t at, T value) {
  std::memcpy(&(*bytes)[at], &value, sizeof(T));
}

// Returns a fat binary in nvcc's layout that contains the PTX text as one uncompressed entry, see
// ptx/image/fat_binary.cc.
std::vector<unsigned char> around(const char* text) {
  constexpr size_t kHeader = 16, kEntry = 64;
  const size_t size = std::strlen(text) + 1;
  const char* const target = std::strstr(text, ".target sm_");
  const int capability = target != nullptr ? std::atoi(target + std::strlen(".target sm_")) : 0;
  std::vector<unsigned char> bytes(kHeader + kEntry + size);
  put<uint32_t>(&bytes, 0, kFatBinary);
  put<uint16_t>(&bytes, 4, 1);
  put<uint16_t>(&bytes, 6, kHeader);
  put<uint64_t>(&bytes, 8, kEntry + size);
  put<uint16_t>(&bytes, kHeader, 1);
  put<uint32_t>(&bytes, kHeader + 4, kEntry);
  put<uint64_t>(&bytes, kHeader + 8, size);
  put<uint32_t>(&bytes, kHeader + 28, static_cast<uint32_t>(capability));
  std::memcpy(&bytes[kHeader + kEntry], text, size);
  return bytes;
}

// Returns a copy of a fat binary, which the program may free after the load. For data of an unknown
// format, returns a fat binary without entries.
std::vector<unsigned char> copy_of_fat_binary(const void* data) {
  constexpr size_t kHeader = 16;
  const auto* from = static_cast<const unsigned char*>(data);
  uint32_t magic = 0;
  uint16_t header = 0;
  uint64_t size = 0;
  std::memcpy(&magic, from, sizeof(magic));
  if (magic != kFatBinary) return std::vector<unsigned char>(kHeader);
  std::memcpy(&header, from + 6, sizeof(header));
  std::memcpy(&size, from + 8, sizeof(size));
  return {from, from + header + size};
}

// The libraries of the process. Never destroyed, like the runtime's state.
std::set<CUlib_st*>& libraries() {
  static auto& all = *new std::set<CUlib_st*>;
  return all;
}

}  // namespace

namespace core {

cudaError_t load_library(CUlib_st** library, const void* code) {
  if (library == nullptr || code == nullptr) return cudaErrorInvalidValue;
  const char* const text = static_cast<const char*>(code);
  const bool is_word = std::memchr(text, 0, sizeof(uint32_t)) == nullptr;
  uint32_t magic = 0;
  if (is_word) std::memcpy(&magic, text, sizeof(magic));
  if (magic == kElf) {
    note_fault(std::string(thread_state().function) +
               "(): machine code is not supported without a GPU; expected PTX");
    return cudaErrorNotSupported;
  }
  auto* made = new CUlib_st;
  const void* data = code;
  if (magic == kWrapper) std::memcpy(&data, text + 2 * sizeof(uint32_t), sizeof(data));
  const bool is_binary = magic == kWrapper || magic == kFatBinary;
  made->bytes = is_binary ? copy_of_fat_binary(data) : around(text);
  made->wrapper = {kWrapper, 1, made->bytes.data(), nullptr};
  made->module = __cudaRegisterFatBinary(&made->wrapper);
  libraries().insert(made);
  *library = made;
  return cudaSuccess;
}

cudaError_t read_file(std::string* text, const char* path) {
  if (path == nullptr) return cudaErrorInvalidValue;
  std::ifstream file(path, std::ios::binary);
  if (!file) return cudaErrorFileNotFound;
  text->assign(std::istreambuf_iterator<char>(file), {});
  return cudaSuccess;
}

cudaError_t load_library_from_file(CUlib_st** library, const char* path) {
  std::string code;
  const cudaError_t unreadable = read_file(&code, path);
  if (unreadable != cudaSuccess) return unreadable;
  if (code.empty()) return cudaErrorInvalidKernelImage;
  return load_library(library, code.c_str());
}

cudaError_t unload_library(CUlib_st* library) {
  if (libraries().erase(library) == 0) return cudaErrorInvalidResourceHandle;
  for (const auto& [name, key] : library->kernels) state().kernels.erase(&key);
  __cudaUnregisterFatBinary(library->module);
  delete library;
  return cudaSuccess;
}

bool library_exists(const CUlib_st* library) {
  return libraries().count(const_cast<CUlib_st*>(library)) != 0;
}

cudaError_t find_library_of_kernel(CUlib_st** library, const void* kernel) {
  if (library == nullptr) return cudaErrorInvalidValue;
  const KernelInfo* info = find_kernel(kernel);
  for (CUlib_st* one : libraries()) {
    if (info == nullptr || info->module != one->module) continue;
    *library = one;
    return cudaSuccess;
  }
  return cudaErrorInvalidResourceHandle;
}

std::string problem_of_library(CUlib_st* library) {
  return problem_of_module(module_here(library->module));
}

bool add_device_runtime(std::vector<std::string>* texts, const char* name) {
  const char* const text = name == nullptr ? nullptr : ptx::device_runtime_for(name);
  if (text != nullptr) texts->emplace_back(text);
  return text != nullptr;
}
cudaError_t link_texts(const std::vector<std::string>& texts, std::string* linked) {
  try {
    *linked = ptx::link_ptx(texts);
    return cudaSuccess;
  } catch (const ptx::UnsupportedPtx& problem) {
    return reject(std::string("the PTX texts cannot be linked: ") + problem.what(),
                  cudaErrorInvalidPtx);
  }
}

cudaError_t find_library_kernel(cudaKernel_t* kernel, CUlib_st* library, const char* name) {
  if (libraries().count(library) == 0) return cudaErrorInvalidResourceHandle;
  if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
  if (!may_have_kernel(module_here(library->module), name)) return cudaErrorSymbolNotFound;
  const auto [key, is_new] = library->kernels.try_emplace(name);
  if (is_new) {
    __cudaRegisterFunction(library->module, &key->second, nullptr, name, -1, nullptr, nullptr,
                           nullptr, nullptr, nullptr);
  }
  *kernel = reinterpret_cast<cudaKernel_t>(&key->second);
  return cudaSuccess;
}

cudaError_t find_library_variable(void** address, size_t* size, CUlib_st* library,
                                  const char* name) {
  if (libraries().count(library) == 0) return cudaErrorInvalidResourceHandle;
  if (name == nullptr) return cudaErrorInvalidValue;
  void* at = nullptr;
  size_t bytes = 0;
  if (!ptx_variable(module_here(library->module), name, &at, &bytes).empty()) {
    return cudaErrorSymbolNotFound;
  }
  if (address != nullptr) *address = at;
  if (size != nullptr) *size = bytes;
  return cudaSuccess;
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

// The parameters without a name are options of the compiler and of the library; they have no
// effect.
cudaError_t cudaLibraryLoadData(CUlib_st** library, const void* code, void*, void**, unsigned,
                                void*, void**, unsigned) {
  return call("cudaLibraryLoadData", ApiScope::kDevice,
              [&] { return core::load_library(library, code); });
}
cudaError_t cudaLibraryLoadFromFile(CUlib_st** library, const char* path, void*, void**, unsigned,
                                    void*, void**, unsigned) {
  return call("cudaLibraryLoadFromFile", ApiScope::kDevice,
              [&] { return core::load_library_from_file(library, path); });
}
cudaError_t cudaLibraryUnload(CUlib_st* library) {
  return call("cudaLibraryUnload", ApiScope::kHost, [&] { return core::unload_library(library); });
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, CUlib_st* library, const char* name) {
  return call("cudaLibraryGetKernel", ApiScope::kDevice,
              [&] { return core::find_library_kernel(kernel, library, name); });
}
cudaError_t cudaLibraryGetGlobal(void** address, size_t* size, CUlib_st* library,
                                 const char* name) {
  return call("cudaLibraryGetGlobal", ApiScope::kDevice,
              [&] { return core::find_library_variable(address, size, library, name); });
}

}  // extern "C"
