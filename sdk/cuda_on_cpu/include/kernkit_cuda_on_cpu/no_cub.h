// SPDX-License-Identifier: Apache-2.0
#error \
    "kernkit: CUB, Thrust, CUTLASS and cuBLAS do not run on the CPU; say so, kernkit_add_kernel(LIBRARY OP GPU_ONLY), or give the kernel a C++ half for #if !defined(__CUDACC__)"
