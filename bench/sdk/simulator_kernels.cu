// SPDX-License-Identifier: Apache-2.0
#define KERNKIT_BENCH_VARIANT ptx
#include "sdk/simulator_kernels.cuh"
