/* clang-format off */ /* SPDX-License-Identifier: Apache-2.0 */ #error "kernkit: tvm_ffi_compat does not support List: an Array parameter takes one, as a copy"
