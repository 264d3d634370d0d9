/* clang-format off */ /* SPDX-License-Identifier: Apache-2.0 */ #error "kernkit: tvm_ffi_compat does not support tvm-ffi's own helpers: include tvm/ffi/container/array.h"
