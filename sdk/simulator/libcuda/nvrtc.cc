// SPDX-License-Identifier: Apache-2.0
// Functions of NVRTC that return machine code return the PTX of the same program, which the driver
// loads. NVRTC itself compiles without a GPU. A program that is linked with NVRTC calls these
// functions; a client that finds NVRTC's functions by dlopen() and dlsym() calls NVRTC.
#include <dlfcn.h>

#include <cstddef>

namespace {

constexpr int kInternalError = 11;  // NVRTC_ERROR_INTERNAL_ERROR

// Returns NVRTC's own function `name`, from a library that the program links or has loaded; null if
// NVRTC is not loaded.
template <class Function>
Function* function_of_nvrtc(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    void* const library = dlopen("libnvrtc.so.13", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) found = dlsym(library, name);
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace

extern "C" {

// Returns 0 bytes for a program that was compiled for a virtual architecture, such as compute_80:
// the program has no machine code.
int nvrtcGetCUBINSize(void* program, size_t* size) {
  using Get = int(void*, size_t*);
  auto* const size_of_code = function_of_nvrtc<Get>("nvrtcGetCUBINSize");
  auto* const size_of_ptx = function_of_nvrtc<Get>("nvrtcGetPTXSize");
  if (size_of_code == nullptr || size_of_ptx == nullptr) return kInternalError;
  const int error = size_of_code(program, size);
  return error != 0 || *size == 0 ? error : size_of_ptx(program, size);
}

int nvrtcGetCUBIN(void* program, char* code) {
  auto* const get_ptx = function_of_nvrtc<int(void*, char*)>("nvrtcGetPTX");
  return get_ptx == nullptr ? kInternalError : get_ptx(program, code);
}

}  // extern "C"
