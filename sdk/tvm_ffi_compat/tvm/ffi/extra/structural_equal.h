/* clang-format off */ #error "kernkit: tvm_ffi_compat does not serve trees of objects: compare them in Python"  // SPDX-License-Identifier: Apache-2.0
