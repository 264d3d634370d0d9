// SPDX-License-Identifier: Apache-2.0
#error \
    "kernkit: tensor cores (nvcuda::wmma) are not supported on the CPU; test the kernel on a GPU, or add a C++ version for #if !defined(__CUDACC__)"
