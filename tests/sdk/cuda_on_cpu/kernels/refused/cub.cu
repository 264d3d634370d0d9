// expect: kernkit: CUB, Thrust, CUTLASS and cuBLAS do not run on the CPU; say so
// SPDX-License-Identifier: Apache-2.0
#include <cub/block/block_reduce.cuh>
