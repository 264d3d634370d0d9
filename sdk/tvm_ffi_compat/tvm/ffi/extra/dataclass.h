/* clang-format off */ #error "kernkit: tvm_ffi_compat does not serve dataclasses: pass their fields as arguments"  // SPDX-License-Identifier: Apache-2.0
