/* clang-format off */ /* SPDX-License-Identifier: Apache-2.0 */ #error "kernkit: tvm_ffi_compat does not support reflection: export each function with TVM_FFI_DLL_EXPORT_TYPED_FUNC"
