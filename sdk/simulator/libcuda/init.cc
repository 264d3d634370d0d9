// SPDX-License-Identifier: Apache-2.0
// Initialisation, versions, errors and entry points of the driver's API.
#include <array>
#include <cstring>

#include "libcuda/driver_call.h"
#include "libcuda/driver_names.h"
#include "runtime/core/devices.h"
#include "runtime/core/logs.h"

namespace kernkit::simulator::driver {

// Returns the driver's error for an error of the runtime's API. Errors without a case below have
// the same number in both APIs.
CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    default: return static_cast<CUresult>(error);
  }
}

namespace {

struct Result {
  int number;
  const char* name;
};
const char* name_of(CUresult result) {
#define KERNKIT_ROW(name, number) {number, #name},
  static constexpr Result kResults[] = {KERNKIT_DRIVER_RESULTS(KERNKIT_ROW)};
#undef KERNKIT_ROW
  for (const Result& row : kResults) {
    if (row.number == result) return row.name;
  }
  return nullptr;
}

struct EntryPoint {
  const char* name;  // name without a version suffix such as _v2, but with _ptds or _ptsz
  int version;       // first version of CUDA with the function, such as 3020
  void* function;
};

}  // namespace
}  // namespace kernkit::simulator::driver

#define KERNKIT_DECLARE(symbol) extern "C" int kernkit_address_of_##symbol() __asm__(#symbol);
KERNKIT_DRIVER_SYMBOLS(KERNKIT_DECLARE)
#undef KERNKIT_DECLARE

namespace kernkit::simulator::driver {
namespace {

// Returns the function `name` for a program compiled for version `version` of CUDA; null if no such
// function exists. Stores in *is_later whether only later versions have the function.
void* find_entry_point(const char* name, int version, bool* is_later) {
#define KERNKIT_ROW(name, version, symbol) \
  {#name, version, reinterpret_cast<void*>(kernkit_address_of_##symbol)},
  static const EntryPoint kVersions[] = {KERNKIT_DRIVER_VERSIONS(KERNKIT_ROW)};
#undef KERNKIT_ROW
#define KERNKIT_ROW(symbol) {#symbol, 0, reinterpret_cast<void*>(kernkit_address_of_##symbol)},
  static const EntryPoint kSymbols[] = {KERNKIT_DRIVER_SYMBOLS(KERNKIT_ROW)};
#undef KERNKIT_ROW
  const EntryPoint* newest = nullptr;
  bool is_known = false;
  for (const EntryPoint& row : kVersions) {
    if (std::strcmp(row.name, name) != 0) continue;
    is_known = true;
    if (row.version <= version && (newest == nullptr || row.version > newest->version)) {
      newest = &row;
    }
  }
  *is_later = is_known && newest == nullptr;
  if (is_known) return newest != nullptr ? newest->function : nullptr;
  for (const EntryPoint& row : kSymbols) {
    if (std::strcmp(row.name, name) == 0) return row.function;
  }
  return nullptr;
}

cudaError_t find_function(const char* name, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  constexpr auto kLegacy = static_cast<cuuint64_t>(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  constexpr auto kPerThread =
      static_cast<cuuint64_t>(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  if (name == nullptr || function == nullptr) return cudaErrorInvalidValue;
  if ((flags & ~(kLegacy | kPerThread)) != 0 || flags == (kLegacy | kPerThread)) {
    return cudaErrorInvalidValue;
  }
  int newest = 0;
  const cudaError_t error = core::read_driver_version(&newest);
  if (error != cudaSuccess) return error;
  if (version > newest) return cudaErrorInvalidValue;
  *function = nullptr;
  bool is_later = false;
  if (flags == kPerThread) {
    for (const char* suffix : {"_ptsz", "_ptds"}) {
      if (*function != nullptr) break;
      bool is_variant_later = false;
      *function =
          find_entry_point((std::string(name) + suffix).c_str(), version, &is_variant_later);
    }
  }
  if (*function == nullptr) *function = find_entry_point(name, version, &is_later);
  if (status != nullptr) {
    *status = *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : is_later           ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                   : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return cudaSuccess;
}

template <class Work>
CUresult call_before_init(const char* function, const Work& work) {
  return result_of(core::call_driver(function, Needs::kNothing, ApiScope::kProcess, work));
}

}  // namespace
}  // namespace kernkit::simulator::driver

using namespace kernkit::simulator;          // NOLINT(build/namespaces): these are its functions
using namespace kernkit::simulator::driver;  // NOLINT(build/namespaces)

extern "C" {

CUresult cuInit(unsigned flags) {
  return call_before_init(
      "cuInit", [&] { return flags != 0 ? cudaErrorInvalidValue : core::start_driver(); });
}
CUresult cuDriverGetVersion(int* version) {
  return call_before_init("cuDriverGetVersion", [&] { return core::read_driver_version(version); });
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = name_of(error);
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
// For an error without a text in the runtime's API, the text is the name of the error.
CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = core::text_of_error(static_cast<cudaError_t>(error));
  if (*text == nullptr) *text = name_of(error);
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  return call_before_init("cuGetProcAddress",
                          [&] { return find_function(name, function, version, flags, status); });
}
// The function of CUDA 11.3 to 11.8, which has no status argument and returns an error for an
// unknown name.
CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  const CUresult result = cuGetProcAddress_v2(name, function, version, flags, nullptr);
  return result == CUDA_SUCCESS && *function == nullptr ? CUDA_ERROR_NOT_FOUND : result;
}
// NVIDIA's driver returns undocumented tables of functions. The simulator provides no table.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (table != nullptr) *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuLogsRegisterCallback(CUlogsCallback function, void* data,
                                CUlogsCallbackHandle* registration) {
  return call_before_init("cuLogsRegisterCallback", [&] {
    return core::add_log_receiver(reinterpret_cast<core::LogFunction>(function), data,
                                  reinterpret_cast<core::LogReceiver**>(registration));
  });
}
CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle registration) {
  return call_before_init("cuLogsUnregisterCallback", [&] {
    return core::remove_log_receiver(reinterpret_cast<core::LogReceiver*>(registration));
  });
}
CUresult cuProfilerStart() {
  return call("cuProfilerStart", ApiScope::kHost, [] { return cudaSuccess; });
}
CUresult cuProfilerStop() {
  return call("cuProfilerStop", ApiScope::kHost, [] { return cudaSuccess; });
}

}  // extern "C"
