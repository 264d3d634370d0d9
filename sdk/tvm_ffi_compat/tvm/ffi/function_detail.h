/* clang-format off */ #error "kernkit: tvm_ffi_compat does not serve tvm-ffi's own helpers: include tvm/ffi/function.h"  // SPDX-License-Identifier: Apache-2.0
