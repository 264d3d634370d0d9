# SPDX-License-Identifier: Apache-2.0
import cupy as cp

square = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
x = cp.asarray([[1, 2, 3], [4, 5, 6]], "float32")
print(square(x, x.mean(axis=0)))
