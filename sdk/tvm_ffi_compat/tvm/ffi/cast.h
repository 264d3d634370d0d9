/* clang-format off */ /* SPDX-License-Identifier: Apache-2.0 */ #error "kernkit: tvm_ffi_compat does not support GetRef and Downcast: a kernel has no objects; take the parameter as its own type"
