// expect: kernkit: CUB and Thrust do not run on the CPU
// SPDX-License-Identifier: Apache-2.0
#include <cub/block/block_reduce.cuh>
