/* clang-format off */ #error "kernkit: tvm_ffi_compat does not serve tvm-ffi's C structs: kernkit/abi/abi.h has their layouts, valid C99"  // SPDX-License-Identifier: Apache-2.0
