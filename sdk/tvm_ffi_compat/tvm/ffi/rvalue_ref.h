/* clang-format off */ /* SPDX-License-Identifier: Apache-2.0 */ #error "kernkit: tvm_ffi_compat does not support RValueRef: take a Tensor by value, which a caller's _move() hands over"
