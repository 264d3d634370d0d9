/* clang-format off */ /* SPDX-License-Identifier: Apache-2.0 */ #error "kernkit: tvm_ffi_compat does not support dtype_trait: kernkit::dtype_of<T> (kernkit/tensor.h) is the same"
