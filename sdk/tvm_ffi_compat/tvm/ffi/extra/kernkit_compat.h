// SPDX-License-Identifier: Apache-2.0
// Basis of all headers of tvm_ffi_compat. A library is compiled either against these headers or
// against tvm-ffi's own headers, never both.
#pragma once

#if defined(TVM_FFI_C_API_H_)
#error "kernkit: tvm-ffi's own headers are included before tvm_ffi_compat's; keep one include path"
#endif

// Some of the headers that tvm-ffi's headers include. A source includes <sstream>, <memory> and
// other costly headers itself.
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Detects libraries that mix files compiled against tvm-ffi's headers with files compiled against
/// these headers. Files compiled against tvm-ffi's headers call the function TVMFFIBacktrace() of
/// tvm-ffi's runtime. Here that name is a thread-local variable, which a linker does not accept as
/// a function; the linker's error contains the name of this section, which states the cause. No
/// code uses the variable. The variable is hidden, so tvm-ffi's runtime is not affected.
#if !defined(__CUDA_ARCH__)
__attribute__((weak, used, visibility("hidden"),
               section(".tbss.mixes_tvm_ffi_compat_with_headers_of_tvm_ffi"))) thread_local char
    kernkit_mixes_headers asm("TVMFFIBacktrace");
#endif

// clang-format off
/// Opens the namespace of the headers, tvm::ffi. The inline namespace is part of each symbol, so
/// that equal names of tvm-ffi do not link.
#define KERNKIT_TVM_FFI_BEGIN namespace tvm { namespace ffi { inline namespace kernkit_compat {
/// Closes the namespace of KERNKIT_TVM_FFI_BEGIN.
#define KERNKIT_TVM_FFI_END }}}
// clang-format on
