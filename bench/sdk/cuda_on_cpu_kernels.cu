// SPDX-License-Identifier: Apache-2.0
#define KERNKIT_BENCH_WAY ptx
#include "sdk/cuda_on_cpu_kernels.cuh"
