// SPDX-License-Identifier: Apache-2.0
// The runtime that serves kernel libraries in a process without tvm_ffi. Link kernkit::host.
#pragma once

#include "kernkit/host_api/host_api.h"

extern "C" {
/// A function of the host by the name that tvm_ffi gives it, such as "TVMFFIErrorCreate", or null.
/// Errors, streams, allocators, tensors (by DLPack), strings, bytes, arrays, functions. The runtime
/// defines no symbol of that name, so it cannot get in the way of the real one, and it hands over
/// to the real one as soon as that is in the process: there is one table of streams, one allocator,
/// one place for errors.
///
/// A library is served by giving it this function, which Module::load() does:
///
///     kernkit_use_host(kernkit_host_find)   (each kernel library exports kernkit_use_host)
__attribute__((visibility("default"))) void* kernkit_host_find(const char* name);
}

namespace kernkit::detail {

/// Has a program that includes this work with the runtime itself, from its start: it can make
/// tensors and functions and set streams.
inline const FindHost kHostOfProgram = use_host(kernkit_host_find);

}  // namespace kernkit::detail
