// SPDX-License-Identifier: Apache-2.0
// Modules, libraries and the linker of the driver's API. A module is a library, and a function is a
// kernel.
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "libcuda/driver_call.h"
#include "libcudart/library.h"

namespace kernkit::simulator::driver {
namespace {

/// The options of a compilation. Only the options of the error log have an effect.
struct JitOptions {
  unsigned count;
  CUjit_option* options;
  void** values;

  // Writes a message to the error log, and stores the number of written characters as the log's
  // size.
  void report(const std::string& message) const {
    char* buffer = nullptr;
    size_t size = 0;
    unsigned size_option = count;
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char*>(values[i]);
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) size_option = i;
    }
    // The value of CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES is the size itself, converted to a pointer.
    if (size_option < count) size = reinterpret_cast<uintptr_t>(values[size_option]) & 0xffffffffu;
    const size_t written = buffer == nullptr || size == 0 ? 0 : std::min(size - 1, message.size());
    if (size != 0 && buffer != nullptr) {
      std::memcpy(buffer, message.data(), written);
      buffer[written] = '\0';
    }
    if (size_option < count) {
      values[size_option] = reinterpret_cast<void*>(written);  // NOLINT(performance-no-int-to-ptr)
    }
  }
};

bool is_text(const void* code) {
  const auto* bytes = static_cast<const unsigned char*>(code);
  while (*bytes == ' ' || *bytes == '\t' || *bytes == '\n' || *bytes == '\r') ++bytes;
  return *bytes == '.' || *bytes == '/';  // PTX text begins with a directive or a comment
}

// Returns the driver's error for a load of machine code in place of the core's error. Returns other
// errors unchanged.
cudaError_t error_of_load(cudaError_t error) {
  return error == cudaErrorNotSupported ? cudaErrorNoKernelImageForDevice : error;
}

// Checks PTX text when it is loaded. Errors in the PTX of a fat binary are reported at the first
// launch.
cudaError_t check_text(CUlib_st** library, const JitOptions& options) {
  const std::string problem = core::problem_of_library(*library);
  options.report(problem);
  if (problem.empty()) return cudaSuccess;
  core::unload_library(*library);
  *library = nullptr;
  return core::reject("image: " + problem, cudaErrorInvalidPtx);
}

cudaError_t load(CUlib_st** library, const void* code, const JitOptions& options) {
  if (options.count != 0 && (options.options == nullptr || options.values == nullptr)) {
    return cudaErrorInvalidValue;
  }
  const cudaError_t error = core::load_library(library, code);
  if (error != cudaSuccess) return error_of_load(error);
  return is_text(code) ? check_text(library, options) : cudaSuccess;
}

cudaError_t load_file(CUlib_st** library, const char* path) {
  return error_of_load(core::load_library_from_file(library, path));
}

CUlib_st** library_to(CUmodule* module) { return reinterpret_cast<CUlib_st**>(module); }

CUresult load_module(const char* function, CUmodule* module, const void* code,
                     const JitOptions& options) {
  return call(function, ApiScope::kDevice, [&] { return load(library_to(module), code, options); });
}

/// The object that a CUlinkState points to: PTX texts to be linked.
struct Link {
  std::vector<std::string> texts;
  std::string joined;
};
// The link states of the process. Never destroyed, like the runtime's state.
std::set<Link*>& links() {
  static auto& all = *new std::set<Link*>;
  return all;
}
Link* link_of(CUlinkState state) {
  Link* const link = reinterpret_cast<Link*>(state);
  return links().count(link) != 0 ? link : nullptr;
}

cudaError_t add_text(CUlinkState state, CUjitInputType type, const char* text, size_t size,
                     const char* name) {
  Link* const link = link_of(state);
  if (link == nullptr) return cudaErrorInvalidResourceHandle;
  if (text == nullptr || size == 0) return cudaErrorInvalidValue;
  if (core::add_device_runtime(&link->texts, name)) return cudaSuccess;
  if (type != CU_JIT_INPUT_PTX) {
    return core::reject("data: " + std::string(name != nullptr ? name : "the input") +
                            " is not PTX, which is the only supported type of input; add PTX text",
                        cudaErrorNotSupported);
  }
  link->texts.emplace_back(text, ::strnlen(text, size));
  return cudaSuccess;
}

}  // namespace
}  // namespace kernkit::simulator::driver

using namespace kernkit::simulator;          // NOLINT(build/namespaces): these are its functions
using namespace kernkit::simulator::driver;  // NOLINT(build/namespaces)

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* code) {
  return load_module("cuModuleLoadData", module, code, {0, nullptr, nullptr});
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* code, unsigned count,
                            CUjit_option* options, void** values) {
  return load_module("cuModuleLoadDataEx", module, code, {count, options, values});
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* code) {
  return load_module("cuModuleLoadFatBinary", module, code, {0, nullptr, nullptr});
}
CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return call("cuModuleLoad", ApiScope::kDevice,
              [&] { return load_file(library_to(module), path); });
}
CUresult cuModuleUnload(CUmodule module) {
  return call("cuModuleUnload", ApiScope::kHost,
              [&] { return core::unload_library(library_of(module)); });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return call("cuModuleGetFunction", ApiScope::kDevice, [&] {
    return core::find_library_kernel(reinterpret_cast<cudaKernel_t*>(function), library_of(module),
                                     name);
  });
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* size, CUmodule module,
                              const char* name) {
  return call("cuModuleGetGlobal", ApiScope::kDevice, [&] {
    return core::find_library_variable(pointer_to(address), size, library_of(module), name);
  });
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return call_without_context("cuModuleGetLoadingMode", [&] {
    if (mode == nullptr) return cudaErrorInvalidValue;
    *mode = CU_MODULE_LAZY_LOADING;
    return cudaSuccess;
  });
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options,
                           void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return call("cuLibraryLoadData", ApiScope::kDevice, [&] {
    return load(library, code, {count, options, values});
  });
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*, void**,
                               unsigned, CUlibraryOption*, void**, unsigned) {
  return call("cuLibraryLoadFromFile", ApiScope::kDevice, [&] { return load_file(library, path); });
}
CUresult cuLibraryUnload(CUlibrary library) {
  return call_without_context("cuLibraryUnload", [&] { return core::unload_library(library); });
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return call("cuLibraryGetKernel", ApiScope::kDevice,
              [&] { return core::find_library_kernel(kernel, library, name); });
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return call("cuLibraryGetModule", ApiScope::kHost, [&] {
    if (module == nullptr) return cudaErrorInvalidValue;
    *module = reinterpret_cast<CUmodule>(library);
    return core::library_exists(library) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* size, CUlibrary library,
                            const char* name) {
  return call("cuLibraryGetGlobal", ApiScope::kDevice, [&] {
    return core::find_library_variable(pointer_to(address), size, library, name);
  });
}
CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* size, CUlibrary library,
                             const char* name) {
  return call("cuLibraryGetManaged", ApiScope::kDevice, [&] {
    return core::find_library_variable(pointer_to(address), size, library, name);
  });
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return call("cuKernelGetFunction", ApiScope::kHost, [&] {
    if (function == nullptr) return cudaErrorInvalidValue;
    *function = reinterpret_cast<CUfunction>(kernel);
    CUlib_st* library = nullptr;
    return core::find_library_of_kernel(&library, kernel);
  });
}
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return call_without_context("cuKernelGetLibrary",
                              [&] { return core::find_library_of_kernel(library, kernel); });
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return call("cuFuncGetModule", ApiScope::kHost, [&] {
    return core::find_library_of_kernel(library_to(module), kernel_of(function));
  });
}

CUresult cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState* state) {
  return call("cuLinkCreate", ApiScope::kHost, [&] {
    if (state == nullptr) return cudaErrorInvalidValue;
    auto* link = new Link;
    links().insert(link);
    *state = reinterpret_cast<CUlinkState>(link);
    return cudaSuccess;
  });
}
CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return cuLinkCreate_v2(count, options, values, state);
}
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size,
                          const char* name, unsigned, CUjit_option*, void**) {
  return call("cuLinkAddData", ApiScope::kHost,
              [&] { return add_text(state, type, static_cast<const char*>(data), size, name); });
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size,
                       const char* name, unsigned count, CUjit_option* options, void** values) {
  return cuLinkAddData_v2(state, type, data, size, name, count, options, values);
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned,
                          CUjit_option*, void**) {
  return call("cuLinkAddFile", ApiScope::kHost, [&] {
    std::string text;
    const cudaError_t error = core::read_file(&text, path);
    return error != cudaSuccess ? error : add_text(state, type, text.data(), text.size(), path);
  });
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                       CUjit_option* options, void** values) {
  return cuLinkAddFile_v2(state, type, path, count, options, values);
}
// The linked code is PTX text, which lives until cuLinkDestroy().
CUresult cuLinkComplete(CUlinkState state, void** code, size_t* size) {
  return call("cuLinkComplete", ApiScope::kHost, [&] {
    Link* const link = link_of(state);
    if (link == nullptr) return cudaErrorInvalidResourceHandle;
    if (code == nullptr || link->texts.empty()) return cudaErrorInvalidValue;
    const cudaError_t error = core::link_texts(link->texts, &link->joined);
    if (error != cudaSuccess) return error;
    *code = link->joined.data();
    if (size != nullptr) *size = link->joined.size() + 1;
    return cudaSuccess;
  });
}
CUresult cuLinkDestroy(CUlinkState state) {
  return call("cuLinkDestroy", ApiScope::kHost, [&] {
    Link* const link = link_of(state);
    if (link == nullptr) return cudaErrorInvalidResourceHandle;
    links().erase(link);
    delete link;
    return cudaSuccess;
  });
}

}  // extern "C"
