// SPDX-License-Identifier: Apache-2.0
// Products of matrices for cublas.cc, by PyTorch's kernels for the CPU.
#pragma once

#include <ATen/ATen.h>

#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "device_tensors.h"
#include "matrix_product.h"
#include "python_line.h"
#include "streams.h"

namespace kernkit::torch_cuda {

/// Returns PyTorch's dtype for a type that cublas.cc accepts.
inline at::ScalarType dtype_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F: return at::kHalf;
    case CUDA_R_16BF: return at::kBFloat16;
    case CUDA_R_64F: return at::kDouble;
    case CUDA_C_32F: return at::kComplexFloat;
    case CUDA_C_64F: return at::kComplexDouble;
    case CUDA_R_8I: return at::kChar;
    case CUDA_R_32I: return at::kInt;
    default: return at::kFloat;
  }
}

inline size_t size_of(cudaDataType type) { return c10::elementSize(dtype_of(type)); }

/// A product of matrices that runs as work of a stream.
class Product {
 public:
  explicit Product(const kernkit_matrix_product& product) : product_(product) {
    if (product.has_scalars_on_device != 0) return;
    std::memcpy(alpha_, product.alpha, size_of(product.scalar));
    std::memcpy(beta_, product.beta, size_of(product.scalar));
    product_.alpha = alpha_;
    product_.beta = beta_;
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  static const char* run(void* data) {
    auto& self = *static_cast<Product*>(data);
    return error_of([&self] { self.run(); }, &self.problem_);
  }
  static void release(void* data) { delete static_cast<Product*>(data); }

  std::vector<kernkit_memory_access> accesses() const {
    std::vector<kernkit_memory_access> all;
    add_accesses(tensor(product_.a, product_.m, product_.k), false, &all);
    add_accesses(tensor(product_.b, product_.k, product_.n), false, &all);
    if (product_.has_scalars_on_device != 0) {
      all.push_back({product_.alpha, size_of(product_.scalar), 0});
      all.push_back({product_.beta, size_of(product_.scalar), 0});
    } else if (!is_zero(product_.beta)) {
      add_accesses(tensor(product_.c, product_.m, product_.n), false, &all);
    }
    add_accesses(tensor(product_.d, product_.m, product_.n), true, &all);
    return all;
  }

 private:
  void run() const {
    const at::NoGradGuard without_gradients;
    const at::ScalarType type = dtype_of(product_.arithmetic);
    const auto elements = [&](const kernkit_matrix& x, int64_t rows, int64_t columns) {
      const at::Tensor y = tensor(x, rows, columns).to(type);
      return x.is_conjugated != 0 ? y.conj() : y;
    };
    at::Tensor sum = at::matmul(elements(product_.a, product_.m, product_.k),
                                elements(product_.b, product_.k, product_.n));
    sum.mul_(scalar(product_.alpha));
    if (!is_zero(product_.beta)) {
      sum.add_(elements(product_.c, product_.m, product_.n), scalar(product_.beta));
    }
    tensor(product_.d, product_.m, product_.n).copy_(sum);
  }

  at::Tensor tensor(const kernkit_matrix& x, int64_t rows, int64_t columns) const {
    return at::from_blob(x.data, {product_.batch, rows, columns},
                         {x.batch_stride, x.row_stride, x.column_stride}, dtype_of(x.type));
  }
  at::Tensor scalar_tensor(const void* at) const {
    return at::from_blob(const_cast<void*>(at), {}, dtype_of(product_.scalar));
  }
  at::Scalar scalar(const void* at) const { return scalar_tensor(at).item(); }
  bool is_zero(const void* at) const { return !scalar_tensor(at).is_nonzero(); }

  kernkit_matrix_product product_;
  alignas(16) unsigned char alpha_[16], beta_[16];
  std::string problem_;
};

/// Enqueues a product of matrices as work of a stream. Returns the same errors as a kernel launch.
inline cudaError_t enqueue_product(const kernkit_matrix_product& product, cudaStream_t stream) {
  auto* later = new Product(product);
  std::vector<kernkit_memory_access> accesses;
  if (has_tools()) accesses = later->accesses();
  const char* const place = has_tools() ? python_line() : nullptr;
  const kernkit_stream_work work{product.function, place, Product::run,
                                 Product::release, later, accesses.data(),
                                 accesses.size()};
  return kernkit_enqueue_work(stream, &work);
}

}  // namespace kernkit::torch_cuda
