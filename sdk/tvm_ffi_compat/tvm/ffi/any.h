#error "kernkit: tvm_ffi_compat does not serve Any: take a parameter of its own type; KERNKIT_EXPORT takes kernkit::AnyView (kernkit/function.h)"  // SPDX-License-Identifier: Apache-2.0
