/* clang-format off */ /* SPDX-License-Identifier: Apache-2.0 */ #error "kernkit: tvm_ffi_compat does not support Expected: throw an Error, which reaches the caller"
