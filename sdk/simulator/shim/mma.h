// SPDX-License-Identifier: Apache-2.0
#error \
    "kernkit: tensor cores (nvcuda::wmma) do not run on the CPU; test such a kernel on a GPU, or give it a C++ half for #if !defined(__CUDACC__)"
