// expect: kernkit: tensor cores (nvcuda::wmma) do not run on the CPU
// SPDX-License-Identifier: Apache-2.0
#include <mma.h>
