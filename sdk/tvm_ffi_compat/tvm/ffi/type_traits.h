/* clang-format off */ /* SPDX-License-Identifier: Apache-2.0 */ #error "kernkit: tvm_ffi_compat does not support TypeTraits: kernkit/call/argument.h says how a parameter type of yours joins"
