/* clang-format off */ /* SPDX-License-Identifier: Apache-2.0 */ #error "kernkit: tvm_ffi_compat does not support tvm-ffi's C structs: kernkit/abi/abi.h has their layouts, valid C99"
