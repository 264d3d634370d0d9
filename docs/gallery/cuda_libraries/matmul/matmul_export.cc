// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "matmul/matmul.h"

KERNKIT_EXPORT(matmul, "(Tensor(a!) c, Tensor a, Tensor b) -> ()", "c = a @ b, by cuBLAS.", matmul)
