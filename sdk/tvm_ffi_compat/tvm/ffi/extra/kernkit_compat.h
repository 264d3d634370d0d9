// SPDX-License-Identifier: Apache-2.0
// What all of tvm_ffi_compat stands on: a library is compiled against these headers or against
// tvm-ffi's own, never against both.
#pragma once

#if defined(TVM_FFI_C_API_H_)
#error "kernkit: tvm-ffi's own headers are included before tvm_ffi_compat's; keep one include path"
#endif

// Of what tvm-ffi's bring along; a source has <sstream>, <memory> and the like, which cost, itself.
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// A file on tvm-ffi's headers calls this function of its runtime; here the name is a variable of
// the thread, which no linker takes for one. What the linker then says of it and of this section is
// the cause. Nothing else looks at it; it is hidden, so a runtime beside is not touched.
#if !defined(__CUDA_ARCH__)
__attribute__((weak, used, visibility("hidden"),
               section(".tbss.mixes_tvm_ffi_compat_with_headers_of_tvm_ffi"))) thread_local char
    kernkit_mixes_headers asm("TVMFFIBacktrace");
#endif

// The namespace stands in each symbol, where the same name of tvm-ffi's does not link.
// clang-format off
#define KERNKIT_TVM_FFI_BEGIN namespace tvm { namespace ffi { inline namespace kernkit_compat {
#define KERNKIT_TVM_FFI_END }}}
// clang-format on
