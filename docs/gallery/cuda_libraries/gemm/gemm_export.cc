// SPDX-License-Identifier: Apache-2.0
#include "gemm/gemm.h"
#include "kernkit/export.h"

KERNKIT_EXPORT(gemm, "(Tensor(a!) c, Tensor a, Tensor b) -> ()", "c = a @ b^T, by CUTLASS.", gemm)
