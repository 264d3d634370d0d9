/* SPDX-License-Identifier: Apache-2.0 */
/* A product of matrices, as the functions of cublas.cc describe it to PyTorch's kernels for the
 * CPU. */
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A batch of matrices in device memory. Strides are numbers of elements. */
typedef struct kernkit_matrix {
  void* data;
  cudaDataType type;
  int64_t row_stride, column_stride, batch_stride;
  int is_conjugated; /**< whether the complex conjugates of the elements are meant */
} kernkit_matrix;

/** d = alpha * a * b + beta * c, where a is m x k, b is k x n, and c and d are m x n. */
typedef struct kernkit_matrix_product {
  const char* function; /**< name of cuBLAS's function; the string is never freed */
  int64_t m, n, k, batch;
  kernkit_matrix a, b, c, d;
  cudaDataType arithmetic;   /**< type of products and sums */
  cudaDataType scalar;       /**< type of alpha and beta */
  const void *alpha, *beta;  /**< of the host, read at the call, or of the device */
  int has_scalars_on_device; /**< whether alpha and beta are in device memory */
} kernkit_matrix_product;

/** Makes a product work of a stream. The structure is copied. Returns the errors of a launch. */
typedef cudaError_t (*kernkit_product_function)(const kernkit_matrix_product*, cudaStream_t);

#ifdef __cplusplus
}
#endif
