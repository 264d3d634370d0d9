#error "kernkit: tvm_ffi_compat does not serve cubin launching: compile the kernel with nvcc into the library, or use cudaLibraryLoadData"  // SPDX-License-Identifier: Apache-2.0
