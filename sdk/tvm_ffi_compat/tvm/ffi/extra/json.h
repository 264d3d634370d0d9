/* clang-format off */ #error "kernkit: tvm_ffi_compat does not serve JSON: do it in Python, before the call"  // SPDX-License-Identifier: Apache-2.0
