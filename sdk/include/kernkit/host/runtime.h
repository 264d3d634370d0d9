// SPDX-License-Identifier: Apache-2.0
// The runtime that is the host of kernel libraries in a process without tvm_ffi. Link
// kernkit::host.
#pragma once

#include "kernkit/host_api/host_api.h"

extern "C" {
/// A function of the host by tvm_ffi's name, such as "TVMFFIErrorCreate", or null for another name.
/// `name` must not be null. The function is valid until the process ends. Throws nothing; safe from
/// any thread. Covers errors, streams, allocators, tensors (by DLPack), strings, bytes, arrays,
/// functions. The runtime defines no symbols of these names, so it does not conflict with tvm_ffi,
/// and it forwards to tvm_ffi once that is loaded: there is one table of streams, one allocator,
/// and one slot for errors.
///
/// A library uses the runtime after it was passed this function, as Module::load() does:
///
///     kernkit_use_host(kernkit_host_find)   (each kernel library exports kernkit_use_host)
__attribute__((visibility("default"))) void* kernkit_host_find(const char* name);
}

namespace kernkit::detail {

/// Makes the program that includes this header use the runtime from its start: it can then create
/// tensors and functions and set streams.
inline const FindHost kHostOfProgram = use_host(kernkit_host_find);

}  // namespace kernkit::detail
