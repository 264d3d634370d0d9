/* clang-format off */ #error "kernkit: tvm_ffi_compat does not serve tvm-ffi's own helpers: include the header whose names the file uses"  // SPDX-License-Identifier: Apache-2.0
