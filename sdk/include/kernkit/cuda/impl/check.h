// SPDX-License-Identifier: Apache-2.0
// Messages of CUDA errors.
#pragma once

#include "kernkit/call/hook.h"
#include "kernkit/cuda/check.h"

namespace kernkit::cuda {
namespace detail {

// Returns whether an error comes from a kernel that ran and is reported by a later call:
// driver_types.h documents for these errors that further work returns the same error.
KERNKIT_COLD bool is_asynchronous(cudaError_t error) {
  switch (static_cast<int>(error)) {
    case 214:  // cudaErrorECCUncorrectable
    case 220:  // cudaErrorNvlinkUncorrectable
    case 700:  // cudaErrorIllegalAddress
    case 702:  // cudaErrorLaunchTimeout
    case 710:  // cudaErrorAssert
    case 714:  // cudaErrorHardwareStackError
    case 715:  // cudaErrorIllegalInstruction
    case 716:  // cudaErrorMisalignedAddress
    case 717:  // cudaErrorInvalidAddressSpace
    case 718:  // cudaErrorInvalidPc
    case 719:  // cudaErrorLaunchFailure
    case 721:  // cudaErrorTensorMemoryLeak
      return true;
    default: return false;
  }
}

// Appends a version of CUDA in its usual form: "13.0" for 13000.
KERNKIT_COLD Message& append_version(Message& text, int version) {
  return text << version / 1000 << '.' << version % 1000 / 10;
}

KERNKIT_COLD void append_driver(Message& text) {
  int driver = 0;
  int runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (cudaRuntimeGetVersion(&runtime) != cudaSuccess) runtime = CUDART_VERSION;
  append_version(text << "; this library was built with CUDA ", runtime) << ", and ";
  if (driver == 0) {
    text << "no driver is installed";
    return;
  }
  append_version(text << "the driver supports CUDA ", driver);
  append_version(text << ": install a newer driver, or build with CUDA ", driver) << " or older";
}

KERNKIT_COLD void append_architecture(Message& text) {
  int device = 0;
  int major = 0;
  int minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
    return;
  }
  text << "; ";
#if defined(KERNKIT_CUDA_ARCHITECTURES)
  text << "this library was built for " KERNKIT_CUDA_ARCHITECTURES "; ";
#endif
  text << "cuda:" << device << " is sm_" << major << minor
       << "; rebuild with -DCMAKE_CUDA_ARCHITECTURES=" << major << minor;
}

KERNKIT_COLD bool sync_each_launch() {
  static const bool is_set = [] {
    const char* value = getenv("KERNKIT_SYNC");
    return value != nullptr && strcmp(value, "1") == 0;
  }();
  return is_set;
}

// Appends the last calls of the library if an environment variable requests the call hook.
KERNKIT_COLD void append_calls([[maybe_unused]] Message& text) {
#if defined(KERNKIT_COMPILED) && !defined(KERNKIT_NO_CALL_HOOK)
  kernkit::detail::append_earlier_calls(text);
#endif
}

// Appends the environment variables by which a user finds the kernel of an asynchronous error.
KERNKIT_COLD void append_settings(Message& text) {
  const char* dump = getenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
  if (!sync_each_launch()) {
    text << "; to find the launch, set KERNKIT_SYNC=1";
  } else if (dump == nullptr || strcmp(dump, "1") != 0) {
    text << "; to find the kernel's line by cuda-gdb, set CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 and "
            "CUDA_COREDUMP_GENERATION_FLAGS=skip_nonrelocated_elf_images,skip_global_memory,"
            "skip_shared_memory,skip_local_memory,skip_constbank_memory";
  }
#if defined(KERNKIT_COMPILED) && !defined(KERNKIT_NO_CALL_HOOK)
  if (kernkit::detail::call_hook == 0)
    text << "; to find the earlier calls, set KERNKIT_TRACE=FILE";
#endif
}

[[noreturn]] KERNKIT_COLD void throw_error(cudaError_t error, const char* call,
                                           SourceLocation location, bool is_own_work) {
  (void)cudaGetLastError();
  Message text;
  text << call << " failed: " << cudaGetErrorName(error) << ": " << cudaGetErrorString(error);
  if (is_asynchronous(error)) {
    if (!is_own_work) text << "; it comes from earlier work on the device, not from this call";
    // If another call returns the same error, the error is permanent and the CUDA context is lost.
    size_t free = 0;
    size_t total = 0;
    if (cudaMemGetInfo(&free, &total) == error) {
      text << "; the CUDA context is lost: restart the process";
    }
  } else if (error == cudaErrorInsufficientDriver || error == cudaErrorUnsupportedPtxVersion) {
    append_driver(text);
  } else if (error == cudaErrorNoKernelImageForDevice) {
    append_architecture(text);
  }
  append_calls(text);
  if (is_asynchronous(error)) append_settings(text);
  (void)cudaGetLastError();
  throw Error(kind::RuntimeError, text.c_str(), location);
}

KERNKIT_COLD void throw_error_of_own_work(cudaError_t error, const char* call,
                                          SourceLocation location) {
  throw_error(error, call, location, true);
}

}  // namespace detail

KERNKIT_COLD void throw_cuda_error(cudaError_t error, const char* call, SourceLocation location) {
  detail::throw_error(error, call, location, false);
}

}  // namespace kernkit::cuda
