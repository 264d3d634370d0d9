// SPDX-License-Identifier: Apache-2.0
// The runtime that is the host of kernel libraries in a process without tvm_ffi. Link
// kernkit::host.
#pragma once

#include "kernkit/host_api/host_api.h"

extern "C" {
/// Returns the host's function with the name that tvm_ffi uses, such as "TVMFFIErrorCreate", or
/// null for an unknown name. `name` must not be null. The function is valid until the process ends.
/// Throws nothing; safe from any thread. The functions cover errors, streams, allocators, tensors
/// (by DLPack), strings, bytes, arrays and functions. The runtime defines no symbols of these
/// names, so it does not conflict with tvm_ffi. Once tvm_ffi is loaded, the runtime forwards calls
/// to tvm_ffi, so a process has one table of streams, one allocator, and one slot for errors.
///
/// A library uses the runtime once this function has been passed to its kernkit_use_host(), as
/// Module::load() does:
///
///     kernkit_use_host(kernkit_host_find)   (each kernel library exports kernkit_use_host)
__attribute__((visibility("default"))) void* kernkit_host_find(const char* name);
}

namespace kernkit::detail {

/// Makes the program that includes this header use the runtime from its start, so that the program
/// can create tensors and functions and set streams.
inline const FindHost kHostOfProgram = use_host(kernkit_host_find);

}  // namespace kernkit::detail
