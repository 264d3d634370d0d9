// expect: kernkit: tensor cores (nvcuda::wmma) are not supported on the CPU
// SPDX-License-Identifier: Apache-2.0
#include <mma.h>
