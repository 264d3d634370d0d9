// SPDX-License-Identifier: Apache-2.0
#error \
    "kernkit: CUB and Thrust do not run on the CPU; test such a kernel on a GPU, or give it a C++ half for #if !defined(__CUDACC__)"
